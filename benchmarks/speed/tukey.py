"""Least squares by depth among many small models: seconds of a whole fit.

`LinearRegression(epsilon=1, delta=1e-6, solver=Tukey(models=m))` on generated rows, from arrays to
the certificate: rows are dealt to m groups, each group is fitted, boxes of equal depth are counted,
the test is made and a point is drawn. Beside it the groups' models alone, one call of
`numpy.linalg.lstsq` after the other, on rows that are dealt already.
"""

from itertools import pairwise

import numpy as np

from benchmarks.harness import races
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race

NEEDS = (estimator("LinearRegression"), estimator("solvers.Tukey"))
SHAPES = ((50_000, 6, 5_000), (350_000, 6, 50_000), (500_000, 20, 20_000))
QUICK = ((4_000, 3, 1_000), (6_000, 3, 1_000))
OURS, LOOP = "whole fit", "models alone, numpy"


def measure(options):
    shapes = QUICK if options.quick else SHAPES
    rounds = options.repeats(usual=5, quick=2)
    return {
        f"n = {n:,}, p = {p}, {models:,} models": _race(n, p, models, rounds, options.clock)
        for n, p, models in shapes
    }


def _race(n, p, models, rounds, clock):
    import privlearn
    from privlearn.solvers import Tukey

    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, p))
    y = X @ generator.normal(size=p) + 1.0 + generator.normal(size=n)
    private = privlearn.LinearRegression(epsilon=1.0, delta=1e-6, solver=Tukey(models=models))
    Z = np.column_stack([np.ones(n), X])
    starts = np.arange(models + 1) * n // models

    def loop():
        for first, last in pairwise(starts):
            np.linalg.lstsq(Z[first:last], y[first:last], rcond=None)

    return race({OURS: lambda: private.fit(X, y), LOOP: loop}, rounds=rounds, clock=clock)


def tables(results):
    return races.table(results, OURS, LOOP)


def figures(results):
    return {"": races.figure(results, "Time of one fit by depth among models")}
