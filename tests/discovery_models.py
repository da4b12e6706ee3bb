"""Models of frames of which something is to be found out first, for audits that know arrays."""

from functools import cache

import numpy as np
import pandas as pd

from privlearn import LinearRegression, LogisticRegression
from privlearn._core.problem import Adjacency
from privlearn.schema import Category, Estimate, Number
from support import SHORT

N_FEATURES = 3
SMALL = 10.0  # numbers up to which texts are different ones


def framed(X):
    """The first two columns as texts, each cell by itself; what is missing stays so."""
    if hasattr(X, "toarray"):
        X = X.toarray()
    columns = [np.asarray(X[name]) for name in X] if hasattr(X, "columns") else np.asarray(X).T
    cells = [np.asarray(column, dtype=np.float64) for column in columns]
    names = [f"x{j}" for j in range(len(cells))]
    found = dict(zip(names, cells, strict=True))
    for name in names[:2]:
        found[name] = np.array([_text(cell) for cell in found[name]], dtype=object)
    return pd.DataFrame(found)


def _text(cell):
    if np.isnan(cell):
        return None
    return f"about {np.rint(cell):g}" if abs(cell) < SMALL else f"{'-' if cell < 0 else ''}huge"


class Classifier(LogisticRegression):
    def fit(self, X, y, **named):
        return super().fit(framed(X), y, **named)


class Regressor(LinearRegression):
    def fit(self, X, y, **named):
        return super().fit(framed(X), y, **named)


LISTED = {"x0": Category(), "x1": Category(missing="flag", max_categories=2), "x2": Number(-1, 1)}
OPEN = {"x0": Estimate(), "x1": Category(missing="drop"), "x2": Number()}


@cache
def discovering():
    """By name: what is open, and every solver and relation in turn."""
    found, two = {}, {"classes": [0, 1], "epsilon": 2.0}
    for relation in Adjacency:
        known = two | {"adjacency": relation.value, "solver": SHORT["cd"]["whole"]}
        found[f"lists-{relation}"] = Classifier(schema=LISTED, **known)
        found[f"kinds-{relation}"] = Classifier(schema=OPEN, **known)
        found[f"people-{relation}"] = Classifier(schema=LISTED, max_rows_per_person=2, **known)
    for name, solver in (("moments", "moments"), *SHORT["sgd"].items(), *SHORT["scd"].items()):
        found[f"{name}-lists"] = Regressor(
            schema=LISTED, bounds_y=(-1, 1), solver=solver, epsilon=2.0
        )
        found[f"{name}-kinds"] = Regressor(schema=OPEN, solver=solver, epsilon=2.0)
    return found
