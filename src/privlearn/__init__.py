"""Linear and kernel models on data about people, with a privacy guarantee that holds.

>>> from privlearn import LinearRegression
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn._core.version import __version__

if TYPE_CHECKING:
    from privlearn import audit, datasets, exceptions, solvers
    from privlearn._core.show_versions import show_versions
    from privlearn.kernel_model import KernelClassifier, KernelRegressor
    from privlearn.ledger import Ledger
    from privlearn.linear_model import (
        ElasticNet,
        HuberRegressor,
        Lasso,
        LinearRegression,
        LinearSVC,
        LogisticRegression,
        Ridge,
    )

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
    "Ridge",
    "__version__",
    "audit",
    "datasets",
    "exceptions",
    "show_versions",
    "solvers",
]

# Imported on first use, so that `import privlearn` costs next to nothing.
_HOMES = {
    "ElasticNet": "privlearn.linear_model",
    "HuberRegressor": "privlearn.linear_model",
    "KernelClassifier": "privlearn.kernel_model",
    "KernelRegressor": "privlearn.kernel_model",
    "Lasso": "privlearn.linear_model",
    "Ledger": "privlearn.ledger",
    "LinearRegression": "privlearn.linear_model",
    "LinearSVC": "privlearn.linear_model",
    "LogisticRegression": "privlearn.linear_model",
    "Ridge": "privlearn.linear_model",
    "show_versions": "privlearn._core.show_versions",
}
_MODULES = {
    "audit",
    "datasets",
    "exceptions",
    "feature_selection",
    "kernel_approximation",
    "linear_model",
    "solvers",
}

if not TYPE_CHECKING:  # a checker that saw this would take every name for Any

    def __getattr__(name: str) -> object:
        import importlib

        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        if name in _MODULES:
            return importlib.import_module(f"privlearn.{name}")
        raise AttributeError(f"module 'privlearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
