"""The five problems of Table 2 of Mangold et al. 2022, with every fact that a fit is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.datasets import california, electricity, manifest, sparse_lasso, standins
from benchmarks.harness.objectives import Lasso, Logistic, Objective

__all__ = ["FIVE", "PASSES", "Problem", "load"]

PASSES = (2, 5, 10, 20, 50)  # the columns of Table 2
STANDARDISED_BOX = (-10.0, 10.0)  # a round number of standard deviations


@dataclass(frozen=True, eq=False)
class Problem:
    """One row of Table 2: objective, promise, public bounds, and the paper's tuned errors.

    Attributes
    ----------
    objective : Objective
        Data and F.
    epsilon, delta : float
        The promise, for `replace_one`.
    bounds_X, bounds_y : pairs
        From documentation; for standardised features a round number of deviations.
    standardised : bool
        Whether means and deviations of the features were taken from the data for free.
    paper_cd, paper_sgd : tuple of float
        Relative errors of DP-CD and DP-SGD in Table 2 at `PASSES`, each tuned on the private data.
    spread_cd : tuple of float
        What the table prints behind DP-CD's, over five runs.
    names : tuple of str
        Of the features, where they have any.
    """

    objective: Objective
    epsilon: float
    delta: float
    bounds_X: tuple
    bounds_y: tuple[float, float] | None
    standardised: bool
    paper_cd: tuple[float, ...]
    spread_cd: tuple[float, ...]
    paper_sgd: tuple[float, ...]
    names: tuple[str, ...] = ()

    @property
    def paper_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Section 6.1: twice the maximal absolute value of each feature, read off the data."""
        largest = 2.0 * np.abs(self.objective.X).max(axis=0)
        return -largest, largest

    def bounds(self, kind: str) -> tuple:
        """Bounds on the features by their name in the tables: "public" or "2 max"."""
        return self.bounds_X if kind == "public" else self.paper_bounds

    @property
    def scales(self) -> float | np.ndarray:
        """Root mean squares: 1 if standardised, else read off the data as the paper's M_j are."""
        return 1.0 if self.standardised else np.sqrt(self.mean_squares)

    @property
    def far(self) -> list[dict]:
        """Features with rows beyond the box of standardised ones: how many, and what they hold."""
        if not self.standardised:
            return []
        squares = self.objective.X**2
        beyond = squares > STANDARDISED_BOX[1] ** 2
        return [
            {
                "feature": self.names[j],
                "rows": int(beyond[:, j].sum()),
                "variance": float(squares[beyond[:, j], j].sum() / squares[:, j].sum()),
            }
            for j in np.flatnonzero(beyond.any(axis=0)).tolist()
        ]

    @property
    def mean_squares(self) -> np.ndarray:
        """Mean of each squared feature, read off the data: M_j is a multiple (Section 5.3)."""
        return np.mean(self.objective.X**2, axis=0)


@dataclass(frozen=True)
class Entry:
    """How to make one problem, and what the paper reports about it."""

    draw: Callable[[bool], tuple[np.ndarray, np.ndarray]]  # quick -> X, y
    penalty: Callable[[np.ndarray, np.ndarray], Objective]
    bounds_X: Callable[[], tuple]
    bounds_y: tuple[float, float] | None
    standardised: bool
    paper_cd: tuple[float, ...]
    spread_cd: tuple[float, ...]
    paper_sgd: tuple[float, ...]
    epsilon: float = 1.0
    names: tuple[str, ...] = ()


def _electricity(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    if quick:
        return standins.electricity()
    table = manifest.load("electricity")
    return electricity.features(table.features), np.where(table.target == "UP", 1.0, -1.0)


def _sparse(quick: bool) -> tuple[np.ndarray, np.ndarray]:
    return sparse_lasso.draw(300, 100) if quick else sparse_lasso.draw()


def _logistic(X: np.ndarray, y: np.ndarray) -> Objective:
    return Logistic(X, y, 1.0 / len(y))


def _lasso(weight: float) -> Callable[[np.ndarray, np.ndarray], Objective]:
    return lambda X, y: Lasso(X, y, weight)


FIVE = {
    "Electricity, raw": Entry(
        _electricity,
        _logistic,
        electricity.bounds,
        bounds_y=None,
        standardised=False,
        paper_cd=(0.1458, 0.0842, 0.0436, 0.0147, 0.0020),
        spread_cd=(6e-4, 1e-3, 2e-3, 2e-3, 1e-3),
        paper_sgd=(0.2047, 0.1804, 0.1766, 0.1644, 0.1484),
    ),
    "Electricity, standardised": Entry(
        _electricity,
        _logistic,
        lambda: STANDARDISED_BOX,
        bounds_y=None,
        standardised=True,
        paper_cd=(0.0186, 0.0023, 0.0013, 0.0013, 0.0019),
        spread_cd=(4e-4, 4e-4, 6e-4, 4e-4, 8e-4),
        paper_sgd=(0.0391, 0.0189, 0.0123, 0.0106, 0.0040),
        names=tuple(electricity.BOXES),
    ),
    "California, raw": Entry(
        lambda quick: california.rows(quick=quick),
        _lasso(1.0),
        california.bounds,
        bounds_y=california.BOUNDS_Y,
        standardised=False,
        paper_cd=(0.1708, 0.1232, 0.0598, 0.0287, 0.0124),
        spread_cd=(7e-3, 1e-2, 1e-2, 5e-3, 7e-3),
        paper_sgd=(0.2799, 0.1863, 0.1476, 0.1094, 0.1068),
    ),
    "California, standardised": Entry(
        lambda quick: california.rows(quick=quick),
        _lasso(0.1),
        lambda: STANDARDISED_BOX,
        bounds_y=california.BOUNDS_Y,
        standardised=True,
        paper_cd=(0.0007, 0.0011, 0.0012, 0.0010, 0.0017),
        spread_cd=(3e-4, 6e-4, 5e-4, 1e-4, 1e-3),
        paper_sgd=(0.0351, 0.0226, 0.0125, 0.0087, 0.0042),
        names=tuple(california.BOXES),
    ),
    "Sparse LASSO": Entry(
        _sparse,
        _lasso(30.0),
        lambda: sparse_lasso.BOUNDS_X,
        bounds_y=sparse_lasso.BOUNDS_Y,
        standardised=False,
        paper_cd=(0.2498, 0.4702, 0.5982, 0.7160, 0.7551),
        spread_cd=(4e-2, 9e-2, 4e-2, 2e-2, 0.0),
        paper_sgd=(0.7551, 0.7551, 0.7551, 0.7551, 0.7551),
        epsilon=10.0,
    ),
}


def load(name: str, *, quick: bool = False) -> Problem:
    """One of the five problems; a quick one has few generated rows."""
    entry = FIVE[name]
    X, y = entry.draw(quick)
    if entry.standardised:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Problem(
        objective=entry.penalty(X, y),
        epsilon=entry.epsilon,
        delta=1.0 / len(y) ** 2,
        bounds_X=entry.bounds_X(),
        bounds_y=entry.bounds_y,
        standardised=entry.standardised,
        paper_cd=entry.paper_cd,
        spread_cd=entry.spread_cd,
        paper_sgd=entry.paper_sgd,
        names=entry.names,
    )
