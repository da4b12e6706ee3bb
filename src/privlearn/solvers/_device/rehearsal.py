"""Kernels run on a few rows of zeros before a charge, so that nothing is compiled after it."""

from __future__ import annotations

from itertools import product

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
    for intercept in (0.0, 1.0):
        rows = DeviceRows(values, targets, norms, exponents, none, intercept, compiled=True)
        launch.store(rows, X, np.ones((6, columns)))
        launch.gradients(rows, how, weights, 1.0, 1.0)
        launch.lengths(rows, how, weights, 1.0, LENGTH_BINS)
        launch.moments(rows, np.ones(columns), 1.0, intercept)
