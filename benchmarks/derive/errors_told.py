"""How many standard errors a fit tells, against how far public facts say that it stands out.

Tables are those of derive/forecast.py: as people have them, rare flags, one-hot groups, collinear;
500 to 50,000 rows, 2 to 50 columns, epsilon 0.2 to 6, bounds or nothing declared; least squares,
two classes, counts. The numbers are the mean share that is told where `clearness` is below SOME,
between SOME and ALL, and above ALL, and the share of fits above ALL that tell every one.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks.derive.forecast import KINDS, facts
from privlearn import LinearRegression, LogisticRegression, PoissonRegressor
from privlearn.solvers.coordinate_descent import errors_told

SEEDS = 48
FIRST = 77
MODELS = {"linear": LinearRegression, "logistic": LogisticRegression, "counts": PoissonRegressor}
PENALTY = {"linear": {}, "logistic": {"C": 1.0, "classes": [0, 1]}, "counts": {"alpha": 0}}
MOST_COUNTED = 40


def arguments(parser):
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the tables")


def homes(given):
    return (errors_told,)


def candidates(given):
    return {}


def problems(given):
    return ((f"{kind}, {model}", (kind, model)) for kind in KINDS for model in MODELS)


def data(problem, seed, given):
    """How far one fit stands out, by public facts, and how many standard errors it told."""
    kind, name = problem
    rng = np.random.default_rng([given.first, seed, list(KINDS).index(kind)])
    n, p = int(10 ** rng.uniform(2.7, 4.7)), int(10 ** rng.uniform(0.4, 1.7))
    X, y = KINDS[kind](rng, n, p)
    epsilon = float(10 ** rng.uniform(-0.7, 0.8))
    known = facts(X, y, "logistic", ("nothing", "bounds")[seed % 2], rng)
    y, own = target(name, y, seed % 2 == 1, rng)
    if len(np.unique(y)) < 2:
        return None
    model = MODELS[name](
        intervals=True, epsilon=epsilon, random_state=seed, **known, **own, **PENALTY[name]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = np.isfinite(model.fit(X, y).summary().std_err)
    return model.privacy_.plan, n, told


def target(name, y, declared, rng):
    if name == "logistic":
        return (y > np.quantile(y, rng.uniform(0.5, 0.9))).astype(int), {}
    if name == "counts":
        mean = np.exp(np.clip((y - y.mean()) / max(y.std(), 1e-9), -3, 2))
        return np.minimum(rng.poisson(mean), MOST_COUNTED), {"bounds_y": (0, MOST_COUNTED)}
    return y, {"bounds_y": (y.min(), y.max())} if declared else {}


def score(found, choice, seed, given):
    """The share told, where it belongs."""
    shares = np.full(4, np.nan)
    if found is not None:
        plan, n, told = found
        clear = errors_told.clearness(plan, len(told), n)
        place = int(clear >= errors_told.SOME) + int(clear >= errors_told.ALL)
        shares[place] = told.mean()
        if place == 2:
            shares[3] = told.all()
    return shares


def middle(scores):
    return float(np.nanmean(scores)) if np.isfinite(scores).any() else np.nan


def summary(found, usual):
    names = ("hardly any", "some", "all", "of which every one")
    return {name: np.nanmean(found[..., k]) for k, name in enumerate(names)}
