"""Sums that travel: words modulo 2^64 behind masks that only the client can take away.

A sum over some rows is no release: noise is added once, where the plan is. So that it is nothing to
anybody on its way, a worker adds a mask to it, a keyed function of its partition's number. Masked
sums can be added up like others, by anybody, and the client subtracts the sum of the masks. A
partition that was lost, or was counted twice, leaves a mask behind, which no sum survives. Masks
decide nothing that is released; a partition that is computed again gets the same one. All that
travels has a keyed stamp, so that damage on the way, or in a file of a worker, is noticed. Keys are
new in every pass. Workers and the scheduler hold them in memory: what is kept from is a dashboard,
a log, a file of results that did not fit into memory, and not somebody who runs the cluster.
"""

from __future__ import annotations

import hashlib
import hmac
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.exceptions import PlanViolationError

__all__ = [
    "DamagedError",
    "Words",
    "as_words",
    "checked",
    "from_words",
    "mask",
    "opened",
    "sealed",
    "stamped",
    "total_mask",
]

Words = NDArray[np.uint64]
LIMB, LIMBS = 32, 4  # of a Python integer: of up to 2^31 of them, no sum of limbs is cut
LOWER = (1 << LIMB) - 1
LARGEST = 1 << 32  # of an upper limb in one partition
STAMP = 32  # bytes


class DamagedError(RuntimeError):
    """What arrived is not what was sent."""


def as_words(found: Any) -> Words:  # noqa: ANN401
    """Whole numbers, a list of Python's or an array of any kind, as words that may be added up.

    Examples
    --------
    >>> both = as_words([3, -(2**70)]) + as_words([4, 2**70 - 1])
    >>> from_words(both, [0, 0])
    [7, -1]
    """
    if isinstance(found, list):
        return np.array([_limbs(one) for one in found], np.uint64).reshape(-1)
    array = np.asarray(found)
    whole = array.astype(np.int64)
    if not np.array_equal(whole, array):
        raise PlanViolationError("a sum of partitions is no whole number: a solver bug")
    return np.ascontiguousarray(whole).reshape(-1).view(np.uint64)


def _limbs(one: int) -> list[int]:
    upper = one >> (LIMB * (LIMBS - 1))
    if abs(upper) > LARGEST:
        raise PlanViolationError("a sum of one partition is larger than planned: a solver bug")
    return [*((one >> (LIMB * k)) & LOWER for k in range(LIMBS - 1)), upper % 2**64]


def from_words(words: Words, like: Any) -> Any:  # noqa: ANN401
    """The numbers again, in the form that `like` has."""
    if isinstance(like, list):
        *lower, upper = words.reshape(-1, LIMBS).T
        parts = [*(limb.tolist() for limb in lower), upper.view(np.int64).tolist()]
        return [
            sum(one << (LIMB * k) for k, one in enumerate(own)) for own in zip(*parts, strict=True)
        ]
    return words.view(np.int64).reshape(like.shape).astype(like.dtype)


def mask(key: bytes, place: int, size: int) -> Words:
    """Words for a partition; SHAKE256, which nobody without the key tells from random ones."""
    stream = hashlib.shake_256(b"sum" + key + place.to_bytes(8, "little")).digest(8 * size)
    return np.frombuffer(stream, "<u8").astype(np.uint64)


def total_mask(key: bytes, places: Sequence[int], size: int) -> Words:
    """What to subtract from a sum over these partitions."""
    total = np.zeros(size, np.uint64)
    for place in places:
        total += mask(key, place, size)
    return total


def stamped(key: bytes, words: Words) -> bytes:
    """Words that travel."""
    content = words.astype("<u8").tobytes()
    return _stamp(key, b"words", content) + content


def checked(key: bytes, travelled: bytes) -> Words:
    """The words again, unless they were damaged.

    Examples
    --------
    >>> key, sums = bytes(32), np.arange(3, dtype=np.uint64)
    >>> checked(key, stamped(key, sums)).tolist()
    [0, 1, 2]
    """
    stamp, content = travelled[:STAMP], travelled[STAMP:]
    _compare(stamp, _stamp(key, b"words", content))
    return np.frombuffer(content, "<u8").astype(np.uint64)


def sealed(key: bytes, place: int, content: object) -> bytes:
    """Anything, encrypted; the stream is of the stamp, too, so two contents never share one."""
    plain = pickle.dumps(content)
    stamp = _stamp(key, b"text" + place.to_bytes(8, "little"), plain)
    return stamp + _crossed(key, stamp, plain)


def opened(key: bytes, place: int, travelled: bytes) -> Any:  # noqa: ANN401
    """What was sealed, unless it was damaged."""
    stamp = travelled[:STAMP]
    plain = _crossed(key, stamp, travelled[STAMP:])
    _compare(stamp, _stamp(key, b"text" + place.to_bytes(8, "little"), plain))
    return pickle.loads(plain)


def _stamp(key: bytes, use: bytes, content: bytes) -> bytes:
    """HMAC-SHA256 (RFC 2104)."""
    return hmac.digest(key, use + content, "sha256")


def _compare(stamp: bytes, expected: bytes) -> None:
    if not hmac.compare_digest(stamp, expected):
        raise DamagedError("damaged on the way")


def _crossed(key: bytes, stamp: bytes, content: bytes) -> bytes:
    stream = hashlib.shake_256(b"text" + key + stamp).digest(len(content))
    return (np.frombuffer(content, np.uint8) ^ np.frombuffer(stream, np.uint8)).tobytes()
