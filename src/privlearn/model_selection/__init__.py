"""Choosing settings and scoring models under one privacy budget.

>>> from privlearn.model_selection import PrivateSearchCV
"""

from privlearn.model_selection.search import PrivateSearchCV

__all__ = ["PrivateSearchCV"]
