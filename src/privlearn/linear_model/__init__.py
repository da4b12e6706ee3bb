"""Linear models: thin estimators, each a composition of loss, penalty and solver."""

from privlearn.linear_model.huber import HuberRegressor
from privlearn.linear_model.linear_regression import LinearRegression
from privlearn.linear_model.logistic_regression import LogisticRegression
from privlearn.linear_model.ridge import Ridge

__all__ = ["HuberRegressor", "LinearRegression", "LogisticRegression", "Ridge"]
