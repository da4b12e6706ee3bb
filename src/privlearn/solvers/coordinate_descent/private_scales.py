"""What coordinate descent buys before it descends: scales, curvature, and where to clip."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS, BlockSum
from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import HUBER, Target
from privlearn.solvers._common.coordinates import Coordinates
from privlearn.solvers._common.log_histogram import (
    EVEN,
    LENGTH_BINS,
    MAGNITUDE_BINS,
    clip_for,
    scales_from,
)
from privlearn.solvers._common.moment_equations import stack, unstack
from privlearn.solvers._common.row_count import rows_in_all
from privlearn.solvers.base import sane
from privlearn.solvers.coordinate_descent import rules as cd_rule
from privlearn.solvers.coordinate_descent.rules import Settings

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.row_products import StoredRows
    from privlearn.solvers._common.loops.sgd import Model

__all__ = [
    "CHOICE",
    "CURVATURE",
    "GRADIENT",
    "LENGTHS",
    "MAGNITUDES",
    "Prepared",
    "bought_clip",
    "bought_curvature",
    "magnitudes_of",
    "prepare",
]

Array = NDArray[np.float64]
MAGNITUDES = "feature magnitudes"
CURVATURE = "curvature"
LENGTHS = "gradient norms"
GRADIENT = "clipped gradient"
CHOICE = "largest step"
LEAST_DIAGONAL = 0.1  # of a curvature, relative to what magnitudes let expect
LEAST_KEPT = 0.2  # of the noise, in the damping: structure that is not seen may be there
LEAST_SCALE, LARGEST_SCALE = 1e-3, 1.0  # Huber's, where y lies in [-1, 1]


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows in coordinates where each feature has mean square 1 or so, and the penalty in them."""

    coordinates: Coordinates
    rows: StoredRows
    present: NDArray[np.bool_]
    count: float  # public or released
    scales: Array  # of the features, relative to their bounds
    squares: Array  # their mean squares in these coordinates, as far as known
    target: float  # scale of y, relative to its bounds
    l1: Array
    l2: Array
    low: Array
    high: Array
    start: Array  # weights at zero, or as near as the box lets them; Huber's scale at that of y


def prepare(problem: Problem, settings: Settings, data: BoundedData, release: Releaser) -> Prepared:
    """Store the rows, buy what is to be estimated about their scales, and apply it."""
    from privlearn.solvers._common.loops.log_histogram import rescale

    present = data.present()
    count = rows_in_all(problem, data, release)
    given = settings.smoothness is not None  # mean squares about zero, so nothing is centred
    plain = Coordinates.to_be_scaled(problem, centred=not given)
    rows = plain.stored(data)
    scales, squares, target = _scales(problem, settings, plain, rows, present, count, release)
    rescale(rows.values, rows.columns, rows.starts, 1.0 / scales, plain.unit, rows.norms)
    coordinates = plain.divided(scales)
    with np.errstate(over="ignore", invalid="ignore"):
        l1, l2, low, high = coordinates.penalty(problem, count)
    l1, l2 = sane(l1), sane(l2)
    l1, l2 = _with_unseen(problem, count, scales, l1, l2, release.noise_scale(GRADIENT))
    l1, l2, low, high = _all_sides(problem, (l1, l2, low, high))
    start = np.clip(np.zeros(len(l1)), low, high)
    if problem.loss.code == HUBER:
        start[-1] = max(LEAST_SCALE, target)
    known = (count, scales, squares, target)
    return Prepared(coordinates, rows, present, *known, l1, l2, low, high, start)


def _with_unseen(
    problem: Problem, count: float, scales: Array, l1: Array, l2: Array, noise: float
) -> tuple[Array, Array]:
    """The penalty, and what one row would add that lies far out in one feature alone.

    Noise hides such a row from every release, yet its loss may outweigh all others'. Its other
    features and its target say nothing about it: a squared loss grows by half the square of its
    score on average, one with bounded slope by half the slope times the score.
    """
    far = cd_rule.UNSEEN / scales  # in these coordinates
    row = min(1.0, noise) / count  # without noise nothing is hidden
    if math.isfinite(problem.loss.lipschitz):
        return l1 + row * 0.5 * problem.loss.lipschitz * far, l2
    return l1, l2 + row * far**2


def _scales(
    problem: Problem,
    settings: Settings,
    plain: Coordinates,
    rows: StoredRows,
    present: NDArray[np.bool_],
    count: float,
    release: Releaser,
) -> tuple[Array, Array, float]:
    """Scales relative to the bounds, in (0, 1], mean squares in their units, and the scale of y."""
    if settings.smoothness is not None:
        given = np.sqrt(np.asarray(settings.smoothness)) * plain.inverse_scale
        return np.clip(given, 0.5**MAGNITUDE_BINS, 1.0), np.ones(len(given)), EVEN
    from privlearn.solvers._common.loops.log_histogram import count_magnitudes

    features, none = len(plain.center), np.empty(0, np.int64)
    counts = np.zeros((magnitudes_of(problem), MAGNITUDE_BINS))
    count_magnitudes(rows.values, rows.columns, rows.starts, present, counts[:features])
    if len(counts) > features:
        count_magnitudes(rows.targets[:, None], none, none, present, counts[features:])
    noisy = release(MAGNITUDES, counts, clip=math.sqrt(len(counts)))
    noise = release.noise_scale(MAGNITUDES)
    scales, squares = scales_from(noisy[:features], noise, count)
    target = scales_from(noisy[features:], noise, count)[0] if len(counts) > features else [EVEN]
    return scales, squares, float(target[0])


def magnitudes_of(problem: Problem) -> int:
    """How many histograms of magnitudes there are: every feature's, and that of a number y."""
    return problem.n_features + int(problem.loss.target is Target.NUMBER)


def _all_sides(problem: Problem, sides: tuple[Array, ...]) -> list[Array]:
    """The penalty with its entries for the intercept, which is free, and for Huber's scale."""
    intercept = [0.0, 0.0, -np.inf, np.inf] if problem.fit_intercept else []
    scale = [0.0, 0.0, LEAST_SCALE, LARGEST_SCALE] if problem.loss.code == HUBER else []
    found = []
    for k, side in enumerate(sides):
        found.append(np.concatenate([side, intercept[k : k + 1], scale[k : k + 1]]))
    return found


def bought_curvature(prepared: Prepared, release: Releaser) -> Array:
    """Mean of u u' over rows u, each shortened to the length that rows typically have."""
    size = prepared.coordinates.width
    typical = float(prepared.squares.sum()) + prepared.coordinates.unit**2
    limit = cd_rule.LONGEST_ROW * typical
    sums = BlockSum((size, size))
    for u in _dense_blocks(prepared):
        squares = np.einsum("ij,ij->i", u, u)
        u *= np.sqrt((1.0 - 2.0**-30) / np.maximum(squares, limit))[:, None]
        sums.add(u.T @ u)
    noisy = release(CURVATURE, stack(sums.value()), clip=1.0)
    mean = unstack(noisy, size) * (limit / prepared.count)
    noise = release.noise_scale(CURVATURE) * limit / prepared.count
    expected = np.append(prepared.squares, np.ones(size - len(prepared.squares)))
    return _denoised(mean, expected, noise)


def _denoised(mean: Array, expected: Array, noise: float) -> Array:
    """A noisy curvature, shrunk to its expected diagonal as far as it may be noise, and damped.

    Off the diagonal the noise has variance noise^2 / 2; what is left of the squares beyond it is
    structure (Ledoit, Wolf 2004). Damping by a part of the largest eigenvalue that noise has keeps
    the model above the loss, where noise could put it below.
    """
    size = len(mean)
    diagonal = np.diag(mean)
    off = mean - np.diag(diagonal)
    kept = _structure(off, size * (size - 1) * noise**2 / 2.0)
    deviation = diagonal - expected
    corrected = expected + _structure(deviation, size * noise**2) * deviation
    corrected = np.maximum(corrected, LEAST_DIAGONAL * expected) if noise > 0 else diagonal
    values, vectors = np.linalg.eigh(np.diag(corrected) + kept * off)
    left = noise * max(kept, LEAST_KEPT)
    damped = np.maximum(values, 0.0) + cd_rule.DAMPING * left * math.sqrt(2.0 * size)
    return np.asarray((vectors * damped) @ vectors.T)


def _structure(found: Array, noise: float) -> float:
    """Share of the squares that noise does not explain."""
    return max(0.0, 1.0 - noise / max(float(np.sum(found**2)), np.finfo(np.float64).tiny))


def _dense_blocks(prepared: Prepared) -> Iterator[Array]:
    """Blocks of rows in double precision with the intercept's entry; empty rows are zeros."""
    rows, unit = prepared.rows, prepared.coordinates.unit
    features = len(prepared.coordinates.center)
    n = len(rows.targets)
    for start in range(0, n, BLOCK_ROWS):
        own = slice(start, min(start + BLOCK_ROWS, n))
        block = np.zeros((own.stop - start, prepared.coordinates.width))
        if rows.columns.size == 0:
            block[:, :features] = rows.values[own]
        else:
            first, last = rows.starts[start], rows.starts[own.stop]
            owner = np.repeat(np.arange(len(block)), np.diff(rows.starts[start : own.stop + 1]))
            block[owner, rows.columns[first:last]] = rows.values[0, first:last]
        block[:, features:] = unit
        block[~prepared.present[own]] = 0.0
        yield block


def bought_clip(
    problem: Problem,
    settings: Settings,
    prepared: Prepared,
    model: Model,
    weights: Array,
    release: Releaser,
    blur: float,
) -> float:
    """Length to which gradients are clipped, given or from a noisy histogram of lengths.

    `blur` is the noise on one coordinate of the sum of gradients, averaged over all steps, per unit
    of clip.
    """
    if settings.clip is not None:
        return settings.clip
    from privlearn.solvers._common.loops.log_histogram import count_lengths

    longest = _longest(problem, prepared)
    counts = np.zeros(LENGTH_BINS)
    count_lengths(prepared.rows, prepared.present, model, weights, longest, counts)
    return clip_for(
        release(LENGTHS, counts, clip=1.0),
        release.noise_scale(LENGTHS),
        longest=longest,
        rows=prepared.count,
        blur=blur / prepared.count * math.sqrt(len(weights)),
        hidden=cd_rule.HIDDEN if settings.mode == "whole" else 0.0,
        otherwise=2.0 * _typical_slope(problem, prepared) * math.sqrt(prepared.squares.sum() + 1.0),
    )


def _typical_slope(problem: Problem, prepared: Prepared) -> float:
    """Derivative of the loss for errors of the size of y's; half the steepest one where bounded."""
    if math.isfinite(problem.loss.lipschitz):
        return 0.5 * problem.loss.lipschitz
    return prepared.target


def _longest(problem: Problem, prepared: Prepared) -> float:
    """A length that gradients hardly exceed; from public facts and the bought scales."""
    movable = prepared.coordinates.inverse_scale > 0
    row = math.sqrt(float(np.sum(prepared.scales[movable] ** -2.0)) + prepared.coordinates.unit**2)
    if problem.loss.target is Target.NUMBER and not math.isfinite(problem.loss.lipschitz):
        return 2.0 * row
    return max(problem.loss.lipschitz, 1.0) * row
