"""What a fit costs as tables grow: from 10,000 rows on, and from 10 columns on.

`LinearRegression` and `LogisticRegression` with nothing declared, whole fits with defaults, beside
scikit-learn's without privacy and beside reading the table once in all threads (in the precision in
which it is stored): nothing that looks at every number can be quicker than that. Normal columns.
Left: 10 columns, more and more rows. Right: 20,000 rows, more and more columns; from 300 on
"auto" selects some. One fit is made before the clock starts, and the median of the rounds is drawn.
Where scikit-learn would take minutes, or more memory than there is, it is left out. Tables of
100,000,000 rows, in one round, and tensors on a GPU (`speed/gpu_costs`, run on a machine that has
one) are shown where they were measured.
"""

from itertools import count
from statistics import median

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import Options, estimator
from benchmarks.harness.timing import race, seconds_line
from benchmarks.speed.whole_fits import ESTIMATORS, NOTHING, PLAIN, models, rows

NEEDS = (estimator("LinearRegression"), estimator("LogisticRegression"))
READ, DEVICE = "reading once", "nothing declared, on a GPU"
TALL = tuple((n, 10) for n in (10_000, 100_000, 1_000_000, 10_000_000, 100_000_000))
WIDE = tuple((20_000, p) for p in (10, 100, 1_000, 10_000))
QUICK = ((2_000, 4), (4_000, 4)), ((2_000, 4), (2_000, 8))
TOO_LONG = 20_000 * 5_000  # numbers of a wide table, from which on scikit-learn is left out
WHO = NOTHING, PLAIN, READ, DEVICE
MANY = 100_000_000  # rows: of a table that fits into memory once


def measure(options):
    tall, wide = QUICK if options.quick else (TALL, WIDE)
    rounds = options.repeats(usual=3, quick=1)
    return {
        name: {
            kind: {f"{n} x {p}": _race(name, n, p, rounds, options.clock) for n, p in shapes}
            for kind, shapes in (("rows", tall), ("columns", wide))
        }
        for name in ESTIMATORS
    }


def _race(name, n, p, rounds, clock):
    from privlearn._core.threads import in_parts

    X, y = rows(name, n, p)
    makers, promises = models(name, p), (1.0 + 1e-4 * k for k in count())
    contestants = {
        NOTHING: lambda: makers[NOTHING](next(promises)).fit(X, y),
        READ: lambda: in_parts(n, lambda first, last: float(np.sum(X[first:last]))),
    }
    if n < MANY and not (p > 1_000 and n * p >= TOO_LONG):
        contestants[PLAIN] = lambda: makers[PLAIN](1.0).fit(X, y)
    if n >= MANY:  # the largest table before it warmed up what there is to warm up
        return race(contestants, rounds=1, warmups=0, clock=clock, rest=0.2)
    return race(contestants, rounds=rounds, clock=clock, rest=0.2)


def with_devices(results):
    """The same with times on a GPU, as far as there are any."""
    stored = report.read("speed/gpu_costs", Options())
    known = {} if stored is None else stored["results"]
    return {
        name: {
            kind: {
                case: times | ({DEVICE: known[name][case]} if case in known.get(name, {}) else {})
                for case, times in shapes.items()
            }
            for kind, shapes in kinds.items()
        }
        for name, kinds in results.items()
    }


def tables(results):
    parts = []
    for name, kinds in with_devices(results).items():
        cases = [pair for shapes in kinds.values() for pair in shapes.items()]
        measured = [who for who in WHO if any(who in times for _, times in cases)]
        lines = [[case, *(_cell(times, who) for who in measured)] for case, times in cases]
        parts.append(report.table([name, *measured], lines))
    return "\n\n".join(parts)


def _cell(times, who):
    return seconds_line(times[who]) if who in times else ""


def figures(results):
    from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

    figure, axes = panels(len(results), 2, 9.0, 3.2 * len(results))
    for line, (name, kinds) in zip(axes, with_devices(results).items(), strict=True):
        for panel, (kind, shapes) in zip(line, kinds.items(), strict=True):
            sizes = [int(case.split(" x ")[kind == "columns"]) for case in shapes]
            for k, who in enumerate(WHO):
                known = [
                    (size, median(times[who]))
                    for size, times in zip(sizes, shapes.values(), strict=True)
                    if who in times
                ]
                if not known:
                    continue
                style = {"color": COLOURS[k], "marker": MARKERS[k]}
                label = who if panel is axes[0, 0] else None
                panel.plot(*zip(*known, strict=True), **style, label=label)
            panel.set(xscale="log", yscale="log", xlabel=f"number of {kind}", ylabel="seconds")
            panel.set_title(name, loc="left")
    legend_below(figure, columns=len(WHO))
    return {"": figure}
