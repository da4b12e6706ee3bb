"""Bounds that nobody declared, estimated privately with a documented share of the budget."""

from privlearn.private_bounds.declared import solver_by_rule
from privlearn.private_bounds.solver import WithPrivateBounds, with_private_bounds

__all__ = ["WithPrivateBounds", "solver_by_rule", "with_private_bounds"]
