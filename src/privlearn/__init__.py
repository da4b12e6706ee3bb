"""Linear and kernel models on data about people, with a privacy guarantee that holds.

>>> from privlearn import LinearRegression
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn._core.lazy import on_first_use
from privlearn._core.version import __version__

if TYPE_CHECKING:
    from privlearn import (
        audit,
        datasets,
        exceptions,
        metrics,
        model_selection,
        plotting,
        schema,
        solvers,
    )
    from privlearn._core.show_versions import show_versions
    from privlearn.export.model_file import load
    from privlearn.kernel_model import KernelClassifier, KernelRegressor
    from privlearn.ledger import Ledger
    from privlearn.linear_model import (
        ElasticNet,
        HuberRegressor,
        Lasso,
        LinearRegression,
        LinearSVC,
        LogisticRegression,
        PoissonRegressor,
        Ridge,
    )
    from privlearn.model_selection.pipelines import check_pipeline

__all__ = [
    "ElasticNet",
    "HuberRegressor",
    "KernelClassifier",
    "KernelRegressor",
    "Lasso",
    "Ledger",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "PoissonRegressor",
    "Ridge",
    "__version__",
    "audit",
    "check_pipeline",
    "datasets",
    "exceptions",
    "load",
    "metrics",
    "model_selection",
    "plotting",
    "schema",
    "show_versions",
    "solvers",
]

# Imported on first use, so that `import privlearn` costs next to nothing.
_HOMES = {
    "ElasticNet": "privlearn.linear_model.elastic_net",
    "HuberRegressor": "privlearn.linear_model.huber",
    "KernelClassifier": "privlearn.kernel_model",
    "KernelRegressor": "privlearn.kernel_model",
    "Lasso": "privlearn.linear_model.lasso",
    "Ledger": "privlearn.ledger",
    "LinearRegression": "privlearn.linear_model.linear_regression",
    "LinearSVC": "privlearn.linear_model.linear_svc",
    "LogisticRegression": "privlearn.linear_model.logistic_regression",
    "PoissonRegressor": "privlearn.linear_model.poisson",
    "Ridge": "privlearn.linear_model.ridge",
    "audit": "privlearn.audit",
    "check_pipeline": "privlearn.model_selection.pipelines",
    "datasets": "privlearn.datasets",
    "exceptions": "privlearn.exceptions",
    "feature_selection": "privlearn.feature_selection",
    "kernel_approximation": "privlearn.kernel_approximation",
    "linear_model": "privlearn.linear_model",
    "load": "privlearn.export.model_file",
    "metrics": "privlearn.metrics",
    "model_selection": "privlearn.model_selection",
    "plotting": "privlearn.plotting",
    "schema": "privlearn.schema",
    "show_versions": "privlearn._core.show_versions",
    "solvers": "privlearn.solvers",
}

if not TYPE_CHECKING:  # a checker that saw this would take every name for Any
    __getattr__ = on_first_use("privlearn", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
