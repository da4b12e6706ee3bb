"""Bicycles rented in an hour: explained deviance of Poisson regression.

One row is an hour of 2011 or 2012 in Washington's system, the target how many bicycles were rented
in it (Fanaee-T and Gama 2014). Features are what the documentation of the data describes: weather
in [0, 1], and a 0/1 column for each season, month, hour, kind of day and of weather. It had fewer
than 2,000 bicycles, so `bounds_y=(0, 2000)`. The last quarter of a shuffled order is held out, the
same for every method. An hour is nobody's row: this is about accuracy, not about somebody's
privacy.

The rule of coordinate descent for counts was frozen before the first run on these data
(`python -m benchmarks.derive poisson`). scikit-learn's `PoissonRegressor`, with the same penalty,
is the line without privacy.
"""

import numpy as np

from benchmarks.datasets import manifest
from benchmarks.datasets.columns import indicators, matrix
from benchmarks.harness import curves
from benchmarks.harness.needs import dataset, estimator

NEEDS = (dataset("bike_sharing_demand"), estimator("PoissonRegressor"))
EPSILONS = (0.1, 0.3, 1.0, 3.0)
ALPHA, DELTA = 1e-4, 1e-6
NUMBERS = ("temp", "feel_temp", "humidity", "windspeed")
CATEGORIES = {
    "season": ("winter", "spring", "summer", "fall"),
    "year": (2011, 2012),
    "month": tuple(range(1, 13)),
    "hour": tuple(range(24)),
    "holiday": ("no", "yes"),
    "workingday": ("no", "yes"),
    "weather": ("clear", "misty", "rain", "heavy_rain"),
}
PUBLIC = {"bounds_X": (0, 1), "bounds_y": (0, 2000)}
HELD_OUT = 0.25


def measure(options):
    train, test = train_and_test()
    epsilons = (1.0,) if options.quick else EPSILONS
    seeds = options.repeats(usual=20, quick=2)
    methods = {
        '"auto", which is "cd"': PUBLIC,
        '"sgd"': PUBLIC | {"solver": "sgd"},
        "nothing declared": {},
    }
    common = {"alpha": ALPHA, "delta": DELTA}
    return {
        "epsilons": list(epsilons),
        "curves": {
            name: curves.over_epsilons(
                "PoissonRegressor", train, test, epsilons, seeds, **common, **facts
            )
            for name, facts in methods.items()
        },
        "references": {"no privacy": plain_score(train, test)},
    }


def train_and_test():
    """Features and counts, of rows to learn from and of those held out."""
    table = manifest.load("bike_sharing_demand")
    frame = table.features
    X = matrix([frame[name].to_numpy() for name in NUMBERS] + indicators(frame, CATEGORIES))
    y = np.asarray(table.target, dtype=np.float64)
    order = np.random.default_rng(0).permutation(len(y))
    first = round((1.0 - HELD_OUT) * len(y))
    return [(X[rows], y[rows]) for rows in (order[:first], order[first:])]


def plain_score(train, test):
    """Explained deviance of scikit-learn's Poisson regression."""
    from sklearn.linear_model import PoissonRegressor

    return float(PoissonRegressor(alpha=ALPHA, max_iter=1_000).fit(*train).score(*test))


def tables(results):
    return curves.table(results)


def figures(results):
    title = "Bicycles rented in an hour: Poisson regression, delta = 1e-6"
    return {"": curves.figure(results, title=title, score="explained deviance, test")}
