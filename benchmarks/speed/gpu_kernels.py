"""A kernel model of rows on a GPU: 8,192 random features of 4,000,000 rows.

The share is that of the rate at which the same GPU multiplies two matrices of 8,192 columns in
bfloat16, of 2 n M^2 operations over the whole time from `fit` to the certificate. The first fit
loads libraries and compiles the noise; the kernel was compiled before, where whole numbers were
compared. Beside it stands the same model without privacy in torch: features by library functions,
eager and compiled, products in bfloat16, all of them and those up to the diagonal, or of 8-bit
integers, and a Cholesky factorisation in double precision. Fits of 200,000 rows and 512 features
are made on the GPU and, from the same rows, by the processor. R^2 is that of fresh rows. Whether
the sums of whole numbers are those of NumPy, all of them, is said for 200,003 rows. Each part that
fails says so, and the others go on.
"""

import math
import time
import traceback
from functools import partial
from statistics import mean, median, stdev

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import Need, estimator
from benchmarks.speed.gpu import _no_gpu

NEEDS = (estimator("KernelRegressor"), Need("a GPU", _no_gpu))
PACKAGES = ("torch", "triton")
ROWS, COLUMNS, FEATURES, FRESH = 4_000_000, 20, 8192, 20_000
QUICK_ROWS, QUICK_FEATURES = 300_000, 1024
FEWER_ROWS, FEWER_FEATURES, SEEDS = 200_000, 512, 16
FITS, BANDWIDTH, BOUNDS = 4, 2.0, (-4.0, 4.0)
PLAIN = [
    (numbers, features)
    for numbers in ("bfloat16, all", "bfloat16, up to the diagonal", "int8, up to the diagonal")
    for features in ("eager", "compiled")
]
TILE, BLOCK = 2048, 2**17


def measure(options):
    n, features = (QUICK_ROWS, QUICK_FEATURES) if options.quick else (ROWS, FEATURES)
    X, y = _made(n, 0)
    found = {"n": n, "features": features, "columns": COLUMNS, "device": _device()}
    found["same integers"] = _tried(_same_integers)
    found["rate"] = _rate()
    found["fit"] = _tried(partial(_fits, X, y, features))
    for numbers, made in PLAIN:
        run = partial(_plain_fits, X, y, features, numbers, made == "compiled")
        found.setdefault("plain", {})[f"{numbers}, {made}"] = _tried(run)
    del X, y
    seeds = options.repeats(SEEDS, 2)
    found["accuracy"] = _tried(lambda: _accuracy(n if options.quick else FEWER_ROWS, seeds))
    return found


def _tried(part):
    try:
        return part()
    except Exception as error:
        traceback.print_exc()
        return {"failed": f"{type(error).__name__}: {error}"[:500]}


def _device():
    import torch

    return torch.cuda.get_device_name()


def _made(n, seed):
    """Rows of deviation 1 and a smooth target with errors, made on the device."""
    import torch

    torch.manual_seed(seed)
    X = torch.empty((n, COLUMNS), device="cuda", dtype=torch.float32).normal_()
    line = X @ torch.linspace(-0.2, 0.2, COLUMNS, device="cuda")
    curve = torch.sin(X[:, 0]) + torch.cos(X[:, 1]) * X[:, 2] + 0.5 * torch.tanh(X[:, 3] + X[:, 4])
    return X, line + curve + 0.3 * torch.randn(n, device="cuda")


def _rate(size=8192):
    """Operations a second of a product of two matrices in bfloat16."""
    import torch

    A, B = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    found = []
    for _ in range(30):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
        A @ B
        last.record()
        torch.cuda.synchronize()
        found.append(first.elapsed_time(last) / 1e3)
    return 2.0 * size**3 / median(found[10:])


def _same_integers():
    """Sums of the device and of NumPy; where frequencies are alike, many rows are cut."""
    found = {}
    for ranks in (False, True):
        for apart in (1.0, 1e-3):
            here, there = _both(ranks, apart)
            case = f"{'ranks' if ranks else 'X'}, frequencies {apart:g} apart"
            found[case] = bool(np.array_equal(np.tril(here), np.tril(there.cpu().numpy())))
    print(found, flush=True)
    return found


def _both(ranks, apart, n=200_003, columns=5, half=150):
    """Sums over the same rows by NumPy and by the device."""
    import torch

    from privlearn._core.problem import Bounds
    from privlearn._data.bounded import Table
    from privlearn._data.device import namespace_of
    from privlearn.kernel_model.ranks import edges_of, ranks_from
    from privlearn.solvers._common.scaling import Scaling
    from privlearn.solvers._device.waves import WaveData, wave_moments

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((n, columns), np.float32), rng.standard_normal(n)
    frequencies = 1.0 + apart * rng.standard_normal((columns, half))
    box = np.full(columns, -2.0), np.full(columns, 3.0)
    bounds = Bounds(None, None, (-1.0, 1.5), math.sqrt(2.0))
    edges = edges_of(Bounds(*box, None, None), columns, True)
    released = (edges, ranks_from(rng.random((columns, 65)), 0.1, edges), 0.3) if ranks else None
    found, nothing = [], Table(np.empty((0, columns)), np.empty(0), True)
    for rows in ((X, y), (torch.as_tensor(X).cuda(), torch.as_tensor(y).cuda())):
        own = (*rows, namespace_of(rows[0]), frequencies, box, released)
        data = WaveData(nothing, bounds, True, *own)
        found.append(wave_moments(Scaling.for_moments(bounds, data.n_features, True), data).sums)
    return found


def _model(features, **given):
    from privlearn import KernelRegressor

    facts = {"epsilon": 1.0, "delta": 1e-8, "bounds_X": BOUNDS, "bounds_y": BOUNDS, **given}
    return KernelRegressor(solver="moments", n_components=features, bandwidth=BANDWIDTH, **facts)


def _r2(model, seed=1):
    X, y = _made(FRESH, 1000 + seed)
    return float(model.score(X.cpu().numpy(), y.cpu().numpy()))


def _fits(X, y, features):
    import torch

    seconds, held = [], torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(FITS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        model = _model(features).fit(X, y)
        assert model.privacy_.private
        seconds.append(time.perf_counter() - start)
        print("fit", seconds[-1], flush=True)
    bytes_ = torch.cuda.max_memory_allocated() - held
    found = {"seconds": seconds, "r2": _r2(model), "epsilon": model.privacy_.epsilon}
    return {**found, "bytes": bytes_, "bytes left": torch.cuda.memory_allocated() - held}


def _plain_fits(X, y, features, numbers, compiled):
    import torch

    waves = torch.compile(_waves) if compiled else _waves
    frequencies = _frequencies(features)
    seconds = []
    for _ in range(3):
        torch.cuda.synchronize()
        start = time.perf_counter()
        coef, shift = _plain(X, y, frequencies, numbers, waves)
        seconds.append(time.perf_counter() - start)
    fresh, wanted = _made(FRESH, 1001)
    found = _waves(fresh.T, frequencies, 1.0, torch.float32).T @ coef.float() + shift
    errors = ((wanted - found) ** 2).sum() / ((wanted - wanted.mean()) ** 2).sum()
    print("torch", numbers, "compiled" if compiled else "eager", seconds, flush=True)
    return {"seconds": seconds, "r2": 1.0 - float(errors)}


def _frequencies(features):
    import torch

    from privlearn.kernel_approximation import RandomFourierFeatures

    made = RandomFourierFeatures(features, bandwidth=BANDWIDTH, random_state=0)
    found = made.fit(np.zeros((1, COLUMNS))).frequencies_
    return torch.as_tensor(found, device="cuda", dtype=torch.float32)


def _waves(X, frequencies, amplitude, kind):
    """Cosines and sines of rows given by columns, (features, rows)."""
    import torch

    phases = frequencies.T @ X
    found = torch.cat([torch.cos(phases), torch.sin(phases)]) * amplitude
    return (torch.round(found) if kind == torch.int8 else found).to(kind)


def _plain(X, y, frequencies, numbers, waves):
    """Kernel ridge regression by random features: coefficients, on the device, and a constant."""
    import torch

    whole, n, size = numbers.startswith("int8"), len(y), 2 * frequencies.shape[1]
    kind, amplitude = (torch.int8, 127.0) if whole else (torch.bfloat16, 1.0)
    tile = TILE if numbers.endswith("diagonal") else size
    gram = torch.zeros((size, size), device="cuda", dtype=torch.int64 if whole else torch.float32)
    cross, total = torch.zeros((2, size), device="cuda", dtype=torch.float64)
    shift = y.mean()
    for start in range(0, n, BLOCK):
        own = slice(start, start + BLOCK)
        Z = waves(X[own].T, frequencies, amplitude, kind)
        if Z.shape[1] % 32:  # what matrix units take
            Z = torch.nn.functional.pad(Z, (0, -Z.shape[1] % 32))
        for first in range(0, size, tile):
            last = min(first + tile, size)
            gram[first:last, :last] += _product(Z[first:last], Z[:last], whole)
        near = torch.zeros((Z.shape[1], 2), device="cuda", dtype=torch.bfloat16)
        near[: len(y[own]), 0], near[: len(y[own]), 1] = y[own] - shift, 1.0
        sums = Z.to(torch.bfloat16) @ near
        cross, total = cross + sums[:, 0], total + sums[:, 1]
    lower = torch.tril(gram.double())
    full = (lower + torch.tril(lower, -1).T) / amplitude**2
    cross, total = cross / amplitude, total / amplitude
    full -= torch.outer(total, total / n)
    full.diagonal().add_(1e-6 * n)
    coef = torch.cholesky_solve(cross[:, None], torch.linalg.cholesky(full))[:, 0]
    return coef, float(shift - total @ coef / n)


def _product(some, others, whole):
    import torch

    if whole:
        return torch._int_mm(some, others.T)
    return torch.mm(some, others.T, out_dtype=torch.float32)


def _accuracy(n, seeds):
    """R^2 of fits of the same rows on the device and by the processor, with noise of their own."""
    found = {"n": n, "features": FEWER_FEATURES, "GPU": [], "CPU": []}
    for seed in range(seeds):
        X, y = _made(n, 10 + seed)
        here = X.cpu().numpy(), y.cpu().numpy()
        for name, rows in (("GPU", (X, y)), ("CPU", here)):
            found[name].append(_r2(_model(FEWER_FEATURES).fit(*rows), seed))
        print("R^2", found["GPU"][-1], found["CPU"][-1], flush=True)
    return found


def tables(results):
    work = 2.0 * results["n"] * results["features"] ** 2
    rate, rows = results["rate"], []

    def row(name, found):
        if "failed" in found:
            return [name, found["failed"], "", "", ""]
        first, *others = found["seconds"]
        best = found["seconds"][1]
        share = f"{work / best / rate:.1%}"
        spread = f"{best:.2f} s (later ones {min(others):.2f} to {max(others):.2f} s)"
        return [name, f"{first:.2f} s", spread, share, f"{found['r2']:.4f}"]

    rows.append(row(f"privlearn, epsilon = {results['fit'].get('epsilon')}", results["fit"]))
    rows += [row(f"torch, no privacy: {name}", one) for name, one in results["plain"].items()]
    head = ["", "first fit", "second fit", f"share of {rate / 1e12:.0f} TFLOP/s", "R^2"]
    note = (
        f"{results['device']}, n = {results['n']:,}, {results['columns']} columns, "
        f"M = {results['features']:,}; the share is that of the second fit, and of 2 n M^2 "
        f"operations whatever was computed. Most of the device's memory that the private fit held "
        f"beside X: {results['fit'].get('bytes', 0) / 2**30:.1f} GiB."
    )
    same = ", ".join(f"{case}: {yes}" for case, yes in results["same integers"].items())
    same = f"The same whole numbers as NumPy's, features of {same}."
    parts = [report.table(head, rows), note, _accuracy_table(results["accuracy"]), same]
    return "\n\n".join(parts)


def _accuracy_table(found):
    if "failed" in found:
        return found["failed"]
    rows = []
    for where in ("GPU", "CPU"):
        scores = found[where]
        error = stdev(scores) / math.sqrt(len(scores))
        rows.append([where, f"{mean(scores):.4f} +- {error:.4f}", str(len(scores))])
    apart = [one - other for one, other in zip(found["GPU"], found["CPU"], strict=True)]
    error = stdev(apart) / math.sqrt(len(apart))
    rows.append(["difference, of the same rows", f"{mean(apart):+.5f} +- {error:.5f}", ""])
    head = [f"n = {found['n']:,}, M = {found['features']}, epsilon = 1", "R^2", "fits"]
    return report.table(head, rows)


def figures(results):
    from benchmarks.harness.races import ranking_figure

    plain = {f"torch, {name}": one for name, one in results["plain"].items()}
    every = {"privlearn, private": results["fit"], **plain}
    times = {name: one["seconds"][1:] for name, one in every.items() if "seconds" in one}
    return {"": ranking_figure(times, "Time of a fit of 8,192 features on a GPU")}
