"""Least squares: a private fit against scikit-learn's.

The whole of `fit` of `privlearn.LinearRegression`, from validation to certificate, against the
whole of `fit` of `sklearn.linear_model.LinearRegression`, both with their defaults, on generated
data. A ratio below 1 means that the private fit is the faster one.
"""

import numpy as np

from benchmarks.harness import races
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race

NEEDS = (estimator("LinearRegression"),)
SHAPES = ((10_000, 10), (100_000, 20), (40_000, 100))
QUICK = ((2_000, 5), (5_000, 10), (2_000, 30))


def measure(options):
    shapes = QUICK if options.quick else SHAPES
    rounds = options.repeats(usual=11, quick=3)
    return {f"n = {n:,}, p = {p}": _race(n, p, rounds, options.clock) for n, p in shapes}


def _race(n, p, rounds, clock):
    from sklearn.linear_model import LinearRegression

    import privlearn

    generator = np.random.default_rng(0)
    X = generator.random((n, p))
    y = X @ generator.random(p) / p
    private = privlearn.LinearRegression(solver="moments", bounds_X=(0, 1), bounds_y=(0, 1))
    plain = LinearRegression()
    contestants = {
        "privlearn": lambda: private.fit(X, y),
        "scikit-learn": lambda: plain.fit(X, y),
    }
    return race(contestants, rounds=rounds, clock=clock)


def tables(results):
    return races.table(results, "privlearn", "scikit-learn")


def figures(results):
    return {"": races.figure(results, "Time of one least-squares fit")}
