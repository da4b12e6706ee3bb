"""Where estimated ranges lie in declared ones, and around what their columns are centred.

What is declared is a limit, and may be far wider than the data. A column of 0 to 15 with mean 8 is
long about zero and short about its mean, and noise follows the length of rows. A rare flag is short
about zero, where most of its rows are. All of it is post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds, Budget, Problem, short_rows_exist
from privlearn._objective.losses import Target
from privlearn.private_bounds.powers import UNKNOWN
from privlearn.private_bounds.ranges import CoarseRange, Range
from privlearn.private_bounds.steady import EndNoise, SteadyRange, steady_range
from privlearn.solvers import Solver, resolve
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default
from privlearn.solvers.auto import norm_tells_enough

__all__ = [
    "CentredRange",
    "beside_declared",
    "centers",
    "coarse_inside",
    "counted_columns",
    "declared_range",
    "inside",
    "looks_closer",
    "noise_of",
    "of_use_together",
    "solver_by_rule",
    "widened",
]

Array = NDArray[np.float64]
READABLE = 0.1  # noise of a mean, relative to the range, above which it says nothing
ENOUGH = 20.0  # rows times mu from which on more is seen than declared
HIDING = 200.0  # rows per deviation of noise up to which tails are hidden
# A column ends abruptly where its last bin stands out by so many deviations of noise, holds so much
# of the most that a few bins before it do, and at most this part of the rows may be beyond it.
STANDS_OUT, AS_MANY, BEFORE, BEYOND = 10.0, 0.7, 4, 0.1
MAX_EXPONENT = 1023  # of a float
STEADY_MORE = 0.08  # of its width, by which a range with steady ends is wider
NARROWER = 1 / 16  # of what was seen: then a declared range says more than powers of two do


def looks_closer(what: str, problem: Problem, budget: Budget) -> bool:
    """Whether ranges are estimated inside declared ones: where a budget shows where rows lie.

    Scales that are declared leave nothing to look for. Nor does a norm without a box: its features
    are likely to be of one scale, and the norm tells it. A norm much below the box's corner tells
    enough of "features" where little is seen of each, and nothing of the "target".
    """
    bounds, seen = problem.bounds, gdp_mu(problem, budget) * public_n_or_default(problem)
    known = bounds.scale is not None or (bounds.low is None and bounds.row_norm is not None)
    if known or seen < ENOUGH:
        return False
    return what == "target" or not norm_tells_enough(problem, seen)


def solver_by_rule(problem: Problem, budget: Budget) -> Solver:
    """What "auto" takes: where it looks closer, or must, as if nothing were declared."""
    partly = problem.bounds.low is not None and not problem.bounds.limit_features
    if partly or looks_closer("features", problem, budget):
        nothing = Bounds(None, None, None, None, problem.bounds.scale)
        problem = replace(problem, bounds=nothing)
    return resolve("auto", problem, budget)


def declared_range(what: str, problem: Problem) -> Range | None:
    """The declared box of the "features" or of the "target", if there is one."""
    bounds = problem.bounds
    if what == "target":
        if bounds.target is None or problem.loss.target is not Target.NUMBER:
            return None
        return Range(*(np.array([end]) for end in bounds.target))
    if bounds.low is None or bounds.high is None:
        return None
    return Range(bounds.low, bounds.high)


def inside(found: Range, declared: Range) -> Range:
    """The part of a range that is in the declared one; all of that where there is none."""
    low, high = (np.clip(end, declared.low, declared.high) for end in (found.low, found.high))
    empty = low >= high
    return Range(np.where(empty, declared.low, low), np.where(empty, declared.high, high))


def coarse_inside(found: CoarseRange, declared: Range) -> CoarseRange:
    """The same of a range to look closer at; all of the declared one where nothing was seen.

    Where nothing but zeros was, ends stay: what else there is, is too rare to be seen closer. A
    declared range cuts at powers of two, so that bins are those of nothing declared, and tails show
    in them as well as there. Only one that is far narrower cuts at its own ends.
    """
    there = np.isfinite(declared.low)  # of the other columns nothing is declared
    own = Range(
        np.where(there, declared.low, found.low), np.where(there, declared.high, found.high)
    )
    return _coarse_inside(found, own, there)


def _coarse_inside(found: CoarseRange, declared: Range, there: NDArray[np.bool_]) -> CoarseRange:
    within, powers = inside(found, declared), inside(found, _between_powers(declared))
    far = within.high - within.low < NARROWER * (powers.high - powers.low)
    within = Range(np.where(far, within.low, powers.low), np.where(far, within.high, powers.high))
    unseen = (found.latest_low <= found.low) & (found.earliest_high >= found.high)
    nothing = there & unseen & (found.rows <= 0.0)
    low = np.where(nothing, declared.low, within.low)
    high = np.where(nothing, declared.high, within.high)
    latest_low, earliest_high = (
        np.clip(end, low, high) for end in (found.latest_low, found.earliest_high)
    )
    return replace(
        found,
        low=low,
        high=high,
        latest_low=np.where(nothing, high, latest_low),
        earliest_high=np.where(nothing, low, earliest_high),
    )


def _between_powers(declared: Range) -> Range:
    """The range with its ends moved outwards to powers of two, or zero."""
    return Range(
        np.where(declared.low > 0.0, _power(declared.low, -1), -_power(-declared.low, 1)),
        np.where(declared.high < 0.0, -_power(-declared.high, -1), _power(declared.high, 1)),
    )


def _power(size: Array, side: int) -> Array:
    """The next power of two from a size on, upwards (1) or downwards (-1); 0 unless positive."""
    fraction, exponent = np.frexp(size)  # f 2^e, f within 1/2 and 1
    whole = exponent - ((fraction == 0.5) | (side < 0))
    return np.where(size > 0.0, np.ldexp(1.0, np.minimum(whole, MAX_EXPONENT)), 0.0)


def of_use_together(found: Bounds, declared: Bounds, fit_intercept: bool) -> Bounds:
    """The estimated bounds, or the declared box where no row of a declared norm is in theirs."""
    if short_rows_exist(found, fit_intercept):
        return found
    return replace(found, low=declared.low, high=declared.high, center=None, end_noise=None)


def counted_columns(bounds: Bounds, *, closer: bool) -> NDArray[np.bool_] | None:
    """Features whose ranges are estimated; None where that is all of them.

    Those without declared ends, and where one looks closer, those inside declared ends as well, but
    for columns that are known to fill them.

    Examples
    --------
    >>> low, high = np.array([-np.inf, 0.0, 17.0]), np.array([np.inf, 1.0, 90.0])
    >>> bounds = Bounds(low, high, None, None, known=np.array([False, True, False]))
    >>> [counted_columns(bounds, closer=closer).tolist() for closer in (False, True)]
    [[True, False, False], [True, False, True]]
    """
    if bounds.low is None:
        return None
    known = np.full(len(bounds.low), not closer)
    if closer and bounds.known is not None:
        known = bounds.known
    known = known | (bounds.low == bounds.high)  # between which nothing is to be looked for
    counted = ~np.isfinite(bounds.low) | ~known
    return None if counted.all() else np.asarray(counted)


@dataclass(frozen=True, eq=False)
class CentredRange(Range):
    """Ends of the columns' values, and around what to centre them; None leaves that open.

    `estimated` says which columns' ends were estimated; None means all of them. `noise` tells how
    far noise moves the ends.
    """

    center: Array | None = None
    estimated: NDArray[np.bool_] | None = None
    noise: EndNoise | None = None


def beside_declared(
    found: CentredRange, counted: NDArray[np.bool_], bounds: Bounds
) -> CentredRange:
    """Estimated ends of the counted columns, declared ones of the others.

    Columns that were not counted are centred only where their ends exclude zero: nothing else is
    known of them.
    """
    low, high = (np.array(side, dtype=np.float64) for side in (bounds.low, bounds.high))
    low[counted], high[counted] = found.low, found.high
    noise = None
    if found.noise is not None:
        deviation, beyond = np.zeros((2, 2, len(low)))
        deviation[:, counted], beyond[:, counted] = found.noise
        noise = EndNoise(deviation, beyond)
    if found.center is None:
        return CentredRange(low, high, None, counted, noise)
    excluded = (low > 0.0) | (high < 0.0)
    center = np.where(excluded, low / 2 + high / 2, 0.0)
    center[counted] = found.center
    return CentredRange(low, high, center, counted, noise)


def noise_of(wide: SteadyRange, ends: Range, rows: Array) -> EndNoise:
    """How far noise moves the ends; not at all where they are zero, or those of what is declared.

    Parameters
    ----------
    wide, ends : Range
        The range that was found, and the part of it that is in the declared one.
    rows : array of shape (columns,)
        How many there are.
    """
    here, there = np.array([ends.low, ends.high]), np.array([wide.low, wide.high])
    moves = (here == there) & (here != 0.0)
    beyond = np.clip(wide.beyond / np.maximum(rows, 1.0), 0.0, 1.0)
    return EndNoise(np.where(moves, wide.deviation, 0.0), np.where(moves, beyond, 0.0))


def widened(
    counts: Array, noise: float, within: Range, found: CoarseRange, by: float
) -> SteadyRange:
    """The range with room for tails that noise hides, but not across zero.

    A column that ends abruptly, as flags, grades and cut-off values do, has no tail there. Where
    nothing was seen the range stays as it is.

    Parameters
    ----------
    counts : array of shape (columns, bins)
        Noisy, of even bins between the ends of `within`.
    noise : float
        Standard deviation of the noise on a count.
    within : Range
        Ends of the bins.
    found : CoarseRange
        Ends of what was seen.
    by : float
        Part of its width, on either side; less where there is little noise beside the rows.
    """
    unknown = (found.low == -UNKNOWN) & (found.high == UNKNOWN)
    bins = (within.high - within.low) / counts.shape[1]
    first, last = (found.low - within.low) / bins, (within.high - found.high) / bins
    above = _abrupt(counts[:, ::-1], noise, last, found.rows)
    abrupt = np.array([_abrupt(counts, noise, first, found.rows), above])
    ends = steady_range(counts, noise, within, found, abrupt | unknown)
    hidden = np.minimum(1.0, HIDING * noise / np.maximum(found.rows, HIDING * noise + 1.0))
    part = by * hidden + np.where(ends.steady, STEADY_MORE, 0.0)
    return ends.widened(np.where(abrupt | unknown, 0.0, part * (ends.high - ends.low)))


def _abrupt(counts: Array, noise: float, place: Array, rows: Array) -> NDArray[np.bool_]:
    """Whether many rows are in the first bin, which begins at `place`, and hardly any before it."""
    columns, bins = np.arange(len(counts)), counts.shape[1]
    first = np.clip(np.rint(place), 0, bins - 1).astype(np.int64)
    after = np.minimum(first[:, None] + np.arange(1, BEFORE + 1), bins - 1)
    own, most = counts[columns, first], np.take_along_axis(counts, after, axis=1)
    stands_out = (own >= STANDS_OUT * noise) & (own >= AS_MANY * most.max(axis=1))
    before = np.cumsum(counts, axis=1)[columns, first] - own
    few = before + noise * np.sqrt(first) <= BEYOND * rows
    return np.asarray(stands_out & few & (np.abs(place - first) < 1e-6))


def centers(counts: Array, noise: float, within: Range, found: Range) -> Array:
    """The mean of each column where it is more than a deviation from zero, else zero.

    Where noise hides the mean it is the middle of a range that excludes zero, and zero else.

    Parameters
    ----------
    counts : array of shape (columns, bins)
        Noisy, of even bins between the ends of `within`.
    noise : float
        Standard deviation of the noise on a count.
    within, found : Range
        Ends of the bins, and those that were found by them.
    """
    bins = counts.shape[1]
    width = ((within.high - within.low) / bins)[:, None]
    middles = within.low[:, None] + (np.arange(bins) + 0.5) * width
    # In the bin of zero most is zero, or beside it.
    middles = np.where(np.abs(middles) <= 0.5 * width * (1.0 + 1e-9), 0.0, middles)
    inside = (middles >= found.low[:, None]) & (middles <= found.high[:, None])
    kept = np.where(inside, counts, 0.0)
    rows = kept.sum(axis=1)
    some = np.maximum(rows, 1.0)
    mean = (kept * middles).sum(axis=1) / some
    away = np.where(inside, middles - mean[:, None], 0.0)
    variance = (kept * away**2).sum(axis=1) / some
    error = noise * np.sqrt((away**2).sum(axis=1)) / some
    readable = (rows > 0.0) & (error <= READABLE * (found.high - found.low))
    far = mean**2 > np.maximum(variance, 0.0)
    believed = np.where(far, np.clip(mean, found.low, found.high), 0.0)
    excluded = (found.low > 0.0) | (found.high < 0.0)
    middle = np.where(excluded, found.low / 2 + found.high / 2, 0.0)
    return np.asarray(np.where(readable, believed, middle))
