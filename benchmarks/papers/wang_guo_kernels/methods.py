"""Who takes part: kernel models with and without privacy, and linear ones.

A method is a function of (public facts, training rows, points, epsilon, number of features or None)
that returns predictions at the points, or several candidates by name, of which the best on the test
rows counts: that favours the method.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

__all__ = ["KERNELS", "LINEAR", "METHODS", "Facts", "Rows", "linear_fits"]

LINEAR = ("LinearRegression", "Ridge", "HuberRegressor")
SOLVERS = ("auto", "cd", "scd", "sgd", "moments")
ALPHAS = (0.01, 0.1, 1.0)


@dataclass(frozen=True)
class Facts:
    """What is public about a problem."""

    bounds_X: tuple
    bounds_y: tuple[float, float]
    adjacency: str
    delta: float

    def given(self, epsilon: float) -> dict:
        """Parameters that every private estimator gets."""
        return {
            "epsilon": epsilon,
            "delta": self.delta,
            "adjacency": self.adjacency,
            "bounds_X": self.bounds_X,
            "bounds_y": self.bounds_y,
        }


@dataclass(frozen=True, eq=False)
class Rows:
    """Training rows, and points where predictions are compared."""

    X: np.ndarray
    y: np.ndarray
    points: np.ndarray


def private_kernel(solver: str):
    """KernelRegressor, all defaults but the solver."""

    def predict(facts: Facts, rows: Rows, epsilon: float, size: int | None) -> np.ndarray:
        from privlearn import KernelRegressor

        model = KernelRegressor(solver=solver, n_components=size, **facts.given(epsilon))
        return model.fit(rows.X, rows.y).predict(rows.points)

    return predict


def kernel_without_privacy(
    facts: Facts, rows: Rows, epsilon: float, size: int | None
) -> dict[str, np.ndarray]:
    """scikit-learn's Ridge on the same features; their ranks have no noise. Three penalties."""
    from sklearn.linear_model import Ridge

    phi = _features(facts, rows, epsilon, size)
    train, test = phi.transform(rows.X), phi.transform(rows.points)
    made = {f"alpha = {alpha:g}": Ridge(alpha=alpha).fit(train, rows.y) for alpha in ALPHAS}
    return {name: model.predict(test) for name, model in made.items()}


def _features(facts: Facts, rows: Rows, epsilon: float, size: int | None):
    """The map that KernelRegressor with a named solver would have if its histograms were exact."""
    from privlearn import KernelRegressor
    from privlearn._core.problem import Budget
    from privlearn._data.bounded import Table, bound
    from privlearn.kernel_model.feature_map import FeatureMap
    from privlearn.kernel_model.ranks import edges_of, histograms, ranks_from

    model = KernelRegressor(solver="scd", n_components=size, **facts.given(epsilon))
    budget = Budget(model.epsilon, model.delta)
    problem, solver = model._solver_for(model._problem(*rows.X.shape, 0), budget)
    edges = edges_of(problem.bounds, problem.n_features, problem.fit_intercept)
    counts = histograms(bound(Table(rows.X, rows.y, finite=True), problem), edges)
    return FeatureMap(solver._frequencies(problem), edges, ranks_from(counts, 0.0, edges))


def linear_fits(facts: Facts, rows: Rows, epsilon: float, size: int | None) -> dict:
    """Every private linear regression with every solver that knows it."""
    import privlearn
    from privlearn.exceptions import UnsupportedCombinationError

    found = {}
    for name in LINEAR:
        for solver in SOLVERS:
            model = getattr(privlearn, name)(solver=solver, **facts.given(epsilon))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found[f"{name}, {solver}"] = model.fit(rows.X, rows.y).predict(rows.points)
            except UnsupportedCombinationError:
                continue
    return found


def linear_without_privacy(
    facts: Facts, rows: Rows, epsilon: float, size: int | None
) -> np.ndarray:
    """Least squares."""
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(rows.X, rows.y).predict(rows.points)


KERNELS = ("KernelRegressor", 'KernelRegressor, "output"')
METHODS = {
    KERNELS[0]: private_kernel("auto"),
    KERNELS[1]: private_kernel("output"),
    "best private linear model": linear_fits,
    "kernel ridge without privacy": kernel_without_privacy,
    "least squares without privacy": linear_without_privacy,
}
