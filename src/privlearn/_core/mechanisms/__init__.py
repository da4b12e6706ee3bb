"""Mechanisms: one object gives both the noise of a release and its dominating pair.

`draw` returns integer noise in units of the release's grid; `pair` returns what the accountant
composes. Both take the same `noise_scale`, so what is drawn is what is accounted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.mechanisms.tukey_boxes import SLACK, STEP, Boxes
from privlearn._core.sampling import Sampling
from privlearn.accounting import pairs

if TYPE_CHECKING:
    from privlearn.noise import NoiseSource

__all__ = [
    "GAUSSIAN",
    "GUMBEL",
    "LAPLACE",
    "MECHANISMS",
    "SPHERICAL",
    "DepthDraw",
    "DisjointParts",
    "Kind",
    "Mechanism",
    "RandomTries",
    "Shift",
]

Units = NDArray[np.int64]
Array = NDArray[np.float64]
T = TypeVar("T")
SLOWLY = 0.8


class Kind(StrEnum):
    """What leaves a mechanism."""

    NOISE = "noise"  # numbers with noise
    SELECTION = "selection"  # the index of the largest noisy score
    DRAW = "draw"  # a point that is drawn among models
    TRIES = "choice"  # the best of many tries, each of them private
    LIST = "list"  # which values are frequent, with their noisy counts


@dataclass(frozen=True)
class Shift:
    """How far one person can move a statistic, floating point included.

    Attributes
    ----------
    sensitivity : float
        Largest distance between the statistics of two neighbouring data sets, per visit of the row.
    contribution : float
        Largest distance that one present row makes against its absence.
    replaces : bool
        Whether the relation exchanges a row for another.
    dimension : int
        How many numbers the statistic has.
    """

    sensitivity: float
    contribution: float
    replaces: bool
    dimension: int


class Mechanism:
    """Noise and accounting of one release; what adds noise to numbers, unless it says otherwise."""

    name: str  # how certificates call it
    kind: Kind = Kind.NOISE  # what leaves
    grid: float | None = None  # step of the grid of releases; None: it follows from the noise
    independent: bool = True  # whether the numbers of one release get independent noise

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        raise NotImplementedError("a draw by depth adds no noise; use Releaser.draw")

    def draw_point(self, source: NoiseSource, ordered: Array, noise_scale: float) -> Array:
        """The released point, given every coordinate of the models in order; for draws only."""
        raise NotImplementedError("this mechanism adds noise to numbers; use Releaser()")

    def best(self, source: NoiseSource, attempt: Callable[[], tuple[float, T]]) -> T:
        """The best of a random number of tries; for those only."""
        raise NotImplementedError("this mechanism adds noise to numbers; use Releaser()")

    def delta_less_rounding(self) -> float:
        """Probability of failure to compute with; 0 where nothing can fail."""
        return 0.0

    def failure(self) -> float:
        """Probability that a release tells all, beside what its pair says; charged in full."""
        return 0.0

    def threshold(self, values: int, largest: float, noise_scale: float) -> float | None:
        """What a noisy count has to exceed to be published; None where all that is noisy is.

        Parameters
        ----------
        values : int
            How many values there may be that only one of two neighbours holds.
        largest : float
            The most that such a value counts.
        noise_scale : float
            Of a count.
        """
        return None

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """The dominating pair of one such release."""
        raise NotImplementedError

    def _loss(self, shift: Shift, noise_scale: float, sampling: Sampling) -> float:
        """Largest shift in units of the noise, where it is certain how often a row comes."""
        if sampling.visits is None or len(sampling.visits) > 1:
            raise NotImplementedError(
                f"{self.name} noise has no proof here for {sampling.name}; use FULL"
            )
        return sampling.visits[0][0] * shift.sensitivity / noise_scale


@dataclass(frozen=True)
class GaussianNoise(Mechanism):
    """Independent Gaussian noise; `noise_scale` is its standard deviation."""

    name = "Gaussian"

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.gaussian(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """The dominating pair of one such release."""
        if sampling.visits is None:
            return pairs.SampledGaussian(
                sampling.rate, noise_scale / shift.contribution, shift.replaces
            )
        mus = tuple(visits * shift.sensitivity / noise_scale for visits, _ in sampling.visits)
        if len(mus) == 1:
            return pairs.Gaussian(mus[0])
        return pairs.GaussianMixture(mus, tuple(weight for _, weight in sampling.visits))


@dataclass(frozen=True)
class LaplaceNoise(Mechanism):
    """Independent Laplace noise on a statistic with bounded L1 sensitivity."""

    name = "Laplace"

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.laplace(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """The Laplace pair for one number; for several only the pure guarantee is claimed."""
        epsilon = self._loss(shift, noise_scale, sampling)
        return pairs.Laplace(epsilon) if shift.dimension == 1 else pairs.PureLoss(epsilon)


@dataclass(frozen=True)
class SphericalNoise(Mechanism):
    """A vector with density proportional to exp(-|x|_2 / noise_scale)."""

    name = "spherical"
    independent = False

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.spherical(scale, int(np.prod(shape))).reshape(shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """The worst pair of a pure guarantee."""
        return pairs.PureLoss(self._loss(shift, noise_scale, sampling))


@dataclass(frozen=True)
class GumbelNoise(Mechanism):
    """Gumbel noise on scores of which only the index of the largest leaves."""

    name = "Gumbel"
    kind = Kind.SELECTION

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.gumbel(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """Bounded range: each score moves by at most the sensitivity, up or down."""
        return pairs.BoundedRange(2.0 * self._loss(shift, noise_scale, sampling))


@dataclass(frozen=True)
class DepthDraw(Mechanism):
    """A point drawn among models, with weight exp(depth / (2 noise_scale)): no noise is added.

    It is private only on data that are far from unsafe ones, which a release before it has to test
    (solvers/tukey/proof.md); `delta` covers both ways to be wrong.

    Attributes
    ----------
    delta : float
        Probability of failure that is charged.
    """

    delta: float
    name = "draw by Tukey depth"
    kind = Kind.DRAW
    grid = STEP  # the lattice of the drawn points

    def draw_point(self, source: NoiseSource, ordered: Array, noise_scale: float) -> Array:
        """A point of the lattice, given every coordinate of the models in order."""
        return Boxes.of(ordered).draw(source, 1.0 / noise_scale)

    def delta_less_rounding(self) -> float:
        """The delta to compute with, which leaves room for the rounding of draws."""
        return self.delta * (1.0 - 2.0 * SLACK)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """Nothing but the two numbers is claimed."""
        loss = self._loss(shift, noise_scale, sampling)
        return pairs.ApproximateLoss(loss + SLACK, self.delta)


@dataclass(frozen=True)
class RandomTries(Mechanism):
    """The best of a random number of tries, each of which is private by itself.

    A try is (epsilon, delta)-private and (pivot, pivot_delta)-private. How many there are has the
    law of `tries.count`; the price of all is in model_selection/proof.md, 2.

    Attributes
    ----------
    eta, gamma : int, float
        The law of the number of tries.
    epsilon, delta : float
        What a try promises where the price is read off.
    pivot, pivot_delta : float
        What it promises where the number of tries is hidden.
    mu : float, default=0.0
        Of a Gaussian that dominates a try; 0 where none does, or none is known.
    """

    eta: int
    gamma: float
    epsilon: float
    delta: float
    pivot: float
    pivot_delta: float
    mu: float = 0.0
    kind = Kind.TRIES
    grid = 1.0  # nothing is rounded

    def __post_init__(self) -> None:
        if not (self.eta >= 1 and 0 < self.gamma < 1 and self.epsilon >= 0 and self.pivot > 0):
            raise ValueError("eta, gamma, epsilon or pivot of random tries is out of its range")
        if not (0 <= self.delta < 1 and 0 <= self.pivot_delta <= _tries().most_at(self)):
            raise ValueError("delta or pivot_delta of random tries is larger than the proof allows")
        if not (self.mu >= 0 and _gaussian_delta(self.pivot, self.mu) <= self.pivot_delta):
            raise ValueError("mu of random tries is larger than pivot_delta allows")

    @property
    def name(self) -> str:  # type: ignore[override]
        """How certificates call it."""
        mean = _tries().mean(self.eta, self.gamma)
        return (
            f"best of a secret number of tries ({mean:.3g} on average), each epsilon = "
            f"{self.epsilon:.4g}, delta = {self.delta:.3g}"
        )

    def best(self, source: NoiseSource, attempt: Callable[[], tuple[float, T]]) -> T:
        """The best of a random number of tries, equal ones by lot."""
        return _tries().best_of(_tries().count(source, self.eta, self.gamma), source, attempt)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """The two numbers that are promised and, of Gaussian tries, a Gaussian that covers them."""
        epsilon, delta = _tries().price(self)
        found = self._covered_by(delta)
        return _promised(epsilon, delta, found, shift.contribution / noise_scale)

    def _covered_by(self, delta: float) -> tuple[float, float] | None:
        if self.mu == 0.0:
            return None
        from privlearn._core.mechanisms.tries_beside import covering_gaussian

        return covering_gaussian(self.eta, self.gamma, self.mu, self.pivot, delta)


@dataclass(frozen=True)
class DisjointParts(Mechanism):
    """A fit to some rows and a choice by the others, each of them private by itself.

    A person is in one of the parts, so that both together cost no more than the worse of the two
    (model_selection/proof.md, 1).

    Attributes
    ----------
    epsilon, delta : float
        What each part promises.
    mu : float, default=0.0
        Of a Gaussian that dominates each part; 0 where none does, or none is known.
    """

    epsilon: float
    delta: float
    mu: float = 0.0
    name = "a fit to one part of the rows, a choice by the other"
    kind = Kind.TRIES
    grid = 1.0  # nothing is rounded

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> pairs.Pair:
        """The two numbers that are promised, and a Gaussian, where one covers both parts."""
        found = (self.mu, 0.0) if self.mu > 0.0 else None
        return _promised(self.epsilon, self.delta, found, shift.contribution / noise_scale)

    def best(self, source: NoiseSource, attempt: Callable[[], tuple[float, T]]) -> T:
        """There is one try: the choice is within it."""
        return attempt()[1]


GAUSSIAN = GaussianNoise()
LAPLACE = LaplaceNoise()
SPHERICAL = SphericalNoise()
GUMBEL = GumbelNoise()
MECHANISMS: tuple[Mechanism, ...] = (GAUSSIAN, LAPLACE, SPHERICAL, GUMBEL)


def _promised(
    epsilon: float, delta: float, covered: tuple[float, float] | None, factor: float
) -> pairs.Pair:
    """What is claimed of a search; a factor below 1 asks about one of so much less epsilon.

    That is for advice alone, and what is released has the factor 1. The mu of a search falls more
    slowly than its epsilon, at most like this power of it.
    """
    if covered is None:
        return pairs.ApproximateLoss(epsilon * factor, delta)
    return pairs.TwoBounds(epsilon * factor, delta, covered[0] * factor**SLOWLY, covered[1])


def _gaussian_delta(epsilon: float, mu: float) -> float:
    from privlearn.accounting.gaussian import gaussian_delta  # late, as below

    return gaussian_delta(epsilon, mu)


def _tries() -> ModuleType:
    """The law of the number of tries; late, for fits make none."""
    from privlearn._core.mechanisms import tries

    return tries
