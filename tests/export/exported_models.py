"""One fitted model of every kind that can be exported, and rows to predict."""

import datetime
from functools import cache

import numpy as np
import pandas as pd

import privlearn
from privlearn.schema import Category, Date, Flag, Ignore, Number
from privlearn.solvers import BoostedStatistics

SEEDED = {"epsilon": 20.0, "random_state": 0}
BOX = {"bounds_X": (-1, 3)}
REGION = ["north", "it's", 'the "south"', "back\\slash; --", "Zoë"]
SCHEMA = {
    "age": Number(17, 90, missing="flag"),
    "pay, in $": Number(missing="fill"),
    'odd "name"': Category(REGION, missing="flag"),
    "level": Category([1, 2, 3], missing="fill"),
    "town": Category(["A", "B"]),
    "here": Flag(missing="fill"),
    "since": Date("2000-01-01", "2020-01-01", missing="fill"),
    "id": Ignore(),
}
LISTS = (
    SCHEMA
    | {  # values that are in no list share a place, and only what is empty is missing
        'odd "name"': Category(REGION[:3], missing="flag", other=True),
        "level": Category([1, 2], missing="fill", other=True),
        "town": Category(["A"], other=True),
    }
)
BINS = SCHEMA | {
    'odd "name"': Category(hashed=5, missing="flag"),
    "level": Category(hashed=3, missing="fill"),
    "town": Category(hashed=4),
}

# Codes for what is unknown are gaps: three numbers in ten are outside of these ranges.
CODES = SCHEMA | {
    "age": Number(17, 90, missing="flag", outside="missing"),
    "pay, in $": Number(500, 5_000, missing="fill", outside="missing", fill=1_900),
    "since": Date("2000-01-01", "2020-01-01", missing="flag", fill="2015-03-01"),
}


def numbers(n, seed=0):
    return np.random.default_rng(seed).uniform(-2.0, 4.0, (n, 3))


def people(n, seed=0):
    """A frame with text, dates, truth values and gaps; some cells are far out."""
    rng = np.random.default_rng(seed)
    gaps = rng.uniform(size=(5, n)) < 0.1
    first = datetime.date(1999, 1, 1).toordinal()
    days = [datetime.date.fromordinal(first + int(d)) for d in rng.integers(0, 9_000, n)]
    here = rng.integers(0, 2, n).astype(bool).tolist()
    return pd.DataFrame(
        {
            "age": np.where(gaps[0], np.nan, rng.uniform(0, 120, n)),
            "pay, in $": np.where(gaps[1], np.nan, rng.normal(2_000, 3_000, n)),
            'odd "name"': _with_gaps(rng.choice([*REGION, "unheard of"], n).tolist(), gaps[2]),
            "level": _with_gaps(rng.integers(0, 5, n).tolist(), gaps[3]),
            "town": rng.choice(["A", "B"], n).astype(object),
            "here": _with_gaps(here, gaps[4]),
            "since": pd.Series(_with_gaps(days, gaps[4]), dtype=object),
            "id": np.arange(n),
        }
    )


def _with_gaps(cells, gaps):
    return pd.Series([None if gap else c for c, gap in zip(cells, gaps, strict=True)], dtype=object)


def target(frame):
    age, south = frame["age"].fillna(50.0), frame['odd "name"'] == 'the "south"'
    return (10.0 * age + 100.0 * south + 0.02 * frame["pay, in $"].fillna(0.0)).to_numpy()


def _arrays(cls, y, **more):
    X = numbers(800)
    return getattr(privlearn, cls)(**SEEDED, **more).fit(X, y(X))


def _frames(cls, y, schema=SCHEMA, **more):
    frame = people(800)
    if schema == "estimate":
        frame = frame.drop(columns="id")
    model = getattr(privlearn, cls)(schema=schema, **SEEDED, **more)
    return model.fit(frame, y(target(frame)))


def _sum(X):
    return X @ [1.0, -2.0, 0.5] + 4.0


def _three(values):
    return np.digitize(values, np.quantile(values, [0.3, 0.7]))


MODELS = {
    "linear": lambda: _arrays("LinearRegression", _sum, **BOX, bounds_y=(-5, 12)),
    "estimated": lambda: _arrays("LinearRegression", _sum),
    "ridge": lambda: _arrays("Ridge", _sum, fit_intercept=False),
    "lasso": lambda: _arrays("Lasso", _sum, alpha=0.01),
    "elastic net": lambda: _arrays("ElasticNet", _sum, alpha=0.01),
    "huber": lambda: _arrays("HuberRegressor", _sum),
    "poisson": lambda: _arrays("PoissonRegressor", lambda X: np.rint(abs(_sum(X)))),
    "two classes": lambda: _arrays("LogisticRegression", lambda X: _sum(X) > 4),
    "three classes": lambda: _arrays("LogisticRegression", lambda X: _three(_sum(X)), **BOX),
    "margin": lambda: _arrays("LinearSVC", lambda X: np.where(_sum(X) > 4, "yes", "it's no")),
    "kernel": lambda: _arrays("KernelRegressor", _sum, n_components=16),
    "line, then kernel": lambda: _arrays("KernelRegressor", _sum),
    "kernel of X": lambda: _arrays("KernelRegressor", _sum, bandwidth=2.0, n_components=32, **BOX),
    "kernel, classes": lambda: _arrays("KernelClassifier", lambda X: _three(_sum(X))),
    "kernel, two classes": lambda: _arrays("KernelClassifier", lambda X: _sum(X) > 4),
    "frame": lambda: _frames("LinearRegression", np.asarray, bounds_y=(0, 1500)),
    "frame, poisson": lambda: _frames("PoissonRegressor", lambda y: np.rint(abs(y) / 100)),
    "frame, two": lambda: _frames("LogisticRegression", lambda y: np.where(y > 600, "it's", "no")),
    "frame, three": lambda: _frames("LogisticRegression", _three),
    "frame, others": lambda: _frames("LogisticRegression", _three, LISTS),
    "frame, found": lambda: _frames("LinearRegression", np.asarray, "estimate"),
    "frame, codes": lambda: _frames("LinearRegression", np.asarray, CODES, bounds_y=(0, 1500)),
    "frame, codes, two": lambda: _frames("LogisticRegression", lambda y: y > 600, CODES),
    "frame, no intercept": lambda: _frames("Ridge", np.asarray, fit_intercept=False),
}
HASHED = {"frame, bins": lambda: _frames("LinearRegression", np.asarray, BINS, bounds_y=(0, 1500))}
SHORTENED = {
    "shortened": lambda: _arrays(
        "LinearRegression", _sum, **BOX, bounds_y=(-5, 12), solver=BoostedStatistics(clip=2.0)
    ),
}


@cache
def fitted(name):
    return (MODELS | HASHED | SHORTENED)[name]()


def rows_for(name, n, seed=1):
    if name in UNSEEN:
        return strangers(n, seed)
    if name.startswith("frame"):
        return people(n, seed)
    X = numbers(n, seed)
    X[:: max(n // 3, 1)] *= 1e6
    return X


UNSEEN = ("frame, others", "frame, found", "frame, bins")


def strangers(n, seed):
    """People some of whose texts were in no table before."""
    frame, rng = people(n, seed), np.random.default_rng(seed)
    new = rng.uniform(size=(2, n)) < 0.2
    words = ["".join(map(chr, rng.integers(0x21, 0x17F, 6))) for _ in range(50)]
    words = [
        *filter(str.isprintable, (word.replace("\x7f", "x") for word in words)),
        "007 x",
        "1.2.0",
    ]
    frame["town"] = np.where(new[0], rng.choice(words, n), frame["town"].astype(str))
    regions = [
        w if hit and r is not None else r
        for hit, w, r in zip(
            new[1], rng.choice(words, n).tolist(), frame['odd "name"'], strict=True
        )
    ]
    frame['odd "name"'] = pd.Series(regions, dtype=object)
    return frame


def outputs(model):
    """Names of the methods that it predicts with."""
    return [m for m in ("predict", "decision_function", "predict_proba") if hasattr(model, m)]


def agree(name, found, expected):
    """Equal labels, and numbers to 1e-9; a kernel computes its features in single precision."""
    assert found.shape == expected.shape
    if expected.dtype.kind not in "f":
        assert np.mean(found != expected) <= (0.003 if "kernel" in name else 0.0)
        return
    size = np.abs(expected).max()
    assert np.abs(found - expected).max() <= (1e-5 if "kernel" in name else 1e-9) * max(size, 1.0)
