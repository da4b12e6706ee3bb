"""Find the smallest noise that keeps a promise."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from privlearn.accounting import failing
from privlearn.accounting.composition import (
    Composition,
    compose,
    evaluate,
    is_closed_form,
    size,
)
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.accounting.pairs import Pair
from privlearn.accounting.roots import NoRootError, decreasing_root

PairsAt = Callable[[float], Iterable[tuple[Pair, int]]]

_COARSE = 1e-2  # accuracy of the evaluations that only prepare the search
_EXACT = 5e-7  # relative distance to the smallest scale, closed forms
_GRID = 4e-5  # the same with a loss grid
_HARDLY = 1e-2  # of delta: so little besides failures that bounded losses are simply added up


def smallest_scale(pairs_at: PairsAt, epsilon: float, delta: float) -> float:
    """Return about the smallest noise scale whose composition is (epsilon, delta)-DP.

    Parameters
    ----------
    pairs_at : callable
        Maps a scale > 0 to the [(pair, count), ...] of a plan; a bigger scale means more noise.
    epsilon, delta : float
        The promise to keep, epsilon >= 0 and 0 <= delta < 1.

    Returns
    -------
    float
        A scale at which `compose(pairs_at(scale)).delta(epsilon) <= delta` was evaluated and holds.
        It is the smallest one within a relative 1e-6 for closed forms and about 1e-4 otherwise.

    Raises
    ------
    ValueError
        When no scale can keep the promise.

    Examples
    --------
    >>> from privlearn.accounting import SampledGaussian, smallest_scale
    >>> round(smallest_scale(lambda z: [(SampledGaussian(0.01, z), 1000)], 1.0, 1e-5), 2)
    1.41
    """
    epsilon, delta = _promise(epsilon, delta)
    try:
        if delta == 0:
            return _pure_scale(pairs_at, epsilon)
        return _scale(pairs_at, epsilon, delta)
    except NoRootError:
        raise ValueError(_no_scale(pairs_at, epsilon, delta)) from None


def _promise(epsilon: float, delta: float) -> tuple[float, float]:
    epsilon, delta = float(epsilon), float(delta)
    if not (epsilon >= 0 and math.isfinite(epsilon)):
        raise ValueError(f"epsilon={epsilon!r}, but it must be finite and >= 0; pass epsilon >= 0")
    if not 0 <= delta < 1:
        raise ValueError(f"delta={delta!r}, but it must be in [0, 1); pass a smaller delta")
    return epsilon, delta


def _pure_scale(pairs_at: PairsAt, epsilon: float) -> float:
    """delta = 0: the largest losses add up, and their sum must not pass epsilon."""

    def excess(scale: float) -> tuple[float, None]:
        loss = compose(pairs_at(scale)).largest_loss
        if math.isinf(loss) or (loss > 0 and epsilon == 0):
            raise NoRootError
        return (math.log(loss / epsilon) if loss > 0 else -math.inf), None

    return decreasing_root(excess, 1.0, -1.0, _EXACT)[0]


def _scale(pairs_at: PairsAt, epsilon: float, delta: float) -> float:
    """Search in log(scale) on a ruler that is nearly linear: the Gaussian mu of the same cost."""
    if failing.lost(compose(pairs_at(1.0)).terms) > 0:
        return _scale_besides_failures(pairs_at, epsilon, delta)
    target = equivalent_mu(epsilon, delta)

    def rough(scale: float) -> tuple[float, None]:
        return _log_ratio(size(compose(pairs_at(scale)).terms), target), None

    def excess(scale: float, tolerance: float | None) -> tuple[float, None]:
        terms = compose(pairs_at(scale)).terms
        # far on the passing side a rough bound shows as much as a sharp one, which would be slow
        enough = 0.0 if tolerance is None else 1e-2 * delta
        found = evaluate(terms, epsilon, tolerance, enough).delta
        ratio = _log_ratio(equivalent_mu(epsilon, found), target)
        # the promise itself decides; the ruler only measures
        return (min(-1e-300, ratio) if found <= delta else max(1e-300, ratio)), None

    start, slope = decreasing_root(rough, 1.0, -1.0, 1e-2)
    if is_closed_form(compose(pairs_at(start)).terms):
        return decreasing_root(lambda scale: excess(scale, None), start, slope, _EXACT)[0]
    near, slope = decreasing_root(lambda scale: excess(scale, _COARSE), start, slope, 3e-3)
    rise = excess(near, _COARSE)[0] - excess(near * 1.03, _COARSE)[0]
    if 1e-4 < rise < 10:  # a slope measured over a distance where grids do not matter
        slope = -rise / math.log(1.03)
    return decreasing_root(lambda scale: excess(scale, None), near, slope, _GRID)[0]


def _scale_besides_failures(pairs_at: PairsAt, epsilon: float, delta: float) -> float:
    """The search without failures, for what their probability leaves of delta.

    Failures must not depend on the scale; the promise as a whole is checked at the end.
    """

    def unfailing(scale: float) -> list[tuple[Pair, int]]:
        return failing.unfailing(pairs_at(scale))

    failure = failing.lost(compose(pairs_at(1.0)).terms)
    left = failing.room(failure, delta)
    if left < 0:
        raise NoRootError
    if left < _HARDLY * delta and math.isfinite(compose(unfailing(1.0)).largest_loss):
        left = 0.0
    scale = smallest_scale(unfailing, epsilon, left)
    if compose(pairs_at(scale)).delta(epsilon) > delta:
        raise NoRootError
    return scale


def _log_ratio(value: float, target: float) -> float:
    if value == 0:
        return -math.inf
    return math.inf if math.isinf(value) else math.log(value / target)


def _no_scale(pairs_at: PairsAt, epsilon: float, delta: float) -> str:
    """Say what makes the promise impossible."""
    quiet: Composition = compose(pairs_at(1.0))
    failure = failing.lost(quiet.terms)
    if failure > 0 and (failure > delta or delta == 0):
        return (
            f"delta={delta!r}, but some releases of the plan fail with probability {failure:.6g} "
            "at every scale; raise delta, or plan them with a smaller one"
        )
    if delta == 0 and math.isinf(quiet.largest_loss):
        return (
            f"delta={delta!r}, but Gaussian noise needs delta > 0 at every scale; "
            "set delta or use mechanisms with a bounded loss"
        )
    return (
        f"epsilon={epsilon!r}, delta={delta!r}, but no noise scale reaches it: the noise of "
        "some releases does not grow with the scale; raise epsilon or delta, or scale them too"
    )
