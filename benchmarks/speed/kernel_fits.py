"""`KernelRegressor` as it is by default on a million rows: whole fits, in new processes.

1,000,000 generated rows of 20 normal columns, nothing declared, epsilon = 1, delta = 1e-6: a line,
and 2,000 random features of what it leaves over, which are computed when a row's turn comes. Timed
from inside, after a fit of 20,000 rows; compiled code is cached. R^2 is that of 50,000 fresh rows.

To compare with another version, let the variable `OTHER_PYTHON` name the interpreter of an
environment in which it is installed: its fits take turns with these.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.harness import report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import seconds_line

NEEDS = (estimator("KernelRegressor"),)
OTHER = "OTHER_PYTHON"
FIT = """
import json, time, warnings
import numpy as np
from privlearn import KernelRegressor
warnings.simplefilter("ignore")
def rows(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 20))
    line = X @ np.linspace(-0.4, 0.4, 20)
    curve = np.sin(2 * X[:, 0]) + np.cos(2 * X[:, 1]) * X[:, 2]
    return X, line + curve + 0.5 * rng.standard_normal(n)
model = KernelRegressor(epsilon=1.0, delta=1e-6)
model.fit(*rows(20_000, 1))
X, y = rows({n}, {seed})
start, busy = time.perf_counter(), time.process_time()
model.fit(X, y)
found = time.perf_counter() - start, time.process_time() - busy
print(json.dumps([*found, model.score(*rows(50_000, 2)), model.feature_map_.n_features_out]))
"""


def measure(options):
    n, rounds = (30_000 if options.quick else 1_000_000), options.repeats(usual=3, quick=1)
    pythons = versions()
    found = {name: [] for name in pythons}
    for seed in range(10, 10 + rounds):
        for name, python in pythons.items():
            found[name].append(fit_elsewhere(python, FIT.format(n=n, seed=seed)))
    return {"n": n, "fits": found}


def versions():
    """This version's interpreter, and that of another one where it is named."""
    pythons = {"this version": sys.executable}
    if os.environ.get(OTHER):
        pythons["the other version"] = os.environ[OTHER]
    return pythons


def fit_elsewhere(python, text, seconds=None):
    """What the text prints last, as JSON, in a new process of an interpreter; None if too late."""
    try:
        done = subprocess.run(
            [python, "-c", text],
            cwd=Path(python).parent,  # not here, where this version would be found first
            capture_output=True,
            text=True,
            check=True,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired:
        return None
    return json.loads(done.stdout.splitlines()[-1])


def tables(results):
    rows = []
    for name, fits in results["fits"].items():
        wall, busy, score, features = zip(*fits, strict=True)
        r2 = f"{median(score):.4f} ({min(score):.4f} to {max(score):.4f})"
        rows.append([name, seconds_line(wall), seconds_line(busy), r2, str(features[0])])
    head = ["", "time", "processor time", "R^2", "features"]
    note = f"n = {results['n']:,}, p = 20. Median of {len(fits)} fits (smallest to largest)."
    return report.table(head, rows) + "\n\n" + note


def figures(results):
    from benchmarks.harness.races import ranking_figure

    times = {name: [fit[0] for fit in fits] for name, fits in results["fits"].items()}
    return {"": ranking_figure(times, "Time of a fit of a kernel model")}
