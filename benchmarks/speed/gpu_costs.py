"""What a fit of tensors on a GPU costs as tables grow: the tables of `speed/cost_curves`.

`LinearRegression` and `LogisticRegression` with nothing declared, whole fits with defaults from
`fit` to certificate, of rows in single precision that lie on the device. One fit of each shape is
made before the clock starts; then three are timed.
"""

from itertools import count

from benchmarks.harness import report
from benchmarks.harness.needs import Need, estimator
from benchmarks.harness.timing import race, seconds_line
from benchmarks.speed.cost_curves import TALL, WIDE
from benchmarks.speed.gpu import _no_gpu
from benchmarks.speed.whole_fits import ESTIMATORS, NOTHING, models

NEEDS = (estimator("LinearRegression"), Need("a GPU", _no_gpu))
WIDEST = 100  # columns: beyond, "auto" selects some first, and rows are copied
QUICK = ((2_000, 4), (4_000, 4))


def measure(options):
    shapes = QUICK if options.quick else (*TALL, *(shape for shape in WIDE if shape[1] <= WIDEST))
    return {
        name: {f"{n} x {p}": _seconds(name, n, p, options) for n, p in shapes}
        for name in ESTIMATORS
    }


def _seconds(name, n, p, options):
    X, y = _rows(name, n, p)
    model, promises = models(name, p)[NOTHING], (1.0 + 1e-4 * k for k in count())
    contestants = {NOTHING: lambda: model(next(promises)).fit(X, y)}
    rounds = options.repeats(usual=3, quick=1)
    found = race(contestants, rounds=rounds, clock=options.clock, rest=0.1)[NOTHING]
    print(name, n, p, found, flush=True)
    return found


def _rows(name, n, p):
    """Normal columns, and a target that depends on all of them, made on the device."""
    import torch

    torch.manual_seed(0)
    X = torch.empty((n, p), device="cuda").normal_()
    y = X @ (torch.randn(p, device="cuda") / p**0.5) + torch.randn(n, device="cuda")
    return X, (y if name == "LinearRegression" else (y > 0.0).to(torch.int8))


def tables(results):
    names = list(results)
    lines = [
        [case, *(seconds_line(results[name][case]) for name in names)] for case in results[names[0]]
    ]
    return report.table(["rows x columns", *names], lines)


def figures(results):
    """None: the curves are drawn by `speed/cost_curves`."""
    return {}
