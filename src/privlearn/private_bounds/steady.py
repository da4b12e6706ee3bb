"""Ends of ranges that noise hardly moves, and how far it does: post-processing of noisy counts.

Where tails are long, the outermost bin that stands out is another one in every fit, and ends that
differ make coefficients that differ. The place beyond which there are ten times as many rows as
noise has deviations is steadier. Powers of two tell in which of them it lies, with little noise,
for they are few; even bins tell where within it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn.private_bounds.ranges import CoarseRange, Range, Tails

__all__ = ["EndNoise", "SteadyRange", "steady_range", "steady_rows"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
# Rows beyond an end: this part of all on its side of zero, but within so many deviations of noise.
# Where that many are a larger part, the end is that of what stands out.
STEADY_ROWS, LOOSE, STEADY = 0.03, 5.0, 10.0
OTHERS = 0.7  # noise of other ends, relative to that of places where so many rows are beyond
LEAST = 1e-3  # bins by which noise moves an end, where a density is asked for


class EndNoise(NamedTuple):
    """Of the lower and upper ends of columns; all arrays have shape (2, columns)."""

    deviation: NDArray[np.float64]  # in the column's units; 0 of ends that stay, NaN where unknown
    beyond: NDArray[np.float64]  # part of the rows


@dataclass(frozen=True, eq=False)
class SteadyRange(Range):
    """Ends of the columns' values, and what noise makes of them.

    Attributes
    ----------
    steady : array of bool, of shape (2, columns)
        Lower and upper ends that were found by the number of rows beyond them.
    deviation : array of shape (2, columns)
        How far noise moves all of them, about; 0 of those that are kept, NaN of those that may be
        another power of two in another fit.
    passed : array of shape (2, columns)
        Where so many rows are beyond: the steady ends themselves.
    beyond : array of shape (2, columns)
        How many these are.
    density : array of shape (2, columns)
        How many rows there are per unit, there.
    """

    steady: Flags
    deviation: Array
    passed: Array
    beyond: Array
    density: Array

    def widened(self, by: Array) -> SteadyRange:
        """The range with ends moved outwards by so much, of shape (2, columns), not across zero.

        Rows beyond are fewer then: as many as in a tail that falls with the third power.
        """
        low, high = self.low - by[0], self.high + by[1]
        low = np.where(self.low >= 0.0, np.maximum(low, 0.0), low)
        high = np.where(self.high <= 0.0, np.minimum(high, 0.0), high)
        moved = np.maximum([self.passed[0] - low, high - self.passed[1]], 0.0)
        lengths = 0.5 * moved * self.density / np.where(self.beyond > 0.0, self.beyond, np.inf)
        left = self.beyond * (1.0 + lengths) ** -2.0
        return replace(self, low=low, high=high, beyond=left)


def steady_rows(noise: float, rows: Array) -> tuple[Array, Flags]:
    """How many are beyond an end, of all on its side of zero, and whether these are few."""
    beyond = np.clip(STEADY_ROWS * rows, LOOSE * noise, STEADY * noise)
    return beyond, (beyond > 0.0) & (beyond <= STEADY_ROWS * rows)


def steady_range(
    counts: Array, noise: float, within: Range, found: CoarseRange, kept: Flags
) -> SteadyRange:
    """The range with steady ends, where a number of rows is beyond them.

    An end at zero stays.

    Parameters
    ----------
    counts : array of shape (columns, bins)
        Noisy, of even bins between the ends of `within`.
    noise : float
        Standard deviation of the noise on a count.
    within : Range
        Ends of the bins.
    found : CoarseRange
        Ends of what was seen.
    kept : array of bool, of shape (2, columns)
        Lower and upper ends that are to stay.
    """
    ends = np.array([found.low, found.high])
    if found.tails is None:
        nothing = np.zeros(ends.shape)
        return SteadyRange(found.low, found.high, nothing > 0.0, nothing, ends, nothing, nothing)
    wanted, few = steady_rows(noise, found.tails.side)
    free = ~kept & (ends != 0.0) & (found.tails.side > 0.0)
    steady = few & free
    width = (within.high - within.low) / counts.shape[1]
    below = _Side.of(0, counts, width, within.low, found, found.tails)
    above = _Side.of(1, counts, width, within.high, found, found.tails)
    first, last = (side.place(wanted[side.end], noise) for side in (below, above))
    moved = np.array([within.low + first[0] * width, within.high - last[0] * width])
    deviation, density = (
        np.array([first[1], last[1]]) * width,
        np.array([first[2], last[2]]) / width,
    )
    deviation = np.minimum(np.where(steady, 1.0, OTHERS) * deviation, ends[1] - ends[0])
    low, high = np.where(steady, moved, ends)
    told = np.where(free, deviation, 0.0)
    return SteadyRange(
        low,
        high,
        steady=steady,
        deviation=np.where(found.tails.open & ~kept & (ends != 0.0), np.nan, told),
        passed=moved,
        beyond=np.where(free, wanted, 0.0),
        density=np.where(free, density, 0.0),
    )


@dataclass(frozen=True, eq=False)
class _Side:
    """Even bins from the outside inwards, and between which of them an end is looked for."""

    end: int  # 0 is the lower one
    counts: Array
    start: Array  # in bins from the outermost one
    stop: Array
    beyond: Array  # rows before `start`
    rows: Array  # up to `stop`, where that is known; else NaN

    @classmethod
    def of(
        cls, end: int, counts: Array, width: Array, edge: Array, found: CoarseRange, tails: Tails
    ) -> _Side:
        """Between the ends of a power of two where these tell, else between those of the range."""
        told = np.isfinite(tails.rows[end])
        seen = (found.low, found.high) if end == 0 else (found.high, found.low)
        start, stop = (
            np.clip(np.abs(np.where(told, power, own) - edge) / width, 0.0, counts.shape[1])
            for power, own in zip((tails.outer[end], tails.inner[end]), seen, strict=True)
        )
        outside = np.sign(tails.outer[end] - edge) == (2 * end - 1)
        start = np.where(told & outside, 0.0, start)
        beyond = np.where(told, tails.beyond[end], 0.0)
        return cls(
            end, counts if end == 0 else counts[:, ::-1], start, stop, beyond, tails.rows[end]
        )

    def place(self, wanted: Array, noise: float) -> tuple[Array, Array, Array]:
        """Where so many rows are passed, in bins, how far noise moves that, and rows per bin."""
        bins = np.arange(self.counts.shape[1])
        upper, lower = (
            np.minimum(bins + 1, self.stop[:, None]),
            np.maximum(bins, self.start[:, None]),
        )
        share = np.clip(upper - lower, 0.0, 1.0)
        inside, size = self.counts * share, share.sum(axis=1)
        # One count of all has as much noise as each of theirs: so likelihood shares what lacks.
        told = np.isfinite(self.rows)
        lacking = np.where(told, self.rows - inside.sum(axis=1), 0.0) / (size + 1.0)
        so_far = np.cumsum(inside + share * lacking[:, None], axis=1)
        at = self._passed(so_far, share, wanted - self.beyond)
        before = at - self.start
        variance = before * np.where(told, 1.0 - before / (size + 1.0), 1.0) + 1.0
        unsure = noise * np.sqrt(variance)
        sooner, later = (
            self._passed(so_far, share, wanted - self.beyond + more) for more in (-unsure, unsure)
        )
        deviation = np.maximum(at - sooner, later - at)
        return at, deviation, unsure / np.maximum(deviation, LEAST)

    def _passed(self, so_far: Array, share: Array, wanted: Array) -> Array:
        """Where that many are passed; at `stop` where they never are."""
        there = (so_far >= wanted[:, None]) & (share > 0.0)
        at, own = np.argmax(there, axis=1), np.arange(len(so_far))
        before = np.where(at > 0, so_far[own, at - 1], 0.0)
        filled = so_far[own, at] - before
        part = (wanted - before) / np.where(filled > 0.0, filled, np.inf)
        place = np.maximum(at, self.start) + np.clip(part, 0.0, 1.0) * share[own, at]
        return np.where(there.any(axis=1), np.clip(place, self.start, self.stop), self.stop)
