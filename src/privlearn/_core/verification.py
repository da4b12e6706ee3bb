"""A second opinion on a plan's price, by `dp_accounting`, an accountant written by others."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from privlearn._core.plan import Plan
from privlearn._core.problem import Budget
from privlearn.accounting import (
    ApproximateLoss,
    Gaussian,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
)
from privlearn.accounting.views import as_promised
from privlearn.exceptions import UnsupportedCombinationError

if TYPE_CHECKING:
    from dp_accounting.pld.privacy_loss_distribution import PrivacyLossDistribution

__all__ = ["Verification", "verify"]

TOLERANCE = 1e-3  # both accountants round up, each on its own grid


class Verification(NamedTuple):
    """What two accountants say of one plan.

    Attributes
    ----------
    holds : bool
        Whether the recomputed epsilon is within the promise, up to one part in a thousand.
    promised, ours, recomputed : float
        Epsilons at the promised delta.
    """

    holds: bool
    promised: float
    ours: float
    recomputed: float


def verify(plan: Plan, budget: Budget) -> Verification:
    """Compose the plan's pairs with `dp_accounting` and compare.

    Examples
    --------
    >>> from privlearn._core.problem import Budget, Adjacency
    >>> from privlearn._core.plan import Plan, Release
    >>> plan = Plan((Release("sum", (1,), clip=1.0),), Adjacency.ZERO_OUT, scale=4.3)
    >>> verify(plan, Budget(1.0, 1e-6)).holds
    True
    """
    try:
        from dp_accounting.pld import privacy_loss_distribution as library
    except ImportError:
        raise ImportError(
            "dp_accounting is not installed; pip install dp-accounting brings it"
        ) from None
    step = min(1e-4, budget.epsilon * 1e-3)
    total = library.identity(value_discretization_interval=step)
    for pair, count in as_promised(plan.pairs()):
        total = total.compose(_translate(pair, library, step).self_compose(count))
    recomputed = float(total.get_epsilon_for_delta(budget.delta))
    return Verification(
        holds=recomputed <= budget.epsilon * (1 + TOLERANCE),
        promised=budget.epsilon,
        ours=plan.epsilon(budget.delta),
        recomputed=recomputed,
    )


def _translate(pair: Pair, library: ModuleType, step: float) -> PrivacyLossDistribution:
    """The same pair, as `dp_accounting` puts it on its grid."""
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    grid = {"value_discretization_interval": step}
    match pair:
        case Gaussian():
            return library.from_gaussian_mechanism(1.0 / pair.mu, **grid)
        case SampledGaussian():
            relation = "REPLACE_ONE" if pair.replace else "ADD_OR_REMOVE_ONE"
            return library.from_gaussian_mechanism(
                pair.noise_multiplier,
                sampling_prob=pair.rate,
                neighboring_relation=NeighboringRelation[relation],
                **grid,
            )
        case Laplace():
            return library.from_laplace_mechanism(1.0 / pair.epsilon, **grid)
        case PureLoss() | ApproximateLoss():
            promise = DifferentialPrivacyParameters(pair.epsilon, getattr(pair, "delta", 0.0))
            return library.from_privacy_parameters(promise, **grid)
    raise UnsupportedCombinationError(
        f"dp_accounting has no counterpart of {type(pair).__name__}; this plan cannot be "
        "verified with it"
    )
