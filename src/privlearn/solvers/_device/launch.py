"""Fused kernels launched on rows of tensors, and their parts put together as whole numbers."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.losses import logistic, squared
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._common.loops.integer_rows import LIMB, LOWER
from privlearn.solvers._device import passes
from privlearn.solvers._device.passes import EXACTLY, padded_width

if TYPE_CHECKING:
    from privlearn.solvers._device.rows import DeviceRows

__all__ = [
    "counts",
    "gradients",
    "lengths",
    "moments",
    "prepare",
    "reads",
    "refuse_too_large",
    "store",
    "usable",
]

Array = NDArray[np.float64]
How = tuple[int, float, float]
ROWS = 256  # of a block
WIDEST = 128  # columns that a program holds
PROGRAMS = 4  # for each multiprocessor
WARPS = 4
COUNTED, STORED = 128, 64  # rows that are counted or stored together
FEW = 32  # bins that a program holds
COPIED = 2**23  # counters of many bins, in all copies of them: they stay near the processor
TOGETHER = 16  # blocks whose products are one sum: 2^12 rows of 20 bits, exact in float64
WORKSPACE = 2**27  # numbers in double precision
LOSSES = (squared.SQUARED, logistic.LOGISTIC)


@cache
def _kernels() -> Any:  # noqa: ANN401
    """The module of kernels, or None without Triton: then library functions do it."""
    try:
        from privlearn.solvers._device import kernels
    except ImportError:
        return None
    return kernels


def usable(columns: int) -> bool:
    """Whether there are kernels for so many columns."""
    return 0 < columns <= WIDEST and _kernels() is not None


def reads(array: Any) -> bool:  # noqa: ANN401
    """Whether kernels can read a table as it lies in memory."""
    return bool(array.is_contiguous() and array.data_ptr() % 16 == 0)


def _programs(device: Any, work: int) -> int:  # noqa: ANN401
    import torch

    if device.type != "cuda":
        return min(3, max(work, 1))
    several = PROGRAMS * torch.cuda.get_device_properties(device).multi_processor_count
    return max(1, min(several, work))


def _facts(device: Any, *numbers: float) -> Any:  # noqa: ANN401
    import torch

    return torch.tensor(numbers, dtype=torch.float64, device=device)


def gradients(
    rows: DeviceRows, how: How, weights: Array, per_unit: float, reach: float
) -> list[int]:
    """Exact sums over all blocks: of each column times the slopes, then of the slopes."""
    return passes.gradient_pass(rows, len(weights), how[0])(weights, *how[1:], per_unit, reach)


def lengths(rows: DeviceRows, how: How, weights: Array, longest: float, bins: int) -> Array:
    """How many gradients lie in which half power of two below the longest."""
    import torch

    size = padded_width(bins)
    kernels, options, programs = passes.prepared(rows, len(weights), how[0])
    there = passes.facts_and_weights(len(weights), weights, *how[1:], longest)
    there = torch.as_tensor(there).to(rows.values.device)
    counts = torch.empty((programs, size), dtype=torch.int32, device=rows.values.device)
    kernels.length_kernel[(programs,)](
        *passes.arrays(rows, there), counts, *passes.sizes(rows, options), bins - 1,
        BINS=size, **options,
    )  # fmt: skip
    total = counts.sum(dim=0, dtype=torch.int64).cpu().numpy()
    return np.asarray(total[:bins], dtype=np.float64)


def moments(rows: DeviceRows, factor: Array, limit: float, entry: float) -> NDArray[np.int64]:
    """Sums of products of entries of shortened rows, in two parts; by matrix units in float64."""
    import torch

    blocks, columns, _ = rows.values.shape
    device, intercept = rows.values.device, int(bool(rows.intercept_value))
    width = columns + intercept
    together = max(1, WORKSPACE // (width * TOGETHER * ROWS))
    together = min(together, -(-blocks // TOGETHER))
    space = torch.empty((together, width, TOGETHER * ROWS), dtype=torch.float64, device=device)
    factors, facts = torch.as_tensor(factor).to(device), _facts(device, limit, entry)
    total = torch.zeros((2, width, width), dtype=torch.int64, device=device)
    for first in range(0, blocks, together * TOGETHER):
        _kernels().shorten_kernel[(together * TOGETHER,)](
            rows.values, rows.norms, factors, facts, space, columns, blocks, first,
            PADDED=padded_width(columns), INTERCEPT=intercept, TOGETHER=TOGETHER, num_warps=WARPS,
            **EXACTLY,
        )  # fmt: skip
        sums = torch.bmm(space, space.transpose(1, 2)).to(torch.int64)
        total[0] += (sums >> LIMB).sum(dim=0)
        total[1] += (sums & LOWER).sum(dim=0)
    return np.asarray(total.cpu().numpy())


def counts(array: Any, facts: Array, bins: int, kind: int) -> Array:  # noqa: ANN401
    """How many rows lie in which bin, of each column; `kind` is one of counting.py's."""
    import torch

    n, columns = array.shape
    device, padded = array.device, padded_width(columns)
    known = torch.as_tensor(np.ascontiguousarray(facts)).to(device)
    programs = _programs(device, -(-n // COUNTED))
    how = {"PADDED": padded, "AT_ONCE": COUNTED, "KIND": kind, "num_warps": 8, **EXACTLY}
    if bins <= FEW:
        found = torch.empty((programs, FEW, padded), dtype=torch.int32, device=device)
        grid = _kernels().count_kernel[(programs,)]
        grid(array, known, found, columns, n, bins, WORDS=FEW // 8, **how)
        total = found.sum(dim=0, dtype=torch.int64)[:bins, :columns].T
    else:
        copies = max(1, min(programs, COPIED // (columns * bins)))
        found = torch.zeros((copies, columns, bins), dtype=torch.int32, device=device)
        grid = _kernels().many_kernel[(programs,)]
        grid(array, known, found, columns, n, bins, copies, **how)
        total = found.sum(dim=0, dtype=torch.int64)
    return np.asarray(total.cpu().numpy(), dtype=np.float64)


def store(rows: DeviceRows, array: Any, facts: Array) -> None:  # noqa: ANN401
    """Write integers, and lengths of what was written; sums of squares are exact in any order."""
    import torch

    n, columns = array.shape
    known = torch.as_tensor(np.ascontiguousarray(facts)).to(array.device)
    entry = _facts(array.device, rows.intercept_value)
    _kernels().store_kernel[(math.ceil(n / ROWS) * ROWS // STORED,)](
        array, known, rows.values, rows.norms, entry, columns, n,
        PADDED=padded_width(columns), AT_ONCE=STORED, num_warps=8, **EXACTLY,
    )  # fmt: skip


def refuse_too_large(array: Any) -> None:  # noqa: ANN401
    """Refuse a fit whose integers do not fit on the device beside X; nothing was charged."""
    import torch

    n, columns = array.shape
    needed = n * (4.0 * columns + 16.0) + 8.0 * WORKSPACE  # two integers of each number, at most
    free, _ = torch.cuda.mem_get_info(array.device)
    free += torch.cuda.memory_reserved(array.device) - torch.cuda.memory_allocated(array.device)
    if needed > free:
        raise UnsupportedCombinationError(
            f"the fit needs about {needed / 2**30:.1f} GiB of the device's memory beside X, but "
            f"{free / 2**30:.1f} GiB are free; nothing was charged. Free some, or copy X to NumPy"
        )


def prepare(columns: int, kinds: tuple[str, str], loss: int, device: str) -> None:
    """Compile every kernel that a fit of so many columns may launch; before the charge.

    Wide features have two columns, and which they are is released: so for twice as many, too.
    """
    if loss in LOSSES:
        for padded in sorted({padded_width(columns), min(padded_width(2 * columns), WIDEST)}):
            _prepared(padded, kinds, loss, device)


@cache
def _prepared(columns: int, kinds: tuple[str, str], loss: int, device: str) -> None:
    from privlearn.solvers._device.rehearsal import run_kernels

    run_kernels(columns, kinds, loss, device)
