"""Whole private fits beside scikit-learn's: two estimators, bounds or nothing declared, four sizes.

Everything between arrays and the certificate, with defaults (epsilon = 1, delta = 1e-6), against
`fit` of scikit-learn's `LinearRegression` and `LogisticRegression`. Normal columns; bounds are 5
deviations. The promise differs a little from round to round, so that no calibration is remembered.
All threads that the machine has. Memory is the largest resident size during a fit beyond what was
there before it, as a part of X and y, in a process of its own.

Sizes and limits were set before the first run: a geometric mean of 0.9, and nothing above 1.7;
memory of 30 %.
"""

import math
import subprocess
import sys
from itertools import count
from statistics import median

import numpy as np

from benchmarks.harness import races, report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import race, ratios

NEEDS = (estimator("LinearRegression"), estimator("LogisticRegression"))
SHAPES = ((100_000, 10), (100_000, 100), (1_000_000, 10), (1_000_000, 50))
QUICK = ((2_000, 5), (3_000, 4))
BOUNDED, NOTHING, PLAIN = "bounds declared", "nothing declared", "scikit-learn"
ESTIMATORS = ("LinearRegression", "LogisticRegression")
MEMORY = """
import sys, threading, time, warnings
import numpy as np, privlearn
from benchmarks.speed.whole_fits import models, rows
warnings.simplefilter("ignore")
name, n, p = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
X, y = rows(name, n, p)
def size():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
def watch():
    while not done:
        peaks.append(size())
        time.sleep(0.002)
for kind, model in models(name, p).items():
    if kind == "scikit-learn":
        continue
    few = max(2**18 // p + 1, 100)
    model(1.0).fit(X[:few], y[:few])
    done, peaks, before = [], [size()], size()
    thread = threading.Thread(target=watch)
    thread.start()
    model(1.0).fit(X, y)
    done.append(True)
    thread.join()
    print((max(peaks) - before) / (X.nbytes + y.nbytes))
"""


def measure(options):
    shapes, rounds = (QUICK if options.quick else SHAPES), options.repeats(usual=5, quick=1)
    cases = [(name, n, p) for name in ESTIMATORS for n, p in shapes]
    return {
        "seconds": {
            f"{name}, {n:,} x {p}": _race(name, n, p, rounds, options.clock) for name, n, p in cases
        },
        "memory": {f"{name}, {n:,} x {p}": _memory(name, n, p) for name, n, p in cases},
    }


def rows(name, n, p):
    """Normal columns, and a target that depends on all of them."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, p))
    y = X @ generator.standard_normal(p) / math.sqrt(p) + generator.standard_normal(n)
    return X, (y if name == "LinearRegression" else (y > 0.0).astype(int))


def models(name, p):
    """What makes the estimators, given a promise."""
    import sklearn.linear_model

    import privlearn

    ours, plain = getattr(privlearn, name), getattr(sklearn.linear_model, name)
    number = name == "LinearRegression"
    common = {"delta": 1e-6} | ({} if number else {"classes": [0, 1]})
    known = {"bounds_X": (np.full(p, -5.0), np.full(p, 5.0))}
    known |= {"bounds_y": (-10.0, 10.0)} if number else {}
    return {
        BOUNDED: lambda epsilon: ours(epsilon=epsilon, **common, **known),
        NOTHING: lambda epsilon: ours(epsilon=epsilon, **common),
        PLAIN: lambda epsilon: plain(),
    }


def _race(name, n, p, rounds, clock):
    X, y = rows(name, n, p)
    promises = (1.0 + 1e-4 * k for k in count())
    contestants = {
        kind: lambda model=model: model(next(promises)).fit(X, y)
        for kind, model in models(name, p).items()
    }
    return race(contestants, rounds=rounds, clock=clock)


def _memory(name, n, p):
    if not sys.platform.startswith("linux"):
        return None
    command = [sys.executable, "-c", MEMORY, name, str(n), str(p)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(line) for line in done.stdout.split()]


def all_ratios(results):
    """The median ratio to scikit-learn of each case, bounded and not."""
    return {
        f"{case}, {kind}": median(ratios(times, kind, PLAIN))
        for case, times in results["seconds"].items()
        for kind in (BOUNDED, NOTHING)
    }


def tables(results):
    found = all_ratios(results)
    mean = math.exp(sum(map(math.log, found.values())) / len(found))
    worst = max(found, key=found.get)
    over = sorted((case for case in found if found[case] > 1.7), key=found.get)
    summary = (
        f"Geometric mean of the {len(found)} ratios **{mean:.2f}**, largest **{found[worst]:.2f}** "
        f"({worst}). Above 1.7: {', '.join(over) if over else 'none'}."
    )
    memory = report.table(
        ["memory beyond the data", BOUNDED, NOTHING],
        [
            [case, *(f"{100 * part:.0f} %" for part in parts)]
            for case, parts in results["memory"].items()
            if parts is not None
        ],
    )
    return "\n\n".join(
        [
            summary,
            races.table(results["seconds"], BOUNDED, PLAIN),
            races.table(results["seconds"], NOTHING, PLAIN),
            memory,
        ]
    )


def figures(results):
    return {"": races.figure(results["seconds"], "Time of one whole fit")}
