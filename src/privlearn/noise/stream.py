"""The keyed stream of words: ChaCha20, one lock, and never the same words in two processes."""

import hashlib
import operator
import os
import secrets
import threading
import time

import numpy as np
from numpy.typing import NDArray

from privlearn.noise.generator import KEY_BYTES, KeyedGenerator
from privlearn.noise.vectors import check_generator

_REFINEMENT_BLOCKS = 1 << 32  # ChaCha blocks of 8 words set aside for the refinement of one word
_WORDS_PER_BLOCK = 8
_TAG = b"privlearn noise, version 1"
_SYSTEM_TAG = b"privlearn system key, version 1"

# Changed in every forked child. The process id alone would not do: ids are used again.
_process: tuple[int, object] = (os.getpid(), object())


def _mark_child() -> None:
    """Note that this process is a new one."""
    global _process
    _process = (os.getpid(), object())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_mark_child)


def system_keys() -> bytes:
    """Return two fresh 256-bit keys from the operating system.

    The clocks are no secret and add none. They are there for a virtual machine that was restored
    from a snapshot without its kernel being told: the kernel's bytes may then come twice, and the
    hour of the day will not.
    """
    clocks = time.time_ns().to_bytes(16, "little") + time.monotonic_ns().to_bytes(16, "little")
    return hashlib.sha512(_SYSTEM_TAG + clocks + secrets.token_bytes(2 * KEY_BYTES)).digest()


def seeded_keys(seed: int) -> bytes:
    """Return two 256-bit keys that depend on all digits of a nonnegative integer."""
    try:
        number = operator.index(seed)
    except TypeError:
        raise TypeError(
            f"seed={seed!r} is not an integer; pass an integer >= 0, or None for private noise"
        ) from None
    if number < 0:
        raise ValueError(
            f"seed={number} is negative; pass an integer >= 0, or None for private noise"
        )
    digits = number.to_bytes(number.bit_length() // 8 + 1, "little")
    return hashlib.sha512(_TAG + digits).digest()


def _words_from(key: bytes, first: int) -> KeyedGenerator:
    """The words of a key from number ``first`` on, which need not begin a block."""
    generator = KeyedGenerator(key, first // _WORDS_PER_BLOCK)
    generator.random_raw(first % _WORDS_PER_BLOCK)
    return generator


class Words:
    """Consecutive words of a stream, for one thread."""

    def __init__(self, generator: KeyedGenerator, first: int) -> None:
        self._generator, self._next = generator, first

    def take(self, count: int) -> tuple[NDArray[np.uint64], int]:
        """Return the next ``count`` words and the number of the first of them."""
        first, self._next = self._next, self._next + count
        return self._generator.random_raw(count), first


class WordStream:
    """Words of one ChaCha20 key, numbered, and for each of them a sequence of further words.

    The further words (for the lazy refinement of a draw) come from a second key, at a place given
    by the number of the word. So the main words never depend on what was refined, and neither does
    a result on the platform's rounding, which decides only what is refined.
    """

    def __init__(self, keys: bytes) -> None:
        check_generator()
        self._key = keys[:KEY_BYTES]
        self._main = KeyedGenerator(self._key)
        self._refinement_key = keys[KEY_BYTES:]
        self._lock = threading.Lock()
        self._taken = 0
        self._process = _process

    @property
    def stale(self) -> bool:
        """Whether this stream was made in another process (the parent)."""
        return self._process is not _process or self._process[0] != os.getpid()

    def take(self, count: int) -> tuple[NDArray[np.uint64], int]:
        """Return the next ``count`` words and the number of the first of them."""
        with self._lock:
            words = self._main.random_raw(count)
            first = self._taken
            self._taken += count
        return words, first

    def skip(self, count: int) -> int:
        """Leave the next ``count`` words to whoever reads them `at` the number that is returned."""
        with self._lock:
            first, self._taken = self._taken, self._taken + count
            self._main = _words_from(self._key, self._taken)
        return first

    def at(self, first: int) -> "Words":
        """Words that were skipped, from number ``first`` on."""
        return Words(_words_from(self._key, first), first)

    def refine(self, index: int, count: int) -> int:
        """Return the first ``count`` further words of word ``index``, joined to one integer."""
        generator = KeyedGenerator(self._refinement_key, index * _REFINEMENT_BLOCKS)
        return int.from_bytes(generator.random_raw(count).astype(">u8").tobytes(), "big")
