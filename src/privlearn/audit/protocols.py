"""What audits take, and the error that they raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from privlearn._core.plan import Plan

__all__ = ["AuditFailure", "Learner", "Model"]


class AuditFailure(AssertionError):
    """A privacy claim was shown to be false."""


class Learner(Protocol):
    """Anything with `fit`."""

    @property
    def fit(self) -> Callable[..., object]:
        """Learns from X and y."""


@runtime_checkable
class Model(Learner, Protocol):
    """An estimator of privlearn, configured with epsilon, delta, bounds and adjacency."""

    epsilon: float
    delta: float
    adjacency: str
    random_state: Any

    @property
    def plan(self) -> Callable[..., Plan]:
        """What a fit would release."""

    @property
    def set_params(self) -> Callable[..., Any]:
        """Returns the estimator itself, with other parameters."""
