"""Combinations of everything that a fit can be asked for, drawn with a seed."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from privlearn import (
    ElasticNet,
    HuberRegressor,
    KernelClassifier,
    KernelRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.solvers import (
    SGD,
    BoostedStatistics,
    CoordinateDescent,
    DualCoordinateDescent,
    OnePassSGD,
    OutputPerturbation,
    SufficientStatistics,
    Tukey,
)

REGRESSORS = (LinearRegression, Ridge, Lasso, ElasticNet, HuberRegressor, KernelRegressor)
CLASSIFIERS = (LogisticRegression, LinearSVC, KernelClassifier)
SELECTORS = (KendallSelector, SubLassoSelector)
COUNTS = (PoissonRegressor,)
SOLVERS = (
    "auto",
    "moments",
    "sgd",
    "cd",
    "scd",
    "one-pass",
    "output",
    "boosted",
    "tukey",
    SGD(steps=7, batch_size=3),
    SGD(steps=5, step_size=1e3, clip=1e-3),
    CoordinateDescent(passes=3, block="all"),
    CoordinateDescent(passes=2, block=1),
    CoordinateDescent(passes=4, selection="greedy"),
    DualCoordinateDescent(epochs=2),
    DualCoordinateDescent(epochs=2, clip=1e-6),
    OnePassSGD(schedule="sqrt", step_size=10.0),
    OnePassSGD(schedule="inverse", noise="gaussian"),
    OutputPerturbation(epochs=3, clip=0.5),
    OutputPerturbation(sampling="with_replacement"),
    BoostedStatistics(rounds=3, clip=0.7),
    SufficientStatistics(ridge="adassp"),
    SufficientStatistics(ridge=0),
    Tukey(models=3),
    SGD(steps=5, step_size=1e50, clip=1e50),
    SGD(steps=5, step_size=1e-50, clip=1e-50, average=0),
    CoordinateDescent(passes=4, step_size=1e50, clip=1e50),
    CoordinateDescent(passes=4, step_size=1e-50, clip=1e-50, selection="cyclic"),
    CoordinateDescent(passes=4, step_size=1e50, selection="greedy"),
    DualCoordinateDescent(epochs=1, clip=1e50),
    DualCoordinateDescent(epochs=1, clip=1e-50),
    OnePassSGD(step_size=1e50, clip=1e50),
    OnePassSGD(step_size=1e-50, clip=1e-50, schedule="constant"),
    OutputPerturbation(step_size=1e-50, clip=1e50),
    OutputPerturbation(clip=1e-50),
    BoostedStatistics(rounds=3, clip=1e50),
    BoostedStatistics(rounds=3, clip=1e-50),
    SufficientStatistics(ridge=1e50),
    SufficientStatistics(ridge=1e-50),
)
FACTS = (
    {},
    {"bounds_X": (0, 1)},
    {"bounds_X": (0, 1), "bounds_y": (-2, 5)},
    {"bounds_y": (-2, 5)},
    {"data_norm": 3.0, "bounds_y": (0, 1)},
    {"data_norm": 1e100},
    {"data_norm": 1e50, "bounds_y": (-1e50, 1e50)},
    {"bounds_X": (-1e100, 1e100), "bounds_y": (-1e100, 1e100)},
    {"bounds_X": (0, 1e-100), "bounds_y": (0, 1e-100)},
    {"bounds_X": (2, 3), "data_norm": 1.5, "bounds_y": (5, 6)},
    {"bounds_X": (0, 1), "scale_X": 1e-50},
    {"bounds_X": (4, 4), "bounds_y": (0, 1)},
)
PENALTIES = (
    {},
    {"alpha": 0.0, "C": float("inf")},
    {"alpha": 1e-12, "C": 1e12},
    {"alpha": 1e12, "C": 1e-12, "l1_ratio": 1.0},
    {"alpha": 1e100, "C": 1e-100, "l1_ratio": 0.5},
    {"alpha": 1e-100, "C": 1e100, "l1_ratio": 1.0},
    {"coef_bounds": (-1e100, 1e-100), "epsilon_huber": 1e100},
    {"coef_bounds": (-1, 1), "l1_ratio": 0.5},
    {"positive": True},
    {"coef_bounds": (2, 3), "epsilon_huber": 1.01},
)
EPSILONS = (1e-9, 1e-8, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e4, 1e7)
DELTAS = (0.0, 1e-30, 1e-12, 1e-6, 0.1)
RELATIONS = ("zero_out", "add_remove", "replace_one")


def combination(k):
    """A model, X and y, by number; the numbers of the values are drawn with the seed k."""
    rng = np.random.default_rng([14, k])

    def one(values):
        return values[int(rng.integers(len(values)))]

    kinds = REGRESSORS + CLASSIFIERS + SELECTORS + COUNTS
    cls = kinds[k % len(kinds)]
    known = cls().get_params()
    given = {
        "solver": one(SOLVERS),
        "adjacency": one(RELATIONS),
        "fit_intercept": bool(rng.integers(2)),
        "epsilon": one(EPSILONS),
        "delta": one(DELTAS),
        "on_invalid": one(("raise", "drop")),
        "n_components": 6,
        "bandwidth": one((None, 1.0)),
        "k": one((1, 2)),
        "classes": list(range(int(one((2, 2, 3))))),
        "random_state": one((None, 1)),
        **one(FACTS),
        **one(PENALTIES),
    }
    n, p = one((1, 2, 5, 40, 3000)), one((1, 2, 3, 12))
    X = rng.uniform(-1, 2, (n, p)).astype(one((np.float64, np.float64, np.float32)))
    y = rng.uniform(-3, 6, n)
    if cls in CLASSIFIERS:
        y = np.arange(n) % len(given["classes"])
    if cls in COUNTS:
        y = np.abs(y)
        if "bounds_y" in given:
            given["bounds_y"] = tuple(max(end, 0) for end in given["bounds_y"])
    if given["on_invalid"] == "drop":
        X[0, 0] = np.nan
    sparse = rng.random() < 0.3
    model = cls(**{name: value for name, value in given.items() if name in known})
    return model, (sp.csr_array(X) if sparse else X), y
