"""Uniform integers, coin flips, random subsets and orders, all exact."""

import math

import numpy as np
from numpy.typing import NDArray

from privlearn.noise.stream import WordStream

_SKIP_BELOW = 0.125  # sampling rates below this: jump from one selected row to the next


def uniform_below(stream: WordStream, bound: int, count: int) -> NDArray[np.int64]:
    """Draw integers below a bound: a word is refused unless a whole period of them fits."""
    accepted_words = 2**64 - 2**64 % bound
    result = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count:
        words, _ = stream.take(count - filled)
        if accepted_words < 2**64:
            words = words[words < np.uint64(accepted_words)]
        result[filled : filled + words.size] = words % np.uint64(bound)
        filled += words.size
    return result


def bernoulli(stream: WordStream, rate: float, count: int) -> NDArray[np.bool_]:
    """Draw coin flips U < rate, U known to 16 bits first and to more only where they tie.

    The rate is a dyadic rational, so every comparison is one of integers.
    """
    numerator, denominator = rate.as_integer_ratio()
    leading, remainder = divmod(numerator << 16, denominator)
    words, first = stream.take(-(-count // 4))
    pieces = words.astype("<u8", copy=False).view("<u2")[:count]
    if leading > 0xFFFF:  # rate = 1
        return np.ones(count, dtype=np.bool_)
    flips = pieces < np.uint16(leading)
    if remainder:
        for i in np.flatnonzero(pieces == np.uint16(leading)).tolist():
            flips[i] = _tied_flip(stream, first + i // 4, i % 4, remainder, denominator)
    return flips


def _tied_flip(
    stream: WordStream, index: int, piece: int, numerator: int, denominator: int
) -> bool:
    """Compare a fresh uniform with numerator/denominator < 1; a word serves four pieces."""
    length = 0
    while True:
        length += 1
        drawn = 0
        further = stream.refine(index, 4 * length)
        for place in range(length):
            shift = 64 * (4 * (length - place) - 1 - piece)
            drawn = (drawn << 64) | ((further >> shift) & (2**64 - 1))
        whole, remainder = divmod(numerator << (64 * length), denominator)
        if drawn != whole:
            return drawn < whole
        if remainder == 0:
            return False


def poisson_batch(
    stream: WordStream, rate: float, n: int, margin_factor: float
) -> NDArray[np.int64]:
    """Select rows independently; by skips when few are selected, else by one flip per row."""
    if rate >= _SKIP_BELOW:
        return np.flatnonzero(bernoulli(stream, rate, n)).astype(np.int64, copy=False)
    if rate == 0:
        return np.zeros(0, dtype=np.int64)
    from privlearn.noise.skips import skips

    batches = [np.zeros(0, dtype=np.int64)]
    last = -1
    while True:
        expected = rate * (n - 1 - last)
        count = int(expected + 4 * math.sqrt(expected)) + 4
        rows = last + np.cumsum(1 + skips(stream, rate, n, count, margin_factor))
        batches.append(rows[rows < n])
        if rows[-1] >= n:
            return np.concatenate(batches)
        last = int(rows[-1])


def permutation(stream: WordStream, n: int) -> NDArray[np.int64]:
    """Sort by random words. Given that no two are equal every order is equally likely."""
    while True:
        words, _ = stream.take(n)
        order = np.argsort(words)
        keys = words[order]
        if not np.any(keys[1:] == keys[:-1]):
            return order.astype(np.int64, copy=False)
