"""Linear models: thin estimators, each a composition of loss, penalty and solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn._core.lazy import on_first_use

if TYPE_CHECKING:
    from privlearn.linear_model.elastic_net import ElasticNet
    from privlearn.linear_model.huber import HuberRegressor
    from privlearn.linear_model.lasso import Lasso
    from privlearn.linear_model.linear_regression import LinearRegression
    from privlearn.linear_model.linear_svc import LinearSVC
    from privlearn.linear_model.logistic_regression import LogisticRegression
    from privlearn.linear_model.poisson import PoissonRegressor
    from privlearn.linear_model.ridge import Ridge

__all__ = [
    "ElasticNet",
    "HuberRegressor",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "PoissonRegressor",
    "Ridge",
]

_HOMES = {
    "ElasticNet": "privlearn.linear_model.elastic_net",
    "HuberRegressor": "privlearn.linear_model.huber",
    "Lasso": "privlearn.linear_model.lasso",
    "LinearRegression": "privlearn.linear_model.linear_regression",
    "LinearSVC": "privlearn.linear_model.linear_svc",
    "LogisticRegression": "privlearn.linear_model.logistic_regression",
    "PoissonRegressor": "privlearn.linear_model.poisson",
    "Ridge": "privlearn.linear_model.ridge",
}

if not TYPE_CHECKING:
    __getattr__ = on_first_use("privlearn.linear_model", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
