"""Facts that nobody declared, bought with a documented share of the budget."""

from privlearn.private_bounds.solver import Purchase, completed

__all__ = ["Purchase", "completed"]
