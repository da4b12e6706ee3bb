"""Least squares with nothing declared: seconds of an automatic fit.

`LinearRegression(epsilon=1, delta=1e-6)` on generated rows, from arrays to the certificate. Its
rule estimates ranges of all columns by noisy histograms (three looks at the rows), then scales and
a Gram matrix, and descends on clipped gradients of all rows, 30 passes. The columns have scales
from 1e-3 to 1e3 and the target depends on all of them. Beside it the same fit by "moments" with
bounds declared, where nothing is estimated, and scikit-learn's. All threads that the machine has.
"""

import numpy as np

from benchmarks.harness import races
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race

NEEDS = (estimator("LinearRegression"),)
SHAPES = ((50_000, 20), (500_000, 20), (500_000, 90))
QUICK = ((2_000, 5), (5_000, 10))
OURS, BOUNDED, PLAIN = "nothing declared", "bounds declared", "scikit-learn"


def measure(options):
    shapes = QUICK if options.quick else SHAPES
    rounds = options.repeats(usual=3, quick=1)
    return {f"n = {n:,}, p = {p}": _race(n, p, rounds, options.clock) for n, p in shapes}


def rows(n, p):
    """Normal columns on scales from 1e-3 to 1e3, a target that depends on all of them."""
    generator = np.random.default_rng(0)
    scales = np.logspace(-3.0, 3.0, p)
    X = generator.normal(size=(n, p))
    y = X @ generator.normal(size=p) + generator.normal(size=n)
    return X * scales, y


def _race(n, p, rounds, clock):
    from sklearn.linear_model import LinearRegression

    import privlearn

    X, y = rows(n, p)
    widest = 5.0 * np.logspace(-3.0, 3.0, p)
    promise = {"epsilon": 1.0, "delta": 1e-6}
    private = privlearn.LinearRegression(**promise)
    bounds = {"bounds_X": (-widest, widest), "bounds_y": (-5.0 * p**0.5, 5.0 * p**0.5)}
    bounded = privlearn.LinearRegression(solver="moments", **bounds, **promise)
    plain = LinearRegression()
    contestants = {
        OURS: lambda: private.fit(X, y),
        BOUNDED: lambda: bounded.fit(X, y),
        PLAIN: lambda: plain.fit(X, y),
    }
    return race(contestants, rounds=rounds, clock=clock)


def tables(results):
    return races.table(results, OURS, PLAIN)


def figures(results):
    return {"": races.figure(results, "Time of one least-squares fit with nothing declared")}
