"""Private coordinate descent: 50 passes beside scikit-learn's Lasso, and up to ten million rows.

`CoordinateDescent(block=1, passes=50, outer=1)` with a given clip and given mean squares, on
generated data without intercept. "50 passes" is the descent inside of a real fit: drawing the noise
of every release, and all sweeps; "whole fit" adds validation, copies, calibration (remembered from
the warm-up) and the certificate. scikit-learn's `Lasso(precompute=False, max_iter=50, tol=0)`,
without privacy, gets columns in Fortran order, is timed without its validation of inputs, cycles
through the coordinates and does 50 passes, too.

Then passes over 8 columns of more and more rows, with the squared loss. A step must read two
columns in single precision, and read and write the scores in double: 24 bytes per row. The stream
`a += s * b`, with `a` as scores and `b` as a column, moves 20 bytes per row; it is what memory
gives one thread here, in the same rounds, and on wall time also what it gives two.
"""

import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from statistics import median

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race, ratio_line, ratios, seconds_line

NEEDS = (estimator("Lasso"), estimator("solvers.CoordinateDescent"))
CASES = (("squared", 20_640, 8), ("logistic", 45_312, 8), ("squared", 1_000, 1_000))
QUICK = (("squared", 2_000, 8), ("logistic", 2_000, 8), ("squared", 200, 200))
PASSES = 50
ROWS = {10_000: 500, 100_000: 100, 1_000_000: 20, 10_000_000: 10}  # and passes over them
QUICK_ROWS = {2_000: 20, 20_000: 5}
WIDTH = 8
DELTA = 1e-8
SWEEPS, STREAM, TWO = "sweeps", "stream", "stream, two threads"
BYTES = {SWEEPS: 24, STREAM: 20, TWO: 20}
DESCENT, FIT, PLAIN = "privlearn, 50 passes", "privlearn, whole fit", "scikit-learn, 50 passes"


def measure(options):
    rounds = options.repeats(usual=31, quick=2)
    cases, rows = (QUICK, QUICK_ROWS) if options.quick else (CASES, ROWS)
    descents = {
        f"{loss}, n = {n:,}, p = {p:,}": _descents(loss, n, p, rounds, options)
        for loss, n, p in cases
    }
    growth = [_growth(n, passes, rounds, options) for n, passes in rows.items()]
    return {"descents": descents, "growth": growth}


def _rest(options):
    """Seconds before each turn: without other threads there is nothing to wait for."""
    return 0.0 if options.one_thread else 0.5


def _solver(p, passes):
    from privlearn.solvers import CoordinateDescent

    return CoordinateDescent(
        block=1, passes=passes, outer=1, clip=1.0, smoothness=np.full(p, 1.0 / 3.0)
    )


def _private(loss, p, passes=PASSES):
    import privlearn

    facts = {
        "solver": _solver(p, passes),
        "fit_intercept": False,
        "bounds_X": (-1, 1),
        "delta": DELTA,
    }
    if loss == "logistic":
        return privlearn.LogisticRegression(classes=[0, 1], **facts)
    return privlearn.Lasso(alpha=1e-4, bounds_y=(-1, 1), **facts)


def _data(loss, n, p):
    generator = np.random.default_rng(0)
    X = generator.uniform(-1, 1, (n, p))
    scores = X @ generator.normal(size=p) / np.sqrt(p)
    if loss == "logistic":
        return X, (scores + generator.logistic(size=n) > 0).astype(int)
    return X, np.clip(scores + 0.1 * generator.normal(size=n), -1, 1)


@contextmanager
def _clocked_sweeps(clock):
    """Times of the descents inside of fits."""
    from privlearn.solvers.coordinate_descent import cyclic as cd_sweeps

    seconds, take = [], cd_sweeps.take_sweeps

    def timed(*arguments):
        start = clock()
        take(*arguments)
        seconds.append(clock() - start)

    cd_sweeps.take_sweeps = timed
    try:
        yield seconds
    finally:
        cd_sweeps.take_sweeps = take


def _descents(loss, n, p, rounds, options):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso

    X, y = _data(loss, n, p)
    private = _private(loss, p)
    contestants = {FIT: lambda: private.fit(X, y)}
    if loss == "squared":
        columns = np.asfortranarray(X)
        plain = Lasso(
            1e-4, fit_intercept=False, precompute=False, max_iter=PASSES, tol=0, copy_X=False
        )
        contestants[PLAIN] = lambda: plain.fit(columns, y, check_input=False)
    with warnings.catch_warnings(), _clocked_sweeps(options.clock) as descents:
        warnings.simplefilter("ignore", ConvergenceWarning)  # with no tolerance, nothing converges
        seconds = race(contestants, rounds=rounds, clock=options.clock, rest=_rest(options))
    if loss == "squared" and plain.n_iter_ != PASSES:
        raise RuntimeError(f"scikit-learn stopped after {plain.n_iter_} passes")
    return {DESCENT: descents[-rounds:], **seconds}  # before: rehearsals and the warm-up


def _growth(n, passes, rounds, options):
    """Seconds of passes over n rows, of streams over the same arrays, and how many passes."""
    from numba import njit

    from privlearn._core.problem import Budget
    from privlearn._core.releaser import Releaser
    from privlearn._objective.losses import Squared
    from privlearn.solvers.coordinate_descent.columns import refresh
    from privlearn.solvers.coordinate_descent.cyclic import take_sweeps

    columns, state = _columns(n)
    plan = _private("squared", WIDTH, passes).plan(n=n, n_features=WIDTH)
    refresh(columns, state, Squared())

    @njit(nogil=True, fastmath=True)
    def stream(a, s, b):
        for i in range(a.size):
            a[i] += s * b[i]

    def streams():
        for k in range(passes * WIDTH):
            stream(state.scores, 1e-12, columns.values[k % WIDTH])

    contestants = {
        SWEEPS: lambda: take_sweeps(columns, state, passes, Releaser(plan, Budget(1.0, DELTA))),
        STREAM: streams,
    }
    if n == max(ROWS) and not options.one_thread:
        contestants[TWO] = lambda: _in_two_threads(stream, state.scores, columns.values, passes)
    few = min(rounds, 7)
    seconds = race(contestants, rounds=few, clock=options.clock, rest=_rest(options))
    return {"rows": n, "passes": passes, "seconds": seconds}


def _in_two_threads(stream, scores, values, passes):
    half = scores.size // 2
    with ThreadPoolExecutor(1) as other:
        for k in range(passes * WIDTH):
            column = values[k % WIDTH]
            first = other.submit(stream, scores[:half], 1e-12, column[:half])
            stream(scores[half:], 1e-12, column[half:])
            first.result()


def _columns(n):
    """Columns and weights as a fit makes them, without the rows that they are made from."""
    from privlearn._objective.losses import Squared
    from privlearn._objective.prox import WeightPenalty
    from privlearn.solvers.coordinate_descent.loops import StoredColumns, Sweep

    generator, one = np.random.default_rng(0), np.ones(WIDTH)
    values = generator.random((WIDTH, n), dtype=np.float32)
    values -= np.float32(0.5)
    values *= np.float32(np.sqrt(12.0))
    targets, none = values[:3].sum(axis=0, dtype=np.float64) / 6.0, np.empty(0, np.int64)
    columns = StoredColumns(values, none, none, targets, np.ones(n))
    state = Sweep(
        weights=0.0 * one,
        scores=np.empty(n),
        limits=0.5 * one,
        step_sizes=one,
        penalty=WeightPenalty(1e-4 * one, 0.0 * one, -np.inf * one, np.inf * one),
        points=0.0 * one,
        loss=Squared().code,
        threshold=0.0,
        auxiliaries=0,
        total=float(n),
    )
    return columns, state


def tables(results):
    return "\n\n".join(
        [
            _descent_table(results["descents"]),
            f"Passes over {WIDTH} columns of more and more rows:",
            _growth_table(results["growth"]),
            _shares(results["growth"]),
        ]
    )


def _descent_table(descents):
    rows = []
    for case, seconds in descents.items():
        told = [f"{seconds_line(seconds[name])}" for name in (DESCENT, FIT)]
        compared = ["", ""]
        if PLAIN in seconds:
            compared = [seconds_line(seconds[PLAIN]), ratio_line(ratios(seconds, DESCENT, PLAIN))]
        rows.append([case, *told, *compared])
    rounds = len(next(iter(descents.values()))[FIT])
    note = f"Median of {rounds} interleaved rounds (smallest to largest); ratios within a round."
    return report.table(["case", DESCENT, FIT, PLAIN, "ratio of passes"], rows) + "\n\n" + note


def _per_step(one, name):
    """Nanoseconds per row and step, round by round."""
    steps = one["rows"] * one["passes"] * WIDTH
    return [1e9 * value / steps for value in one["seconds"][name]]


def _speeds(one, name):
    return [BYTES[name] / value for value in _per_step(one, name)]


def _growth_table(growth):
    rows = [
        [
            f"{one['rows']:,}",
            ratio_line(_per_step(one, SWEEPS)),
            ratio_line(_speeds(one, SWEEPS)),
            ratio_line(_speeds(one, STREAM)),
        ]
        for one in growth
    ]
    header = ["rows", "ns per row and step", "sweeps, GB/s", "stream, GB/s"]
    return report.table(header, rows)


def _shares(growth):
    first, last = growth[0], growth[-1]
    grown = median(_per_step(last, SWEEPS)) / median(_per_step(first, SWEEPS))
    pairs = zip(_speeds(last, SWEEPS), _speeds(last, STREAM), strict=True)
    text = (
        f"From {first['rows']:,} to {last['rows']:,} rows the time per row and step grows "
        f"{grown:.1f} times. There the sweeps move {ratio_line([a / b for a, b in pairs])} times "
        "the bytes per second of the stream."
    )
    if TWO in last["seconds"]:
        gain = ratios(last["seconds"], STREAM, TWO)
        text += f" Two threads stream {ratio_line(gain)} times as fast as one."
    return text


def figures(results):
    from benchmarks.harness.figures import COLOURS, MARKERS, blank

    plot, axes = blank()
    rows = [one["rows"] for one in results["growth"]]
    for index, name in enumerate((SWEEPS, STREAM)):
        values = [median(_per_step(one, name)) for one in results["growth"]]
        axes.plot(rows, values, color=COLOURS[index], marker=MARKERS[index], label=name)
    axes.set_xscale("log")
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("rows (logarithmic)")
    axes.set_ylabel("ns per row and step, median")
    axes.set_title("Coordinate descent beside a stream of memory", loc="left")
    axes.legend(frameon=False)
    return {"": plot}
