"""Mechanisms: one object gives both the noise of a release and its dominating pair.

`draw` returns integer noise in units of the release's grid; `pair` returns what the accountant
composes. Both take the same `noise_scale`, so what is drawn is what is accounted.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Protocol

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
    "Kind",
    "Mechanism",
    "Shift",
]

Units = NDArray[np.int64]
Array = NDArray[np.float64]


class Kind(StrEnum):
    """What leaves a mechanism."""

    NOISE = "noise"  # numbers with noise
    SELECTION = "selection"  # the index of the largest noisy score
    DRAW = "draw"  # a point that is drawn among models


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
    def kind(self) -> Kind:
        """What leaves: noisy numbers, the index of the largest of them, or a drawn point."""

    @property
    def grid(self) -> float | None:
        """Step of the grid on which it releases; None where that follows from the noise."""

    @property
    def independent(self) -> bool:
        """Whether the numbers of one release get independent noise."""

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""

    def draw_point(self, source: NoiseSource, ordered: Array, noise_scale: float) -> Array:
        """The released point, given every coordinate of the models in order; for draws only."""

    def failure(self) -> float:
        """Probability of failure to compute with; 0 where nothing can fail."""

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The dominating pair of one such release."""


class _AddsNoise:
    """What all mechanisms say that add noise to numbers."""

    kind: ClassVar[Kind] = Kind.NOISE
    grid: ClassVar[float | None] = None
    independent: ClassVar[bool] = True

    def draw_point(self, source: NoiseSource, ordered: Array, noise_scale: float) -> Array:
        """Nothing is drawn among models."""
        raise NotImplementedError("this mechanism adds noise to numbers; use Releaser()")

    def failure(self) -> float:
        """Nothing can fail."""
        return 0.0


def _loss(shift: Shift, noise_scale: float, sampling: Sampling, name: str) -> float:
    """Largest distance in units of the noise, where it is certain how often a row comes."""
    if sampling.visits is None or len(sampling.visits) > 1:
        raise NotImplementedError(f"{name} noise has no proof here for {sampling.name}; use FULL")
    return sampling.visits[0][0] * shift.sensitivity / noise_scale


@dataclass(frozen=True)
class GaussianNoise(_AddsNoise):
    """Independent Gaussian noise; `noise_scale` is its standard deviation."""

    name: ClassVar[str] = "Gaussian"

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
class LaplaceNoise(_AddsNoise):
    """Independent Laplace noise on a statistic with bounded L1 sensitivity."""

    name: ClassVar[str] = "Laplace"

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.laplace(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The Laplace pair for one number; for several only the pure guarantee is claimed."""
        from privlearn.accounting import Laplace, PureLoss

        epsilon = _loss(shift, noise_scale, sampling, self.name)
        return Laplace(epsilon) if shift.dimension == 1 else PureLoss(epsilon)


@dataclass(frozen=True)
class SphericalNoise(_AddsNoise):
    """A vector with density proportional to exp(-|x|_2 / noise_scale)."""

    name: ClassVar[str] = "spherical"
    independent: ClassVar[bool] = False

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.spherical(scale, int(np.prod(shape))).reshape(shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """The worst pair of a pure guarantee."""
        from privlearn.accounting import PureLoss

        return PureLoss(_loss(shift, noise_scale, sampling, self.name))


@dataclass(frozen=True)
class GumbelNoise(_AddsNoise):
    """Gumbel noise on scores of which only the index of the largest leaves."""

    name: ClassVar[str] = "Gumbel"
    kind: ClassVar[Kind] = Kind.SELECTION

    def draw(self, source: NoiseSource, scale: float, shape: tuple[int, ...]) -> Units:
        """Integer noise whose scale is `scale` grid units."""
        return source.gumbel(scale, shape)

    def pair(self, shift: Shift, noise_scale: float, sampling: Sampling) -> Pair:
        """Bounded range: each score moves by at most the sensitivity, up or down."""
        from privlearn.accounting import BoundedRange

        return BoundedRange(2.0 * _loss(shift, noise_scale, sampling, self.name))


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
    name: ClassVar[str] = "draw by Tukey depth"
    independent: ClassVar[bool] = True
    kind: ClassVar[Kind] = Kind.DRAW

    @property
    def grid(self) -> float:
        """The lattice of the drawn points."""
        from privlearn._core.mechanisms.tukey_boxes import STEP

        return STEP

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

        loss = _loss(shift, noise_scale, sampling, self.name)
        return ApproximateLoss(loss + SLACK, self.delta)


GAUSSIAN = GaussianNoise()
LAPLACE = LaplaceNoise()
SPHERICAL = SphericalNoise()
GUMBEL = GumbelNoise()
MECHANISMS: tuple[Mechanism, ...] = (GAUSSIAN, LAPLACE, SPHERICAL, GUMBEL)
