"""One exact pass over all gradients, beside reading the table and a plain loop in NumPy.

The exact pass is what "cd" does at each step: scores, slopes, shortened gradients and their sum, in
integers (`solvers/_common/integer_rows.md`), here of the logistic loss. Reading sums the same table
in single precision, in as many threads. The plain loop takes blocks of 16,384 rows in single
precision: product, slope, cut, product; its sums are neither exact nor the same in another order.
Each runs five times just before its clock starts, as the passes of a fit follow one another: the
second processor of a virtual machine that rested comes late, and a pass then takes what it takes in
one thread. The table says, too, whether sums over one and two threads and over both forms are
bit-identical.
"""

import math
from types import SimpleNamespace

import numpy as np

from benchmarks.harness import races, report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race

NEEDS = (estimator("LinearRegression"),)
SHAPES = ((1_000_000, 10), (1_000_000, 50), (100_000, 100))
QUICK = ((3_000, 5),)
EXACT, READ, NUMPY = "exact pass", "reading in threads", "plain NumPy"
AT_ONCE = 16_384


def measure(options):
    shapes, rounds = (QUICK if options.quick else SHAPES), options.repeats(usual=15, quick=2)
    return {f"{n:,} x {p}": _case(n, p, rounds, options.clock) for n, p in shapes}


def _case(n, p, rounds, clock):
    from privlearn._core.threads import in_parts
    from privlearn._objective.losses import Logistic

    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, p), dtype=np.float32)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0).astype(np.float32)
    weights = rng.standard_normal(p + 1) / math.sqrt(p)
    norms = np.sqrt(np.einsum("ij,ij->i", X, X) + 1.0)
    exact, model, clip = stored(X, y), SimpleNamespace(loss=Logistic()), math.sqrt(p)

    def read():
        return sum(in_parts(n, lambda first, last: float(X[first:last].sum(dtype=np.float32))))

    contestants = {
        EXACT: lambda: exact.gradient_sum(model, weights, clip),
        READ: read,
        NUMPY: lambda: plain(X, y, norms, weights.astype(np.float32), clip),
    }
    seconds = race(contestants, rounds=rounds, warmups=2, clock=clock, rest=0.1, run_up=5)
    return {"seconds": seconds, "same": _same(X[:20_000], y[:20_000], model, weights, clip)}


def stored(X, y):
    """Integer rows of a table whose columns have deviation 1."""
    from privlearn._core.problem import Bounds
    from privlearn._data.bounded import BoundedData, Table
    from privlearn.solvers._common.integer_rows import store_integers
    from privlearn.solvers._common.scaling import Scaling

    p = X.shape[1]
    one, limits = np.ones(p), np.full(p, 6.0)
    scaling = Scaling(0.0 * one, one, one, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0)
    table = Table(X.astype(np.float64), y.astype(np.float64), finite=True)
    return store_integers(
        scaling, limits, BoundedData(table, Bounds(-limits, limits, None, None), True)
    )


def plain(X, y, norms, weights, clip):
    """Single precision, block by block."""
    total = np.zeros(len(weights))
    for start in range(0, len(y), AT_ONCE):
        own = slice(start, start + AT_ONCE)
        scores = X[own] @ weights[:-1] + weights[-1]
        slopes = -y[own] / (1.0 + np.exp(y[own] * scores))
        np.clip(slopes, -clip / norms[own], clip / norms[own], out=slopes)
        total[:-1] += slopes @ X[own]
        total[-1] += slopes.sum()
    return total


def _same(X, y, model, weights, clip):
    """Whether threads, blocks and the compiler change a bit."""
    from privlearn._core import threads
    from privlearn._core.jit import on_a_large_table
    from privlearn.solvers._common import integer_rows

    held = threads.thread_count, integer_rows.MOST_ROWS, integer_rows.WORTH_A_THREAD
    found = []
    try:
        for large in (False, True):
            for workers in (1, 2):
                for rows in (64, 256, 512, 1024, 2048):
                    threads.thread_count = lambda workers=workers: workers
                    integer_rows.MOST_ROWS, integer_rows.WORTH_A_THREAD = rows, 1
                    with on_a_large_table(large):
                        found.append(stored(X, y).gradient_sum(model, weights, clip))
    finally:
        threads.thread_count, integer_rows.MOST_ROWS, integer_rows.WORTH_A_THREAD = held
    return bool(all((sums == found[0]).all() for sums in found))


def tables(results):
    seconds = _seconds(results)
    same = report.table(
        ["the same bits over 2 forms, 2 numbers of threads, 5 sizes of blocks", ""],
        [[case, "yes" if found["same"] else "**no**"] for case, found in results.items()],
    )
    parts = [races.table(seconds, EXACT, other) for other in (READ, NUMPY)]
    return "\n\n".join([*parts, same])


def figures(results):
    return {"": races.figure(_seconds(results), "Time of one pass over all gradients")}


def _seconds(results):
    return {case: found["seconds"] for case, found in results.items()}
