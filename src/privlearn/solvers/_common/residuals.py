"""How large errors are: a released mean square, the noise on it, and where errors were cut.

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

Released are errors e of gradients e x that were shortened to a length C: in place of e^2 there is
min(e^2, C^2 / |x|^2), and few rows let noise choose a C that cuts many. With c = C^2 / mean |x|^2
and Gaussian errors of variance v, which intervals of rows assume anyway, what is left has mean

    c F(v / c),    F(b) = E min(b Z^2, 1) = P(|Z| > k) + b E[Z^2; |Z| < k],    k = 1 / sqrt(b).

F increases from 0 to 1, so S^2 is taken back to the v that it is of. Where it is above 0.95 c, no
variance is known that errors do not exceed: it is infinite, and rows have the whole range of y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["SHARE", "Residual"]

SHARE = 0.2  # of the probability to miss, in which errors may be larger than is told
MOST_CUT = 0.95  # of c, above which nothing is told of what was cut


@dataclass(frozen=True)
class Residual:
    """Mean square of the target about its prediction, where the loss has one.

    Attributes
    ----------
    square : float
        As it was released; noise may bring it below 0.
    noise : float
        Standard deviation of the noise on it.
    cut : float
        Squares above it counted as that much.

    Examples
    --------
    >>> hidden = Residual(square=-1.0, noise=2.0)
    >>> round(hidden.largest(0.95), 2), hidden.clear(0.95)
    (4.65, False)
    >>> Residual(square=9.0, noise=0.0).largest(0.95)
    9.0
    >>> round(Residual(square=0.516, noise=0.0, cut=1.0).largest(0.95), 2)
    1.0
    """

    square: float
    noise: float
    cut: float = math.inf

    def largest(self, level: float) -> float:
        """A variance that the errors' own exceeds in few fits, for intervals of that level."""
        return _uncut(max(self.square, 0.0) + self._doubt(level), self.cut)

    def clear(self, level: float) -> bool:
        """Whether what was released is more than noise may have made, and not all was cut."""
        return self.square > self._doubt(level) and math.isfinite(self.largest(level))

    def in_units(self, unit: float) -> Residual:
        """The same, where one is so much."""
        return Residual(self.square * unit**2, self.noise * unit**2, self.cut * unit**2)

    def _doubt(self, level: float) -> float:
        from scipy.special import ndtri

        return float(ndtri(1.0 - SHARE * (1.0 - level))) * self.noise


def _uncut(mean: float, cut: float) -> float:
    """The variance of Gaussian errors whose squares, none above `cut`, have that mean."""
    if mean == 0.0 or math.isinf(cut):
        return mean
    if mean > MOST_CUT * cut:
        return math.inf
    low, high = mean / cut, 1e4  # F(1e4) is 0.992
    while high > (1.0 + 1e-9) * low:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _left(middle) < mean / cut else (low, middle)
    return cut * high


def _left(variance: float) -> float:
    """Mean of Gaussian squares, of which none counts more than 1."""
    end = 1.0 / math.sqrt(variance)
    inside = math.erf(end / math.sqrt(2.0))
    density = math.exp(-0.5 * end**2) / math.sqrt(2.0 * math.pi)
    return 1.0 - inside + variance * (inside - 2.0 * end * density)
