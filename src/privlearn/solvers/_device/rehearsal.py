"""Kernels run on a few rows of zeros before a charge, so that nothing is compiled after it."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

import numpy as np

from privlearn.solvers._common.histograms import LENGTH_BINS, MAGNITUDE_BINS
from privlearn.solvers._device import launch
from privlearn.solvers._device.counting import KINDS

__all__ = ["run_kernels"]

MANY = 2 * launch.FEW  # bins


def run_kernels(columns: int, kinds: tuple[str, str], loss: int, device: str) -> None:
    """Launch all on one block of empty rows, of so many columns and these types of X and y."""
    import torch

    from privlearn.solvers._device.rows import BLOCK, DeviceRows

    of_X, of_y = (getattr(torch, kind.rsplit(".", 1)[-1]) for kind in kinds)
    X = torch.zeros((BLOCK, columns), dtype=of_X, device=device)
    values = torch.zeros((1, columns, BLOCK), dtype=torch.int16, device=device)
    norms = torch.full((1, BLOCK), float("inf"), dtype=torch.float32, device=device)
    whole = of_y == torch.int8
    targets = norms.new_zeros((1, BLOCK), dtype=torch.int8 if whole else torch.float32)
    exponents, none = np.zeros(columns, np.int64), np.empty(0, np.int64)
    how, weights = (loss, 1.0, 0.0), np.zeros(columns)
    tables = [X] if whole else [X, torch.zeros((BLOCK, 1), dtype=of_y, device=device)]
    for table in tables:
        for bins, kind in product((MAGNITUDE_BINS, MANY), KINDS.values()):
            launch.counts(table, np.zeros((4, table.shape[1])), bins, kind)
    if not _agree(columns, how, device, whole):
        launch.passes.plainly(columns)
    for intercept in (0.0, 1.0):
        rows = DeviceRows(values, targets, norms, exponents, none, intercept, compiled=True)
        launch.store(rows, X, np.ones((6, columns)))
        launch.gradients(rows, how, weights, 1.0, 1.0)
        launch.lengths(rows, how, weights, 1.0, LENGTH_BINS)
        launch.moments(rows, np.ones(columns), 1.0, intercept)


def _agree(columns: int, how: tuple[int, float, float], device: str, whole: bool) -> bool:
    """Whether passes over made-up rows, the extreme ones among them, give NumPy's integers.

    They do where a compiler spreads words over the lanes of a warp as kernels take for granted; a
    version that does it otherwise is found here, and runs the plain form.
    """
    import torch

    from privlearn.solvers._common.integer_rows import IntegerRows
    from privlearn.solvers._device.rows import BLOCK, DeviceRows

    place, row = np.arange(columns * BLOCK), np.arange(BLOCK)
    values = (place * 40503 % 2**16 - 2**15).astype(np.int16).reshape(1, columns, BLOCK)
    norms = (1.0 + row * 37 % 64 / 8.0).astype(np.float32)[None, :]
    targets = (row * 5 // 3 % 2 * 2 - 1).astype(np.int8 if whole else np.float32)[None, :]
    weights: Any = np.arange(columns) * 20_000_003.0 % 2**25 - 2**24
    weights[columns // 2] = 2.0**24
    exponents, none = np.zeros(columns, np.int64), np.empty(0, np.int64)
    arrays: list[Any] = [torch.as_tensor(one).to(device) for one in (values, targets, norms)]
    rows = DeviceRows(arrays[0], arrays[1], arrays[2], exponents, none, 1.0, compiled=True)
    wide = [one.astype(np.float64) for one in (values, targets, norms)]
    here = IntegerRows(wide[0], wide[1], wide[2], exponents, none, 1.0)
    how = how[0], 2.0**-38, 0.1
    found: list[Any] = []
    expected: list[Any] = []
    for given, gradients, lengths in (
        (found, partial(launch.gradients, rows), partial(launch.lengths, rows)),
        (expected, partial(here._gradients, 0, 1), partial(here._lengths, 0, 1)),
    ):
        for _ in range(2):  # a GPU replays what it was asked for before
            given.append(gradients(how, weights, 2.0**21, 2.0**25))
        given.append(lengths(how, weights, 99.0, LENGTH_BINS).tolist())
    return bool(found == expected)
