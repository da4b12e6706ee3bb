"""How likely are the released values with one person's row, against without it?

Every mechanism adds noise with a known density, so the ratio of the two likelihoods is known as
soon as the two statistics are: that of the data, and that of the neighbour *given the same released
values*. `Story` holds them for one run, release by release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from privlearn._core.plan import Plan, Release
from privlearn._core.sampling import Batches
from privlearn.accounting import (
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Pair,
    PureLoss,
    SampledGaussian,
)
from privlearn.audit.adversary import Data
from privlearn.audit.protocols import Model
from privlearn.audit.tape import Entry, Series, Tape, replay_on

__all__ = ["COVERED", "Moved", "Story", "by_chance", "charged", "tell"]

Array = NDArray[np.float64]
COVERED = ("Gaussian", "Laplace", "spherical", "Gumbel")  # mechanisms with a known density


@dataclass(frozen=True, eq=False)
class Moved:
    """One release: what left, and the statistics on both data sets.

    Where a coin decides whether the row is in the batch, `with_row` and `other` are the statistics
    with the row in it, and `without` is the one with the row left out.
    """

    release: Release
    scale: float
    released: Array
    with_row: Array
    other: Array
    without: Array | None
    visits: int

    @property
    def shift(self) -> float:
        """Distance of the two statistics in the norm of the mechanism's density.

        For a selection: by how much the scores of two indices can move apart, halved. Where a row
        comes a number of times that chance decides: the distance for each time, NaN for none.
        """
        if self.release.mechanism.name == "Gumbel":
            odds = self._log_odds()
            return float(odds.max() - odds.min()) / 2 * self.scale
        order = 1 if self.release.mechanism.name == "Laplace" else 2
        gap = float(np.linalg.norm((self.with_row - self.other).ravel(), order))
        if not by_chance(self.release):
            return gap
        return gap / self.visits if self.visits else math.nan

    def loss(self) -> float:
        """Logarithm of the likelihood with the row over that of the neighbour."""
        kind = self.release.mechanism.name
        if kind == "Gumbel":
            chosen = int(np.argmax(self.released))
            return float(self._log_odds()[chosen])
        if self.without is None:
            return self._log_density(self.with_row) - self._log_density(self.other)
        return self._mixed(self.with_row, self.without) - self._mixed(self.other, self.without)

    def _log_density(self, statistic: Array) -> float:
        noise = (self.released - statistic).ravel() / self.scale
        kind = self.release.mechanism.name
        if kind == "Gaussian":
            return -0.5 * float(noise @ noise)
        return -float(np.linalg.norm(noise, 1 if kind == "Laplace" else 2))

    def _mixed(self, inside: Array, outside: Array) -> float:
        rate = self.release.sampling.rate
        first = math.log(rate) + self._log_density(inside)
        if rate == 1.0:
            return first
        second = math.log1p(-rate) + self._log_density(outside)
        return max(first, second) + math.log1p(math.exp(-abs(first - second)))

    def _log_odds(self) -> Array:
        """For a selection: log probability of every index with the row, less the neighbour's."""
        logs = [
            scores - special.logsumexp(scores)
            for scores in (self.with_row.ravel() / self.scale, self.other.ravel() / self.scale)
        ]
        return np.asarray(logs[0] - logs[1])


def by_chance(release: Release) -> bool:
    """Whether chance decides how often a row comes, within one charge."""
    return release.sampling.visits is not None and len(release.sampling.visits) > 1


def charged(release: Release, shift: float, scale: float, replaces: bool) -> Pair:
    """What the accountant would charge for a distance that was really moved.

    Parameters
    ----------
    release : Release
        Which says mechanism and sampling.
    shift : float
        As `Moved.shift` has it.
    scale : float
        Of the noise; what was declared, or less where less was measured.
    replaces : bool
        Whether the relation exchanges rows.
    """
    kind, law = release.mechanism.name, release.sampling.visits
    if kind == "Gumbel":
        return BoundedRange(2.0 * shift / scale)
    if kind != "Gaussian":
        return PureLoss(shift / scale)
    if law is None:
        contribution = max(shift * (0.5 if replaces else 1.0), 1e-9 * scale)
        return SampledGaussian(release.sampling.rate, scale / contribution, replaces)
    if not by_chance(release):
        return Gaussian(shift / scale)
    mus = tuple(visits * shift / scale for visits, _ in law)
    return GaussianMixture(mus, tuple(weight for _, weight in law))


@dataclass(frozen=True, eq=False)
class Story:
    """Everything that one run released, and what the neighbour would have made of it."""

    plan: Plan
    moved: list[Moved]

    def loss(self) -> float:
        """Logarithm of the joint likelihood ratio."""
        return sum(one.loss() for one in self.moved)

    def charges(self) -> list[tuple[Release, float]]:
        """Every charge of the plan with the distance that was moved, in the plan's order.

        Releases that share one draw of rows are one charge: distances of Gaussian noise add up as
        squares, others as they are.
        """
        found: list[tuple[Release, float]] = []
        for release in self.plan.releases:
            shifts = np.array([one.shift for one in self.moved if one.release.name == release.name])
            if not release.sampling.at_once or len(shifts) == 0:
                found += [(release, float(shift)) for shift in shifts]
            elif release.mechanism.name == "Gaussian":
                found.append((release, float(np.sqrt(np.sum(shifts**2)))))
            else:
                found.append((release, float(np.sum(shifts))))
        return found


def tell(tape: Tape, model: Model, data: Data, other: Data, *, on_other: bool = False) -> Story:
    """Both statistics of every release of a recorded fit.

    Parameters
    ----------
    tape : Tape
        Of a fit to `data`, or to `other`.
    model : estimator
        The one that was recorded.
    data, other : Data
        Neighbours; the last row of `data`, or the last person, is the one that differs.
    on_other : bool, default=False
        Whether the tape is of a fit to `other`.
    """
    plan = tape.plan
    row = data.units - 1
    coins = any(release.sampling.visits is None for release in plan.releases)
    everywhere = _forced(tape, row, present=True)
    inside = tape.entries
    if coins or on_other:
        inside = replay_on(everywhere, model, data.X, data.y, **data.named).entries
    beside = replay_on(everywhere, model, other.X, other.y, **other.named).entries
    outside: list[Entry] | list[None] = [None] * len(inside)
    if coins:
        nowhere = _forced(tape, row, present=False)
        outside = replay_on(nowhere, model, data.X, data.y, **data.named).entries
    moved = [
        Moved(
            release=entry.release,
            scale=plan.noise_scale(entry.release),
            released=entry.released,
            with_row=entry.statistic,
            other=second.statistic,
            without=None if third is None or entry.release.sampling.visits else third.statistic,
            visits=entry.row_came,
        )
        for entry, second, third in zip(inside, beside, outside, strict=True)
        if entry.release.mechanism.name in COVERED
    ]
    return Story(plan, moved)


def _forced(tape: Tape, row: int, *, present: bool) -> Tape:
    """The tape with one row in every batch that a coin decides on, or in none.

    Batches of all rows get the row in either case: a tape of the smaller neighbour lacks it.
    """
    made = [
        _with_batches(item, row, present) if isinstance(item, Series) else item
        for item in tape.made
    ]
    return replace(tape, made=made, place=None)


def _with_batches(series: Series, row: int, present: bool) -> Series:
    sampling = series.release.sampling
    coin, everybody = sampling.visits is None, sampling.rate == 1.0 and not sampling.at_once
    if not (coin or everybody):
        return series
    inside = present or everybody
    batches = [np.append(b[b != row], [row] if inside else []) for b in _each(series.steps.batches)]
    starts = np.concatenate([[0], np.cumsum([len(batch) for batch in batches])])
    rows = np.concatenate(batches).astype(np.int64)
    return replace(series, steps=series.steps._replace(batches=Batches(rows, starts)))


def _each(batches: Batches) -> list[NDArray[np.int64]]:
    return [batches.rows[a:b] for a, b in zip(batches.starts[:-1], batches.starts[1:], strict=True)]
