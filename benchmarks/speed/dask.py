"""A fit by two workers of dask on one machine, beside the fit of the same rows in memory.

10,000,000 rows of 20 columns in single precision, in 16 partitions that a `LocalCluster` with two
workers of one thread holds; `LinearRegression()` with nothing declared, and with bounds. The same
rows as one array in the client are fitted by all of its threads, in turn, with the same noise; both
models must have the same bits. Ratios are of the same round; the first round warms up and is left
out. The limit, set before the first run: 1.5 times.
"""

import json
import subprocess
import sys

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import estimator, package

REMEDY = "pip install 'privlearn[dask]'"
NEEDS = (estimator("LinearRegression"), package("dask", REMEDY), package("distributed", REMEDY))
ROWS, COLUMNS, PARTS = 10_000_000, 20, 16
QUICK = 40_000
FIT = """
import json, warnings
from time import {clock} as now
import numpy as np, dask, dask.array as da
from distributed import Client, LocalCluster, wait
from privlearn import LinearRegression
warnings.simplefilter("ignore")
def made(block_info=None):
    place = block_info[None]
    rng = np.random.default_rng(place["chunk-location"][0])
    return rng.standard_normal(place["chunk-shape"], dtype=np.float32)
def seconds(run):
    start = now()
    run()
    return now() - start
cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
client, each = Client(cluster), {rows} // {parts}
chunks = (each,) * {parts}, ({columns},)
X = da.map_blocks(made, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))
X, y = dask.persist(X, X.sum(axis=1))
wait([X, y])
here = dask.compute(X, y)
declared = dict(bounds_X=(-5, 5), bounds_y=(-25, 25))
found = dict()
for case, known in (("nothing declared", dict()), ("bounds declared", declared)):
    own = found[case] = dict(local=[], dask=[])
    for seed in range({rounds} + 1):
        model, other = (LinearRegression(random_state=seed, **known) for _ in range(2))
        took = seconds(lambda: model.fit(*here)), seconds(lambda: other.fit(X, y))
        assert model.coef_.tobytes() == other.coef_.tobytes()
        if seed:
            own["local"].append(took[0])
            own["dask"].append(took[1])
print(json.dumps(found))
client.close()
cluster.close()
"""


def measure(options):
    rows = QUICK if options.quick else ROWS
    facts = {"rows": rows, "columns": COLUMNS, "parts": PARTS, "clock": options.clock.__name__}
    code = FIT.format(**facts, rounds=options.repeats(usual=3, quick=1))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    return {f"{rows:,} x {COLUMNS}, {case}": times for case, times in found.items()}


def times_local(found):
    """Ratios of rounds."""
    return np.divide(found["dask"], found["local"])


def tables(results):
    rows = [
        [
            case,
            f"{np.median(found['local']):.2f} s",
            f"{np.median(found['dask']):.2f} s",
            f"{np.median(times_local(found)):.2f} ({max(times_local(found)):.2f})",
        ]
        for case, found in results.items()
    ]
    return report.table(["", "in memory", "two workers", "ratio: median (largest)"], rows)


def figures(results):
    from benchmarks.harness.races import ranking_figure

    seconds = {}
    for case, found in results.items():
        seconds[f"in memory: {case}"] = found["local"]
        seconds[f"two workers of dask: {case}"] = found["dask"]
    return {"": ranking_figure(seconds, "A fit by workers of dask beside one in memory")}
