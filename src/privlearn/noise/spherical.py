"""A vector with density proportional to exp(-|x|_2 / scale), each entry rounded, exactly.

x = scale sqrt(h_1^2 + ... + h_{d+1}^2) g with all h and g independent standard Gaussians: a mixture
of Gaussians over a chi-square scale with d + 1 degrees of freedom (noise.md, "Spherical").
"""

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.noise.evaluate import approximate_quantiles
from privlearn.noise.laws import GAUSSIAN, Context
from privlearn.noise.precise import Interval, enclose, high_precision, refine, rounded_ends
from privlearn.noise.stream import WordStream
from privlearn.noise.tables import UNIT_ROUNDOFF, quantile_table


def rounded_spherical(
    stream: WordStream, scale: float, dimension: int, margin_factor: float
) -> NDArray[np.int64]:
    """Draw one vector."""
    words, first = stream.take(2 * dimension + 1)
    values, margins = _approximate(words, scale, dimension)
    nearest = np.rint(values)
    with np.errstate(invalid="ignore"):
        decided = abs(values - nearest) + margins * margin_factor < 0.5
    result = np.where(decided, nearest, 0).astype(np.int64)
    if not decided.all():
        undecided = np.flatnonzero(~decided).tolist()
        further = [partial(stream.refine, first + i) for i in range(words.size)]
        result[undecided] = _exact_entries(words.tolist(), further, scale, undecided)
    return result


def _approximate(
    words: NDArray[np.uint64], scale: float, dimension: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the entries in double precision and bounds on their errors (noise.md)."""
    gaussians, errors = approximate_quantiles(words, quantile_table(GAUSSIAN))
    radial, direction = gaussians[: dimension + 1], gaussians[dimension + 1 :]
    radial_errors, direction_errors = errors[: dimension + 1], errors[dimension + 1 :]
    square = math.fsum(radial * radial)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        square_error = float(np.sum((2 * abs(radial) + radial_errors) * radial_errors))
        # |sqrt(S) - sqrt(S')| / sqrt(S') <= |S - S'|/S' for every S >= 0
        relative = np.divide(square_error, square) * 1.01 + 16 * UNIT_ROUNDOFF
        length = scale * math.sqrt(square)
        values = length * direction
        margins = length * (1 + relative) * direction_errors + relative * abs(values)
    return values, margins


def _exact_entries(
    words: list[int], further: list[Any], scale: float, wanted: list[int]
) -> list[int]:
    """Decide the wanted entries in high precision, with more and more words for all variables."""
    dimension = (len(words) - 1) // 2
    extra = 0
    while True:
        extra += 1
        entries = []
        refined = {
            i: refine(words[i], further[i], extra)
            for i in [*range(dimension + 1), *(dimension + 1 + j for j in wanted)]
        }
        if any(numerator == 0 for numerator, _ in refined.values()):
            continue
        with high_precision(64 * (extra + 1) + 64) as ctx:
            enclosures = {
                i: enclose(ctx, GAUSSIAN, words[i] & 1, *numerator_and_bits)
                for i, numerator_and_bits in refined.items()
            }
            length = _length(ctx, [enclosures[i] for i in range(dimension + 1)], scale)
            for j in wanted:
                entries.append(_rounded_product(ctx, length, enclosures[dimension + 1 + j]))
        if all(first == last for first, last in entries):
            return [first for first, _ in entries]


def _length(ctx: Context, radial: list[Interval], scale: float) -> Interval:
    """Enclose scale times the Euclidean norm of the enclosed numbers."""
    slack = ctx.ldexp(len(radial) + 16, 16 - ctx.prec)  # more than the rounding of the sums
    low = high = ctx.mpf(0)
    for left, right in radial:
        low += 0 if left <= 0 <= right else min(left * left, right * right)
        high += max(left * left, right * right)
    return scale * ctx.sqrt(low) * (1 - slack), scale * ctx.sqrt(high) * (1 + slack)


def _rounded_product(ctx: Context, length: Interval, factor: Interval) -> tuple[int, int]:
    """Round the ends of a product of enclosures."""
    products = [a * b for a in length for b in factor]
    return rounded_ends(ctx, min(products), max(products))
