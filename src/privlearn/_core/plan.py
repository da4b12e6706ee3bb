"""What will be released, declared before any data is touched.

A `Release` carries the clip of a row, a `Plan` the relation and how many rows one person may have;
sensitivities, noise, grids and the price all follow from them here, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from privlearn._core.forecast import Forecast, smallest_epsilon
from privlearn._core.mechanisms import GAUSSIAN, Kind, Mechanism, Shift
from privlearn._core.norms import L2, Norm
from privlearn._core.numerics import MAX_ROWS, check_size, summation_error
from privlearn._core.problem import Adjacency, Problem
from privlearn._core.sampling import FULL, ONE_VISIT, Sampling
from privlearn.accounting import ApproximateLoss, Composition, Pair, compose
from privlearn.accounting.shares import comparable_costs

__all__ = [
    "BOUNDS",
    "FACTS",
    "FIT",
    "GRID_BITS",
    "STAGES",
    "Plan",
    "Release",
    "check_size",
]

GRID_BITS = 26  # the grid is about this many bits below the noise
HEADROOM_BITS = 50  # and so coarse that the largest sum still fits a float64 integer
BOUNDS, FACTS, FIT = STAGES = ("bounds", "facts", "fit")  # what a release serves


@dataclass(frozen=True)
class Release:
    """One planned release: the source of both its noise and its accounting.

    Attributes
    ----------
    name : str
        What is released, in words.
    shape : tuple of int
        Shape of the released array.
    clip : float
        Largest norm of one row's contribution to the sum.
    norm : Norm
        In which set contributions lie.
    mechanism, sampling : Mechanism, Sampling
        How noise and rows are drawn.
    count : int
        How often it is released.
    weight : float
        Its noise multiplier, relative to the plan's scale.
    level : float or None
        None: everybody may contribute. Otherwise only people whose own promise is this epsilon do.
    stage : {"bounds", "facts", "fit"}
        What it serves: bounds that nobody declared, facts that a solver needs, or the model itself.
    """

    name: str
    shape: tuple[int, ...]
    clip: float
    norm: Norm = L2
    mechanism: Mechanism = GAUSSIAN
    sampling: Sampling = FULL
    count: int = 1
    weight: float = 1.0
    level: float | None = None
    stage: str = FIT

    def __post_init__(self) -> None:
        if not (math.isfinite(self.clip) and self.clip > 0):
            raise ValueError(f"clip={self.clip} of release {self.name!r} must be finite and > 0")
        if self.stage not in STAGES:
            raise ValueError(f"stage={self.stage!r} of release {self.name!r} is not in {STAGES}")
        if self.count < 1:
            raise ValueError(f"count={self.count} of release {self.name!r} must be at least 1")
        if self.count > 1 and self.sampling.at_once and self.sampling.visits != ONE_VISIT:
            raise ValueError(
                f"release {self.name!r} lets rows come often and is released {self.count} times, "
                "but such releases are charged once; release it once"
            )
        if not (math.isfinite(self.weight) and self.weight > 0):
            raise ValueError(f"weight={self.weight} of release {self.name!r} must be > 0")

    @property
    def size(self) -> int:
        """How many numbers one release has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Plan:
    """All releases of a fit, with one noise scale for them all.

    Examples
    --------
    >>> plan = Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale=5.0)
    >>> round(plan.epsilon(1e-6), 2)
    0.83
    """

    releases: tuple[Release, ...]
    adjacency: Adjacency
    scale: float
    rows: int | None = None
    assumptions: tuple[str, ...] = ()
    paper: str = ""
    # The most rows of one person, where a person may have several; None: every row is a person.
    rows_per_person: int | None = None
    person: str = field(default="", compare=False)  # the public name of the column of ids
    outlook: Any = field(default=None, compare=False)  # a Forecast; of scores their noise
    solver: str | None = field(default=None, compare=False)  # what "auto" took, where that is asked
    # The forecast of the same fit for another epsilon, where a number of rows was given.
    forecast_at: Callable[[float], Forecast] | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(
        cls,
        problem: Problem,
        scale: float,
        parts: Sequence[tuple[Release, float | None]],
        paper: str,
    ) -> Plan:
        """A solver's plan: what it releases, with shares of the budget as in `split`."""
        facts = problem.n, problem.assumptions(), paper, problem.rows_per_person
        return cls((), problem.adjacency, scale, *facts).split(parts)

    def __post_init__(self) -> None:
        names = [release.name for release in self.releases]
        if len(set(names)) != len(names):
            raise ValueError("two releases of a plan have one name; use count, or other names")
        if self.rows is not None and not 0 < self.rows <= MAX_ROWS:
            raise ValueError(f"rows={self.rows}, but between 1 and {MAX_ROWS} are supported")
        if self.rows_per_person is not None and not 0 < self.rows_per_person <= MAX_ROWS:
            raise ValueError(f"rows_per_person={self.rows_per_person} is not in 1..{MAX_ROWS}")
        if any(release.level is not None for release in self.releases):
            self._check_levels()

    def _check_levels(self) -> None:
        """Levels may differ in noise alone, and more epsilon must mean less of it everywhere."""
        kinds: dict[object, dict[float, float]] = {}
        for r in self.releases:
            if r.level is not None:
                kind = (r.mechanism, r.norm, r.shape, r.clip, r.count, r.sampling)
                kinds.setdefault(kind, {})[r.level] = r.weight
        for weights in kinds.values():
            ordered = [weights.get(level, math.inf) for level in self.levels]
            if ordered != sorted(ordered, reverse=True) or math.inf in ordered:
                raise ValueError(
                    "personal epsilons of a plan must differ in noise alone, less for more"
                )

    @property
    def unit(self) -> str:
        """What the guarantee is about: a "row", or a "person" of several."""
        return "row" if self.rows_per_person is None else "person"

    def unit_in_words(self) -> str:
        """What the guarantee is about, in a sentence."""
        return self.adjacency.unit(self.rows_per_person)

    def contribution(self, release: Release) -> float:
        """Largest norm of what one person, with all rows, adds to the sum (people.md)."""
        return (self.rows_per_person or 1) * release.clip

    def noise_multiplier(self, release: Release) -> float:
        """Noise scale over the largest contribution of one person."""
        return self.scale * release.weight

    def noise_scale(self, release: Release) -> float:
        """Standard deviation (Gaussian) or scale (others) of the noise, in the sum's units."""
        return self.scale * release.weight * self.contribution(release)

    def _finest_grid(self, release: Release) -> float:
        rows = MAX_ROWS if self.rows is None else self.rows
        below_noise = self.noise_scale(release) * 2.0**-GRID_BITS
        return max(below_noise, rows * release.clip * 2.0**-HEADROOM_BITS)

    def grid(self, release: Release) -> float:
        """Step of the grid, a power of two, on which the release is rounded and noised."""
        if release.mechanism.grid is not None:
            return release.mechanism.grid
        _, exponent = math.frexp(self._finest_grid(release))
        return math.ldexp(1.0, exponent - 1)  # the largest power of two that is not larger

    def _rounding(self, release: Release) -> float:
        """What floating point adds to the distance between neighbours."""
        if release.mechanism.kind is Kind.TRIES:
            return 0.0  # nothing is added up: what happens within is accounted there
        rows = MAX_ROWS if self.rows is None else self.rows
        selects = release.mechanism.kind is Kind.SELECTION
        # Every coordinate is rounded by one step: by the norm of the vector of ones in all.
        steps = 2.0 if selects else release.size ** (1.0 / release.norm.exponent)
        return steps * self._finest_grid(release) + 2.0 * summation_error(rows) * release.clip

    def sensitivity(self, release: Release, visits: int = 1) -> float:
        """Largest distance between the statistics of two neighbours, as computed.

        Parameters
        ----------
        release : Release
            Of this plan.
        visits : int, default=1
            How often the person comes, where a sampler lets people come several times.
        """
        diameter = release.norm.diameter if self.adjacency.replaces else 1.0
        return visits * (diameter * self.contribution(release) + self._rounding(release))

    def threshold(self, release: Release) -> float | None:
        """What a noisy count must exceed, where only frequent values are published; else None.

        One person holds at most so many values as there are columns and rows of the person, and
        no value more often than that; under `replace_one` either neighbour has such a person.
        """
        most = self.rows_per_person or 1
        values = release.shape[0] * most * (2 if self.adjacency.replaces else 1)
        return release.mechanism.threshold(values, float(most), self.noise_scale(release))

    def pair(self, release: Release) -> Pair:
        """The dominating pair of one draw of `release`."""
        shift = Shift(
            sensitivity=self.sensitivity(release),
            contribution=self.contribution(release) + self._rounding(release),
            replaces=self.adjacency.replaces,
            dimension=release.size,
        )
        return release.mechanism.pair(shift, self.noise_scale(release), release.sampling)

    def _charged(self, release: Release) -> tuple[Pair, int]:
        """What the accountant composes for it: a pair, and how often."""
        return self.pair(release), 1 if release.sampling.at_once else release.count

    def share(self, release: Release) -> float:
        """Part of the budget that it takes, of all that a person of its level enters."""
        level = release.level or max(self.levels, default=None)
        met = [other for other in self.releases if other.level in (None, level)]
        costs, _ = comparable_costs([self._charged(other) for other in met])
        return costs[met.index(release)] / sum(costs)

    def split(self, parts: Sequence[tuple[Release, float | None]]) -> Plan:
        """This plan with the given releases, each with noise for its share of the budget.

        Parameters
        ----------
        parts : sequence of pairs (Release, share)
            A share is part of the whole budget, as `share` and certificates tell it: of mu^2 where
            Gaussian noise takes part, else of epsilon. None: the release keeps its weight, and
            those without a share divide the rest among them.

        Examples
        --------
        >>> count, total = Release("count", (1,), clip=1.0), Release("sum", (3,), clip=5.0)
        >>> plan = Plan((), Adjacency.ZERO_OUT, scale=4.3).split([(count, 0.1), (total, None)])
        >>> round(plan.share(plan.releases[0]), 3), plan.noise_multiplier(plan.releases[1])
        (0.1, 4.3)
        """
        shares = [share for _, share in parts if share is not None]
        if not shares:
            return replace(self, releases=tuple(release for release, _ in parts))
        rest = 1.0 - sum(shares)
        if min(shares) <= 0.0 or rest <= 0.0 or len(shares) == len(parts):
            raise ValueError("shares must be above 0 and leave a rest to a release without one")
        at_one = replace(self, scale=1.0)
        ones = [one if share is None else replace(one, weight=1.0) for one, share in parts]
        costs, power = comparable_costs([at_one._charged(one) for one in ones])
        priced = list(zip(ones, costs, (share for _, share in parts), strict=True))
        total = sum(cost for _, cost, share in priced if share is None) / rest
        releases = tuple(
            one if share is None else replace(one, weight=(cost / (share * total)) ** (1.0 / power))
            for one, cost, share in priced
        )
        return replace(self, releases=releases)

    def at_scale_one(self) -> tuple[Release, ...]:
        """The releases with weights that are noise multipliers: for plans that hold several."""
        return tuple(replace(one, weight=self.noise_multiplier(one)) for one in self.releases)

    def after(self, estimated: Sequence[tuple[Release, float]]) -> Plan:
        """This plan after releases of bounds that take the given shares of the budget."""
        bounds = [(replace(release, stage=BOUNDS), share) for release, share in estimated]
        return self.split([*bounds, *((release, None) for release in self.releases)])

    @property
    def levels(self) -> tuple[float, ...]:
        """Promises that only some people were given, increasing; empty when all have the same."""
        return tuple(sorted({r.level for r in self.releases if r.level is not None}))

    def pairs(self, level: float | None = None) -> list[tuple[Pair, int]]:
        """What the accountant composes: all that one person's row can enter.

        Parameters
        ----------
        level : float or None, default=None
            One of `levels`. None stands for the largest, whose people are protected least: levels
            differ in noise alone, so it dominates the others.
        """
        level = max(self.levels, default=None) if level is None else level
        met = [one for one in self.releases if one.level in (None, level)]
        failing = [(one.mechanism.failure(), one.count) for one in met]
        return [
            *(self._charged(one) for one in met),
            # What fails outright beside a pair is a mechanism that tells nothing otherwise.
            *((ApproximateLoss(0.0, delta), count) for delta, count in failing if delta > 0.0),
        ]

    @cached_property
    def _composition(self) -> Composition:
        return compose(self.pairs())

    def epsilon_at_level(self, level: float, delta: float) -> float:
        """Smallest epsilon that holds at `delta` for people of one of the `levels`."""
        return compose(self.pairs(level)).epsilon(delta)

    def epsilon(self, delta: float) -> float:
        """Smallest epsilon that this plan guarantees at `delta`."""
        return self._composition.epsilon(delta)

    def delta(self, epsilon: float) -> float:
        """Smallest delta that this plan guarantees at `epsilon`."""
        return self._composition.delta(epsilon)

    def forecast(self) -> Forecast:
        """How far predictions will vary from fit to fit, or why that cannot be told."""
        if self.outlook is None:
            raise ValueError(
                "no forecast without a number of rows; call estimator.plan(n=..., n_features=...)"
            )
        return self.outlook

    def for_accuracy(self, error: float) -> float:
        """The smallest epsilon whose forecast error of a prediction is at most `error`.

        Parameters
        ----------
        error : float
            As `forecast().relative`: 0.05 is 5 % of the target's standard deviation; of classes 5
            percentage points, or, of a plan with `share_of_rarer_class`, 5 % of a label's.

        Returns
        -------
        float
            Epsilon, within 2 %; this plan stays as it is. ValueError where none up to 10 will do.

        Examples
        --------
        >>> from privlearn import Ridge
        >>> 0.1 < Ridge().plan(n=10_000, n_features=8).for_accuracy(0.05) < 10
        True
        """
        if self.forecast_at is None:
            raise ValueError(
                "no forecast without a number of rows, and one epsilon for all; call "
                "estimator.plan(n=..., n_features=...)"
            )
        return smallest_epsilon(self.forecast_at, error)

    def describe(self) -> list[str]:
        """One line per release, the same in plans and certificates; clip x multiplier is noise."""
        most = self.rows_per_person or 1
        whose = "" if most == 1 else f" of {most} rows together"
        return [
            f"{release.name}: {release.mechanism.name}; {release.size} settings"
            if release.mechanism.kind is Kind.TRIES
            else f"{release.name}: {release.count} x {release.mechanism.name}, "
            f"{release.size} number{'s' if release.size > 1 else ''}, "
            f"clip {self.contribution(release):.6g} ({release.norm.name}){whose}, "
            f"noise multiplier {self.noise_multiplier(release):.6g}, {release.sampling.name}, "
            f"{self._published(release)}{self.share(release):.1%} of the budget"
            for release in self.releases
        ]

    def _published(self, release: Release) -> str:
        """What a threshold does, where there is one."""
        least, failure = self.threshold(release), release.mechanism.failure()
        if least is None:
            return ""
        return f"published above {least:.6g}, failing with probability {failure:.3g}, "

    def __str__(self) -> str:
        lines = ["Privacy plan: nothing has been released", f"  adjacency   {self.adjacency.value}"]
        if self.rows_per_person is not None:
            lines.append(f"  unit        {self.unit_in_words()}")
        if self.solver is not None:
            lines.append(f"  solver      {self.solver}")
        lines += [f"  release     {line}" for line in self.describe()]
        lines += [f"  assumes     {line}" for line in self.assumptions]
        if self.outlook is not None:
            lines += [f"  forecast    {line}" for line in str(self.outlook).splitlines()]
        return "\n".join(lines)
