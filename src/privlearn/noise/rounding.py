"""Rounded draws from a tabulated law: doubles decide nearly all, mpmath the rest."""

import math
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from privlearn._core.threads import in_parts
from privlearn.noise.evaluate import round_quantiles
from privlearn.noise.laws import Law
from privlearn.noise.precise import rounded_quantile
from privlearn.noise.stream import WordStream
from privlearn.noise.tables import quantile_table, table_by_piece

_CHUNK = 1 << 14  # words: 128 KiB, so that they stay in a core's cache until they are used
_PER_THREAD = 1 << 17  # words that a thread is worth


def round_words(
    words: NDArray[np.uint64],
    further: Callable[[int, int], int],
    law: Law,
    scale: float,
    rounded: NDArray[np.int64],
    margin_factor: float = 1.0,
) -> int:
    """Write round(scale * quantile) for given words; ``further(i, count)`` extends the i-th.

    Returns how many of the words had to be extended.
    """
    undecided: NDArray[np.int64]
    if "numba" in sys.modules:  # compiled where the compiler is loaded anyway
        from privlearn.noise.compiled import write_rounded

        undecided = write_rounded(words, table_by_piece(law), scale, margin_factor, rounded)
    else:
        undecided = round_quantiles(words, quantile_table(law), scale, margin_factor, rounded)
    for i in undecided.tolist():
        rounded[i] = rounded_quantile(law, int(words[i]), partial(further, i), scale)
    return len(undecided)


def rounded_draws(
    stream: WordStream, law: Law, scale: float, shape: tuple[int, ...], margin_factor: float
) -> NDArray[np.int64]:
    """Draw an array of rounded values from a stream; many in threads, with the same bits.

    Number i of the array is that of word i, whichever thread makes it.
    """
    result = np.empty(math.prod(shape), dtype=np.int64)
    if result.size < 2 * _PER_THREAD:
        _fill(stream.take, stream, law, scale, result, margin_factor)
        return result.reshape(shape)
    begin = stream.skip(result.size)

    def fill(first: int, last: int) -> None:
        words = stream.at(begin + first)
        _fill(words.take, stream, law, scale, result[first:last], margin_factor)

    in_parts(result.size, fill, at_least=_PER_THREAD)
    return result.reshape(shape)


def _fill(
    take: Callable[[int], tuple[NDArray[np.uint64], int]],
    stream: WordStream,
    law: Law,
    scale: float,
    result: NDArray[np.int64],
    margin_factor: float,
) -> None:
    """Write rounded values of the next words, some at a time."""
    for start in range(0, result.size, _CHUNK):
        part = result[start : start + _CHUNK]
        words, first = take(part.size)
        further = partial(_further, stream, first)
        round_words(words, further, law, scale, part, margin_factor)


def _further(stream: WordStream, first: int, i: int, count: int) -> int:
    """Extend the i-th word of a block that starts with word number ``first``."""
    return stream.refine(first + i, count)
