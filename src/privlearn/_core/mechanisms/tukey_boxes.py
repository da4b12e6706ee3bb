"""Points of great depth among models: lattice, boxes, distance to danger, and the law of a draw.

The depth of a point among models is the smallest number of models on either side of it in any
coordinate (approximate Tukey depth: Amin et al. 2023), up to half of the models. Points of depth i
or more form a box, from the i-th smallest to the i-th largest value in every coordinate. Proofs:
solvers/tukey/proof.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from privlearn.noise import NoiseSource

__all__ = ["LIMIT", "MARGIN", "MOST_COORDINATES", "SLACK", "STEP", "Boxes", "in_order"]

Array = NDArray[np.float64]

STEP = 2.0**-40  # of the public lattice that every coordinate lies on
LIMIT = 2.0**60  # and its end on either side
MOST_COORDINATES = 2**14  # for which the bounds on rounding are stated
SLACK = 2.0**-24  # in epsilon and, relatively, in delta: more than the rounding of a draw costs
MARGIN = 2.0**-20  # relative, of a ratio of volumes: more than its rounding
_SCORE_STEP = 2.0**-30  # grid of the logarithms of weights
_LARGEST_SLOPE = 600.0  # e^slope must be a number; a smaller slope is more private
_LARGEST_SCORE = 2.0**20  # and logarithms of weights keep enough digits after the point


def in_order(models: ArrayLike) -> Array:
    """Models, one per row, on the lattice, every coordinate sorted on its own.

    Examples
    --------
    >>> in_order([[2.0, np.inf], [1.0, np.nan]]).tolist()
    [[1.0, 0.0], [2.0, 1.152921504606847e+18]]
    """
    values = np.nan_to_num(np.asarray(models, dtype=np.float64), nan=0.0)
    values = np.clip(values, -LIMIT, LIMIT)
    return np.sort(np.rint(values / STEP) * STEP, axis=0)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes of points of depth i or more, i = 0, 1, ..., and their numbers of lattice points.

    Attributes
    ----------
    ordered : array of shape (models, coordinates)
        From `in_order`.
    mantissas, exponents : arrays
        Numbers of lattice points, mantissa * 2^exponent; entry 0 is the whole lattice.
    """

    ordered: Array
    mantissas: Array
    exponents: NDArray[np.int64]

    @classmethod
    def of(cls, ordered: Array) -> Boxes:
        """Measure the boxes of models in order."""
        from privlearn._core.mechanisms.tukey_depth import measure_boxes

        deepest = (len(ordered) + 1) // 2
        mantissas, exponents = np.empty(deepest + 1), np.empty(deepest + 1, dtype=np.int64)
        measure_boxes(ordered, STEP, 2.0 * LIMIT / STEP + 1.0, mantissas, exponents)
        return cls(ordered, mantissas, exponents)

    @property
    def shallowest(self) -> int:
        """Smallest depth that may be drawn: a quarter of the models."""
        return max(1, len(self.ordered) // 4)

    def slope(self, epsilon: float) -> float:
        """Log weight per unit of depth: half of epsilon, since one model is *exchanged*."""
        return min(0.5 * epsilon, _LARGEST_SLOPE, _LARGEST_SCORE / len(self.ordered))

    def safe_distance(self, epsilon: float, delta: float) -> int:
        """How many models may be exchanged before a draw stops being (epsilon, delta)-private.

        A lower bound with sensitivity 1, -1 where the draw is not known to be private as it is.
        """
        from privlearn._core.mechanisms.tukey_depth import safe_distance

        slope = self.slope(epsilon)
        bar = delta / (delta + math.exp(slope)) * (1.0 - MARGIN)
        found = safe_distance(
            self.mantissas,
            self.exponents,
            self.shallowest,
            math.exp(slope),
            -math.expm1(-slope),
            bar,
        )
        return int(found)

    def log_weights(self, epsilon: float) -> Array:
        """Logarithms of the weights with which boxes from `shallowest` on are drawn.

        Uniform points of boxes with these weights have density exp(slope * depth).
        """
        slope, start = self.slope(epsilon), self.shallowest
        volumes = np.log(self.mantissas[start:]) + math.log(2.0) * self.exponents[start:]
        weights = volumes + slope * np.arange(volumes.size)
        weights[1:] += math.log(-math.expm1(-slope))
        return weights

    def draw(self, source: NoiseSource, epsilon: float) -> Array:
        """A lattice point, drawn by its depth: a box by Gumbel noise, then a point of it."""
        scores = self.log_weights(epsilon)
        units = np.rint((scores - scores.max()) / _SCORE_STEP).astype(np.int64)
        noisy = units + source.gumbel(1.0 / _SCORE_STEP, units.shape)
        i = self.shallowest + int(np.argmax(noisy))
        low, high = self.ordered[i - 1], self.ordered[len(self.ordered) - i]
        return np.array([_uniform(source, *ends) for ends in zip(low, high, strict=True)])


def _uniform(source: NoiseSource, low: float, high: float) -> float:
    """A lattice point between two others, both included, exactly uniform."""
    first, last = int(low / STEP), int(high / STEP)
    return float(first + _below(source, last - first + 1)) * STEP


def _below(source: NoiseSource, bound: int) -> int:
    """A uniform integer below a bound of any size: words are refused unless they are below it."""
    length = (bound - 1).bit_length()
    words = -(-length // 64)
    while True:
        drawn = 0
        for word in source.bits(words).tolist():
            drawn = drawn << 64 | word
        drawn >>= 64 * words - length
        if drawn < bound:
            return drawn
