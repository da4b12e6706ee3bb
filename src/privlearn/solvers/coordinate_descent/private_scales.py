"""What coordinate descent estimates privately first: scales, curvature, and where to clip."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.histograms import (
    EVEN,
    LENGTH_BINS,
    MAGNITUDE_BINS,
    clip_for,
    mean_length,
    moments_from,
    scales_from,
)
from privlearn.solvers._common.integer_rows import IntegerRows
from privlearn.solvers._common.moment_equations import stack, unstack
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.row_count import rows_in_all
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.rules import Settings
from privlearn.solvers.coordinate_descent.whole_rows import FloatRows, Unscaled, unscaled_rows

if TYPE_CHECKING:
    from privlearn.solvers._common.source_sums import SourceIntegers

__all__ = [
    "BENDS",
    "CHOICE",
    "CURVATURE",
    "GRADIENT",
    "LENGTHS",
    "MAGNITUDES",
    "SLOPES",
    "SQUARES",
    "Prepared",
    "RowMoments",
    "magnitudes_of",
    "prepare",
    "private_clip",
    "private_curvature",
]

Array = NDArray[np.float64]
MAGNITUDES = "feature magnitudes"
CURVATURE = "curvature"
LENGTHS = "gradient norms"
GRADIENT = "clipped gradient"
CHOICE = "largest step"
BENDS = "second derivatives at the model"
SLOPES = "second moments of gradients at the model"
SQUARES = "squared errors at the model"
LEAST_DIAGONAL = 0.1  # of a curvature, relative to what magnitudes let expect
ROUNDED = 2.0**-32  # of the largest eigenvalue: what may be rounding of moments (integer_rows.md)
LEAST_KEPT = 0.2  # of the noise, in the damping: structure that is not seen may be there


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows in units where each feature has mean square 1 or so, and the objective in them."""

    objective: Objective
    rows: (
        FloatRows | IntegerRows | SourceIntegers
    )  # integers only where all coordinates move at once
    count: float  # public or released
    scales: Array  # of the features, relative to their bounds
    squares: Array  # their mean squares in these units, as far as known
    target: float  # scale of y, relative to its bounds


class Clip(NamedTuple):
    """To what gradients are shortened, and how steep the loss typically is."""

    length: float
    slope: float


class RowMoments(NamedTuple):
    """Second moments of rows that were shortened to a typical length, as released."""

    damped: Array  # without what may be noise, and never too small: the curvature of steps
    noisy: Array
    noise: float  # deviation on the diagonal; off it, of a part sqrt(1/2) of it
    damping: float  # added to every eigenvalue of `damped`


def prepare(problem: Problem, settings: Settings, data: BoundedData, release: Releaser) -> Prepared:
    """Store the rows, estimate their scales where they are not given, and apply them."""
    count = rows_in_all(problem, data, release)
    centred = not settings.scales_given  # those are mean squares about zero
    plain = Scaling.for_coordinates(problem, centred=centred)
    source = unscaled_rows(problem, settings, plain, data)
    scales, squares, target, moments = _scales(problem, settings, plain, source, count, release)
    rows = source.divided(scales)
    if moments is not None:
        problem = replace(problem, loss=problem.loss.with_moments(*moments))
        plain = Scaling.for_coordinates(problem, centred=centred)
    objective = Objective.of(problem, plain.divided(scales, squares), count)
    if not settings.intervals:  # which are of the objective as it is
        noise = release.noise_scale(GRADIENT)
        _add_unseen(problem, count, scales, objective, noise)
        _add_rare(problem, count, scales, objective, noise / math.sqrt(settings.passes))
    return Prepared(objective, rows, count, scales, squares, target)


def _add_unseen(
    problem: Problem, count: float, scales: Array, objective: Objective, noise: float
) -> None:
    """Add to the penalty what one row would add that lies far out in one feature alone.

    Noise hides such a row from every release, yet its loss may outweigh all others'. Its other
    features and its target say nothing about it: a squared loss grows by half the square of its
    score on average, one with bounded slope by half the slope times the score.
    """
    far = rules.UNSEEN / scales  # in these units
    row = min(1.0, noise) / count  # without noise nothing is hidden
    penalty, own = objective.penalty, slice(len(far))
    if math.isfinite(problem.loss.lipschitz):
        penalty.absolute[own] += row * 0.5 * problem.loss.lipschitz * far
    else:
        heavier = penalty.curvature[own] + row * far**2
        penalty.curvature[own] = np.minimum(heavier, objective.scaling.heaviest)


def _add_rare(
    problem: Problem, count: float, scales: Array, objective: Objective, noise: float
) -> None:
    """Add to the penalty of columns that may have no 1 in any row what rows without effect would.

    As many as keep the noise of such a coefficient, which nothing else limits, below what y varies
    by: the noise on a sum of gradients, in lengths of a typical one. Where slopes are bounded, the
    absolute penalty for a row that is not seen keeps it small already.
    """
    rare = problem.bounds.rare
    if rare is None or math.isfinite(problem.loss.lipschitz):
        return
    rows = rules.RARE * noise * math.sqrt(len(scales) + 1.0)
    penalty, own = objective.penalty, slice(len(scales))
    heavier = penalty.curvature[own] + np.where(rare, rows / count / scales**2, 0.0)
    penalty.curvature[own] = np.minimum(heavier, objective.scaling.heaviest)


def _scales(
    problem: Problem,
    settings: Settings,
    plain: Scaling,
    source: Unscaled,
    count: float,
    release: Releaser,
) -> tuple[Array, Array, float, tuple[float, float] | None]:
    """Scales relative to the bounds, in (0, 1], mean squares in their units; y's scale and mean."""
    if settings.smoothness is None:
        own, known = len(plain.center), None
    else:
        given = np.sqrt(np.asarray(settings.smoothness)) * plain.inverse_scale
        own, known = 0, (np.clip(given, 0.5**MAGNITUDE_BINS, 1.0), np.ones(len(given)))
        if not settings.wants_moments:
            return *known, EVEN, None
    counts = np.zeros((magnitudes_of(problem, settings), MAGNITUDE_BINS))
    if known is None:
        source.count_features(counts[:own])
    if len(counts) > own:
        source.count_targets(counts[own:])
    noisy = release(MAGNITUDES, counts, clip=math.sqrt(len(counts)))
    noise = release.noise_scale(MAGNITUDES)
    close = problem.bounds.estimated
    scales, squares = known or scales_from(noisy[:own], noise, count, close=close)
    if len(counts) == own:
        return scales, squares, EVEN, None
    target = scales_from(noisy[own:], noise, count)[0]
    return scales, squares, float(target[0]), moments_from(noisy[own:], noise, count)


def magnitudes_of(problem: Problem, settings: Settings) -> int:
    """How many histograms of magnitudes there are: of features, and of a y with a unit."""
    features = 0 if settings.scales_given else problem.n_features
    return features + int(problem.loss.has_unit)


def private_curvature(
    prepared: Prepared, release: Releaser, longest: float = rules.LONGEST_ROW
) -> RowMoments:
    """Mean of u u' over rows u, each shortened: squared, to so many mean squares of a row."""
    size = prepared.objective.scaling.width
    typical = float(prepared.squares.sum()) + prepared.objective.scaling.intercept_value**2
    limit = longest * typical
    sums = prepared.rows.second_moments(math.sqrt(limit))
    noisy = release(CURVATURE, stack(sums), clip=1.0)
    mean = unstack(noisy, size) * (limit / prepared.count)
    noise = release.noise_scale(CURVATURE) * limit / prepared.count
    expected = np.append(prepared.squares, np.ones(size - len(prepared.squares)))
    return _denoised(mean, expected, noise)


def _denoised(mean: Array, expected: Array, noise: float) -> RowMoments:
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
    damping = rules.DAMPING * (noise * max(kept, LEAST_KEPT)) * math.sqrt(2.0 * size)
    damped = np.where(values > ROUNDED * values[-1], values, 0.0) + damping
    return RowMoments((vectors * damped) @ vectors.T, mean, noise, damping)


def _structure(found: Array, noise: float) -> float:
    """Share of the squares that noise does not explain."""
    return max(0.0, 1.0 - noise / max(float(np.sum(found**2)), np.finfo(np.float64).tiny))


def private_clip(
    problem: Problem,
    settings: Settings,
    prepared: Prepared,
    weights: Array,
    release: Releaser,
    noise_std: float,
    least_slope: float = 0.0,
    longest_clip: float = math.inf,
) -> Clip:
    """Length to which gradients are clipped, given or from a noisy histogram of lengths.

    `noise_std` is the noise on one coordinate of the sum of gradients, averaged over all steps, per
    unit of clip. Gradients of that slope, in a row of typical length, are not clipped.
    """
    steepest = problem.loss.lipschitz
    slope = 0.5 * steepest if math.isfinite(steepest) else prepared.target  # a typical one
    if settings.clip is not None:
        return Clip(settings.clip, slope)
    longest = longest_gradient(prepared.objective, prepared)
    counts = prepared.rows.count_lengths(prepared.objective, weights, longest, LENGTH_BINS)
    typical = math.sqrt(prepared.squares.sum() + 1.0)  # length of a row
    noisy, noise = release(LENGTHS, counts, clip=1.0), release.noise_scale(LENGTHS)
    found = clip_for(
        noisy,
        noise,
        longest=longest,
        rows=prepared.count,
        noise_std=noise_std / prepared.count * math.sqrt(len(weights)),
        hidden=0.0 if settings.mode == "greedy" else rules.HIDDEN,
        otherwise=2.0 * slope * typical,
        cut_seen=not settings.intervals,
    )
    # Noise could make a clip far too short, which has no Newton step and moves nothing.
    blurred = min(1.0, rules.BLURRED_LENGTHS * noise / prepared.count) * slope * typical
    if settings.intervals:
        found = rules.UNCUT * max(found, blurred)
    elif not math.isfinite(steepest):  # slopes with a bound have a least one of their own
        found = max(found, blurred)
    least = max(least_slope, prepared.objective.loss.least_slope) * typical
    length = mean_length(noisy, noise, longest)
    return Clip(max(min(found, longest_clip), least), slope if length is None else length / typical)


def longest_gradient(objective: Objective, prepared: Prepared) -> float:
    """A length that gradients hardly exceed; from public facts and the estimated scales."""
    loss, scaling = objective.loss, objective.scaling
    scales = prepared.scales[scaling.inverse_scale > 0]
    # Where bounds hold every feature fast, and without an intercept, rows have no length at all.
    row = math.sqrt(float(np.sum(scales**-2.0)) + scaling.intercept_value**2) or 1.0
    if loss.has_unit and not math.isfinite(loss.lipschitz):
        return 2.0 * row
    return max(loss.lipschitz, 1.0) * row
