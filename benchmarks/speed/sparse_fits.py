"""`LinearRegression` and `LogisticRegression` of a wide sparse table, nothing declared.

1,000,000 generated rows of 100,000 columns with 10 entries each, epsilon = 3, delta = 1e-6: ranges,
and which columns count, are estimated. Timed from inside of a new process, after a fit of 2,000
rows; compiled code is cached. A fit that is refused, that takes longer than 300 s, or that the
system ends because it wants more memory than there is, is shown as that.

To compare with another version, let the variable `OTHER_PYTHON` name the interpreter of an
environment in which it is installed: its fits take turns with these. On the page that is 587b3fb,
the last version that tried: those after it refused such tables, for want of 745 GiB of memory,
until second moments became sparse.
"""

import json
import signal
import subprocess
import time
from statistics import median

from benchmarks.harness import report
from benchmarks.harness.needs import estimator
from benchmarks.speed.kernel_fits import fit_elsewhere, versions

NEEDS = (estimator("LinearRegression"), estimator("LogisticRegression"))
MODELS, LONGEST = ("LinearRegression", "LogisticRegression"), 300
ENDED = "ended by the system: more memory than there is"
FIT = """
import json, time, warnings
import numpy as np, scipy.sparse as sp
import privlearn
warnings.simplefilter("ignore")
def rows(n, p, seed):
    rng = np.random.default_rng(seed)
    columns = (p * rng.random(10 * n) ** 3).astype(np.int32)
    X = sp.csr_matrix((rng.random(10 * n) + 0.5, columns, np.arange(0, 10 * n + 1, 10)), (n, p))
    X.sum_duplicates()
    z = X[:, :20] @ np.linspace(-1, 1, 20) + rng.normal(size=n)
    return X, (z > 0).astype(int) if "Logistic" in {model!r} else z
model = getattr(privlearn, {model!r})(epsilon=3.0, delta=1e-6, random_state=0)
model.fit(*rows(2_000, 500, 1))
X, y = rows({n}, {p}, {seed})
print(json.dumps(time.time()), flush=True)
start = time.perf_counter()
try:
    model.fit(X, y)
    print(json.dumps([time.perf_counter() - start, "fitted"]))
except (ValueError, MemoryError, privlearn.exceptions.PrivacyError) as error:
    print(json.dumps([time.perf_counter() - start, "refused: " + str(error)[:80]]))
"""


def measure(options):
    n, p = (2_000, 500) if options.quick else (1_000_000, 100_000)
    rounds, found = options.repeats(usual=3, quick=1), {}
    for seed in range(10, 10 + rounds):
        for model in MODELS:
            for version, python in versions().items():
                text = FIT.format(n=n, p=p, seed=seed, model=model)
                found.setdefault(f"{model}, {version}", []).append(_fit(python, text))
    return {"n": n, "p": p, "fits": found}


def _fit(python, text):
    """As `fit_elsewhere`; where the system kills the process, the time until then."""
    try:
        return fit_elsewhere(python, text, LONGEST)
    except subprocess.CalledProcessError as error:
        if error.returncode != -signal.SIGKILL:
            raise
        return [time.time() - json.loads(error.stdout.splitlines()[-1]), ENDED]


def tables(results):
    rows = [[name, *_cells(fits)] for name, fits in results["fits"].items()]
    note = f"n = {results['n']:,}, p = {results['p']:,}, ten entries a row. Medians."
    return report.table(["", "time", "what came of it"], rows) + "\n\n" + note


def _cells(fits):
    times = [LONGEST if fit is None else fit[0] for fit in fits]
    ends = sorted({"not done" if fit is None else fit[1] for fit in fits})
    more = "more than " if None in fits else ""
    return f"{more}{median(times):.3g} s ({min(times):.3g} to {max(times):.3g})", "; ".join(ends)


def figures(results):
    from benchmarks.harness.races import ranking_figure

    done = {
        name: [fit[0] for fit in fits]
        for name, fits in results["fits"].items()
        if all(fit is not None and fit[1] == "fitted" for fit in fits)
    }
    return {"": ranking_figure(done, "Time of a fit of a wide sparse table")}
