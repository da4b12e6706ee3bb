"""Estimators with parameters that are right, and with some that are of wrong types or sizes."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from privlearn import solvers
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.kernel_approximation import RandomFourierFeatures, RandomProjection
from support import every_estimator, modes_for

RELATIONS = ("zero_out", "add_remove", "replace_one")
SELECTORS = (KendallSelector, SubLassoSelector)
MAPS = (RandomFourierFeatures, RandomProjection)
SIZE = {"n_components": 6}

ANYTHING = {
    "None": None,
    "text": "x",
    "empty text": "",
    "-1": -1,
    "0": 0,
    "0.0": 0.0,
    "1": 1,
    "2": 2,
    "0.5": 0.5,
    "1e-320": 1e-320,
    "1e-200": 1e-200,
    "1e-12": 1e-12,
    "1e12": 1e12,
    "1e200": 1e200,
    "1.7e308": 1.7e308,
    "NaN": np.nan,
    "inf": np.inf,
    "10**400": 10**400,
    "Fraction": Fraction(1, 2),
    "Decimal": Decimal("0.5"),
    "float32": np.float32(0.5),
    "int8": np.int8(3),
    "0-d": np.array(0.5),
    "True": True,
    "list": [1.0, 2.0],
    "dictionary": {"a": 1},
    "complex": 1j,
    "object": object(),
    "class": dict,
    "bytes": b"1",
}
BOXES = {
    "unit": (0.0, 1.0),
    "wide": (-1e7, 1e7),
    "excludes zero": (1990.0, 2020.0),
    "degenerate": (1.0, 1.0),
    "subnormal": (0.0, 1e-320),
    "tiny": (0.0, 1e-170),
    "1e200": (-1e200, 1e200),
    "overflowing width": (-1.7e308, 1.7e308),
    "reversed": (1.0, 0.0),
    "NaN": (np.nan, 1.0),
    "infinite": (0.0, np.inf),
    "text": ("a", "b"),
    "numbers as text": ("0", "1"),
    "three": (0, 1, 2),
    "pairs": [(0, 1), (0, 1), (0, 1)],
    "arrays": (np.zeros(3), np.ones(3)),
    "other length": (np.zeros(7), np.ones(7)),
    "two-dimensional": (np.zeros((1, 3)), np.ones((1, 3))),
    "ragged": ([0, [1]], [1, 2]),
    "None inside": (None, 1.0),
    "10**400": (0, 10**400),
    "Fractions": (Fraction(0), Fraction(1)),
    "objects": (object(), object()),
    "dictionary": {"low": 0, "high": 1},
}
CLASSES = {
    "0, 1": [0, 1],
    "three": [0, 1, 2],
    "texts": ["no", "yes"],
    "from_y": "from_y",
    "digits": ["0", "1"],
    "booleans": [False, True],
    "mixed": [0, "yes"],
    "with None": [None, 1],
    "with NaN": [np.nan, 1.0],
    "one": [1],
    "none": [],
    "twice": [1, 1],
    "nested": [[0, 1], [2, 3]],
    "number": 3,
    "word": "yes",
    "set": {0, 1},
    "bytes": [b"no", b"yes"],
    "huge": [10**400, 1],
    "complex": [1j, 2],
    "endless": [0, 1, object()],
}
SOLVER_NAMES = (*solvers.SOLVERS, "auto", "", "SGD", 3, None, object(), solvers.SGD)
BUDGETS = {
    "tiny epsilon": {"epsilon": 1e-12},
    "subnormal epsilon": {"epsilon": 1e-310},
    "large epsilon": {"epsilon": 1e4},
    "huge epsilon": {"epsilon": 1e300},
    "tiny delta": {"delta": 1e-300},
    "subnormal delta": {"delta": 5e-324},
    "large delta": {"delta": 0.9999999},
    "delta 0": {"delta": 0.0},
    "delta 1": {"delta": 1.0},
}
OWN = {"bounds_X": BOXES, "bounds_y": BOXES, "classes": CLASSES}
SKIPPED = ("ledger", "dataset", "on_invalid", "random_state")


@cache
def _modes(cls):
    return modes_for(cls)


def draw_solver(pick):
    """An object of some solver with fields of any kind; making it may raise."""
    cls = pick("solver class", list(solvers.SOLVERS.values()))
    fields = [name for name in cls.__dataclass_fields__]
    given = {
        pick("field", fields): pick("field value", ANYTHING) for _ in range(pick.between(0, 2))
    }
    return cls(**given)


def good_parameters(pick, cls):
    """Facts and a solver with which most data can be fitted."""
    if cls in MAPS:
        return dict(SIZE)
    common = {"epsilon": pick("epsilon", (1.0, 8.0)), "adjacency": pick("relation", RELATIONS)}
    common["on_invalid"] = pick("on_invalid", ("raise", "drop"))
    if cls in SELECTORS:
        return common | {"k": 1}
    known = cls().get_params()
    facts = {
        "box": {"bounds_X": (0.0, 1.0), "bounds_y": (0.0, 1.0)},
        "large box": {"bounds_X": (0.0, 1e7), "bounds_y": (0.0, 1e7)},
        "norm": {"data_norm": 2.5, "bounds_y": (0.0, 1.0)},
        "nothing": {},
    }
    given = pick("facts", facts) | SIZE | {"solver": pick("solver", _modes(cls))}
    labels = {"from_y": "from_y", "0, 1": [0, 1], "texts": ["no", "yes"], "bools": [False, True]}
    given["classes"] = pick("classes", labels)
    given["fit_intercept"] = pick("intercept", (True, True, False))
    return common | {name: value for name, value in given.items() if name in known}


def spoil(pick, cls, parameters):
    """The parameters with one or two that are of a wrong type or size."""
    known = [name for name in cls().get_params() if name not in SKIPPED] if cls is not None else []
    for _ in range(pick.between(1, 2)):
        name = pick("parameter", known)
        if name == "solver":
            chosen = (
                pick("named solver", list(SOLVER_NAMES)) if pick.chance(40) else draw_solver(pick)
            )
        elif name in OWN and pick.chance(80):
            chosen = pick("value", OWN[name])
        else:
            chosen = pick("value", ANYTHING)
        parameters = parameters | {name: chosen}
    if pick.chance(30) and "epsilon" in known:
        parameters = parameters | pick("budget", BUDGETS)
    return parameters


def draw_class(pick):
    linear = [cls for cls in every_estimator()]
    return pick("estimator", {cls.__name__: cls for cls in (*linear, *SELECTORS)})
