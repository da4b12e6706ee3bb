"""Which values are frequent: noise on the count of each value that is there, and a threshold.

Counts of values that nobody holds are never drawn, so which values got noise is itself a secret.
What keeps it is the threshold: values that one person alone holds exceed it with probability
`delta` at most (schema/discovery.md). Beside that the counts are those of the Gaussian mechanism.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privlearn._core.mechanisms import GaussianNoise, Kind

__all__ = ["FrequentValues", "standard_threshold"]

MARGIN = 1e-9  # relative, in deviations: more than rounding to the grid and of quantiles costs


def standard_threshold(values: int, delta: float) -> float:
    """Deviations that noise on so many counts exceeds with probability `delta` at most.

    The solution of 1 - Phi(t)^values = delta, rounded up.

    Examples
    --------
    >>> round(standard_threshold(1, 0.5), 6), round(standard_threshold(8, 1e-7), 2)
    (0.0, 5.57)
    """
    from scipy.special import ndtr, ndtri_exp  # late: plans without lists need neither

    each = -math.expm1(math.log1p(-delta) / values)  # 1 - (1 - delta)^(1 / values)
    found = -float(ndtri_exp(math.log(each)))
    found += MARGIN * max(abs(found), 1.0)
    assert -math.expm1(values * math.log1p(-float(ndtr(-found)))) <= delta
    return found


@dataclass(frozen=True)
class FrequentValues(GaussianNoise):
    """Gaussian noise on the counts of all values that are there; the largest are published.

    Attributes
    ----------
    delta : float
        Probability that a value which only one of two neighbours holds is published; charged.
    """

    delta: float
    name = "Gaussian above a threshold"
    kind = Kind.LIST

    def failure(self) -> float:
        """The probability that such a value passes."""
        return self.delta

    def threshold(self, values: int, largest: float, noise_scale: float) -> float:
        """What a noisy count has to exceed to be published."""
        return largest + noise_scale * standard_threshold(values, self.delta)
