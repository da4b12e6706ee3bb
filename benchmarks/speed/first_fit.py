"""The first fit on a new machine: nothing was compiled before.

Each case is a new process with an empty cache of compiled code, timed from inside after the imports
of numpy, scikit-learn and the estimator. Beside it, in a process of its own, what
`import sklearn.linear_model` takes. 10,000 rows of 8 columns, defaults. Limits, set before the
first run: twice that import for the first two estimators, six times for the others.
"""

import os
import subprocess
import sys
import tempfile
from statistics import median

from benchmarks.harness import report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import seconds_line

NEEDS = (estimator("LinearRegression"), estimator("KernelRegressor"))
IMPORT = "import sklearn.linear_model"
ESTIMATORS = (
    "LinearRegression",
    "LogisticRegression",
    "LinearSVC",
    "KernelRegressor",
    "KernelClassifier",
)
FIT = """
import warnings
import numpy as np
import sklearn.linear_model
from privlearn import {name}
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal(({n}, 8))
y = X @ rng.standard_normal(8) + rng.standard_normal({n})
y = y if "Regress" in "{name}" and "{name}" != "LogisticRegression" else (y > 0).astype(int)
model = {name}(epsilon=1.0, delta=1e-6)
"""


def measure(options):
    n, rounds = (1_000 if options.quick else 10_000), options.repeats(usual=3, quick=1)
    names, clock = ESTIMATORS[: 2 if options.quick else None], options.clock.__name__
    found = {IMPORT: [_seconds("", IMPORT, clock) for _ in range(rounds)]}
    for name in names:
        before = FIT.format(name=name, n=n)
        found[name] = [_seconds(before, "model.fit(X, y)", clock) for _ in range(rounds)]
    return found


def _seconds(before, timed, clock):
    """Time one statement in a new process whose cache is empty."""
    code = (
        f"{before}\nfrom time import {clock} as now\nstart = now()\n{timed}\nprint(now() - start)"
    )
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return float(done.stdout.split()[-1])


def tables(results):
    reference = median(results[IMPORT])
    rows = [
        [name, seconds_line(values), f"{median(values) / reference:.2f}"]
        for name, values in results.items()
    ]
    note = f"Median of {len(results[IMPORT])} new processes (smallest to largest)."
    return report.table(["first fit", "time", f"times `{IMPORT}`"], rows) + "\n\n" + note


def figures(results):
    from benchmarks.harness.races import ranking_figure

    return {"": ranking_figure(results, "Time of the first fit on a new machine")}
