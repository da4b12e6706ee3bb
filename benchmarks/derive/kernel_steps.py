"""Steps of kernel models whose features are computed again in every pass, on generated data.

The score is R^2 on fresh rows of `KernelRegressor` as it is by default, on tables so large that the
features of all rows are not kept. The table has its mean, and how much it lies above that of the
rule as it is: in the middle, in the worst tenth and in the worst case. Problems are named by the
kind of the target, the number of columns and n mu, as in `kernel`.
"""

from __future__ import annotations

import numpy as np

from benchmarks.derive import kernel
from benchmarks.derive.harness import Candidate
from privlearn.kernel_model import base

SEEDS = 2
N = 200_000
SEEN = (12_000, 46_000, 140_000)  # n mu: about epsilon 0.25, 1 and 3
COLUMNS = (5, 20)
FEWER_PASSES = {"LEAST_EPOCHS": 4.0, "MULTIPLIER": 1.0}  # as it is from 500,000 rows on
SHORT_STEPS = {"STEPS": 1_000, "STEP_SIZE": 2.0, "MOMENTUM": 0.9, "LEAST_EPOCHS": 10.0}


arguments = kernel.arguments
data = kernel.data
score = kernel.score


def homes(given):
    return (base,)


def candidates(given):
    return {
        "fewer passes": Candidate(FEWER_PASSES),
        "1,000 short steps": Candidate(SHORT_STEPS),
    }


def problems(given):
    return (
        (f"{kind} {p} {seen}", (kind, p, seen, N))
        for seen in SEEN
        for p in COLUMNS
        for kind in kernel.SHARES
    )


def summary(found, usual):
    more = (found[..., 0] - usual[..., 0]).ravel()
    return {
        "mean": found[..., 0].mean(),
        "more": np.median(more),
        "worst tenth": np.quantile(more, 0.1),
        "worst": more.min(),
    }
