"""A fit of rows that stay on disk, beside a bare scan of the same files by pyarrow.

100,000,000 rows of 20 columns in single precision and a target, in 20 Parquet files of about 8 GB
together, are written first (environment: `PRIVLEARN_DISK` is the folder, which is emptied
afterwards, `PRIVLEARN_DISK_ROWS` another number of rows). `LinearRegression()` with nothing
declared is fitted in a new process, which says how often it went through files (a pass that leaves
out those whose rows are held counts as a whole one; the pass that fills what is held, and passes
through nothing but that, count for nothing), how often all rows were read in it, how often the
target alone was, and the largest memory during the fit beyond what the process held after its
imports: compiled loops are among it, which a fit of a small table in memory has loaded before,
outside the clock. The bare scan goes through all batches and does nothing, in two ways, by
pyarrow's own settings and in the batches of the fit; the quicker one counts. The second case has
raw columns with categories and gaps, by a schema, and a tenth of the rows.
Limits, set before the first run: 1 GB, and 1.5 times what as many bare scans take.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import estimator

NEEDS = (estimator("LinearRegression"),)
ROWS, COLUMNS, FILES, AT_ONCE = 100_000_000, 20, 20, 500_000
QUICK = 40_000
CASES = ("numbers", "categories and gaps, by a schema")
FIT = """
import json, sys, warnings
from time import {clock} as now
import numpy as np, pyarrow as pa, pyarrow.dataset as ds
from privlearn import LinearRegression
from privlearn._data import held, sources
from privlearn.schema import Category, Number
warnings.simplefilter("ignore")
def memory(what):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024.0 for line in lines if line.startswith(what))
interpreter = memory("VmRSS")
files, read = ds.dataset({folder!r}), []
names, target = list(files.schema.names), ["y"]
known = None
if "group" in names:
    known = {{"group": Category(["a", "b", "c"], missing="flag"), "x0": Number(missing="flag")}}
own, hold, holds, rows = sources._Arrow.batches, held.held_here, [], [0]
def counted(self, columns):
    read.append(columns == target)
    for batch in own(self, columns):
        rows[0] += batch.rows * (columns != target)
        yield batch
def noted(*facts):
    found = hold(*facts)
    holds.append(found is not None)
    return found
sources._Arrow.batches, held.held_here = counted, noted
def seconds(run):
    start = now()
    run()
    return now() - start
def scan(columns, **how):
    for _ in files.to_batches(columns=columns, **how):
        pass
ours = dict(batch_size=sources.AT_ONCE, batch_readahead=sources.AHEAD, fragment_readahead=1)
rng = np.random.default_rng(0)
few = {{name: rng.standard_normal(2_000, dtype=np.float32) for name in names}}
if known:
    few["group"] = rng.choice(["a", "b", "c"], 2_000)
LinearRegression(schema=known).fit(ds.dataset(pa.table(few)), y="y")
read.clear(), holds.clear()
rows[0], model = 0, LinearRegression(schema=known)
with open("/proc/self/clear_refs", "w") as peak:
    peak.write("5")  # the largest so far is forgotten
took = seconds(lambda: model.fit(files, y="y"))
found = dict(fit=took, memory=memory("VmHWM") - interpreter)
found.update(rows=read.count(False) - 2 - sum(holds), target=read.count(True))
found["whole"] = rows[0] / files.count_rows()
for name, how in (("default", dict()), ("batches", ours)):
    found[name] = [seconds(lambda: scan(names, **how)) for _ in range(3)]
    found[name + " y"] = [seconds(lambda: scan(target, **how)) for _ in range(3)]
print(json.dumps(found))
"""


def measure(options):
    rows = QUICK if options.quick else int(float(os.environ.get("PRIVLEARN_DISK_ROWS", ROWS)))
    given = os.environ.get("PRIVLEARN_DISK")
    Path(given or ".").mkdir(parents=True, exist_ok=True)
    found = {}
    for case, n in zip(CASES, (rows, max(rows // 10, QUICK)), strict=True):
        folder = Path(tempfile.mkdtemp(dir=given))
        try:
            write(folder, n, raw=case != CASES[0])
            found[f"{n:,} x {COLUMNS}, {case}"] = _fitted(folder, options.clock.__name__)
        finally:
            shutil.rmtree(folder)
    return found


def write(folder, n, *, raw):
    """Files of random rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    weights = rng.standard_normal(COLUMNS, dtype=np.float32)
    names = [f"x{j}" for j in range(COLUMNS)]
    schema = [(name, pa.float32()) for name in [*names, "y"]]
    schema = pa.schema([*schema, ("group", pa.string())] if raw else schema)
    for k in range(FILES):
        first, last = n * k // FILES, n * (k + 1) // FILES
        with pq.ParquetWriter(folder / f"{k:02}.parquet", schema) as file:
            for start in range(first, last, AT_ONCE):
                size = min(AT_ONCE, last - start)
                X = rng.standard_normal((COLUMNS, size), dtype=np.float32)
                columns = [*X, weights @ X + rng.standard_normal(size, dtype=np.float32)]
                if raw:
                    columns[0] = np.where(rng.random(size) < 0.05, np.float32("nan"), X[0])
                    columns.append(rng.choice(np.array(["a", "b", "c", None], dtype=object), size))
                file.write_table(pa.table(columns, schema=schema))


def _fitted(folder, clock):
    """A fit and scans in a new process."""
    code = FIT.format(folder=str(folder), clock=clock)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def quicker(found, what=""):
    """Seconds of the quicker scan: each is the median of three."""
    return min(float(np.median(found[name + what])) for name in ("default", "batches"))


def times_scans(found):
    """Time of the fit over that of as many bare scans."""
    scans = found["rows"] * quicker(found) + found["target"] * quicker(found, " y")
    return found["fit"] / scans


def tables(results):
    rows = [
        [
            case,
            f"{found['fit']:.1f} s",
            f"{found['rows']} + {found['target']}",
            f"{found['whole']:.1f}",
            f"{quicker(found):.2f} s ({np.median(found['default']):.2f} s)",
            f"{times_scans(found):.2f}",
            f"{found['memory']:.0f} MB",
        ]
        for case, found in results.items()
    ]
    head = ["", "fit", "passes: all columns + target", "times that all rows were read"]
    head.append("bare scan (pyarrow's settings)")
    return report.table([*head, "fit / (passes x scan)", "memory beyond the interpreter"], rows)


def figures(results):
    from benchmarks.harness.races import ranking_figure

    seconds = {}
    for case, found in results.items():
        seconds[f"fit: {case}"] = [found["fit"]]
        seconds[f"as many bare scans: {case}"] = [found["fit"] / times_scans(found)]
    return {"": ranking_figure(seconds, "A fit from disk beside bare scans of the same files")}
