"""Rows on a GPU: the exact gradient pass beside a plain read of the same memory, and whole fits.

The pass is the fused kernel of `solvers/_device`: scores, slopes, lengths, cut, and exact sums of
integers. The plain read sums the same bytes by a kernel that does nothing else, or by torch, the
faster of the two. The fit is `LogisticRegression(bounds_X=...).fit(X, y)` of tensors on the device,
from `fit` to certificate, after a first fit of the process. Beside it stands as many passes of
logistic regression by torch without privacy, in single precision. Whether sums are those of NumPy,
bit by bit, is said for 100,000 rows. Each part that fails says so, and the others go on.
"""

import math
import time
import traceback
from statistics import median
from types import SimpleNamespace

import numpy as np

from benchmarks.harness import report
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
VARIANTS = ((4, 3, 2), (4, 2, 2), (4, 1, 2), (4, 3, 4), (8, 2, 1), (8, 3, 1), (8, 2, 2))


def measure(options):
    n = QUICK if options.quick else ROWS
    parts = {
        "same bits": _same_bits,
        "same fits": _same_fits,
        "passes": lambda: {str(p): _pass(n * 64 // max(p, 64), p) for p in WIDTHS},
        "fit": lambda: _fits(n),
    }
    return {name: _tried(part) for name, part in parts.items()}


def _tried(part):
    try:
        return part()
    except Exception as error:
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


def _timed(run, repeats=20):
    """Median milliseconds by events of the device."""
    import torch

    for _ in range(3):
        run()
    found = []
    for _ in range(repeats):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        run()
        last.record()
        torch.cuda.synchronize()
        found.append(first.elapsed_time(last))
    return median(found)


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
    found = {"bytes": size, "read": {"torch": _timed(lambda: values.view(torch.int32).sum())}}
    found["read"]["float32"] = _timed(lambda: values.view(torch.int32).view(torch.float32).sum())
    found["read"]["kernel"] = _tried(lambda: _read_kernel(values))
    before = launch.WARPS, launch.STAGES, launch.PROGRAMS
    for variant in VARIANTS:
        launch.WARPS, launch.STAGES, launch.PROGRAMS = variant
        try:
            run = lambda: launch.gradients(rows, how, weights, 2.0**20, 2.0**20)  # noqa: E731
            found[f"warps, stages, programs: {variant}"] = _tried(lambda r=run: _timed(r, 10))
        finally:
            launch.WARPS, launch.STAGES, launch.PROGRAMS = before
    found["lengths"] = _tried(
        lambda: _timed(lambda: launch.lengths(rows, how, weights, 9.0, 48), 5)
    )
    factor = np.ldexp(1.0, np.full(p, 3))
    found["moments"] = _tried(lambda: _timed(lambda: launch.moments(rows, factor, 9.0, 2.0**16), 3))
    print(p, found, flush=True)
    return found


def _read_kernel(values):
    import torch

    from benchmarks.harness.read_kernel import read_kernel

    words = values.view(torch.int32).reshape(-1)
    programs = 132 * 8
    sums = torch.empty(programs, dtype=torch.int32, device="cuda")
    grid, size = (programs,), 8192
    return _timed(lambda: read_kernel[grid](words, sums, words.numel(), SIZE=size, num_warps=8))


def _fits(n):
    import torch

    from privlearn import LogisticRegression
    from privlearn.solvers._device import launch

    X, y = _made(n, 64)
    found, spent = {"seconds": []}, {}
    for k in range(4):
        torch.cuda.synchronize()
        held = torch.cuda.memory_allocated()
        start = time.perf_counter()
        model = LogisticRegression(bounds_X=(-6, 6), random_state=0 if k == 3 else None).fit(X, y)
        torch.cuda.synchronize()
        found["seconds"].append(time.perf_counter() - start)
        found["bytes left"] = torch.cuda.memory_allocated() - held
        print("fit", k, found["seconds"][-1], "left", found["bytes left"], flush=True)
    found["releases"] = [(one["name"], one.get("count")) for one in model.privacy_.releases]
    for name in ("gradients", "lengths", "moments", "counts", "store"):
        _watch(launch, name, spent)
    start = time.perf_counter()
    LogisticRegression(bounds_X=(-6, 6)).fit(X, y)
    found["watched"] = {"all": time.perf_counter() - start, **spent}
    print(found, flush=True)
    scores = X @ torch.as_tensor(model.coef_[0]).cuda().float() + float(model.intercept_[0])
    found["accuracy"] = float(((scores > 0) == (y > 0)).float().mean())
    found["torch without privacy, per pass"] = _timed(lambda: _plain_pass(X, y), 5) / 1e3
    print(found, flush=True)
    return found


def _watch(module, name, spent):
    import torch

    plain = getattr(module, name)

    def watched(*given):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = plain(*given)
        torch.cuda.synchronize()
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - start
        return result

    setattr(module, name, watched)


def _plain_pass(X, y):
    """One gradient of logistic regression, in single precision."""
    import torch

    signs = y.float() * 2.0 - 1.0
    weights = torch.zeros(X.shape[1], device="cuda")
    slopes = -signs * torch.sigmoid(-signs * (X @ weights))
    return slopes @ X


def tables(results):
    """What was found, as it stands."""
    rows = [[f"{part}: {what}", str(value)] for part, found in results.items()
            for what, value in found.items()]  # fmt: skip
    return report.table(["", ""], rows)


def figures(results):
    """None: tables say it."""
    return {}
