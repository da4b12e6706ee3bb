"""Dual coordinate descent: an epoch beside numpy's products with the same batches.

350,000 generated rows of 90 columns, Poisson batches of 1,000 rows in expectation, 350 steps: one
epoch of `DualCoordinateDescent(epochs=1, batch_size=1000, clip=0.5)`, without intercept. "Loop" is
the compiled loop over these steps, with batches and noise of a real fit at hand: scores, steps of
the dual variables, clipped sums, releases and weights. Every round starts from the same state, and
setting it back is on the clock. "Whole fit" is all of `fit`: validation, copies, drawing of batches
and exact noise, the loop, the certificate; calibration is remembered from the warm-up.

numpy does a part of the loop's work: `X[batch] @ w` for the same batches, with X in double
precision, as most have it, and in single precision, as privlearn keeps rows for its loops. The loop
over rows in Python takes the same dual steps with numpy's products for each row and without noise,
for the first batches only; its time is scaled up to the rows of the epoch.
"""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from benchmarks.harness import races, report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race, ratio_line, ratios
from benchmarks.speed.dual_coordinate_descent.rows import STEPS_OF_ROWS

NEEDS = (estimator("LinearSVC"), estimator("solvers.DualCoordinateDescent"))
SHAPE, QUICK = (350_000, 90, 1_000), (4_000, 10, 200)
FEW_ROWS = 5_000  # about so many for the loop in Python
CLIP = 0.5
NORM = 1.25  # rows have length 1 at most
LOOP, FIT = "privlearn, loop", "privlearn, whole fit"
DOUBLE, SINGLE = "numpy, float64", "numpy, float32"
PYTHON = "Python, row by row"
NAMES = {
    LOOP: "privlearn: compiled loop of the epoch",
    FIT: "privlearn: all of fit",
    DOUBLE: "numpy: X[batch] @ w alone, float64",
    SINGLE: "numpy: X[batch] @ w alone, float32",
    PYTHON: "Python, row by row (scaled up)",
}


def measure(options):
    n, p, batch = QUICK if options.quick else SHAPE
    rounds = options.repeats(usual=15, quick=2)
    X, numbers = _data(n, p)
    signs = np.where(numbers > 0.0, 1, -1)
    cases = {
        name: _race(name, X, numbers if name == "ridge" else signs, batch, rounds, options)
        for name in STEPS_OF_ROWS
    }
    return {"shape": [n, p, batch], "cases": cases}


def _data(n, p):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, p))
    X /= np.linalg.norm(X, axis=1)[:, None]
    scores = X @ generator.standard_normal(p) / 3.0
    return X, np.clip(scores + 0.1 * generator.standard_normal(n), -1.0, 1.0)


def _private(name, batch):
    import privlearn

    facts = {
        "solver": privlearn.solvers.DualCoordinateDescent(epochs=1, batch_size=batch, clip=CLIP),
        "fit_intercept": False,
        "data_norm": NORM,
    }
    if name == "ridge":
        return privlearn.Ridge(bounds_y=(-1, 1), **facts)
    if name == "hinge":
        return privlearn.LinearSVC(loss="hinge", classes=[-1, 1], **facts)
    return privlearn.LogisticRegression(classes=[-1, 1], **facts)


@contextmanager
def _kept_loops():
    """Arguments of the compiled loops inside of a fit, and what changes as it was before."""
    from privlearn.solvers.dual_coordinate_descent import loops as dual

    kept, descend = [], dual.descend_dual

    def keep(*arguments):
        kept.append((arguments, [array.copy() for array in _changing(arguments)]))
        return descend(*arguments)

    dual.descend_dual = keep
    try:
        yield kept
    finally:
        dual.descend_dual = descend


def _changing(arguments):
    _, _, dual, state, _, _ = arguments
    return (dual.variables, dual.total, state.weights, state.previous, state.average)


def _race(name, X, y, batch, rounds, options):
    private = _private(name, batch)
    with _kept_loops() as kept:
        private.fit(X, y)
    single, few = X.astype(np.float32), _few(kept, X, y)
    contestants = {
        LOOP: lambda: _loop(kept),
        FIT: lambda: private.fit(X, y),
        DOUBLE: lambda: _products(kept, X),
        SINGLE: lambda: _products(kept, single),
        PYTHON: lambda: STEPS_OF_ROWS[name](*few),
    }
    rest = 0.0 if options.one_thread else 0.5
    seconds = race(contestants, rounds=rounds, clock=options.clock, rest=rest)
    drawn = sum(arguments[4].batches.rows.size for arguments, _ in kept)
    done = sum(rows.size for rows in few[2])
    seconds[PYTHON] = [value * drawn / done for value in seconds[PYTHON]]
    return {"seconds": seconds, "rows": [drawn, done]}


def _loop(kept):
    from privlearn.solvers.dual_coordinate_descent.loops import descend_dual

    _, before = kept[0]
    for array, value in zip(_changing(kept[0][0]), before, strict=True):
        np.copyto(array, value)
    for arguments, _ in kept:
        if not descend_dual(*arguments):
            raise RuntimeError("a sum did not fit its grid")


def _batches(kept):
    for arguments, _ in kept:
        rows, starts = arguments[4].batches
        for first, last in pairwise(starts):
            yield rows[first:last]


def _products(kept, X):
    w = np.ones(X.shape[1], X.dtype)
    for batch in _batches(kept):
        X[batch] @ w


def _few(kept, X, y):
    """What the loop in Python gets: as few batches as have enough rows."""
    batches, rows = [], 0
    for batch in _batches(kept):
        if rows < FEW_ROWS:
            batches.append(batch)
            rows += batch.size
    (_, _, dual, path, _, _), _ = kept[0]
    return X, y.astype(float), batches, dual.clip, dual.stiffness, path.step_size / path.divisor


def tables(results):
    n, p, batch = results["shape"]
    seconds = _seconds(results)
    rows = [
        [
            case,
            *(ratio_line(ratios(times, LOOP, name)) for name in (DOUBLE, SINGLE)),
            ratio_line(ratios(times, PYTHON, LOOP)),
        ]
        for case, times in seconds.items()
    ]
    header = ["loop's time", f"over {DOUBLE}", f"over {SINGLE}", f"goes into {PYTHON}"]
    drawn, done = next(iter(results["cases"].values()))["rows"]
    scaled = (
        f"n = {n:,}, p = {p}, batches of {batch:,} rows in expectation. The loop in Python was "
        f"timed on about {done:,} of {drawn:,} rows, and its time scaled up."
    )
    return "\n\n".join([races.table(seconds, LOOP, DOUBLE), report.table(header, rows), scaled])


def figures(results):
    named = {
        case: {NAMES[name]: values for name, values in times.items()}
        for case, times in _seconds(results).items()
    }
    return {"": races.figure(named, "Time of one epoch of dual coordinate descent")}


def _seconds(results):
    return {case: found["seconds"] for case, found in results["cases"].items()}
