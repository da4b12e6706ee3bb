"""Composition of pairs: the exact closed form where there is one, a loss distribution otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from privlearn.accounting import failing
from privlearn.accounting.gaussian import UNIT, gaussian_delta, gaussian_rounding
from privlearn.accounting.pairs import (
    ApproximateLoss,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
    TwoBounds,
)
from privlearn.accounting.roots import decreasing_root
from privlearn.accounting.views import as_gaussian, as_promised, has_two

if TYPE_CHECKING:
    from privlearn.accounting.pld import Evaluation

Terms = tuple[tuple[Pair, int], ...]
VIEWS = as_promised, as_gaussian
_NEAR_TOP = 1e-6  # relative distance to the largest loss at which epsilon is rounded up to it


@dataclass(frozen=True)
class ErrorBounds:
    """What is stated about the error of one evaluation of delta.

    Attributes
    ----------
    discretisation : float
        Estimated amount by which the loss grid enlarges epsilon (0 for closed forms).
    discretisation_bound : float
        Proven, much looser bound on the same (against the true epsilon at 0.999 delta).
    truncation : float
        Proven bound on the mass that was cut off; it is contained in delta.
    rounding : float
        Proven bound on all floating-point errors; it is contained in delta.
    """

    discretisation: float = 0.0
    discretisation_bound: float = 0.0
    truncation: float = 0.0
    rounding: float = 0.0


@dataclass(frozen=True)
class Composition:
    """Releases that are made one after the other on the same data; made by `compose`.

    Attributes
    ----------
    terms : tuple of (pair, count)
        The pairs in canonical form: Gaussians merged into one, equal pairs counted together.
    """

    terms: Terms
    _seen: list[Evaluation] = field(default_factory=list, repr=False, compare=False, hash=False)

    def delta(self, epsilon: float) -> float:
        """Return an upper bound on the delta of the composition at epsilon >= 0.

        Examples
        --------
        >>> from privlearn.accounting import Laplace, compose
        >>> round(compose([(Laplace(1.0), 1)]).delta(0.5), 4)
        0.2212
        """
        value = float(epsilon)
        if not value >= 0:
            raise ValueError(f"epsilon={epsilon!r}, but it must not be negative; pass epsilon >= 0")
        self._seen[:] = [evaluate(self.terms, value)]
        return self._seen[0].delta

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon with `self.delta(epsilon) <= delta`, rounded up.

        inf when there is none, for example at delta = 0 with a Gaussian among the pairs.

        Examples
        --------
        >>> from privlearn.accounting import PureLoss, compose
        >>> compose([(PureLoss(0.125), 8)]).epsilon(0.0)
        1.0
        """
        delta = float(delta)
        if not 0 <= delta <= 1:
            raise ValueError(f"delta={delta!r}, but it is a probability; pass 0 <= delta <= 1")
        if has_two(self.terms):
            return min(compose(view(self.terms)).epsilon(delta) for view in VIEWS)
        failure = failing.lost(self.terms)
        if failure > 0:
            left = failing.room(failure, delta)
            whole = compose(failing.unfailing(self.terms))
            return whole.epsilon(left) if left >= 0 else math.inf
        top = _largest_loss(self.terms)
        if _surely_above(self.terms, top * (1 - _NEAR_TOP)) > delta:
            return top
        if delta == 0 or self.delta(0.0) <= delta:
            return top if delta == 0 else 0.0
        if self._certain_failure >= delta:
            return math.inf
        found = _smallest_epsilon(self.terms, delta)
        if found >= top:
            return top
        self.delta(found)
        return found

    @property
    def largest_loss(self) -> float:
        """The largest possible privacy loss, to the nearest float: epsilon at delta = 0."""
        return _largest_loss(self.terms)

    @property
    def _certain_failure(self) -> float:
        """A delta that no epsilon can beat: weights that mixtures leave out."""
        kept = 1.0
        for pair, count in self.terms:
            if isinstance(pair, GaussianMixture):
                kept *= (1.0 - pair.missing) ** count
        return 1.0 - kept

    @property
    def error(self) -> ErrorBounds:
        """The error bounds of the last evaluation (at the epsilon for delta = 1e-6 before any)."""
        if not self._seen:
            self.delta(min(self.epsilon(1e-6), 1e300))
        found = self._seen[0]
        return ErrorBounds(
            found.discretisation, found.discretisation_bound, found.truncation, found.rounding
        )


def compose(pairs: Iterable[tuple[Pair, int]]) -> Composition:
    """Compose pairs, each a given number of times, in any mixture and order.

    Parameters
    ----------
    pairs : iterable of (pair, count)
        Dominating pairs of the releases, and how often each is made (an int of at least 1). The
        releases may be chosen adaptively as long as the pairs are fixed in advance.

    Returns
    -------
    Composition
        A frozen value with `delta(epsilon)`, `epsilon(delta)` and `error`.

    Examples
    --------
    >>> from privlearn.accounting import Gaussian, SampledGaussian, compose
    >>> plan = compose([(Gaussian(0.2), 1), (SampledGaussian(0.01, 1.0), 500)])
    >>> round(plan.epsilon(1e-5), 2)
    1.52
    """
    mus: list[float] = []
    counts: dict[Pair, int] = {}
    for pair, count in pairs:
        times = _count(count)
        if isinstance(pair, ApproximateLoss) and pair.delta == 0:
            pair = PureLoss(pair.epsilon)
        if not isinstance(pair, Pair):
            raise ValueError(
                f"pair={pair!r}, but a dominating pair is needed; use one of the classes in "
                "privlearn.accounting"
            )
        mu = _gaussian_mu(pair)
        if mu is not None:
            mus.append(mu * math.sqrt(times))
        elif _top(pair) > 0:
            counts[pair] = counts.get(pair, 0) + times
    mu = math.hypot(*mus) * (1 + 8 * UNIT)
    return Composition(_canonical(counts, mu))


def _count(count: object) -> int:
    if isinstance(count, bool) or not hasattr(count, "__index__"):
        raise ValueError(f"count={count!r}, but a whole number is needed; pass an int >= 1")
    times = count.__index__()
    if times < 1:
        raise ValueError(f"count={count!r}, but it must be at least 1; leave the pair out instead")
    return int(times)


def _gaussian_mu(pair: Pair) -> float | None:
    """The mu of a pair that is a plain Gaussian in disguise, else None."""
    if isinstance(pair, Gaussian):
        return pair.mu
    if isinstance(pair, SampledGaussian) and pair.rate == 1:
        return (2.0 if pair.replace else 1.0) / pair.noise_multiplier
    if isinstance(pair, GaussianMixture) and pair.missing == 0 and len(set(pair.mus)) == 1:
        return pair.mus[0]
    return None


def _top(pair: Pair) -> float:
    """The largest loss of a pair in either direction."""
    if isinstance(pair, Gaussian | SampledGaussian | GaussianMixture | ApproximateLoss | TwoBounds):
        return math.inf
    return pair.epsilon


def _largest_loss(terms: Terms) -> float:
    """The exact sum of the largest losses, rounded up to a float."""
    if any(math.isinf(_top(pair)) for pair, _ in terms):
        return math.inf
    exact = sum((Fraction(_top(pair)) * count for pair, count in terms), Fraction(0))
    nearest = float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def _surely_above(terms: Terms, epsilon: float) -> float:
    """A lower bound on delta near the largest loss: that all losses are the largest at once."""
    log_chance = 0.0
    for pair, count in terms:
        if isinstance(pair, Laplace):
            log_chance -= count * math.log(2.0)
        elif isinstance(pair, PureLoss):
            log_chance -= count * math.log1p(math.exp(-pair.epsilon))
        else:
            return 0.0
    gap = _largest_loss(terms) - epsilon
    return -math.expm1(-gap) * math.exp(log_chance) * (1 - 1e-6)


def _canonical(counts: dict[Pair, int], mu: float) -> Terms:
    """Sort, and fold the Gaussian part into a single mixture where that is exact."""
    terms = sorted(counts.items(), key=lambda term: (type(term[0]).__name__, repr(term[0])))
    if mu > 0 and len(terms) == 1 and terms[0][1] == 1:
        pair = terms[0][0]
        if isinstance(pair, GaussianMixture):
            mus = tuple(math.hypot(mu, other) * (1 + 4 * UNIT) for other in pair.mus)
            return ((GaussianMixture(mus, pair.weights), 1),)
    return tuple(([(Gaussian(mu), 1)] if mu > 0 else []) + terms)


def is_closed_form(terms: Terms) -> bool:
    """Whether delta needs no grid: at most one release after merging."""
    return len(terms) == 0 or (len(terms) == 1 and terms[0][1] == 1)


@lru_cache(maxsize=256)
def evaluate(
    terms: Terms, epsilon: float, tolerance: float | None = None, enough: float = 0.0
) -> Evaluation:
    """Evaluate delta with the cheapest exact or certified method; `tolerance` None means fine.

    An upper bound that is below `enough` will do, however loose.
    """
    from privlearn.accounting import pld

    if not terms:
        return pld.Evaluation(0.0)
    if has_two(terms):
        seen = (compose(view(terms)).terms for view in VIEWS)
        both = (evaluate(view, epsilon, tolerance, enough) for view in seen)
        return min(both, key=lambda one: one.delta)
    failure = failing.lost(terms)
    if failure > 0:
        return _with_failure(terms, failure, epsilon, tolerance, enough)
    if epsilon >= _largest_loss(terms):
        return pld.Evaluation(0.0)
    if is_closed_form(terms):
        pair = terms[0][0]
        if isinstance(pair, Gaussian):
            delta = gaussian_delta(epsilon, pair.mu)
            return pld.Evaluation(delta, rounding=delta * gaussian_rounding(epsilon, pair.mu))
        return pld.single(pair, epsilon)
    ceiling = _ceiling(terms)
    if ceiling < 1 and _seen_when_sampled(terms, epsilon):
        return pld.Evaluation(ceiling)
    fineness = pld.FINE if tolerance is None else tolerance
    found = pld.evaluate(terms, epsilon, fineness, enough)
    return found if found.delta <= ceiling else replace(found, delta=ceiling)


def _with_failure(
    terms: Terms, failure: float, epsilon: float, tolerance: float | None, enough: float
) -> Evaluation:
    whole = compose(failing.unfailing(terms)).terms
    rest = evaluate(whole, epsilon, tolerance, max(0.0, failing.room(failure, enough)))
    delta = failing.in_all(failure, rest.delta)
    tilt = rest.tilt * (1 - failure) * rest.delta / delta
    return replace(rest, delta=delta, rounding=rest.rounding + 4 * UNIT * delta, tilt=tilt)


def _ceiling(terms: Terms) -> float:
    """A bound at every epsilon: the probability that a row is sampled at all, 1 if unsampled."""
    log_absent = 0.0
    for pair, count in terms:
        if not isinstance(pair, SampledGaussian):
            return 1.0
        log_absent += count * math.log1p(-pair.rate)
    return min(1.0, -math.expm1(log_absent) * (1 + 1e-14))


def _seen_when_sampled(terms: Terms, epsilon: float) -> bool:
    """Whether the noise is so small that the ceiling is the answer, to 15 digits or so.

    A sampled row then shows a loss that outweighs epsilon and the drift of all other steps.
    """
    sampled = [(pair, count) for pair, count in terms if isinstance(pair, SampledGaussian)]
    drift = math.fsum(-count * math.log1p(-pair.rate) for pair, count in sampled)
    for pair, _ in sampled:
        mu = 1 / pair.noise_multiplier
        if (epsilon + drift + 40 - math.log(pair.rate)) / mu - mu / 2 > -9:
            return False
    return True


def size(terms: Terms) -> float:
    """A rough mu for the composition, from second moments: where searches start."""
    total = 0.0
    for pair, count in terms:
        if isinstance(pair, Gaussian | TwoBounds):
            square = pair.mu**2
        elif isinstance(pair, SampledGaussian):
            factor = 2.0 if pair.replace else 1.0
            mu_square = min(600.0, pair.noise_multiplier**-2)
            square = min((factor * pair.rate) ** 2 * math.expm1(mu_square), 4 * mu_square)
        elif isinstance(pair, GaussianMixture):
            square = math.fsum(w * mu**2 for w, mu in zip(pair.weights, pair.mus, strict=True))
        else:
            square = min(pair.epsilon**2, 2 * pair.epsilon)
        total += count * square
    return math.sqrt(total)


def _smallest_epsilon(terms: Terms, delta: float) -> float:
    """Solve delta(epsilon) = delta from the passing side, in the variable epsilon."""
    exact = is_closed_form(terms)

    def excess(tolerance: float | None, epsilon: float) -> tuple[float, float | None]:
        found = evaluate(terms, epsilon, tolerance)
        slope = -epsilon * found.tilt if found.tilt > 0 else None
        return (math.log(found.delta / delta) if found.delta > 0 else -math.inf), slope

    mu = size(terms)
    start = mu * mu / 2 + mu * math.sqrt(2 * -math.log(min(delta, 0.5)))
    slope = -start * max(1.0, start / max(mu * mu, 1e-300) - 0.5)  # -epsilon times the tilt
    if not exact:
        start, slope = decreasing_root(partial(excess, 1e-2), start, slope, relative=3e-3)
    relative = 1e-12 if exact else 1e-6
    return decreasing_root(partial(excess, None), start, slope, relative)[0]
