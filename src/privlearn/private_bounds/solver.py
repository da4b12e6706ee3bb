"""A solver that needs bounds, on data whose bounds nobody declared: it estimates them first.

The proof is in proof.md. To an estimator a `WithPrivateBounds` looks like any other solver.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Penalised, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import Target
from privlearn.exceptions import PlanViolationError
from privlearn.private_bounds import selection
from privlearn.private_bounds.declared import (
    CentredRange,
    beside_declared,
    centers,
    coarse_inside,
    counted_columns,
    declared_range,
    inside,
    looks_closer,
    noise_of,
    of_use_together,
    widened,
)
from privlearn.private_bounds.powers import POWERS, SIGNED_BINS, coarse_range
from privlearn.private_bounds.ranges import (
    LAST_BINS,
    located_range,
    refined_range,
    zoom_bins,
)
from privlearn.solvers import Solution, Solver, Support
from privlearn.solvers._common.counting import count_evenly, count_signed
from privlearn.solvers._common.histograms import histogram_release
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default
from privlearn.solvers.base import SolverDefaults

__all__ = ["WithPrivateBounds", "range_releases", "with_private_bounds"]

Array = NDArray[np.float64]
# Shares of the budget (in mu^2), and parts of them for the histograms (derive/private_bounds.py).
FEATURES = 0.15
PARTS = (1 / 3, 1 / 6, 1 / 6, 1 / 3)  # powers of two, many bins twice, few bins
# Part of its width by which a range is widened on either side, for tails that noise hides.
WIDER = {"features": 0.25, "target": 0.125}
TARGET, TARGET_AT_MOST, TARGET_SIGNAL = 0.10, 0.30, 45.0  # more where n mu is small
# Where people have several rows: how many there are tells whether a histogram shows most of them.
ROWS, ROWS_SHARE = "number of rows, for ranges", 0.02


def with_private_bounds(
    solver: Solver, problem: Problem, budget: Budget, *, automatic: bool, may_select: bool = True
) -> Solver:
    """The solver itself where all that it needs was declared, else one that estimates the rest.

    Ranges are estimated with Gaussian noise and at one level for all. Where a budget does not allow
    that the solver gets what there is, and says what it lacks.

    Parameters
    ----------
    solver, problem, budget
        What to solve, how, and for how much.
    automatic : bool
        Whether ranges may be estimated inside declared ones, and features left out where there are
        too many to estimate their ranges.
    may_select : bool, default=True
        False keeps all features all the same.
    """
    bounds, wanted = problem.bounds, list[str]()
    closer = {what: automatic and looks_closer(what, problem, budget) for what in WIDER}
    if solver.support.bounds and budget.delta > 0.0 and not problem.levels:
        counted = counted_columns(bounds, closer=closer["features"])
        if (closer["features"] or not bounds.limit_features) and (counted is None or counted.any()):
            wanted.append("features")
        if problem.loss.target is Target.NUMBER and (closer["target"] or bounds.target is None):
            wanted.append("target")
    if not wanted:
        return solver
    known = problem.fewest is None  # else nobody knows yet whether there are too many
    may_select = may_select and automatic and known and "features" in wanted
    keep = selection.number_to_keep(problem, budget) if may_select else None
    return cast("Solver", WithPrivateBounds(solver, tuple(wanted), keep, closer["features"]))


class Settings(NamedTuple):
    """The inner solver's, for bounds that stand in for those to be estimated; shares and bins."""

    inner: Any
    shares: dict[str, float]
    bins: dict[str, tuple[int, int]]  # even ones, where columns may be narrow


@dataclass(frozen=True, eq=False)
class WithPrivateBounds(SolverDefaults):
    """Estimates the ranges of the features, the target or both, and runs `inner` within them.

    Attributes
    ----------
    inner : Solver
        Any whose plan depends on the shape of the box alone, not on where it lies.
    wanted : tuple of {"features", "target"}
        What nobody declared.
    keep : int or None
        How many features are selected first; None takes them all.
    closer : bool
        Whether ranges are estimated inside declared ones, too.
    """

    inner: Solver
    wanted: tuple[str, ...]
    keep: int | None = None
    closer: bool = True

    @property
    def name(self) -> str:
        """The inner solver's."""
        return self.inner.name

    @property
    def support(self) -> Support:
        """The inner solver's, without its need of bounds."""
        return replace(self.inner.support, bounds=False)

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Settings of the inner solver in the box [-1, 1]; all from public facts.

        Where little can be seen, the target's range is what matters most. There are as many even
        bins as rows can be seen in.
        """
        inner = self.inner.configure(self._within(problem, {}), budget)
        mu, n = gdp_mu(problem, budget), public_n_or_default(problem)
        target = min(max(TARGET_SIGNAL / (n * mu), TARGET), TARGET_AT_MOST)
        shares, bins = {"features": FEATURES, "target": target}, {}
        for what in self.wanted:
            width = _width(what, self._counted(problem))
            bins[what] = zoom_bins(n * (mu * math.sqrt(shares[what] * PARTS[1] / width)), width)
        return Settings(inner, shares, bins)

    def _counted(self, problem: Problem) -> int:
        """How many features are counted at most; with a selection, of those that may be chosen."""
        counted = counted_columns(problem.bounds, closer=self.closer)
        size = self.keep or problem.n_features
        # At least one, for a release has a size; it is passed over where there is none.
        return size if counted is None else max(1, min(size, int(counted.sum())))

    def _within(self, problem: Problem, ranges: dict[str, CentredRange]) -> Problem:
        """The inner problem with estimated bounds, or with [-1, 1] until they are."""
        size = self.keep or problem.n_features
        bounds = problem.bounds
        if bounds.low is not None and len(bounds.low) > size:  # which are selected is not known yet
            bounds = selection.bounds_of(bounds, np.arange(size))
        if "features" in self.wanted:
            box = ranges.get("features") or CentredRange(-np.ones(size), np.ones(size))
            nothing = not bounds.limit_features
            found = replace(
                bounds,
                low=box.low,
                high=box.high,
                center=box.center,
                penalised=Penalised.STANDARDISED if nothing else Penalised.NOT_TOO_SMALL,
                estimated=True,
                end_noise=box.noise,
            )
            if bounds.row_norm is not None:
                found = of_use_together(found, bounds, problem.fit_intercept)
            bounds = found
        if "target" in self.wanted:
            ends = ranges.get("target") or CentredRange(-np.ones(1), np.ones(1))
            target = float(ends.low[0]), float(ends.high[0])
            bounds = replace(bounds, target=target, target_noise=ends.noise)
        return replace(problem, n_features=size, bounds=bounds)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """A selection, histograms of what is wanted, then what `inner` releases."""
        plan = self.inner.plan(self._within(problem, {}), settings.inner, scale)
        plan = replace(plan, assumptions=problem.assumptions(), paper=f"{plan.paper}; {METHOD}")
        return plan.after(self._estimated(problem, settings))

    def _estimated(self, problem: Problem, settings: Settings) -> list[tuple[Release, float]]:
        """What is estimated, with its shares of the budget."""
        size = self._counted(problem)
        estimated = [
            (release, settings.shares[what] * part)
            for what in self.wanted
            for release, part in zip(
                _histograms(what, size, settings.bins[what]), PARTS, strict=True
            )
        ]
        if self.keep is not None:
            size, adjacency = problem.n_features, problem.adjacency
            chosen = selection.relevance_release(self.keep, size, adjacency)
            estimated.insert(0, (chosen, selection.SHARE))
        if problem.most_rows > 1:
            estimated.insert(0, (count_release(name=ROWS), ROWS_SHARE))
        return estimated

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Estimate, then fit within what was estimated; predictions will stay within it, too."""
        size, width = problem.n_features, self._counted(problem)
        chosen = np.arange(size)
        if self.keep is not None:
            chosen = selection.most_relevant(data, self.keep, release)
            data = selection.columns_of(data, chosen)
            bounds = selection.bounds_of(problem.bounds, chosen)
            problem = replace(problem, n_features=len(chosen), bounds=bounds)
        # Public, or released where people have several; where it is private otherwise, not known.
        several = problem.most_rows > 1
        rows = rows_in_all(problem, data, release, ROWS) if several else problem.n
        ranges = {
            what: self._ranges(what, problem, settings, rows, data, release, width)
            for what in self.wanted
        }
        found = self._within(problem, ranges)
        inner, plan = self.inner.settled(found, settings.inner), release.plan
        # What was estimated may not change what is released: the price was paid beforehand.
        from privlearn._core.narrowing import same_shapes  # a rehearsal has loaded it

        if not same_shapes(self.inner.plan(found, inner, plan.scale), self._own(plan)):
            raise PlanViolationError(
                "ranges estimated privately changed what is to be released: a solver bug"
            )
        solution = self.inner.solve(found, inner, replace(data, bounds=found.bounds), release)
        return selection.in_all_columns(solution, chosen, size, ranges)

    def _ranges(
        self,
        what: str,
        problem: Problem,
        settings: Settings,
        rows: float | None,
        data: BoundedData,
        release: Releaser,
        width: int,
    ) -> CentredRange:
        """Estimated ends of what is counted, beside declared ones of what is not."""
        bins, bounds = settings.bins[what], problem.bounds
        counted = counted_columns(bounds, closer=self.closer) if what == "features" else None
        if counted is None:
            return _ranges(what, problem, bins, rows, data, release, width)
        places = np.flatnonzero(counted)
        if not len(places):  # none of those that were selected
            return beside_declared(CentredRange(*np.empty((2, 0))), counted, bounds)
        some = replace(problem, n_features=len(places), bounds=selection.bounds_of(bounds, places))
        columns = selection.columns_of(data, places)
        found = _ranges(what, some, bins, rows, columns, release, width)
        return beside_declared(found, counted, bounds)

    def _own(self, plan: Plan) -> Plan:
        """The part of the plan that is the inner solver's."""
        several = (plan.rows_per_person or 1) > 1
        estimated = len(PARTS) * len(self.wanted) + (self.keep is not None) + several
        return replace(plan, releases=plan.releases[estimated:])

    def narrowed(self, problem: Problem, settings: Settings) -> tuple[WithPrivateBounds, Settings]:
        """The same bounds of fewer features; shares and bins stay what they are."""
        few = replace(self, keep=None if self.keep is None else min(self.keep, problem.n_features))
        inner, own = self.inner.narrowed(few._within(problem, {}), settings.inner)
        return replace(few, inner=inner), settings._replace(inner=own)

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[WithPrivateBounds, Settings]:
        """The same bounds before a rehearsal of the inner solver; one feature is selected."""
        few = replace(self, keep=None if self.keep is None else 1)
        inner, own = self.inner.rehearsal(few._within(problem, {}), settings.inner, budget)
        return replace(few, inner=inner), settings._replace(inner=own)

    def kind(self, settings: Settings) -> Hashable:
        """What is estimated, and for which solver."""
        facts = self.wanted, self.keep is None, self.closer
        return WithPrivateBounds, *facts, self.inner.kind(settings.inner)

    def memory(self, problem: Problem, settings: Settings, *, sparse: bool) -> float:
        """The inner solver's; ranks of all dense columns where some are selected."""
        ranked = self.keep is not None and not sparse
        ranks = 8.0 * (problem.n or 0) * problem.n_features if ranked else 0.0
        inner = self.inner.memory(self._within(problem, {}), settings.inner, sparse=sparse)
        return inner + ranks

    def row_passes(self, problem: Problem, settings: Settings) -> int | None:
        """One for each histogram of the features; the target's read one column."""
        inner = self.inner.row_passes(self._within(problem, {}), settings.inner)
        own = len(PARTS) * ("features" in self.wanted)
        return None if inner is None or self.keep is not None else inner + own

    def fitted_numbers(self, problem: Problem, settings: Settings) -> int:
        """The inner solver's, of the features that are selected."""
        return self.inner.fitted_numbers(self._within(problem, {}), settings.inner)

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """The inner solver's within what is declared, and in [-1, 1] where nothing is."""
        inner, bounds = self._within(problem, {}), problem.bounds
        if bounds.whole_box and self.keep is None:
            inner = replace(inner, bounds=replace(bounds, target=inner.bounds.target))
        if bounds.target is not None:
            inner = replace(inner, bounds=replace(inner.bounds, target=bounds.target))
        found = self.inner.forecast(inner, settings.inner, self._own(plan), n)
        if self.keep is None:
            return found
        return replace(found, coefficient=np.resize(found.coefficient, problem.n_features))


METHOD = "ranges estimated privately from histograms"


def range_releases(what: str) -> tuple[str, str, str, str]:
    """Names of the releases that tell the ranges of the "features" or of the "target"."""
    return (
        f"histogram in powers of two of the {what}",
        f"first histogram in equal bins of the {what}",
        f"second histogram in equal bins of the {what}",
        f"last histogram in equal bins of the {what}",
    )


def _width(what: str, n_features: int) -> int:
    return n_features if what == "features" else 1


def _histograms(what: str, n_features: int, bins: tuple[int, int]) -> tuple[Release, ...]:
    """A row is in one bin of each column's histogram."""
    width, sizes = _width(what, n_features), (SIGNED_BINS, *bins, LAST_BINS)
    return tuple(
        histogram_release(name, size, width)
        for name, size in zip(range_releases(what), sizes, strict=True)
    )


def _ranges(
    what: str,
    problem: Problem,
    bins: tuple[int, int],
    rows: float | None,
    data: BoundedData,
    release: Releaser,
    columns: int | None = None,
) -> CentredRange:
    """Powers of two, then many even bins between their ends, then few between theirs.

    Where the plan has room for more `columns`, the rest of what is released is noise alone.
    """
    coarse, *zooms, last = range_releases(what)
    declared = declared_range(what, problem)
    width = _width(what, columns or problem.n_features)
    noisy = partial(_released, release, columns=width)
    counts = noisy(coarse, count_signed(data, what, POWERS))
    found = coarse_range(counts, release.noise_scale(coarse), rows)
    if declared is not None:
        found = coarse_inside(found, declared)
    for zoom, many in zip(zooms, bins, strict=True):
        narrow = found.may_be_narrow
        counted = partial(count_evenly, data, what, found.low, found.high, many, narrow)
        if not narrow.any():  # what was released says that nobody will look
            _passed_over(release, zoom, counted, columns=width)
            continue
        found = located_range(noisy(zoom, counted()), release.noise_scale(zoom), found)
    counts = noisy(last, count_evenly(data, what, found.low, found.high, LAST_BINS))
    noise = release.noise_scale(last)
    ends = refined_range(counts, noise, found)
    wide = widened(counts, noise, found, ends, WIDER[what])
    own = wide if declared is None else inside(wide, declared)
    # Sparse rows stay sparse: they are never centred where zero is in the range.
    center = None if data.sparse else centers(counts, noise, found, own)
    return CentredRange(own.low, own.high, center, noise=noise_of(wide, own, ends.rows))


def _released(release: Releaser, name: str, counts: Array, *, columns: int) -> Array:
    """Noisy counts; a row is in one bin of each of at most so many columns."""
    filled = counts if len(counts) == columns else _padded(counts, columns)
    return release(name, filled, clip=math.sqrt(columns))[: len(counts)]


def _passed_over(
    release: Releaser, name: str, counted: Callable[[], Array], *, columns: int
) -> None:
    """The same, where nobody will look."""
    release.pass_over(name, lambda: _padded(counted(), columns), clip=math.sqrt(columns))


def _padded(counts: Array, columns: int) -> Array:
    """Counts of as many columns as the plan has room for, those that are missing empty."""
    return np.pad(counts, ((0, max(columns - len(counts), 0)), (0, 0)))
