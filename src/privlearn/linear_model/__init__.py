"""Linear models: thin estimators, each a composition of loss, penalty and solver."""

from privlearn.linear_model.linear_regression import LinearRegression
from privlearn.linear_model.ridge import Ridge

__all__ = ["LinearRegression", "Ridge"]
