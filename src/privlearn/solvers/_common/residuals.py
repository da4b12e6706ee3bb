"""How large errors are: a released mean square, and the noise on it.

A released mean square s^2 is that of the errors plus noise N(0, t^2) of known t. Noise may bring it
down to 0 and below: taken as it is, an interval of a row would then be one of the mean. So rows
have the upper end of a one-sided confidence interval,

    S^2 = max(s^2, 0) + z t,    z the 1 - a/5 quantile of N(0, 1) for intervals of level 1 - a.

In all but a/5 of all fits S is at least the deviation of the errors, and an interval of +-S times
the 1 - a/2 quantile (with the variance of the mean added to S^2) covers at least 1 - a of the rows.
In the mean over fits it does, too: with v the variance of y about the prediction, r = t / v and u
the noise, in deviations, coverage is the mean over u of

    P(|N(0, 1)| <= q sqrt(max(1 + r u, 0) + r z)),    q the 1 - a/2 quantile,

which is 1 - a for r = 0 and above it for every r > 0: tests/solvers/test_residuals.py computes it.
(1 + r u without the maximum would do for every r, too: for large r it fails where u < -z, which is
a/5.) The share is a fifth because a fit that tells too little is seen by nobody.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SHARE", "Residual"]

SHARE = 0.2  # of the probability to miss, in which errors may be larger than is told


@dataclass(frozen=True)
class Residual:
    """Mean square of the target about its prediction, where the loss has one.

    Attributes
    ----------
    square : float
        As it was released; noise may bring it below 0.
    noise : float
        Standard deviation of the noise on it.

    Examples
    --------
    >>> hidden = Residual(square=-1.0, noise=2.0)
    >>> round(hidden.largest(0.95), 2), hidden.clear(0.95)
    (4.65, False)
    >>> Residual(square=9.0, noise=0.0).largest(0.95)
    9.0
    """

    square: float
    noise: float

    def largest(self, level: float) -> float:
        """A mean square that the errors' own exceeds in few fits, for intervals of that level."""
        return max(self.square, 0.0) + self._doubt(level)

    def clear(self, level: float) -> bool:
        """Whether what was released is more than noise may have made."""
        return self.square > self._doubt(level)

    def in_units(self, unit: float) -> Residual:
        """The same, where one is so much."""
        return Residual(self.square * unit**2, self.noise * unit**2)

    def _doubt(self, level: float) -> float:
        from scipy.special import ndtri

        return float(ndtri(1.0 - SHARE * (1.0 - level))) * self.noise
