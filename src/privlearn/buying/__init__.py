"""Facts that nobody declared, bought with a documented share of the budget."""

from privlearn.buying.purchase import Purchase, completed

__all__ = ["Purchase", "completed"]
