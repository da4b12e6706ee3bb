"""How long one waits before anything happens: imports, first fits, noise for a promise.

Each case is a new Python process, timed from inside, so that neither the interpreter's own start
nor another case's imports count. The first fit of a process loads what it needs; whatever has to be
compiled was compiled by an earlier process, as on every day but the first. Calibration is the
search for the least noise of a plan of Poisson batches, the slowest kind, and the demo is the whole
of `privlearn demo`. Nothing is compared here; these are the times that tests once put limits on.
"""

import subprocess
import sys

from benchmarks.harness import report
from benchmarks.harness.needs import estimator
from benchmarks.harness.timing import seconds_line

NEEDS = (estimator("LinearRegression"),)

DATA = """
import numpy as np
from privlearn import LinearRegression, LogisticRegression
X = np.linspace(0, 1, 3000).reshape(-1, 3)
y = X.sum(axis=1)
"""
CALIBRATE = "smallest_scale(lambda z: [(SampledGaussian({}, z, {}), {})], 1.0, {})"
ACCOUNTANT = """
import scipy.fft, scipy.optimize, scipy.special
import privlearn.accounting.calibration, privlearn.accounting.pld
from privlearn.accounting import Gaussian, SampledGaussian, smallest_scale
"""
NOISE = """
import numba
from privlearn.noise import NoiseSource
source = NoiseSource()
source.gaussian(2.0**26, 10)
"""
IMPORTS = {
    "import privlearn": ("", "import privlearn"),
    "import an estimator, after scikit-learn": (
        "import sklearn.linear_model",
        "from privlearn import LinearRegression",
    ),
}
FIRST = {
    'first fit, "moments"': (
        DATA,
        "LinearRegression(bounds_X=(0, 1), bounds_y=(0, 3), solver='moments').fit(X, y)",
    ),
    'first fit, "sgd"': (
        DATA,
        "LogisticRegression(bounds_X=(0, 1), solver='sgd').fit(X, (y > 1.5).astype(int))",
    ),
    'first fit, "cd"': (
        DATA,
        "LinearRegression(bounds_X=(0, 1), bounds_y=(0, 3), solver='cd').fit(X, y)",
    ),
}
REST = {
    "noise of one Gaussian release": (
        ACCOUNTANT,
        "smallest_scale(lambda z: [(Gaussian(1 / z), 3)], 1.0, 1e-5)",
    ),
    "noise of 1,000 batches": (ACCOUNTANT, CALIBRATE.format(0.01, False, 1000, 1e-5)),
    "noise of 100,000 batches, replace_one": (
        ACCOUNTANT,
        CALIBRATE.format(1e-4, True, 100_000, 1e-10),
    ),
    "10 Gaussian draws": (NOISE, "source.gaussian(2.0**26, 10)"),
    "2 million Gaussian draws": (NOISE, "source.gaussian(2.0**26, 2_000_000)"),
    "the CPS data set": (
        "import numpy\nfrom privlearn.datasets import load_cps1988",
        "load_cps1988()",
    ),
    "privlearn --help": (
        "import contextlib, io",
        "from privlearn.cli import _parser\n_parser([]).format_help()",
    ),
    "privlearn demo": (
        "import contextlib, io",
        "from privlearn.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    main(['demo'])",
    ),
}


def measure(options):
    cases = IMPORTS | FIRST | ({} if options.quick else REST)
    rounds = options.repeats(usual=7, quick=2)
    clock = options.clock.__name__
    for before, timed in FIRST.values():
        _seconds(before, timed, clock)  # compiles what was never compiled here
    return {name: [_seconds(*case, clock) for _ in range(rounds)] for name, case in cases.items()}


def _seconds(before, timed, clock):
    """Time one statement in a new process."""
    code = (
        f"{before}\nfrom time import {clock} as now\nstart = now()\n{timed}\nprint(now() - start)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def tables(results):
    rows = [[name, seconds_line(values)] for name, values in results.items()]
    rounds = len(next(iter(results.values())))
    note = f"Median of {rounds} new processes (smallest to largest)."
    return report.table(["", "time"], rows) + "\n\n" + note


def figures(results):
    from benchmarks.harness.races import ranking_figure

    return {"": ranking_figure(results, "Time until something happens")}
