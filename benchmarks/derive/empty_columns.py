"""Values that hardly any row has: how far their coefficients are drawn towards 0.

A number to predict from four numbers, two of which may be missing, and from a list of five regions
with a place for others. A part of the rows, from none to 30 %, is of another region, with 1.5 more
of y, and as many lack the first number, with 1 more; errors are normal, or heavy and skewed. The
score is R^2 on fresh rows, and the root mean square of errors of predictions for an unlisted
region, in deviations of y. The table has the mean and the worst of both, and how much of R^2 is
lost against the rule as it is, on average and at most. Constants: RARE.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from privlearn import LinearRegression
from privlearn.schema import Category, Number
from privlearn.solvers.coordinate_descent import rules

SEEDS, FRESH = 6, 3_000
ROWS, EPSILONS, PARTS = (1_000, 5_000, 20_000), (0.3, 1.0, 3.0), (0.0, 0.005, 0.03, 0.3)
ERRORS = ("normal", "heavy")
REGIONS = [f"r{k}" for k in range(5)]
SCHEMA = {f"x{k}": Number(-5, 5, missing="flag" if k < 2 else "raise") for k in range(4)}
SCHEMA["region"] = Category(REGIONS, other=True)
EFFECT, OF_GAP = 1.5, 1.0


def homes(given):
    return (rules,)


def problems(given):
    for n, epsilon, part, errors in product(ROWS, EPSILONS, PARTS, ERRORS):
        yield f"n {n}, epsilon {epsilon:g}, part {part:g}, {errors}", (n, epsilon, part, errors)


def data(setting, seed, given):
    n, epsilon, part, errors = setting
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"x{k}": rng.standard_normal(n + FRESH) for k in range(4)})
    region = rng.choice(REGIONS, n + FRESH).astype(object)
    noise = rng.standard_normal(n + FRESH)
    if errors == "heavy":
        noise = np.exp(noise) - np.exp(0.5)
    other, gap = rng.random((2, n + FRESH)) < part
    region[other] = "elsewhere"
    mean = frame["x0"] * ~gap + 0.5 * frame["x1"] + OF_GAP * gap
    frame["region"], frame["y"] = region, mean + EFFECT * other + noise
    frame.loc[gap, "x0"] = np.nan
    model = LinearRegression(epsilon=epsilon, schema=SCHEMA, bounds_y=(-12, 12))
    unlisted = frame[n:].assign(region="elsewhere", y=mean[n:] + EFFECT * (part > 0))
    return model, frame[:n], frame[n:], unlisted


def score(found, choice, seed, given):
    model, rows, fresh, unlisted = found
    model.set_params(random_state=seed).fit(rows, "y")
    error = np.sqrt(((model.predict(unlisted) - unlisted["y"]) ** 2).mean()) / fresh["y"].std()
    return model.score(fresh, "y"), error


def summary(found, usual):
    lost = (usual - found)[..., 0].mean(axis=1)
    return {
        "R2": found[..., 0].mean(),
        "least R2": found[..., 0].min(),
        "unlisted": found[..., 1].mean(),
        "worst": found[..., 1].max(),
        "lost": lost.mean(),
        "at most": lost.max(),
    }
