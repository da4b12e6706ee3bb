"""Put a directed pair on an equidistant grid of losses, never below its true profile.

Connect the dots (Doroshenko et al. 2022): the profile, as a function of e^loss, is convex, so the
polygon through its values at the grid points lies above it. The polygon is the profile of a loss
that takes grid values only. All roundings go the private way (`accounting.md`, section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn.accounting.directed import Directed
from privlearn.accounting.profiles import UNIT, Array


@dataclass(frozen=True)
class LatticeLoss:
    """A privacy loss on the lattice anchor + step * index, under P.

    `mass` holds the probabilities at `index` (with `infinite`, the probability of an infinite loss,
    they may sum to a little more than 1) and every distribution function is rounded so that the
    loss is stochastically at least the one of the polygon.
    """

    anchor: float
    step: float
    index: NDArray[np.int64]
    mass: Array
    infinite: float


@dataclass(frozen=True)
class Profile:
    """A profile at some points of a lattice, with bounds on the rounding errors of its values."""

    anchor: float
    step: float
    index: NDArray[np.int64]
    value: Array  # delta(l) where l > 0, the reversed profile at -l where l <= 0
    error: Array

    def loss(self) -> LatticeLoss:
        """Connect the dots."""
        index, value, error = self.index, self.value, self.error
        losses: Array = self.anchor + self.step * index.astype(np.float64)
        fall = -np.expm1(-self.step * np.diff(index))  # 1 - e^-(distance to the dot before)
        zero = int(np.searchsorted(losses, 0.0, side="right"))  # first positive loss
        below = _below(value[:zero], error[:zero], losses[:zero], fall)
        above = _above(value, error, losses, fall, zero)
        mass, infinite = _masses(below, above, value, error, losses)
        return LatticeLoss(self.anchor, self.step, index, mass, infinite)

    def thinned(self) -> Profile:
        """The even dots, on the lattice of twice the step."""
        index = self.index[self.index % 2 == 0]
        # Far dots are all even: drop every other one there, too.
        kept = np.ones(index.size, dtype=bool)
        gaps = np.diff(index)
        kept[1:-1] = (gaps[:-1] <= 2) | (gaps[1:] <= 2) | (np.arange(1, index.size - 1) % 2 == 0)
        index = index[kept]
        place = np.searchsorted(self.index, index)
        value, error = self.value[place], self.error[place]
        return Profile(self.anchor, 2 * self.step, index // 2, value, error)


def _below(value: Array, error: Array, losses: Array, fall: Array) -> Array:
    """Lower bounds on P(loss < l_j) at the dots l_j <= 0; 0 at the first one.

    e^(l_(j-1)) (r_j - r_(j-1)) / (1 - e^(l_(j-1) - l_j)), r the reversed profile at -l.
    """
    if value.size == 0:
        return value
    rise = (value[1:] - error[1:]) - (value[:-1] + error[:-1])
    rise -= 4 * UNIT * (value[1:] + value[:-1])
    bound = np.exp(losses[:-1]) * rise / fall[: rise.size] * (1 - 16 * UNIT * _size(losses))
    return np.maximum.accumulate(np.concatenate([[0.0], bound]))


def _above(value: Array, error: Array, losses: Array, fall: Array, zero: int) -> Array:
    """Upper bounds on P(loss >= l_j) at the dots l_j > 0.

    d_j + (d_(j-1) - d_j) / (1 - e^(l_(j-1) - l_j)), d the profile.
    """
    if zero == value.size:
        return value[:0]
    high, low = (value + error)[zero:], (value - error)[zero:]
    first = [1.0]
    if zero:  # the dot before the first positive loss, turned from the reversed profile
        before = -math.expm1(losses[zero - 1])
        before += math.exp(losses[zero - 1]) * float(value[zero - 1] + error[zero - 1])
        drop = before * (1 + 8 * UNIT * _size(losses)) - low[0]
        first = [high[0] + (drop + 4 * UNIT * (before + high[0])) / fall[zero - 1]]
    drop = high[:-1] - low[1:] + 4 * UNIT * (high[:-1] + high[1:])
    bound = np.concatenate([first, high[1:] + drop / fall[zero:]]) * (1 + 16 * UNIT)
    return np.minimum.accumulate(np.minimum(bound, 1.0))


def _size(losses: Array) -> float:
    """One plus the largest loss: e^l carries a relative error of that many roundings."""
    return 1.0 + float(max(abs(losses[0]), abs(losses[-1])))


def _masses(
    below: Array, above: Array, value: Array, error: Array, losses: Array
) -> tuple[Array, float]:
    """Turn the two halves of a distribution function into masses; negative ones become 0."""
    if above.size:
        infinite = float(value[-1] + error[-1])
    else:  # the highest dot is at or below zero: delta(l) = 1 - e^l + e^l reversed(-l)
        infinite = -math.expm1(losses[-1]) * (1 + 8 * UNIT) + float(value[-1] + error[-1])
    infinite = min(1.0, infinite)
    low = np.diff(below)
    high = above[:-1] - above[1:]
    last_high = [above[-1] - infinite] if above.size else []
    rest = above[0] if above.size else infinite
    middle = [1.0 - below[-1] - rest] if below.size else []
    mass = np.concatenate([low, middle, high, last_high])
    return np.maximum(mass, 0.0) * (1 + 4 * UNIT), infinite


def _spaced(first: int, last: int, growth: float) -> NDArray[np.int64]:
    """Even indices from first to last, `growth` times |index| apart; near 0 all of them."""
    dense = 2 * max(2, math.ceil(1 / growth))
    reach = max(abs(first), abs(last), dense)
    count = math.ceil(math.log(reach / dense) / math.log1p(growth)) + 1
    far = np.floor(dense * np.exp(math.log1p(growth) * np.arange(count + 1))).astype(np.int64)
    far = far[far > dense] // 2 * 2
    near = np.arange(-dense, dense + 1, dtype=np.int64)
    points = np.concatenate([-far[::-1], near, far])
    return points[(points >= first) & (points <= last)]


def dots(first: int, last: int, zero: int, growth: float) -> NDArray[np.int64]:
    """Lattice indices, dense around the anchor (0) and around the loss zero.

    A rare large loss needs no finer place than a small part of its own size.
    """
    sets = [_spaced(first, last, growth), np.array([first, last])]
    if zero:
        sets.append(_spaced(first - zero, last - zero, growth) + zero)
    points = np.sort(np.concatenate(sets))
    return points[np.concatenate([[True], np.diff(points) > 0])]


def profile_on_grid(
    pair: Directed, step: float, growth: float, below: float, above: float
) -> Profile:
    """Evaluate the profile of one direction at the lattice points that matter.

    `below` and `above` are the masses that the ends may leave out; what lies above the last point
    is counted as an infinite loss, what lies below the first is moved up to it.
    """
    low, high = pair.support(below, above)
    first = 2 * math.floor((low - pair.anchor) / (2 * step) + 1e-6)
    last = max(2 * math.ceil((high - pair.anchor) / (2 * step) - 1e-6), first + 2)
    index = dots(first, last, 2 * round(-pair.anchor / (2 * step)), growth)
    gap: Array = step * index.astype(np.float64)
    zero = int(np.searchsorted(pair.anchor + gap, 0.0, side="right"))
    low_value, low_error = pair.lower(gap[:zero])
    high_value, high_error = pair.upper(gap[zero:])
    value = np.concatenate([low_value, high_value])
    error = np.concatenate([low_error, high_error])
    return Profile(pair.anchor, step, index, value, error)
