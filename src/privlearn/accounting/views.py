"""Compositions in which something has two bounds: each bound gives a composition that dominates.

A `TwoBounds` is dominated by either of its bounds, so a composition is dominated by the one that
has the first bound everywhere, and by the one that has the second. What holds of either holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from privlearn.accounting.pairs import ApproximateLoss, Gaussian, Pair, TwoBounds

__all__ = ["as_gaussian", "as_promised", "has_two"]

Term = tuple[Pair, int]


def has_two(terms: Iterable[Term]) -> bool:
    """Whether anything has two bounds."""
    return any(isinstance(pair, TwoBounds) for pair, _ in terms)


def as_promised(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The same by epsilons and deltas alone, where there are two bounds."""
    return tuple(
        (ApproximateLoss(pair.epsilon, pair.delta) if isinstance(pair, TwoBounds) else pair, count)
        for pair, count in terms
    )


def as_gaussian(terms: Iterable[Term]) -> tuple[Term, ...]:
    """The same by Gaussians and their failures, where there are two bounds.

    Examples
    --------
    >>> as_gaussian([(TwoBounds(1.0, 1e-6, 0.5, 1e-15), 2)])
    ((Gaussian(mu=0.5), 2), (ApproximateLoss(epsilon=0.0, delta=1e-15), 2))
    """
    found: list[Term] = []
    for pair, count in terms:
        if not isinstance(pair, TwoBounds):
            found.append((pair, count))
            continue
        found.append((Gaussian(pair.mu), count))
        if pair.failure > 0:
            found.append((ApproximateLoss(0.0, pair.failure), count))
    return tuple(found)
