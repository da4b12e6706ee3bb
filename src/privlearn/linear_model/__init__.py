"""Linear models: thin estimators, each a composition of loss, penalty and solver."""

from privlearn.linear_model.elastic_net import ElasticNet
from privlearn.linear_model.huber import HuberRegressor
from privlearn.linear_model.lasso import Lasso
from privlearn.linear_model.linear_regression import LinearRegression
from privlearn.linear_model.linear_svc import LinearSVC
from privlearn.linear_model.logistic_regression import LogisticRegression
from privlearn.linear_model.ridge import Ridge

__all__ = [
    "ElasticNet",
    "HuberRegressor",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "Ridge",
]
