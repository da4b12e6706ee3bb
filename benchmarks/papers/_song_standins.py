"""Generated rows in place of KDDCup99 and MNIST: for short runs and tests.

Rows lie around a few centres, each of which belongs to one label, as kinds of attack and digits do.
Nothing was fitted to the real rows.
"""

from __future__ import annotations

import numpy as np

__all__ = ["ROWS", "SEED", "like"]

ROWS, SEED = 8_000, 1


def like(kdd: bool, n: int = ROWS) -> tuple[np.ndarray, np.ndarray, int]:
    """Features of length about 1, labels, and the dimension to project onto.

    Shares of the first label: four of five in three clusters for KDDCup99, one of ten in one
    cluster of ten for MNIST.
    """
    p, shares, positive, dimension = (
        (60, [0.55, 0.2, 0.05, 0.2], 3, 9) if kdd else (100, [0.1] * 10, 1, 15)
    )
    generator = np.random.default_rng(SEED)
    centres = np.abs(generator.normal(size=(len(shares), p)))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    kinds = generator.choice(len(shares), size=n, p=shares)
    X = centres[kinds] + 0.4 / np.sqrt(p) * generator.normal(size=(n, p))
    return X, np.where(kinds < positive, 1.0, -1.0), dimension
