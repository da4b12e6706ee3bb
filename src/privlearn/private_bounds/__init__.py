"""Facts that nobody declared, bought with a documented share of the budget."""

from privlearn.private_bounds.with_private_bounds import Purchase, completed

__all__ = ["Purchase", "completed"]
