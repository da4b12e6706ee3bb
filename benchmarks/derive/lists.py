"""Tables with lists of categories: from which on ranges are looked for inside declared ones.

Three columns of numbers, whose declared ranges are as wide as the rows, twice and nine times as
wide, beside lists of uneven categories; a number or two classes to predict. The score is R^2 or
accuracy on fresh rows. Candidates are values of `ENOUGH_BESIDE_LISTS`: rows times mu for each
encoded column, below which the norm that lists leave to a row is taken to tell enough. The table
has the mean, the worst tenth and the worst over problems and seeds, and the mean less the rule's.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from privlearn import LinearRegression, LogisticRegression
from privlearn.schema import Category, Number
from privlearn.solvers import auto

SEEDS, FRESH = 4, 4_000
LISTS = ((3, 8, 20), (40, 30))
WIDER = (0.0, 0.5, 4.0)  # of the rows' width, on either side
SIZES = ((500, 1.0), (1_000, 1.0), (5_000, 0.3), (3_000, 1.0))  # rows, epsilon
KINDS = ("number", "classes")
OUTER = (0.001, 0.999)
middle = np.median


def homes(given):
    return (auto,)


def problems(given):
    for setting in product(LISTS, WIDER, SIZES, KINDS):
        sizes, wider, (n, epsilon), kind = setting
        yield f"{kind}, lists {sizes}, {wider:g} wider, n {n}, epsilon {epsilon:g}", setting


def data(setting, seed, given):
    sizes, wider, (n, epsilon), kind = setting
    rng = np.random.default_rng(seed)
    columns, schema, score = {}, {}, rng.standard_normal(n + FRESH)
    for k, size in enumerate(sizes):
        shares = rng.dirichlet(np.full(size, 0.5)) + 1e-3
        drawn = rng.choice(size, n + FRESH, p=shares / shares.sum())
        columns[f"list {k}"] = drawn.astype(str)
        schema[f"list {k}"] = Category([str(value) for value in range(size)])
        score += rng.normal(0.0, 0.6, size)[drawn]
    for k, draw in enumerate(
        (
            lambda m: rng.gamma(2, 5, m),
            lambda m: rng.normal(5, 4, m),
            lambda m: rng.uniform(18, 90, m),
        )
    ):
        values = draw(n + FRESH)
        low, high = np.quantile(values, OUTER)
        more = wider * (high - low)
        columns[f"number {k}"] = values
        schema[f"number {k}"] = Number(low - more, high + more)
        score += rng.normal(0.0, 0.5) * (values - values.mean()) / values.std()
    known = {"epsilon": epsilon, "schema": schema}
    if kind == "number":
        model, y = LinearRegression(bounds_y=(-8, 8), **known), score
    else:
        model, y = (
            LogisticRegression(classes=[0, 1], **known),
            (score > np.median(score)).astype(int),
        )
    frame = pd.DataFrame(columns)
    return model, (frame.iloc[:n], y[:n]), (frame.iloc[n:], y[n:])


def score(found, choice, seed, given):
    model, rows, fresh = found
    return model.set_params(random_state=seed).fit(*rows).score(*fresh)


def summary(found, usual):
    own = found[..., 0]
    return {
        "mean": float(own.mean()),
        "worst 10%": float(np.quantile(own, 0.1)),
        "worst": float(own.min()),
        "gain": float((own - usual[..., 0]).mean()),
    }
