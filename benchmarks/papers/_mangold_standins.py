"""Generated data in the shape of Electricity and California, for short runs and for tests.

Numbers are drawn inside the public boxes, most of them near one end, so that raw features have very
different mean squares, as the real ones do. Nothing was fitted to the real rows.
"""

from __future__ import annotations

import numpy as np

from benchmarks.california import BOUNDS_Y
from benchmarks.california import BOXES as CALIFORNIA
from benchmarks.electricity import BOXES as ELECTRICITY

__all__ = ["california", "electricity"]

ROWS = 2_000


def _in_boxes(boxes: dict[str, tuple[float, float]], n: int, generator: np.random.Generator):
    """Shares of each box that a Beta law gives, later columns closer to their lower end."""
    low, high = np.array(list(boxes.values())).T
    shares = generator.beta(2.0, np.linspace(2.0, 20.0, len(boxes)), size=(n, len(boxes)))
    score = (shares - shares.mean(axis=0)) / shares.std(axis=0) @ generator.normal(size=len(boxes))
    return low + (high - low) * shares, score


def electricity(n: int = ROWS, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features in Electricity's boxes and labels -1 and 1 of a logistic model."""
    generator = np.random.default_rng(seed)
    X, score = _in_boxes(ELECTRICITY, n, generator)
    return X, np.where(generator.random(n) < 1.0 / (1.0 + np.exp(-score)), 1.0, -1.0)


def california(n: int = ROWS, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features in California's boxes and a target within its bounds."""
    generator = np.random.default_rng(seed)
    X, score = _in_boxes(CALIFORNIA, n, generator)
    return X, np.clip(2.0 + 0.3 * score + 0.5 * generator.normal(size=n), *BOUNDS_Y)
