"""The smallest Gaussian that dominates a charge: how a charge enters a sum of squares.

A charge with profile delta_P is replaced by a Gaussian of mu that may fail with a small probability
lambda: delta_P(e) <= lambda + (1 - lambda) delta_mu(e) at every e, in both directions. Between the
losses at which delta_P is evaluated, convexity decides. Proof: `proof.md`, section 2.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from privlearn.accounting import Gaussian, GaussianMixture, compose, failing
from privlearn.accounting.composition import Terms, evaluate, size
from privlearn.accounting.cover import Cover
from privlearn.accounting.views import as_gaussian
from privlearn.ledger.composition_cost import balanced, composed

__all__ = ["dominating_mu", "failure_mass"]

_TOLERANCE = 3e-3  # of epsilon, in each evaluation of the profile; whatever it is, a bound
_CLOSE = 3e-3  # relative excess of mu over what the evaluated points alone ask for
_MOST = 28  # evaluations of the profile
_UNIT = 2.0**-53


def failure_mass(terms: Terms) -> float:
    """Probability, rounded up, of a complete loss: failures, and weights that mixtures leave out.

    Examples
    --------
    >>> from privlearn.accounting import ApproximateLoss
    >>> failure_mass(((ApproximateLoss(0.5, 1e-9), 2),)) <= 2.0001e-9
    True
    """
    terms = as_gaussian(terms)
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
    whole = compose(failing.unfailing(as_gaussian(terms)))
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
            cover = Cover(losses, values, self.slack)
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
