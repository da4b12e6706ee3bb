"""One direction of a dominating pair, ready to be put on a grid.

A directed pair tells its privacy profile delta(l) at l = anchor + gap. The anchor is the loss where
much of the mass sits (an end of the support, or 0); a grid that passes through it splits no heavy
atom, and the gap carries the digits that anchor + gap would lose. Below zero the pair tells the
profile of the *reversed* pair at -l instead: delta(l) = 1 - e^l + e^l reversed(-l).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from privlearn.accounting.pairs import (
    ApproximateLoss,
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
    TwoBounds,
)
from privlearn.accounting.profiles import (
    TINY,
    UNIT,
    Array,
    gap_exponent,
    gaussian_profile,
    gaussian_rounding,
    replace_loss,
    replace_output,
    replace_profile,
    sampled_exponent,
)

Dots = tuple[Array, Array]  # values of a profile and bounds on their absolute rounding errors


class Directed(Protocol):
    """What the grid needs to know about one direction of a pair."""

    @property
    def anchor(self) -> float:
        """A loss that the grid passes through."""

    @property
    def top(self) -> float:
        """The largest possible loss, inf when there is none."""

    def support(self, below: float, above: float) -> tuple[float, float]:
        """Losses that leave out about `below` of the mass underneath and `above` on top."""

    def upper(self, gap: Array) -> Dots:
        """The profile at anchor + gap >= 0."""

    def lower(self, gap: Array) -> Dots:
        """The profile of the reversed pair at -(anchor + gap) >= 0."""


def _quantile(mass: float) -> float:
    """A bound on the normal quantile: 1 - Phi(t) <= exp(-t^2/2)/2 <= mass."""
    return math.sqrt(max(0.0, -2.0 * math.log(2.0 * min(mass, 0.5))))


@dataclass(frozen=True)
class _Normal:
    """N(mu, 1) against N(0, 1): the loss is N(mu^2/2, mu^2)."""

    mu: float
    anchor: float = 0.0
    top: float = math.inf

    def support(self, below: float, above: float) -> tuple[float, float]:
        centre = self.mu**2 / 2
        return centre - self.mu * _quantile(below), centre + self.mu * _quantile(above)

    def upper(self, gap: Array) -> Dots:
        value = gaussian_profile(gap, self.mu)
        return value, value * gaussian_rounding(gap, self.mu) + TINY

    def lower(self, gap: Array) -> Dots:
        return self.upper(-gap)


@dataclass(frozen=True)
class _Mixture:
    """Gaussian pairs with a public random mu; what the weights leave out is lost."""

    mus: tuple[float, ...]
    weights: tuple[float, ...]
    missing: float
    anchor: float = 0.0
    top: float = math.inf

    def support(self, below: float, above: float) -> tuple[float, float]:
        lows, highs = [0.0], [0.0]
        for mu, weight in zip(self.mus, self.weights, strict=True):
            low, high = _Normal(mu).support(
                min(0.5, below / max(weight, below)), min(0.5, above / max(weight, above))
            )
            lows.append(low)
            highs.append(high)
        return min(lows), max(highs)

    def upper(self, gap: Array) -> Dots:
        value = np.full(gap.shape, self.missing)
        error = 4 * UNIT * value + TINY
        for mu, weight in zip(self.mus, self.weights, strict=True):
            if mu > 0:
                part = weight * gaussian_profile(gap, mu)
                value = value + part
                error = error + part * (gaussian_rounding(gap, mu) + len(self.mus) * UNIT)
        return value, error

    def lower(self, gap: Array) -> Dots:
        return self.upper(-gap)


@dataclass(frozen=True)
class _Sampled:
    """Poisson-sampled Gaussian; `leaves` tells the direction mixture-against-normal.

    With x' the unsampled loss at the same output, delta = q delta_Gauss(x') in that direction and
    (1 - (1-q) e^l) delta_Gauss(-x') in the other (`accounting.md`, section 2). A lumpy pair (large
    mu) is anchored at the end of the support, +-log(1-q), where its bulk then sits.
    """

    rate: float
    mu: float
    leaves: bool
    lumpy: bool

    @property
    def anchor(self) -> float:
        end = math.log1p(-self.rate) if self.lumpy else 0.0
        return end if self.leaves else -end

    @property
    def top(self) -> float:
        return math.inf if self.leaves else -math.log1p(-self.rate)

    def support(self, below: float, above: float) -> tuple[float, float]:
        near, far = (below, above) if self.leaves else (above, below)
        half = self.mu**2 / 2
        low = -half - self.mu * _quantile(near)
        high = (half if self.leaves else -half) + self.mu * _quantile(far)
        ends = np.array([low, high])
        with np.errstate(over="ignore"):
            losses = np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + ends)
        return (losses[0], losses[1]) if self.leaves else (-losses[1], -losses[0])

    def _unsampled_loss_and_error(self, gap: Array) -> tuple[Array, Array]:
        """x' and a bound on its absolute rounding error."""
        distance = gap if self.leaves else -gap
        if self.lumpy:
            exponent = gap_exponent(distance, self.rate)
            return exponent, UNIT * (16.0 + 4.0 * np.abs(exponent))
        exponent = sampled_exponent(distance, self.rate)
        # log1p(expm1(l)/q): relative error of the ratio, enlarged where 1 + ratio is small.
        return exponent, 8.0 * UNIT * (np.abs(exponent) + np.abs(np.expm1(-exponent)))

    def _present(self, gap: Array) -> Dots:
        """q delta_Gauss(x') for x' >= 0."""
        exponent, slip = self._unsampled_loss_and_error(gap)
        exponent = np.maximum(exponent, 0.0)
        value = self.rate * gaussian_profile(exponent, self.mu)
        return value, value * self._relative(exponent, slip) + TINY

    def _absent(self, gap: Array) -> Dots:
        """(1 - (1-q) e^l) delta_Gauss(-x') for x' <= 0, zero beyond the end of the support."""
        distance = gap if self.leaves else -gap
        exponent, slip = self._unsampled_loss_and_error(gap)
        inside = exponent > -1e100
        exponent = np.where(inside, np.minimum(exponent, 0.0), 0.0)
        slip = np.where(inside, slip, 0.0)
        direct = self.rate * np.exp(exponent - distance)
        factor = -np.expm1(-distance) if self.lumpy else direct
        value = np.where(inside, factor * gaussian_profile(-exponent, self.mu), 0.0)
        return value, value * (self._relative(-exponent, slip) + 2 * slip) + TINY

    def _relative(self, exponent: Array, slip: Array) -> Array:
        """Rounding of the Gaussian profile plus |d log delta / dx'| <= (t + 2)/mu times slip."""
        steepness = (exponent / self.mu + self.mu / 2 + 2.0) / self.mu
        return gaussian_rounding(exponent, self.mu) + 2.0 * steepness * slip

    def upper(self, gap: Array) -> Dots:
        return self._present(gap) if self.leaves else self._absent(gap)

    def lower(self, gap: Array) -> Dots:
        return self._absent(gap) if self.leaves else self._present(gap)


@dataclass(frozen=True)
class _Exchanged:
    """Poisson-sampled Gaussian under replacement of one row: a symmetric pair."""

    rate: float
    mu: float
    anchor: float = 0.0
    top: float = math.inf

    def support(self, below: float, above: float) -> tuple[float, float]:
        outputs = np.array([-_quantile(below), self.mu + _quantile(above)])
        low, high = replace_loss(outputs, self.rate, self.mu)
        return low, high

    def upper(self, gap: Array) -> Dots:
        value = replace_profile(gap, self.rate, self.mu)
        output = replace_output(gap, self.rate, self.mu)
        rounding = UNIT * (384.0 + 64.0 * (output + self.mu) ** 2)
        return value, value * rounding + TINY

    def lower(self, gap: Array) -> Dots:
        return self.upper(-gap)


@dataclass(frozen=True)
class _Bounded:
    """A symmetric pair with losses in [-epsilon, epsilon] and an elementary profile."""

    epsilon: float
    shape: type[Laplace] | type[PureLoss] | type[BoundedRange]

    @property
    def anchor(self) -> float:
        return self.epsilon

    @property
    def top(self) -> float:
        return self.epsilon

    def support(self, below: float, above: float) -> tuple[float, float]:
        return -self.epsilon, self.epsilon

    def _profile(self, rest: Array) -> Array:
        """The profile as a function of epsilon - loss."""
        rest = np.maximum(rest, 0.0)
        if self.shape is Laplace:
            return -np.expm1(-rest / 2)
        if self.shape is PureLoss:
            return -np.expm1(-rest) / (1.0 + math.exp(-self.epsilon))
        return np.expm1(-rest / 2) ** 2 / -math.expm1(-self.epsilon)

    def upper(self, gap: Array) -> Dots:
        value = self._profile(-gap)
        return value, 16 * UNIT * value

    def lower(self, gap: Array) -> Dots:
        value = self._profile(2 * self.epsilon + gap)
        slip = 4 * UNIT * self.epsilon  # of 2 epsilon + gap; every profile has slope at most 1
        return value, 16 * UNIT * value + slip


def directions(pair: Pair, anchored: bool = True) -> tuple[Directed, Directed]:
    """Both directions of a pair: (row there against row gone, row gone against row there).

    Symmetric pairs give the same direction twice. `anchored=False` keeps the sampled Gaussian's
    anchor at 0, for a single evaluation at a given loss.
    """
    if isinstance(pair, SampledGaussian):
        mu = 1.0 / pair.noise_multiplier
        if not pair.replace:
            lumpy = anchored and mu >= 0.1
            return _Sampled(pair.rate, mu, True, lumpy), _Sampled(pair.rate, mu, False, lumpy)
        both: Directed = _Exchanged(pair.rate, mu)
    elif isinstance(pair, Gaussian):
        both = _Normal(pair.mu)
    elif isinstance(pair, GaussianMixture):
        both = _Mixture(pair.mus, pair.weights, pair.missing)
    elif isinstance(pair, ApproximateLoss | TwoBounds):
        raise TypeError("failures are taken out before losses are put on a grid: a bug")
    else:
        both = _Bounded(pair.epsilon, type(pair))
    return both, both
