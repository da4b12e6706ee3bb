"""Which rows a release looks at: each sampler draws the rows AND declares what accounting needs.

A `Release` carries one of these, so the way rows are drawn and the way they are accounted come from
one object. Rates are public constants; the realised batch is secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from privlearn.noise import NoiseSource

__all__ = [
    "FULL",
    "SAMPLERS",
    "Arriving",
    "Batches",
    "Disjoint",
    "Full",
    "Permuted",
    "Poisson",
    "Sampling",
    "VisitLaw",
    "WithReplacement",
    "rows_of_people",
]

VisitLaw = tuple[tuple[int, float], ...]  # numbers of visits with their probabilities
ONE_VISIT: VisitLaw = ((1, 1.0),)
_NEVER = 1e-30  # probability of more visits than a law lists; accounting counts it as a loss


class Batches(NamedTuple):
    """Several batches, end to end: batch k has rows[starts[k]:starts[k + 1]]."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]


def rows_of_people(batches: Batches, person_starts: NDArray[np.int64]) -> Batches:
    """Batches of people as batches of all their rows: nobody's are drawn in part.

    Examples
    --------
    >>> rows_of_people(Batches(np.array([1, 0, 1]), np.array([0, 2, 3])), np.array([0, 1, 3]))
    Batches(rows=array([1, 2, 0, 1, 2]), starts=array([0, 3, 5]))
    """
    first = person_starts[batches.rows]
    sizes = person_starts[batches.rows + 1] - first
    ends = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.repeat(first - ends[:-1], sizes) + np.arange(ends[-1])
    return Batches(rows, ends[batches.starts])


class Sampling(Protocol):
    """A law of row subsets that does not depend on the data."""

    @property
    def name(self) -> str:
        """How certificates call it."""

    @property
    def rate(self) -> float:
        """Probability that a given row is in a given batch."""

    @property
    def visits(self) -> VisitLaw | None:
        """How often a row meets one charge; None where a coin hides whether it does at all."""

    @property
    def at_once(self) -> bool:
        """Whether all releases of a name share one draw of rows, and so one charge."""

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """The batches of `steps` releases, end to end."""


@dataclass(frozen=True)
class Full:
    """Every row, every time."""

    name: ClassVar[str] = "all rows"
    rate: ClassVar[float] = 1.0
    visits: ClassVar[VisitLaw] = ONE_VISIT
    at_once: ClassVar[bool] = False

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """The batches of `steps` releases, end to end."""
        rows = np.tile(np.arange(n, dtype=np.int64), steps)
        return Batches(rows, n * np.arange(steps + 1, dtype=np.int64))


@dataclass(frozen=True)
class Poisson:
    """Each row independently with probability `rate`, afresh for every release."""

    rate: float
    visits: ClassVar[None] = None
    at_once: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if not 0.0 < self.rate <= 1.0:
            raise ValueError(f"rate={self.rate}, but a sampling probability in (0, 1] is needed")

    @property
    def name(self) -> str:
        """How certificates call it."""
        return f"Poisson batches, rate {self.rate:.6g}"

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """The batches of `steps` releases, end to end.

        One walk of skips over `steps` copies of the rows: every row of every copy is still in or
        out by a coin of its own.
        """
        found = source.poisson_batch(self.rate, n * steps)
        starts = np.searchsorted(found, n * np.arange(steps + 1, dtype=np.int64))
        return Batches(found % max(n, 1), starts)


@dataclass(frozen=True)
class Disjoint:
    """Each row in exactly one of `batches` releases, which together are charged once.

    Attributes
    ----------
    batches : int
        How many releases share the rows.
    dealt : bool
        Whether each row is dealt to a batch on its own, as it must be where the number of rows is
        private; otherwise sizes differ by one at most.
    """

    batches: int
    dealt: bool = False
    visits: ClassVar[VisitLaw] = ONE_VISIT
    at_once: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _need_one("batches", self.batches)

    @property
    def rate(self) -> float:
        """Probability that a given row is in a given batch."""
        return 1.0 / self.batches

    @property
    def name(self) -> str:
        """How certificates call it."""
        return f"disjoint batches, each row in one of {self.batches}"

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """All batches at once: a random order, cut."""
        if steps != self.batches:
            raise ValueError(f"steps={steps}, but rows are shared by {self.batches} releases")
        return _shuffled(source, n, self.batches, self.dealt)


@dataclass(frozen=True)
class Arriving(Full):
    """All rows of a batch as it arrives; a stream of such batches is charged once.

    That nobody is in two batches of the stream is an assumption, which its plan must state.
    """

    name: ClassVar[str] = "a stream of batches, each person in at most one"
    at_once: ClassVar[bool] = True


@dataclass(frozen=True)
class Permuted:
    """Each row once per epoch, in a fresh random order, for one release after the last epoch.

    Attributes
    ----------
    epochs : int
        Visits of every row.
    blocks : int
        Into how many batches an epoch is cut.
    dealt : bool
        As in `Disjoint`.
    """

    epochs: int
    blocks: int
    dealt: bool = False
    rate: ClassVar[float] = 1.0
    at_once: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _need_one("epochs", self.epochs)
        _need_one("blocks", self.blocks)

    @property
    def name(self) -> str:
        """How certificates call it."""
        return f"{self.epochs} permuted epoch{'s' if self.epochs > 1 else ''}"

    @property
    def visits(self) -> VisitLaw:
        """One visit per epoch, for certain."""
        return ((self.epochs, 1.0),)

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """The blocks of all epochs, end to end; they serve one release."""
        epochs = [_shuffled(source, n, self.blocks, self.dealt) for _ in range(self.epochs)]
        starts = [epoch.starts[:-1] + k * n for k, epoch in enumerate(epochs)]
        end = np.full(1, self.epochs * n, dtype=np.int64)
        return Batches(
            np.concatenate([epoch.rows for epoch in epochs]), np.concatenate([*starts, end])
        )


@dataclass(frozen=True)
class WithReplacement:
    """`epochs` x `population` rows drawn one by one with replacement, for one release at the end.

    How often a row comes is binomial and independent of the data, so the privacy loss is a mixture
    over that number.

    Attributes
    ----------
    epochs : int
        Draws per row, on average.
    population : int
        The public number of rows.
    blocks : int
        Into how many batches the draws of an epoch are cut.
    """

    epochs: int
    population: int
    blocks: int
    rate: ClassVar[float] = 1.0
    at_once: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("epochs", "population", "blocks"):
            _need_one(name, getattr(self, name))

    @property
    def name(self) -> str:
        """How certificates call it."""
        return f"{self.epochs * self.population} draws with replacement"

    @cached_property
    def visits(self) -> VisitLaw:
        """Binomial(draws, 1 / population); what lies beyond the end is left out."""
        from scipy.stats import binom

        law = binom(self.epochs * self.population, 1.0 / self.population)
        most = self.epochs
        while law.sf(most) > _NEVER:  # its own inverse gives up below 1e-16
            most += 1
        counts = np.arange(most + 1)
        return tuple(zip(counts.tolist(), law.pmf(counts).tolist(), strict=True))

    def draw_many(self, source: NoiseSource, n: int, steps: int) -> Batches:
        """The blocks of all draws, end to end; they serve one release."""
        if n != self.population:
            raise ValueError(f"n={n}, but the draws are planned from {self.population} rows")
        cuts = _even_cuts(self.epochs * n, self.epochs * self.blocks)
        return Batches(source.integers(n, self.epochs * n), cuts)


def _need_one(name: str, value: int) -> None:
    if value < 1:
        raise ValueError(f"{name}={value}, but at least 1 is needed")


def _even_cuts(n: int, parts: int) -> NDArray[np.int64]:
    return np.arange(parts + 1, dtype=np.int64) * n // parts


def _shuffled(source: NoiseSource, n: int, parts: int, dealt: bool) -> Batches:
    """A random order of the rows, cut evenly, or so that each row is dealt on its own.

    A random order cut at the sizes of independent deals has the law of rows that are dealt one by
    one and then shuffled within each part; there, one row more or less leaves the others alone.
    """
    order = source.permutation(n)
    if not dealt:
        return Batches(order, _even_cuts(n, parts))
    sizes = np.bincount(source.integers(parts, n), minlength=parts)
    return Batches(order, np.concatenate([[0], np.cumsum(sizes)]))


FULL = Full()
SAMPLERS: tuple[Sampling, ...] = (
    FULL,
    Poisson(0.3),
    Arriving(),
    Disjoint(4),
    Disjoint(4, dealt=True),
    Permuted(2, blocks=4),
    Permuted(2, blocks=4, dealt=True),
    WithReplacement(2, population=40, blocks=4),
)
