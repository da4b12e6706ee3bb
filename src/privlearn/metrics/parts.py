"""What every part of an evaluation has: planned releases, sums over rows, and what they tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Release
from privlearn.metrics.predictions import Predicted
from privlearn.metrics.result import Found

__all__ = ["Count", "Part", "Released"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Count:
    """The number of usable rows: public, or released with a noise of this standard deviation."""

    rows: float
    noise: float = 0.0


@dataclass(frozen=True, eq=False)
class Released:
    """Sums with noise by name of release, and the standard deviation of each one's noise."""

    sums: Mapping[str, Array]
    noise: Mapping[str, float]
    count: Count


class Part(Protocol):
    """Some releases that serve some metrics. All but `sums` is public or post-processing."""

    def releases(self) -> list[tuple[Release, float]]:
        """What is released, with parts of this part's share of the budget that add up to 1."""

    def sums(self, rows: Predicted) -> dict[str, Array]:
        """What a block of rows adds to each release."""

    def tell(self, released: Released) -> list[Found]:
        """Scores and tables."""
