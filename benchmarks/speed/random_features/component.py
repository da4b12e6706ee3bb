"""Random features: an epoch beside the arithmetic that no epoch can do without.

1,000,000 generated rows of 20 columns in double precision, 1,024 random Fourier features, which
would take 4 GB if they were kept: one epoch of `KernelRegressor(bandwidth=3, n_components=1024,
solver=OutputPerturbation(epochs=1))`. "Whole fit" is all of `fit`: validation, random order,
bounds, features, a step after each row, noise, the certificate. "Solve" is the solver's part of the
same fits. Calibration is remembered from the warm-up and shown apart. "sgd" is one epoch of `SGD`
in batches of 10,000 rows, a whole fit, for information.

The lower bound has rows in single precision at hand, in order, and does three things with them:
phases by one matrix product, their cosines and sines (numpy's or privlearn's, whichever is faster),
and two products of the features with a vector. It goes block by block, all three after each other,
as an epoch must whose features do not fit into memory; the fastest block is chosen before the race.
Each of the three is also timed alone, in blocks of its own, on the same numbers again and again.
"""

from contextlib import contextmanager

import numpy as np

from benchmarks.harness import races, report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race, ratio_line, ratios, seconds_line
from benchmarks.speed.random_features.bound import PARTS, WHOLE, Bound

NEEDS = (estimator("KernelRegressor"), estimator("solvers.OutputPerturbation"))
SHAPE, QUICK = (1_000_000, 20, 1_024), (4_000, 5, 64)
BANDWIDTH = 3.0
BATCHES = 100  # of sgd
FIT, SOLVE, SGD = "privlearn, whole fit", "privlearn, solve", "privlearn, sgd"
BOUND, ALONE = "lower bound", "the sum of its parts"


def measure(options):
    n, p, size = QUICK if options.quick else SHAPE
    X, y = _data(n, p)
    by_output, by_sgd = _private("output", n, size), _private("sgd", n, size)
    calibration = {name: _planning(model, n, p, options) for name, model in
                   (("output", by_output), ("sgd", by_sgd))}  # fmt: skip
    parts, blocks = Bound(X, by_output.fit(X, y).feature_map_.frequencies).contestants(
        options.clock
    )
    parts[BOUND] = parts.pop(WHOLE)
    rounds = options.repeats(usual=9, quick=2)
    with _timed_solve(options.clock) as solved:
        contestants = {FIT: lambda: by_output.fit(X, y), **parts}
        seconds = race(
            contestants | {SGD: lambda: solved.without(lambda: by_sgd.fit(X, y))},
            rounds=rounds,
            clock=options.clock,
            rest=0.0 if options.one_thread else 0.5,
        )
    seconds[SOLVE] = solved.seconds[-rounds:]
    return {
        "shape": [n, p, size],
        "seconds": seconds,
        "calibration": calibration,
        "blocks": {BOUND if name == WHOLE else name: way for name, way in blocks.items()},
    }


def _data(n, p):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1.0, 1.0, (n, p))
    y = np.sin(3.0 * X[:, 0]) * X[:, 1] + 0.1 * generator.standard_normal(n)
    return X, np.clip(y, -1.0, 1.0)


def _private(name, n, size):
    import privlearn
    from privlearn import solvers

    solver = (
        solvers.OutputPerturbation(epochs=1)
        if name == "output"
        else solvers.SGD(steps=BATCHES, batch_size=n // BATCHES)
    )
    return privlearn.KernelRegressor(
        solver=solver,
        bandwidth=BANDWIDTH,
        n_components=size,
        bounds_X=(-1.0, 1.0),
        bounds_y=(-1.0, 1.0),
    )


def _planning(model, n, p, options):
    """Seconds of calibration, before anything is remembered."""
    start = options.clock()
    model.plan(n=n, n_features=p)
    return options.clock() - start


class _Solved:
    """Seconds of the solver's part of each fit, but of those inside `without`."""

    def __init__(self):
        self.seconds, self.listening = [], True

    def without(self, function):
        self.listening = False
        try:
            return function()
        finally:
            self.listening = True


@contextmanager
def _timed_solve(clock):
    from privlearn.kernel_model.on_features import OnFeatures

    solve, solved = OnFeatures.solve, _Solved()

    def timed(*arguments):
        start = clock()
        found = solve(*arguments)
        if solved.listening:
            solved.seconds.append(clock() - start)
        return found

    OnFeatures.solve = timed
    try:
        yield solved
    finally:
        OnFeatures.solve = solve


def tables(results):
    n, p, size = results["shape"]
    seconds, names = results["seconds"], (FIT, SOLVE, SGD, BOUND)
    together = {
        ALONE: [sum(values) for values in zip(*(seconds[part] for part in PARTS), strict=True)]
    }
    rows = [
        [name, seconds_line(seconds[name]), ratio_line(ratios(seconds, name, BOUND)),
         ratio_line(ratios(seconds | together, name, ALONE))]
        for name in names
    ]  # fmt: skip
    parts = [[part, seconds_line(seconds[part]), results["blocks"][part]] for part in PARTS]
    parts.append([BOUND, seconds_line(seconds[BOUND]), results["blocks"][BOUND]])
    planned = ", ".join(f"{name} {s:.2g} s" for name, s in results["calibration"].items())
    return "\n\n".join(
        [
            report.table(["", "time", f"times {BOUND}", f"times {ALONE}"], rows),
            f"n = {n:,}, p = {p}, {size:,} features. Median of {len(seconds[FIT])} interleaved "
            "rounds (smallest to largest); ratios within a round.",
            report.table(["part of the bound", "time", "fastest way"], parts),
            f"Calibration, once for each problem and not in the times above: {planned}.",
        ]
    )


def figures(results):
    order = (FIT, SOLVE, SGD, BOUND, *PARTS)
    times = {name: results["seconds"][name] for name in order}
    n, _, size = results["shape"]
    title = f"One epoch on {size:,} random features of {n:,} rows"
    return {"": races.ranking_figure(times, title)}
