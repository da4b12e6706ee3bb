"""Generated rows in place of data sets, for short runs and for tests. Nothing was fitted to rows.

- Electricity and California: numbers inside the public boxes, most of them near one end, so that
  raw features have very different mean squares, as the real ones do.
- sgemm and Phishing: positive features or indicators, a target or labels of a noisy linear model.
- KDDCup99 and MNIST: rows around a few centres, each of which belongs to one label, as kinds of
  attack and digits do.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets import california as housing
from benchmarks.datasets import electricity as elec2
from benchmarks.datasets import sgemm
from benchmarks.datasets.columns import bounds_of

__all__ = [
    "CLUSTERED",
    "SEED",
    "california",
    "classification",
    "clustered",
    "electricity",
    "regression",
]

ROWS = 2_000
CLUSTERED, SEED = 8_000, 1


def _in_boxes(boxes: dict[str, tuple[float, float]], n: int, generator: np.random.Generator):
    """Shares of each box that a Beta law gives, later columns closer to their lower end."""
    low, high = bounds_of(boxes)
    shares = generator.beta(2.0, np.linspace(2.0, 20.0, len(boxes)), size=(n, len(boxes)))
    score = (shares - shares.mean(axis=0)) / shares.std(axis=0) @ generator.normal(size=len(boxes))
    return low + (high - low) * shares, score


def electricity(n: int = ROWS, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features in Electricity's boxes and labels -1 and 1 of a logistic model."""
    generator = np.random.default_rng(seed)
    X, score = _in_boxes(elec2.BOXES, n, generator)
    return X, np.where(generator.random(n) < 1.0 / (1.0 + np.exp(-score)), 1.0, -1.0)


def california(n: int = ROWS, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features in California's boxes and a target within its bounds."""
    generator = np.random.default_rng(seed)
    X, score = _in_boxes(housing.BOXES, n, generator)
    return X, np.clip(2.0 + 0.3 * score + 0.5 * generator.normal(size=n), *housing.BOUNDS_Y)


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


def clustered(kdd: bool, n: int = CLUSTERED) -> tuple[np.ndarray, np.ndarray, int]:
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
