"""Rows on a GPU: the exact gradient pass beside a plain read of the same memory, and whole fits.

The pass is what a fit asks for at each step: weights are copied to the device, scores, slopes,
lengths, cut and exact sums of integers are computed by the kernels of `solvers/_device`, and whole
numbers come back. The plain read is a kernel that sums as many bytes and does nothing else.

The fit is `LogisticRegression(bounds_X=..., delta=...).fit(X, y)` of tensors on the device, from
`fit` to certificate; the first one of the process loads and compiles. Beside it stand as many
gradient steps of logistic regression without privacy, in single precision, on the same tensors: by
torch as one writes it, by torch compiled, and by a kernel that reads each row once.
Whether sums are those of NumPy, bit by bit, is said for 100,000 rows, and for whole seeded fits.

Must show: a pass over 50,000,000 rows of 64 columns takes no longer than a plain read at 80 % of
its speed; the second fit of a process of the same size takes less than half a second; every
comparison of bits says yes. Each part that fails says so, and the others go on.
"""

import math
import time
import traceback
from statistics import median
from types import SimpleNamespace

import numpy as np

from benchmarks.harness import plain_steps, races, report
from benchmarks.harness.needs import Need, estimator


def _no_gpu(options):
    try:
        import torch
    except ImportError:
        return "the package torch is not installed here; install it on a machine with a GPU"
    return None if torch.cuda.is_available() else "there is no GPU here"


NEEDS = (estimator("LogisticRegression"), Need("a GPU", _no_gpu))
ROWS, QUICK = 50_000_000, 1_000_000
WIDTHS = (16, 64, 128)
PACKAGES = ("torch", "triton", "cupy-cuda13x")
DELTA = 1e-9  # below 1 / n
PASS, READ = "exact pass", "plain read"
LEAST, LONGEST = 0.8, 0.5  # of a read's speed at 64 columns, and seconds of the second fit


def measure(options):
    n = QUICK if options.quick else ROWS
    parts = {
        "machine": _machine,
        "same bits": _same_bits,
        "same fits": _same_fits,
        "passes": lambda: {str(p): _pass(n * 64 // max(p, 64), p) for p in WIDTHS},
        "fit": lambda: _fits(n),
    }
    return {name: _tried(part) for name, part in parts.items()}


def _machine():
    import torch
    import triton

    name = torch.cuda.get_device_name()
    return {"words": f"{name}, torch {torch.__version__}, triton {triton.__version__}"}


def _tried(part):
    try:
        return part()
    except Exception as error:
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


def _race(contestants, repeats=20):
    """Seconds of each by events of the device, in turn."""
    import torch

    found = {name: [] for name in contestants}
    for k in range(repeats + 3):
        for name, run in contestants.items():
            torch.cuda.synchronize()
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            run()
            last.record()
            torch.cuda.synchronize()
            if k >= 3:
                found[name].append(first.elapsed_time(last) / 1e3)
    return found


def _made(n, p):
    """Rows of deviation 1 and classes by a line, made on the device."""
    import torch

    torch.manual_seed(0)
    X = torch.empty((n, p), device="cuda", dtype=torch.float32).normal_()
    line = torch.linspace(-1.0, 1.0, p, device="cuda") / math.sqrt(p) * 2.0
    y = (X @ line + torch.randn(n, device="cuda") > 0.0).to(torch.int8)
    return X, y


def _both(n, p, wide, loss):
    """The same rows as integers of NumPy and of the device."""
    import torch

    from privlearn._core.problem import Bounds
    from privlearn._data.bounded import BoundedData, Table
    from privlearn._data.device import namespace_of
    from privlearn._data.device_data import DeviceData
    from privlearn.solvers._common.integer_rows import store_integers
    from privlearn.solvers._common.scaling import Scaling
    from privlearn.solvers._device.rows import store_on_device

    rng = np.random.default_rng(p)
    X, one, limits = rng.standard_normal((n, p), np.float32), np.ones(p), np.full(p, 3.0)
    limits[0] = 200.0 if wide else 2.0
    signs = loss == "logistic"
    y = rng.choice([-1, 1], n).astype(np.int8) if signs else rng.standard_normal(n)
    units = (0.0, 1.0) if signs else (0.1, 0.8)
    scaling = Scaling(0.0 * one, one, one, 1.0, *units, 0.0, 1.0, 1.0, 1.0)
    bounds = Bounds(-limits, limits, None if signs else (-0.7, 0.9), None)
    array, numbers = torch.as_tensor(X).cuda(), torch.as_tensor(y).cuda()
    table = Table(np.empty((0, p)), np.empty(0), True)
    there = DeviceData(table, bounds, True, array, numbers, namespace_of(array))
    here = BoundedData(Table(X.astype(np.float64), y, True), bounds, True)
    stored = store_integers(scaling, limits, here), store_on_device(scaling, limits, there)
    return here, there, stored, limits


def _same_bits():
    from privlearn._objective.losses import Logistic, Squared
    from privlearn.solvers._common.counting import (
        count_evenly,
        count_magnitudes,
        count_signed,
    )

    found = {}
    for p, wide, name in ((64, False, "logistic"), (20, True, "squared"), (5, False, "squared"),
                          (100, False, "logistic")):  # fmt: skip
        loss = SimpleNamespace(loss=Logistic() if name == "logistic" else Squared())
        here, there, (cpu, gpu), limits = _both(100_000, p, wide, name)
        weights = np.random.default_rng(1).standard_normal(p + 1) / math.sqrt(p)
        facts = np.zeros(p), 1.0 / limits
        pairs = {
            "gradient": [rows.gradient_sum(loss, weights, 2.0) for rows in (cpu, gpu)],
            "lengths": [rows.count_lengths(loss, weights, 100.0, 48) for rows in (cpu, gpu)],
            "moments": [rows.second_moments(6.0) for rows in (cpu, gpu)],
            "magnitudes": [
                count_magnitudes(here, "features", *facts, 24),
                count_magnitudes(there, "features", *facts, 24),
            ],
            "signed": [count_signed(data, "features", 128) for data in (here, there)],
            "even": [
                count_evenly(data, "features", -limits, limits, 1000) for data in (here, there)
            ],
        }
        case = f"{p} columns, {name}{', one wide' if wide else ''}"
        found[case] = {what: bool(np.array_equal(*pair)) for what, pair in pairs.items()}
        print(case, found[case], flush=True)
    return found


def _same_fits():
    """Seeded fits of tensors, of CuPy arrays and of NumPy's: the same coefficients."""
    from privlearn import LinearRegression, LogisticRegression

    X, y = _made(200_000, 20)
    target = X[:, 0].double()
    found = {}
    for name, model, goal in (
        ("LogisticRegression", LogisticRegression(bounds_X=(-5, 5), random_state=0), y),
        ("LinearRegression", LinearRegression(
            bounds_X=(-5, 5), bounds_y=(-5, 5), solver="cd", random_state=0), target),
    ):  # fmt: skip
        there = model.fit(X, goal).coef_
        here = model.fit(X.cpu().numpy(), goal.cpu().numpy()).coef_
        found[f"{name}, torch"] = bool(np.array_equal(there, here))
        found[f"{name}, CuPy"] = _tried(lambda m=model, g=goal, h=here: _cupy(m, X, g, h))
    print(found, flush=True)
    return found


def _cupy(model, X, y, here):
    import cupy

    arrays = (cupy.from_dlpack(one.contiguous()) for one in (X, y))
    return bool(np.array_equal(model.fit(*arrays).coef_, here))


def _pass(n, p):
    import torch

    from privlearn._data.device import namespace_of
    from privlearn.solvers._device import launch
    from privlearn.solvers._device.rows import BLOCK, DeviceRows

    blocks = n // BLOCK
    values = torch.randint(-20000, 20000, (blocks, p, BLOCK), dtype=torch.int16, device="cuda")
    norms = torch.rand((blocks, BLOCK), device="cuda") + 5.0
    targets = torch.randint(0, 2, (blocks, BLOCK), dtype=torch.int8, device="cuda") * 2 - 1
    exponents, none = np.full(p, 13), np.empty(0, np.int64)
    rows = DeviceRows(values, targets, norms, exponents, none, 1.0, True, xp=namespace_of(values))
    weights = np.rint(np.random.default_rng(0).standard_normal(p) * 2.0**20)
    how, size = (2, 2.0**-33, 0.1), values.numel() * 2 + norms.numel() * 5
    words = torch.randint(-(2**31), 2**31 - 1, (size // 4,), dtype=torch.int32, device="cuda")
    seconds = _race({
        PASS: lambda: launch.gradients(rows, how, weights, 2.0**20, 2.0**20),
        READ: _read(words),
    })  # fmt: skip
    factor = np.ldexp(1.0, np.full(p, 3))
    others = {
        "counting lengths": lambda: launch.lengths(rows, how, weights, 9.0, 48),
        "second moments": lambda: launch.moments(rows, factor, 9.0, 2.0**16),
    }
    others = {name: median(found) for name, found in _race(others, 3).items()}
    print(p, {name: median(found) for name, found in seconds.items()}, others, flush=True)
    return {"rows": blocks * BLOCK, "bytes": size, "seconds": seconds, "others": others}


def _read(words):
    """A plain read of 32 bits at a time, as fast as one gets it."""
    import torch

    from benchmarks.harness.read_kernel import read_kernel

    programs = 132 * 8
    sums = torch.empty(programs, dtype=torch.int32, device="cuda")
    return lambda: read_kernel[(programs,)](words, sums, words.numel(), SIZE=8192, num_warps=8)


def _fits(n):
    import torch

    from privlearn import LogisticRegression
    from privlearn.solvers._device import launch

    X, y = _made(n, 64)
    found, spent = {"seconds": []}, {}
    for k in range(4):
        torch.cuda.synchronize()
        start = time.perf_counter()
        model = _estimator(LogisticRegression, random_state=0 if k == 3 else None).fit(X, y)
        torch.cuda.synchronize()
        found["seconds"].append(time.perf_counter() - start)
        print("fit", k, found["seconds"][-1], flush=True)
    for name in ("gradients", "lengths", "moments", "counts", "store"):
        _watch(launch, name, spent)
    start = time.perf_counter()
    _estimator(LogisticRegression).fit(X, y)
    found["watched"] = {"the whole fit": (time.perf_counter() - start, 1), **spent}
    scores = X @ torch.as_tensor(model.coef_[0]).cuda().float() + float(model.intercept_[0])
    found["accuracy"] = float(((scores > 0) == (y > 0)).float().mean())
    found["passes"] = spent["gradients"][1]
    found["without privacy"] = {
        name: _tried(lambda way=way: plain_steps.seconds_of_steps(way(X, y), found["passes"]))
        for name, way in plain_steps.WAYS.items()
    }
    print(found, flush=True)
    return found


def _estimator(kind, **options):
    return kind(bounds_X=(-6, 6), delta=DELTA, **options)


def _watch(module, name, spent):
    import torch

    plain = getattr(module, name)

    def watched(*given):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = plain(*given)
        torch.cuda.synchronize()
        seconds, times = spent.get(name, (0.0, 0))
        spent[name] = seconds + time.perf_counter() - start, times + 1
        return result

    setattr(module, name, watched)


def tables(results):
    """Passes, the fit, what is beside it, and bits."""
    parts = [f"On {results['machine']['words']}."]
    parts += [_pass_table(results["passes"]), _fit_table(results["fit"])]
    for what in ("same bits", "same fits"):
        rows = [[case, _words(found)] for case, found in results[what].items()]
        parts.append(report.table([what, ""], rows))
    return "\n\n".join(parts)


def _words(found):
    if isinstance(found, dict):
        return "yes" if all(value is True for value in found.values()) else f"**no** {found}"
    return "yes" if found is True else f"**no** {found}"


def _pass_table(passes):
    header = ["columns", "rows", "bytes", READ, PASS, "share of the read's speed",
              "counting lengths", "second moments"]  # fmt: skip
    rows = []
    for p, found in passes.items():
        read, own = (median(found["seconds"][name]) for name in (READ, PASS))
        rows.append([
            p, f"{found['rows']:,}", f"{found['bytes'] / 1e9:.2f} GB", _ms(read), _ms(own),
            f"{read / own:.0%}", *(_ms(other) for other in found["others"].values()),
        ])  # fmt: skip
    note = "Medians of 20 rounds in turn; of the last two columns, of 3."
    if "64" in passes and passes["64"]["rows"] > ROWS // 2:
        seconds = passes["64"]["seconds"]
        share = median(seconds[READ]) / median(seconds[PASS])
        note += f" At 64 columns at least {LEAST:.0%}: {_words(share >= LEAST)}."
    return report.table(header, rows) + "\n\n" + note


def _fit_table(fit):
    first, second, *_ = fit["seconds"]
    rows = [
        ["first fit of the process", f"{first:.3f} s"],
        ["second fit", f"{second:.3f} s"],
        ["later fits", ", ".join(f"{seconds:.3f} s" for seconds in fit["seconds"][2:])],
        ["accuracy", f"{fit['accuracy']:.4f}"],
    ]
    for name, (seconds, times) in fit["watched"].items():
        rows.append(
            [f"of a fit that waits at each step: {name}, {times} times", f"{seconds:.3f} s"]
        )
    for name, seconds in fit["without privacy"].items():
        shown = str(seconds)
        if isinstance(seconds, float):
            shown = f"{seconds:.3f} s, {_ms(seconds / fit['passes'])} each"
        rows.append([f"{fit['passes']} steps without privacy: {name}", shown])
    note = f"The second fit in less than {LONGEST} s: {_words(second < LONGEST)}."
    return report.table([f"fit, delta = {DELTA:g}", ""], rows) + "\n\n" + note


def _ms(seconds):
    return f"{seconds * 1e3:.3g} ms"


def figures(results):
    seconds = {f"{p} columns": found["seconds"] for p, found in results["passes"].items()}
    return {"": races.figure(seconds, "Time of one pass over all gradients on a GPU")}
