"""Generated rows in place of the data sets of Damaskinos et al. 2021: for short runs and tests."""

from __future__ import annotations

import numpy as np

from benchmarks import sgemm

__all__ = ["classification", "regression"]


def regression(n: int = 6000, p: int = 14, seed: int = 1) -> tuple:
    """Positive features, and a target within the public range of sgemm's."""
    generator = np.random.default_rng(seed)
    X = generator.random((n, p))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    y = unit @ generator.normal(size=p) + 0.3 * generator.normal(size=n)
    return X, np.clip(y, *sgemm.BOUNDS_Y), None


def classification(
    n: int = 6000, p: int = 20, seed: int = 1
) -> tuple[np.ndarray, np.ndarray, None]:
    """Indicators as in Phishing, two labels, a tenth of them wrong."""
    generator = np.random.default_rng(seed)
    X = (generator.random((n, p)) < 0.4).astype(np.float64)
    X[:, 0] = 1.0
    scores = (X - 0.4) @ generator.normal(size=p)
    flips = np.where(generator.random(n) < 0.1, -1.0, 1.0)
    return X, np.where(scores > 0.0, 1.0, -1.0) * flips, None
