"""Bounds that nobody declared, estimated privately with a documented share of the budget."""

from privlearn.private_bounds.declared import looks_closer, undeclared
from privlearn.private_bounds.solver import WithPrivateBounds, with_private_bounds

__all__ = ["WithPrivateBounds", "looks_closer", "undeclared", "with_private_bounds"]
