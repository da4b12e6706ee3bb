"""Tables of which nothing is declared: shares of the budget for kinds and lists of columns.

Lists of uneven values, some with a long tail, beside numbers, dates, words such as yes and no, and
gaps; a number or two classes to predict. The score is R^2 or accuracy on fresh rows. The table has
the mean, the worst tenth and the worst over problems and seeds, and the mean less the rule's.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd

from privlearn import LinearRegression, LogisticRegression
from privlearn.schema import discovery

SEEDS, FRESH = 3, 4_000
LISTS = ((2, 5, 14), (40, 3), (2, 2, 7, 9, 16, 100))
SIZES = ((3_000, 1.0), (10_000, 0.3), (30_000, 1.0), (30_000, 3.0))  # rows, epsilon
KINDS = ("number", "classes")
TAIL = 1.2  # power by which the shares of values fall
middle = np.median


def homes(given):
    return (discovery,)


def problems(given):
    for setting in product(LISTS, SIZES, KINDS):
        sizes, (n, epsilon), kind = setting
        yield f"{kind}, lists {sizes}, n {n}, epsilon {epsilon:g}", setting


def data(setting, seed, given):
    sizes, (n, epsilon), kind = setting
    rng = np.random.default_rng(seed)
    m = n + FRESH
    columns, score = {}, rng.standard_normal(m)
    for k, size in enumerate(sizes):
        shares = np.arange(1, size + 1) ** -TAIL
        drawn = rng.choice(size, m, p=shares / shares.sum())
        columns[f"list {k}"] = np.array([f"value {v}" for v in range(size)], dtype=object)[drawn]
        score += rng.normal(0.0, 0.6, size)[drawn]
    numbers = {
        "number": rng.gamma(2.0, 5.0, m),
        "far": rng.normal(1_500.0, 4.0, m),
        "day": rng.integers(17_000, 19_000, m).astype(float),
        "word": rng.integers(0, 2, m).astype(float),
    }
    for values in numbers.values():
        score += rng.normal(0.0, 0.5) * (values - values.mean()) / values.std()
    columns |= {"number": numbers["number"].astype(object), "far": numbers["far"]}
    columns["day"] = np.datetime_as_string(numbers["day"].astype("datetime64[D]")).astype(object)
    columns["word"] = np.where(numbers["word"] > 0, "yes", "no").astype(object)
    columns["number"][rng.random(m) < 0.1] = ""
    columns["list 0"][rng.random(m) < 0.1] = ""
    known = {"epsilon": epsilon, "delta": 1e-5, "schema": "estimate"}
    if kind == "number":
        model, y = LinearRegression(bounds_y=(-8, 8), **known), score
    else:
        model = LogisticRegression(classes=[0, 1], **known)
        y = (score > np.median(score)).astype(int)
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
