"""Time the calibration of Poisson-sampled plans over their whole range, slowest first.

python tools/time_calibration.py
"""

from __future__ import annotations

from itertools import product
from time import perf_counter

import numpy as np

from privlearn.accounting import Gaussian, SampledGaussian, smallest_scale

RATES = (1e-4, 1e-3, 1e-2, 0.1, 0.5)
STEPS = (1, 100, 10_000, 100_000)
EPSILONS = (0.01, 1.0, 20.0)
DELTAS = (1e-10, 1e-3)


def seconds(rate: float, steps: int, epsilon: float, delta: float, replace: bool) -> float:
    """Wall time of one calibration."""
    start = perf_counter()
    smallest_scale(lambda scale: [(SampledGaussian(rate, scale, replace), steps)], epsilon, delta)
    return perf_counter() - start


def main() -> None:
    """Print the slowest plans, the median, and a Gaussian plan for comparison."""
    smallest_scale(lambda scale: [(Gaussian(1 / scale), 1)], 1.0, 1e-6)  # imports
    plans = list(product(RATES, STEPS, EPSILONS, DELTAS, (False, True)))
    found = sorted(((seconds(*plan), plan) for plan in plans), reverse=True)
    for time, (rate, steps, epsilon, delta, replace) in found[:5]:
        relation = "replace_one" if replace else "zero_out"
        print(f"{time:6.3f} s  q={rate:g} T={steps:,} eps={epsilon:g} delta={delta:g} {relation}")
    print(f"{np.median([time for time, _ in found]):6.3f} s  median of {len(found)}")
    start = perf_counter()
    for _ in range(20):
        smallest_scale(lambda scale: [(Gaussian(1 / scale), 1)], 0.7, 1e-7)
    print(f"{(perf_counter() - start) / 20 * 1e3:6.2f} ms one Gaussian release")


if __name__ == "__main__":
    main()
