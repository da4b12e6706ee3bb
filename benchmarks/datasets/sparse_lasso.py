"""The "Sparse LASSO" of Mangold et al. 2022: n = p = 1,000, ten of the features are active.

Features are independent standard normal numbers; the target is a noisy combination of ten of them.
The paper does not print coefficients and noise. Here the ten are equal, the noise has deviation 1,
and the size of the coefficients follows from what the paper does print: the relative error of the
model that is 0, 0.7551, from which its DP-SGD never gets away. A test solves for it.
"""

from __future__ import annotations

import numpy as np

__all__ = ["BOUNDS_X", "BOUNDS_Y", "COEFFICIENT", "draw"]

ACTIVE = 10
COEFFICIENT = 44.066
BOUNDS_X = (-5.0, 5.0)  # one standard normal number in 1.7 million lies outside
BOUNDS_Y = (-500.0, 500.0)  # the target has deviation 44 sqrt(10) = 139


def draw(n: int = 1_000, p: int = 1_000, *, coefficient: float = COEFFICIENT, seed: int = 0):
    """X of shape (n, p) and y; the first ten features are the active ones."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, p))
    return X, coefficient * X[:, :ACTIVE].sum(axis=1) + generator.normal(size=n)
