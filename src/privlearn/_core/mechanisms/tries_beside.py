"""The Gaussian that covers the best of a secret number of Gaussian tries, but for a tiny failure.

What a search promises at one epsilon says little about what it costs beside other releases. Where
every try is dominated by a Gaussian, two bounds on the whole profile are known: one as if the
number of tries were told, one that uses that it is not (model_selection/proof.md, 2b). The profile
is convex in exp(epsilon) and below both, hence below the hull of what they say at many epsilons.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from privlearn._core.mechanisms import tries
from privlearn.accounting.cover import Cover
from privlearn.accounting.profiles import Array, gaussian_profile, gaussian_rounding

__all__ = ["covering_gaussian", "profile_bound", "told_number_bound"]

FAILURE = 2.0**-30  # of the promised delta: beyond, nothing is compared
POINTS = 600  # epsilons at which the profile is bounded
MOST_TRIES = 2048  # more are a complete loss, in the bound that tells their number
FURTHEST = 300.0  # epsilons beyond which nothing is claimed
UP = 1.0 + 1e-9  # more than the rounding of sums and chords


@lru_cache(maxsize=256)
def covering_gaussian(
    eta: int, gamma: float, mu: float, pivot: float, delta: float
) -> tuple[float, float] | None:
    """mu and failure of a Gaussian that dominates the best of all tries; None where none is found.

    Parameters
    ----------
    eta, gamma : int, float
        The law of the number of tries.
    mu : float
        Of the Gaussian that dominates a try.
    pivot : float
        An epsilon at which the number of tries is hidden (proof.md, 2).
    delta : float
        What the whole promises; a small part of it may fail.

    Examples
    --------
    >>> mu, failure = covering_gaussian(2, 0.186, 0.163, 0.11, 1e-5)
    >>> round(mu, 1), failure < 1e-13
    (0.5, True)
    """
    failure = FAILURE * delta
    last = _reach(eta, gamma, mu, pivot, failure)
    if last is None:
        return None
    losses = np.linspace(0.0, last, POINTS)
    values = _hull(np.expm1(losses), profile_bound(losses, eta, gamma, mu, pivot))
    values[-1] = min(values[-1], failure)
    found = Cover(losses, np.minimum(values, 1.0), failure).smallest()
    return (found, failure) if math.isfinite(found) else None


def profile_bound(losses: Array, eta: int, gamma: float, mu: float, pivot: float) -> Array:
    """An upper bound on the profile of the best of all tries, at epsilons from 0 on."""
    told = told_number_bound(losses, eta, gamma, mu)
    shift = (eta + 1) * pivot
    hidden = tries.mean(eta, gamma) * _delta(np.maximum(losses - shift, 0.0), mu)
    return np.minimum(told, np.where(losses >= shift, UP * hidden, 1.0))


def told_number_bound(losses: Array, eta: int, gamma: float, mu: float) -> Array:
    """E_K of the profile of K tries together, all of which would be told."""
    found, left, weight = np.zeros_like(losses), 1.0, eta * (1.0 - gamma)
    weight /= math.expm1(-eta * math.log(gamma))  # P(K = 1) = eta (1 - gamma) / (gamma^-eta - 1)
    for number in range(1, MOST_TRIES + 1):
        found += weight * _delta(losses, mu * math.sqrt(number))
        left -= weight
        weight *= (number + eta) / (number + 1.0) * (1.0 - gamma)
        if left < 1e-13:
            break
    return np.minimum(1.0, UP * (found + max(left, 0.0) + 1e-12))


def _delta(losses: Array, mu: float) -> Array:
    """The profile of a Gaussian, rounded up."""
    return gaussian_profile(losses, mu) * (1.0 + np.minimum(1.0, gaussian_rounding(losses, mu)))


def _reach(eta: int, gamma: float, mu: float, pivot: float, failure: float) -> float | None:
    """An epsilon at which the second bound is at most the failure."""
    mean, shift = UP * tries.mean(eta, gamma), (eta + 1) * pivot
    beyond = mu
    while shift + beyond < FURTHEST:
        if mean * float(_delta(np.array([beyond]), mu)[0]) <= failure:
            return shift + beyond
        beyond *= 1.1
    return None


def _hull(places: Array, values: Array) -> Array:
    """The lower convex hull of some points, at their places, rounded up."""
    kept: list[int] = []
    for k in range(len(places)):
        while len(kept) > 1 and _above(places, values, kept[-2], kept[-1], k):
            kept.pop()
        kept.append(k)
    return np.asarray(UP * np.interp(places, places[kept], values[kept]))


def _above(places: Array, values: Array, first: int, middle: int, last: int) -> bool:
    """Whether the middle point is on the chord of the others, or above it."""
    rise = (values[middle] - values[first]) * (places[last] - places[first])
    return bool(rise >= (values[last] - values[first]) * (places[middle] - places[first]))
