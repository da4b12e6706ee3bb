"""Geometric skips: how many rows to leave out before the next selected one, exactly.

P(skip >= j) = (1 - q)^j, so skip = floor(E / -log(1 - q)) with E exponential, and E is the length
of a Laplace variable. Doubles decide the floor unless E / -log(1 - q) is too near an integer.
"""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from privlearn.noise.laws import LAPLACE
from privlearn.noise.precise import MoreWords, enclose, high_precision, refine
from privlearn.noise.stream import WordStream
from privlearn.noise.tables import table_by_piece


def skips(
    stream: WordStream, rate: float, limit: int, count: int, margin_factor: float
) -> NDArray[np.int64]:
    """Draw ``count`` skips; those of at least ``limit`` are returned as ``limit``."""
    from privlearn.noise.compiled import write_skips

    words, first = stream.take(count)
    result = np.empty(count, dtype=np.int64)
    log_keep = -math.log1p(-rate)
    undecided = write_skips(
        words, table_by_piece(LAPLACE), log_keep, float(limit), margin_factor, result
    )
    for i in undecided.tolist():
        result[i] = _exact_skip(int(words[i]), partial(stream.refine, first + i), rate, limit)
    return result


def _exact_skip(word: int, more: MoreWords, rate: float, limit: int) -> int:
    """Decide one skip in high precision."""
    extra = 0
    while True:
        extra += 1
        numerator, bits = refine(word, more, extra)
        if numerator == 0:
            continue
        with high_precision(bits + 64) as ctx:
            # one side will do: only the length is used
            low, high = enclose(ctx, LAPLACE, 1, numerator, bits)
            log_keep = -ctx.log1p(-ctx.mpf(rate))
            slack = ctx.ldexp(1, 16 - ctx.prec)
            first = min(int(ctx.floor(max(low, 0) / log_keep * (1 - slack))), limit)
            last = min(int(ctx.floor(high / log_keep * (1 + slack))), limit)
        if first == last:
            return first
