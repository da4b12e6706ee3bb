"""Mechanisms: one object gives both the noise of a release and its dominating pair.

`draw` returns integer noise in units of the release's grid; `pair` returns what the accountant
composes. Both take the same `noise_scale`, so what is drawn is what is accounted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._core.sampling import Sampling

if TYPE_CHECKING:
    from privlearn.accounting import Pair
    from privlearn.noise import NoiseSource

__all__ = [
    "GAUSSIAN",
    "GUMBEL",
    "LAPLACE",
    "MECHANISMS",
    "SPHERICAL",
    "DepthDraw",
    "Mechanism",
    "Shift",
]

Units = NDArray[np.int64]
Array = NDArray[np.float64]


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


class Mechanism(Protocol):
    """Noise and accounting of one release."""

    @property
    def name(self) -> str:
        """How certificates call it."""

    @property
    def selects(self) -> bool:
        """Whether only the index of the largest noisy score is released."""

    @property
    def independent(self) -> bool:
        """Whether the numbers of one release get independent noise."""

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The dominating pair of one such release."""


def _certain_visits(sampling: Sampling, name: str) -> int:
    """How often a row meets one charge, where that is certain."""
    if sampling.visits is None or len(sampling.visits) > 1:
        raise NotImplementedError(f"{name} noise has no proof here for {sampling.name}; use FULL")
    return sampling.visits[0][0]


@dataclass(frozen=True)
class GaussianNoise:
    """Independent Gaussian noise; `noise_scale` is its standard deviation."""

    name: str = "Gaussian"
    selects: bool = False
    independent: bool = True

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.gaussian(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The dominating pair of one such release."""
        from privlearn.accounting import Gaussian, GaussianMixture, SampledGaussian

        if sampling.visits is None:
            return SampledGaussian(sampling.rate, noise_scale / shift.contribution, shift.replaces)
        mus = tuple(visits * shift.sensitivity / noise_scale for visits, _ in sampling.visits)
        if len(mus) == 1:
            return Gaussian(mus[0])
        return GaussianMixture(mus, tuple(weight for _, weight in sampling.visits))


@dataclass(frozen=True)
class LaplaceNoise:
    """Independent Laplace noise on a statistic with bounded L1 sensitivity."""

    name: str = "Laplace"
    selects: bool = False
    independent: bool = True

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.laplace(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The Laplace pair for one number; for several only the pure guarantee is claimed."""
        from privlearn.accounting import Laplace, PureLoss

        epsilon = _certain_visits(sampling, self.name) * shift.sensitivity / noise_scale
        return Laplace(epsilon) if shift.dimension == 1 else PureLoss(epsilon)


@dataclass(frozen=True)
class SphericalNoise:
    """A vector with density proportional to exp(-|x|_2 / noise_scale)."""

    name: str = "spherical"
    selects: bool = False
    independent: bool = False

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.spherical(scale, int(np.prod(shape))).reshape(shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The worst pair of a pure guarantee."""
        from privlearn.accounting import PureLoss

        visits = _certain_visits(sampling, self.name)
        return PureLoss(visits * shift.sensitivity / noise_scale)


@dataclass(frozen=True)
class GumbelNoise:
    """Gumbel noise on scores of which only the index of the largest leaves."""

    name: str = "Gumbel"
    selects: bool = True
    independent: bool = True

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.gumbel(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """Bounded range: each score moves by at most the sensitivity, up or down."""
        from privlearn.accounting import BoundedRange

        visits = _certain_visits(sampling, self.name)
        return BoundedRange(2.0 * visits * shift.sensitivity / noise_scale)


@dataclass(frozen=True)
class DepthDraw:
    """A point drawn among models, with weight exp(depth / (2 noise_scale)): no noise is added.

    It is private only on data that are far from unsafe ones, which a release before it has to test
    (solvers/tukey/proof.md); `delta` covers both ways to be wrong.

    Attributes
    ----------
    delta : float
        Probability of failure that is charged.
    """

    delta: float
    name: str = "draw by Tukey depth"
    selects: bool = False
    independent: bool = True

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """There is no noise to add: `draw_point` makes the release."""
        raise NotImplementedError("a draw by depth adds no noise; use Releaser.draw")

    def draw_point(self, source: NoiseSource, ordered: Array, noise_scale: float) -> Array:
        """A point of the lattice, given every coordinate of the models in order."""
        from privlearn._core.mechanisms.tukey_boxes import Boxes

        return Boxes.of(ordered).draw(source, 1.0 / noise_scale)

    def failure(self) -> float:
        """The delta to compute with, which leaves room for the rounding of draws."""
        from privlearn._core.mechanisms.tukey_boxes import SLACK

        return self.delta * (1.0 - 2.0 * SLACK)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """Nothing but the two numbers is claimed."""
        from privlearn._core.mechanisms.tukey_boxes import SLACK
        from privlearn.accounting import ApproximateLoss

        visits = _certain_visits(sampling, self.name)
        return ApproximateLoss(visits * shift.sensitivity / noise_scale + SLACK, self.delta)


GAUSSIAN = GaussianNoise()
LAPLACE = LaplaceNoise()
SPHERICAL = SphericalNoise()
GUMBEL = GumbelNoise()
MECHANISMS: tuple[Mechanism, ...] = (GAUSSIAN, LAPLACE, SPHERICAL, GUMBEL)
