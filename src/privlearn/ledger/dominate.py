"""The smallest Gaussian that dominates a charge: how a charge enters a sum of squares.

A charge with profile delta_P is replaced by a Gaussian of mu that may fail with a small probability
lambda: delta_P(e) <= lambda + (1 - lambda) delta_mu(e) at every e, in both directions. Between the
losses at which delta_P is evaluated, convexity decides. Proof: `ledger.md`, section 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from privlearn.accounting import Gaussian, GaussianMixture, compose, failing
from privlearn.accounting.composition import Terms, evaluate, size
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.accounting.profiles import Array, gaussian_profile, gaussian_rounding
from privlearn.ledger.composition_cost import balanced, composed

__all__ = ["dominating_mu", "failure_mass"]

_TOLERANCE = 3e-3  # of epsilon, in each evaluation of the profile; whatever it is, a bound
_CLOSE = 3e-3  # relative excess of mu over what the evaluated points alone ask for
_MOST = 28  # evaluations of the profile
_HALVINGS = 60
_UNIT = 2.0**-53


def failure_mass(terms: Terms) -> float:
    """Probability, rounded up, of a complete loss: failures, and weights that mixtures leave out.

    Examples
    --------
    >>> from privlearn.accounting import ApproximateLoss
    >>> failure_mass(((ApproximateLoss(0.5, 1e-9), 2),)) <= 2.0001e-9
    True
    """
    left_out = [count * pair.missing for pair, count in terms if isinstance(pair, GaussianMixture)]
    return min(1.0, (failing.lost(terms) + math.fsum(left_out)) * (1 + 1e-12))


@lru_cache(maxsize=4096)
def dominating_mu(terms: Terms, slack: float) -> float:
    """Smallest mu, rounded up, of a Gaussian that dominates `terms` but for `slack`.

    Parameters
    ----------
    terms : tuple of (pair, count)
        What is charged. Its own failures (`failure_mass`) are not covered by `slack`: whoever
        calls adds both.
    slack : float
        Probability with which the dominating Gaussian may fail; 0 leaves sampled Gaussians with
        no amplification, and some of them with no finite answer.

    Returns
    -------
    float
        mu, or inf.

    Examples
    --------
    >>> from privlearn.accounting import Gaussian, PureLoss
    >>> round(dominating_mu(((Gaussian(0.3), 4),), 0.0), 12)
    0.6
    >>> round(dominating_mu(((PureLoss(1.0), 1),), 0.0), 6)  # 2 Phi^-1(e / (1 + e))
    1.232035
    """
    whole = compose(failing.unfailing(terms))
    if not whole.terms:
        return 0.0
    if len(whole.terms) == 1 and isinstance(whole.terms[0][0], Gaussian):
        return whole.terms[0][0].mu * math.sqrt(whole.terms[0][1]) * (1 + 4 * _UNIT)
    found = _Profile.of(composed(whole.terms).terms, slack)
    return math.inf if found is None else found.refined()


class _Profile:
    """Upper bounds on a profile at some losses, from 0 to one where it is below the slack."""

    def __init__(self, terms: Terms, slack: float) -> None:
        self.terms, self.slack = balanced(terms), slack + failure_mass(terms)
        self.points: dict[float, float] = {}

    @classmethod
    def of(cls, terms: Terms, slack: float) -> _Profile | None:
        """The two ends; None where the profile does not fall to the slack."""
        profile = cls(terms, slack)
        top = compose(terms).largest_loss
        if profile.at(0.0)[0] >= 1 - 1e-12:
            return None
        if math.isfinite(top):
            profile.points[top] = 0.0
            return profile
        return profile if slack > 0 and profile.reach_the_slack() else None

    def at(self, loss: float) -> tuple[float, float]:
        """Evaluate at one more loss; delta and its logarithmic slope."""
        found = evaluate(self.terms, loss, _TOLERANCE)
        self.points[loss] = found.delta
        return found.delta, found.tilt

    def reach_the_slack(self) -> bool:
        """Add a loss at which the profile is at most the slack."""
        mu = size(self.terms)
        loss = mu * mu / 2 + mu * math.sqrt(-2 * math.log(min(self.slack, 0.5)))
        for _ in range(40):
            delta, tilt = self.at(loss)
            if delta <= self.slack:
                return True
            step = math.log(1.2 * delta / self.slack) / tilt if tilt > 0 else loss
            loss += min(max(step, 1e-3 * loss), 2 * loss)
        return False

    def refined(self) -> float:
        """The answer, after evaluating where the distance between two losses matters."""
        for _ in range(_MOST):
            losses = np.array(sorted(self.points))
            values = np.array([self.points[loss] for loss in losses])
            cover = _Cover(losses, values, self.slack)
            mu = cover.smallest()
            if not math.isfinite(mu):
                return mu
            gap = cover.binding(mu * (1 - 1e-6))
            if gap is None or mu <= cover.at_points(mu) * (1 + _CLOSE):
                break
            middle = float(losses[gap] + losses[gap + 1]) / 2
            if not losses[gap] < middle < losses[gap + 1]:
                break
            self.at(middle)
        return mu * (1 + 1e-12)


class _Cover:
    """Whether a Gaussian covers a profile that is known at some losses."""

    def __init__(self, losses: Array, values: Array, slack: float) -> None:
        self.losses, self.values, self.slack = losses, values, slack
        with np.errstate(over="ignore"):
            self.width = np.expm1(np.diff(losses))  # x_b / x_a - 1, with x = e^loss

    def _curve(self, mu: float) -> tuple[Array, Array]:
        """lambda + (1 - lambda) delta_mu, rounded down, and how fast it falls in e^loss (up)."""
        height = gaussian_profile(self.losses, mu)
        height *= 1 - np.minimum(1.0, gaussian_rounding(self.losses, mu))
        share = (1 - self.slack) * (1 - 4 * _UNIT)
        fall = share * ndtr(-self.losses / mu - mu / 2) * (1 + 1e-13)
        return self.slack + share * height, fall

    def points_hold(self, mu: float) -> bool:
        """Whether the evaluated losses are covered."""
        return bool((self.values <= self._curve(mu)[0]).all())

    def gaps_hold(self, mu: float) -> NDArray[np.bool_]:
        """Whether each gap is covered, given that its ends are.

        The profile is below its chord, the Gaussian's above its tangents at both ends, all lines in
        x = e^loss. A point at which the chord is below *both* tangents shows it: the chord is below
        the left tangent before it and below the right one after it.
        """
        height, fall = self._curve(mu)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            front = np.exp(self.losses[:-1])
            left, right = fall[:-1] * front, fall[1:] * front  # per unit of x / x_a - 1
            meet = (height[:-1] - height[1:] - right * self.width) / (left - right)
            meet = np.clip(np.where(np.isfinite(meet), meet, 0.0), 0.0, self.width)
            before = height[:-1] - left * meet
            after = height[1:] + right * (self.width - meet)
            share = meet / self.width
            chord = self.values[:-1] * (1 - share) + self.values[1:] * share
            cushion = 1e-12 * (left * meet + right * self.width + height[:-1])
            return np.asarray(chord * (1 + 1e-12) + cushion <= np.minimum(before, after))

    def holds(self, mu: float) -> bool:
        """Whether everything is covered."""
        return self.points_hold(mu) and bool(self.gaps_hold(mu).all())

    def at_points(self, most: float) -> float:
        """What the evaluated losses alone ask for."""
        return _smallest(self.points_hold, most)

    def smallest(self) -> float:
        """The smallest mu that covers everything, to 1e-9 or so; inf where none does."""
        high = max(1e-12, equivalent_mu(0.0, min(float(self.values[0]), 1 - 1e-13)))
        for _ in range(40):
            if self.holds(high):
                return _smallest(self.holds, high)
            high *= 1.3
        return math.inf

    def binding(self, mu: float) -> int | None:
        """A gap that is not covered although an end is: the one with the greatest fall."""
        broken = ~self.gaps_hold(mu)
        covered = self.values <= self._curve(mu)[0]
        broken &= covered[:-1] | covered[1:]
        if not broken.any():
            return None
        falls = -np.diff(np.log(np.maximum(self.values, max(self.slack, 1e-300))))
        return int(np.argmax(np.where(broken, falls, -1.0)))


def _smallest(holds: Callable[[float], bool], high: float) -> float:
    """Halve between 0 and a number that holds; returns one that holds."""
    low = high / 4
    for _ in range(_HALVINGS):
        if not holds(low):
            break
        low, high = low / 4, low
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
        if high <= low * (1 + 1e-10):
            break
    return high
