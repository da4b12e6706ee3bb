"""Which rows a release looks at: each sampler draws the rows AND declares what accounting needs.

A `Release` carries one of these, so the way rows are drawn and the way they are accounted come from
one object. Rates are public constants; the realised batch is secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from privlearn.noise import NoiseSource

__all__ = ["FULL", "SAMPLERS", "Batches", "Full", "Poisson", "Sampling"]


class Batches(NamedTuple):
    """Batches of several steps: step k has rows[starts[k]:starts[k + 1]]."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]


class Sampling(Protocol):
    """A law of row subsets that does not depend on the data."""

    @property
    def name(self) -> str:
        """How certificates call it."""

    @property
    def rate(self) -> float:
        """Probability that a given row is in the batch."""

    def draw(self, source: NoiseSource, n: int) -> NDArray[np.int64]:
        """Indices of the rows of one batch, increasing."""

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """Independent batches for several steps, end to end."""


@dataclass(frozen=True)
class Full:
    """Every row, every time."""

    name: str = "all rows"
    rate: float = 1.0

    def draw(self, source: NoiseSource, n: int) -> NDArray[np.int64]:
        """Indices of the rows of one batch, increasing."""
        return np.arange(n, dtype=np.int64)

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """Independent batches for several steps, end to end."""
        rows = np.tile(np.arange(n, dtype=np.int64), steps)
        return Batches(rows, n * np.arange(steps + 1, dtype=np.int64))


@dataclass(frozen=True)
class Poisson:
    """Each row independently with probability `rate`, afresh for every release."""

    rate: float

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 1.0:
            raise ValueError(f"rate={self.rate}, but a sampling probability in (0, 1] is needed")

    @property
    def name(self) -> str:
        """How certificates call it."""
        return f"Poisson batches, rate {self.rate:.6g}"

    def draw(self, source: NoiseSource, n: int) -> NDArray[np.int64]:
        """Indices of the rows of one batch, increasing."""
        return source.poisson_batch(self.rate, n)

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """Independent batches for several steps, end to end.

        One walk of skips over `steps` copies of the rows: every row of every copy is still in or
        out by a coin of its own.
        """
        found = source.poisson_batch(self.rate, n * steps)
        starts = np.searchsorted(found, n * np.arange(steps + 1, dtype=np.int64))
        return Batches(found % max(n, 1), starts)


FULL = Full()
SAMPLERS: tuple[Sampling, ...] = (FULL, Poisson(0.3))
