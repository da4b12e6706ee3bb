"""ChaCha20 with a key of one's own. Generators are used again, keys are not.

To make a generator of `randomgen` takes 20 times as long as to give it a key. So one that nobody
holds any more forgets its key and waits for the next. It goes back to the list that it came from:
a forked child starts with an empty one, since what it inherits may be in use, with a lock that
nobody will release.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNTER_PER_BLOCK", "KEY_BYTES", "KeyedGenerator"]

KEY_BYTES = 32
COUNTER_PER_BLOCK = 16
_WORD = (1 << 64) - 1
_NO_BLOCK = np.zeros(16, np.uint32)  # the next one is computed where the counter begins one
_idle: list[Any] = []


def _start_anew() -> None:
    """Leave what is idle to the parent."""
    global _idle
    _idle = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_anew)


class KeyedGenerator:
    """The words of one key, from a block on.

    Parameters
    ----------
    key : bytes
        32 of them.
    block : int, default=0
        The first block of 8 words, below 2^124.
    """

    __slots__ = ("_chacha", "_home")

    def __init__(self, key: bytes, block: int = 0) -> None:
        self._home = _idle
        try:
            self._chacha = self._home.pop()
        except IndexError:
            from randomgen import ChaCha

            self._chacha = ChaCha(key=0, rounds=20)
        _set(self._chacha, key, COUNTER_PER_BLOCK * block)

    def __del__(self) -> None:
        if hasattr(self, "_chacha"):
            _set(self._chacha, bytes(KEY_BYTES), 0)
            self._home.append(self._chacha)

    def random_raw(self, count: int) -> NDArray[np.uint64]:
        """The next words."""
        words: NDArray[np.uint64] = self._chacha.random_raw(count)
        return words


def _set(chacha: Any, key: bytes, counter: int) -> None:  # noqa: ANN401
    """Give a generator a key and a place, the beginning of a block."""
    state = {
        "block": _NO_BLOCK,
        "keysetup": np.frombuffer(key, "<u4"),
        "ctr": np.array([counter & _WORD, counter >> 64], np.uint64),
        "rounds": 20,
    }
    kind: Any = type(chacha)
    chacha.state = {"bit_generator": _name(kind), "state": state}


@cache
def _name(kind: Any) -> object:  # noqa: ANN401
    """How `randomgen` calls such a generator in a state."""
    return kind(key=0, rounds=20).state["bit_generator"]
