"""Choosing settings and scoring models under one privacy budget.

>>> from privlearn.model_selection import PrivateSearchCV, cross_fit
"""

from privlearn.model_selection.cross_fitting import CrossFit, cross_fit
from privlearn.model_selection.search import PrivateSearchCV

__all__ = ["CrossFit", "PrivateSearchCV", "cross_fit"]
