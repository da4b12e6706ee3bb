"""Cumulants of composed lattice losses, and the choice of tilt and window for the transform.

Nothing here affects validity: any tilt and any window give an upper bound (`accounting.md`,
section 4). A good choice makes it tight and the transform short.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privlearn.accounting.discretise import LatticeLoss
from privlearn.accounting.profiles import Array

_RELATIVE = 1e-6  # share of delta that may leave or enter the window on either side
_ROUNDING = 1e-4  # share of delta that the transform's rounding may cost


@dataclass(frozen=True)
class Summand:
    """A lattice loss, how often it is added, and its logarithmic masses."""

    loss: LatticeLoss
    count: int
    index: Array
    log_mass: Array

    @classmethod
    def of(cls, loss: LatticeLoss, count: int) -> Summand:
        """Drop empty places and take logarithms."""
        kept = loss.mass > 0
        return cls(loss, count, loss.index[kept].astype(np.float64), np.log(loss.mass[kept]))

    def log_mgf(self, tilt: float) -> tuple[float, Array]:
        """log sum_j mass_j e^(tilt * step * j), and the tilted masses."""
        exponent = self.log_mass + tilt * self.loss.step * self.index
        peak = float(np.max(exponent))
        weight = np.exp(exponent - peak)
        total = float(np.sum(weight))
        return peak + math.log(total), weight / total


def log_mgf(summands: Sequence[Summand], tilt: float) -> float:
    """log E e^(tilt * loss) of the composed loss (its finite part)."""
    return math.fsum(
        item.count * (item.log_mgf(tilt)[0] + tilt * item.loss.anchor) for item in summands
    )


def _variance(summands: Sequence[Summand]) -> float:
    total = 0.0
    for item in summands:
        _, weight = item.log_mgf(0.0)
        centre = float(np.sum(weight * item.index))
        spread = float(np.sum(weight * (item.index - centre) ** 2))
        total += item.count * item.loss.step**2 * spread
    return total


@dataclass(frozen=True)
class CumulantTable:
    """log E e^(t loss) of the composed loss at tilts t around zero."""

    tilts: Array
    log_mgf: Array

    @classmethod
    def of(cls, summands: Sequence[Summand]) -> CumulantTable:
        """Tabulate at geometric distances, in units of 1 / standard deviation."""
        unit = 1 / math.sqrt(_variance(summands) + summands[0].loss.step ** 2)
        positive = unit * np.geomspace(1 / 64, 512, 38)
        tilts = np.concatenate([-positive[::-1], [0.0], positive])
        values = np.array([log_mgf(summands, float(tilt)) for tilt in tilts])
        return cls(tilts, values)

    def log_chernoff(self, epsilon: float) -> float:
        """Log of an upper bound on delta(epsilon), from the best tilt in the table.

        (1 - e^-x)_+ <= e^(t x) t^t / (1 + t)^(1 + t) for every t > 0.
        """
        inside = self.tilts > 0
        tilt = self.tilts[inside]
        factor = tilt * np.log(tilt) - (1 + tilt) * np.log1p(tilt)
        return min(0.0, float(np.min(self.log_mgf[inside] - tilt * epsilon + factor)))


@dataclass(frozen=True)
class Frame:
    """A tilt, the window of losses to keep, and the tilts whose Chernoff bounds close its ends."""

    tilt: float
    bottom: float
    top: float
    closing: float  # for the top, above `tilt`
    opening: float  # for the bottom, below `tilt`


def choose_frame(
    table: CumulantTable, epsilon: float, log_delta: float, noise: float, step: float
) -> Frame:
    """The shortest window among tilts whose rounding error stays small against delta.

    With K the log moment generating function and t the tilt, mass above the window costs at most
    e^(K(s) - t epsilon - (s - t) top) for each s > t, mass below e^(K(s) - t epsilon + (t - s)
    bottom) for each s < t. The transform's error is `noise` in Euclidean norm against unit mass.
    """
    tilts, values = table.tilts, table.log_mgf
    budget = log_delta + math.log(_RELATIVE)
    best, best_badness = None, math.inf
    for k in np.flatnonzero(tilts >= 0)[:-4]:
        tilt = float(tilts[k])
        above = (values[k + 1 :] - tilt * epsilon - budget) / (tilts[k + 1 :] - tilt)
        below = (budget + tilt * epsilon - values[:k]) / (tilt - tilts[:k])
        top, bottom = max(float(np.min(above)), epsilon), float(np.max(below))
        norm = math.sqrt(_weight_square(tilt, top - epsilon) / step)
        error = math.log(noise * norm + 1e-300) + values[k] - tilt * epsilon - log_delta
        # short windows cost nothing; among equals take the one with less rounding
        badness = math.log(top - bottom + 4096 * step) + 0.02 * error
        badness += 2 * max(0.0, error - math.log(_ROUNDING))
        if badness < best_badness:
            closing = float(tilts[k + 1 + int(np.argmin(above))])
            opening = float(tilts[int(np.argmax(below))])
            best, best_badness = Frame(tilt, bottom, top, closing, opening), badness
    if best is None:
        raise RuntimeError(f"no window for epsilon={epsilon!r}; please report this composition")
    return best


def _weight_square(tilt: float, reach: float) -> float:
    """Integral of (e^(-t x) (1 - e^-x))^2 over 0 < x < reach, or a little more.

    Without an end that is 1 / 2t - 2 / (2t + 1) + 1 / 2(t + 1), written without differences: of
    large tilts, as of tiny epsilons, nothing would be left of those.
    """
    if tilt == 0:
        return reach
    return min(reach, 0.5 / (tilt * (tilt + 1) * (2 * tilt + 1)))
