"""Rows as integers, so that sums over them are exact: in any order, over any number of threads.

What is stored *is* the row: feature j is q_j 2^-e_j with a whole number q_j of 16 bits, or of 24 in
two columns, where its bound is wide. The proof that sums of
shortened gradients and of products have no rounding error at all is integer_rows.md. Every loop
here has two forms that give the same bits: NumPy's, which waits for no compiler, and a compiled one
for tables that are worth one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import worth_compiling
from privlearn._core.threads import in_parts
from privlearn._data.bounded import NO_CLASSES, NO_NUMBERS, BoundedData
from privlearn._objective.losses import Loss, logistic, squared
from privlearn.solvers._common.loops import integer_rows as loops
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.scaling import Scaling

__all__ = [
    "IntegerRows",
    "as_moments",
    "block_rows",
    "has_integer_slopes",
    "integer_facts",
    "layout",
    "store_integers",
]

Array = NDArray[np.float64]
SLOPES = {squared.SQUARED: squared.slope, logistic.LOGISTIC: logistic.slope}
EXACT = 53  # bits of a sum that float64 holds without rounding
BITS, MORE_BITS = 15, 8  # of an integer, its sign aside, and of the second column of a wide one
MOST_ROWS = 2048  # in a block that a compiled loop takes; NumPy takes twice as many at once
IN_A_BLOCK = 2**16  # numbers: they stay near the processor between the product and the sum
SMALL = 16.0  # a feature's bound in its scales up to which 16 bits hold it well
WEIGHT_BITS, SLOPE_BITS, MOMENT_BITS = 24, 26, 20
# Without an intercept rows may be arbitrarily short; slopes are cut as if they were this long.
SHORTEST = 1.0 / 16.0
WORTH_A_THREAD = 2**20
STORED = 2**17  # rows up to which targets are stored: that takes half a megabyte, and saves time
NARROW = 16  # entries of a row up to which products of matrices are slower than a loop
FAR = 1e100  # of a weight: what is beyond counts as that


def has_integer_slopes(loss: Loss) -> bool:
    """Whether gradients of a loss are one number times the row, from a formula in `SLOPES`."""
    return loss.code in SLOPES and loss.outputs == 1


@dataclass(frozen=True, eq=False)
class IntegerRows:
    """Bounded rows in a solver's coordinates, some at a time, each block by columns.

    Attributes
    ----------
    values : array of shape (blocks, columns, rows of a block), int16, or float64 for NumPy
        Row i of block b has the numbers values[b, :, i] * 2^-exponents: one for each feature, then
        one more for each of the wide ones, to be added. The last block is filled up with zeros.
    targets : array of shape (blocks, rows of a block), float32, or as much in float64
        Of a large table none: they are computed from `raw` in each pass, with the same bits.
    norms : array of shape (blocks, rows of a block), float32, or as much in float64
        Upper bounds of the rows' lengths, the intercept's entry included; infinite where
        there is no row, or the empty one, which contributes nothing.
    exponents : array of shape (columns,)
        Of the units of the integers.
    wide : array of integers
        The features that have two columns.
    intercept_value : float
        The intercept's entry in a row; 0 without intercept.
    compiled : bool
        Which form of the loops runs.
    raw : pair of arrays
        The table's own target, as classes or as numbers; the other, or both, are empty.
    target_units : (float, float, float, float)
        Ends to which raw targets are clipped, their centre and their scale.
    """

    values: NDArray[Any]
    targets: NDArray[np.floating]
    norms: NDArray[np.floating]
    exponents: NDArray[np.int64]
    wide: NDArray[np.int64]
    intercept_value: float
    compiled: bool = False
    raw: tuple[NDArray[np.int8], Array] = (NO_CLASSES, NO_NUMBERS)
    target_units: tuple[float, float, float, float] = (-math.inf, math.inf, 0.0, 1.0)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.exponents) - len(self.wide)

    @cached_property
    def _units(self) -> Array:
        """Of the integers of each column, powers of two."""
        return np.ldexp(1.0, -self.exponents)

    @property
    def _all_targets(self) -> tuple[object, ...]:
        """As compiled loops take them, stored or not."""
        return self.targets, *self.raw, self.target_units

    @property
    def _blocks_per_thread(self) -> int:
        return max(1, WORTH_A_THREAD // max(math.prod(self.values.shape[1:]), 1))

    def gradient_sum(self, objective: Objective, weights: Array, clip: float) -> Array:
        """Sum of the gradients of all rows, each shortened to the clip; a secret.

        It is the float64 that is nearest to the exact sum.
        """
        return self.as_gradient(self.integer_gradient(objective, weights, clip), objective, clip)

    def integer_gradient(self, objective: Objective, weights: Array, clip: float) -> list[int]:
        """The same as whole numbers, of each column and of the slopes: they may be added up."""
        weights, how = self._scoring(objective, weights)
        per_unit = self._slopes_per_unit(objective, clip)
        reach = clip * per_unit * (1.0 - 2.0**-40)  # below what the division rounds away
        found = in_parts(
            self.values.shape[0],
            partial(self._gradients, how=how, weights=weights, per_unit=per_unit, reach=reach),
            at_least=self._blocks_per_thread,
        )
        return [sum(part) for part in zip(*found, strict=True)]

    def as_gradient(self, sums: list[int], objective: Objective, clip: float) -> Array:
        """Whole numbers of all rows as one gradient."""
        sums, features, units = list(sums), self.n_features, self._units[: self.n_features]
        if len(self.wide):
            units = units.copy()
            for own, more in zip(self.wide, sums[features:-1], strict=True):
                sums[own] = (sums[own] << MORE_BITS) + more
                units[own] *= 0.5**MORE_BITS
        # Each is rounded once, to the nearest float64; powers of two change nothing.
        gradient = np.empty(features + bool(self.intercept_value))
        gradient[:features] = [float(one) for one in sums[:features]]
        gradient[:features] *= units
        if self.intercept_value:
            gradient[features] = float(sums[-1]) * self.intercept_value
        return gradient / self._slopes_per_unit(objective, clip)

    def _slopes_per_unit(self, objective: Objective, clip: float) -> float:
        """How many integers of slopes there are to one, a power of two."""
        steepest = min(objective.loss.lipschitz, clip / (self.intercept_value or SHORTEST))
        return float(2.0 ** math.floor(SLOPE_BITS - math.log2(steepest)))

    def _gradients(
        self,
        first: int,
        last: int,
        how: tuple[int, float, float],
        weights: Array,
        per_unit: float,
        reach: float,
    ) -> list[int]:
        """Exact sums over some blocks: of each column times the slopes, then of the slopes."""
        upper, lower = np.zeros((2, len(self.exponents) + 1), np.int64)
        if self.compiled:
            rows = self.values, self._all_targets, self.norms
            loops.add_gradients(rows, first, last, how, weights, per_unit, reach, upper, lower)
        else:
            for b in range(first, last):
                slopes = self._slopes(b, how, weights)
                with np.errstate(over="ignore"):  # what overflows is cut
                    slopes = loops.integer_slope.py_func(slopes, self.norms[b], per_unit, reach)
                sums = np.append(self.values[b] @ slopes, slopes.sum()).astype(np.int64)
                upper += sums >> loops.LIMB
                lower += sums & loops.LOWER
        return [
            (int(high) << loops.LIMB) + int(low) for high, low in zip(upper, lower, strict=True)
        ]

    def count_lengths(
        self, objective: Objective, weights: Array, longest: float, bins: int
    ) -> Array:
        """How many gradients lie in which half power of two below the longest; a secret."""
        weights, how = self._scoring(objective, weights)
        found = in_parts(
            self.values.shape[0],
            partial(self._lengths, how=how, weights=weights, longest=longest, bins=bins),
            at_least=self._blocks_per_thread,
        )
        return np.asarray(sum(found))

    def _lengths(
        self,
        first: int,
        last: int,
        how: tuple[int, float, float],
        weights: Array,
        longest: float,
        bins: int,
    ) -> Array:
        counts = np.zeros(bins)
        if self.compiled:
            rows = self.values, self._all_targets, self.norms
            loops.count_gradients(rows, first, last, how, weights, longest, counts)
            return counts
        for b in range(first, last):
            there = np.isfinite(self.norms[b])
            relative = self._slopes(b, how, weights)[there] * self.norms[b][there] / longest
            relative = np.minimum(np.abs(relative), 1.0)
            squares = relative * relative
            places = np.where(squares > 0.0, -np.frexp(squares)[1], bins)
            counts += np.bincount(np.clip(places, 0, bins - 1), minlength=bins)
        return counts

    def _slopes(self, b: int, how: tuple[int, float, float], weights: Array) -> Array:
        """The slope of each row of a block."""
        code, unit, shift = how
        scores = (weights @ self.values[b]) * unit + shift
        return np.asarray(SLOPES[code].py_func(self.targets[b], scores))

    def _scoring(
        self, objective: Objective, weights: Array
    ) -> tuple[Array, tuple[int, float, float]]:
        """Weights of the integers as integers; the loss, the unit of scores, and the intercept.

        So many bits that scores are exact: then they are the same in any order.
        """
        features = self.n_features
        inner = weights[:features]
        if not np.abs(inner).max(initial=0.0) <= FAR:  # also where it is not a number
            inner = np.clip(np.nan_to_num(inner), -FAR, FAR)
        if len(self.wide):
            inner = np.append(inner, inner[self.wide])
        inner = inner * self._units
        bits = min(WEIGHT_BITS, EXACT - BITS - max(len(inner) - 1, 0).bit_length())
        largest = float(np.abs(inner).max(initial=0.0))
        shift = bits - (math.frexp(largest)[1] if largest > 0.0 else 0)
        intercept = float(weights[features]) * self.intercept_value if self.intercept_value else 0.0
        if not math.isfinite(intercept):
            intercept = float(np.nan_to_num(intercept))
        how = (objective.loss.code, math.ldexp(1.0, -shift), intercept)
        return np.rint(np.ldexp(inner, shift)), how

    def second_moments(self, longest: float) -> Array:
        """Sum of v v' / longest^2 over rows v, each shortened to that length; a secret.

        Entries of v are rounded towards zero to integers of `MOMENT_BITS` bits.
        """
        return as_moments(self.integer_moments(longest), longest)

    def integer_moments(self, longest: float) -> NDArray[np.int64]:
        """The same as whole numbers in two parts, upper and lower: they may be added up."""
        grid = _moment_grid(longest)
        factor = np.ldexp(1.0, grid - self.exponents)
        found = in_parts(
            self.values.shape[0],
            partial(self._moments, longest=longest, factor=factor, one=2.0**grid),
            at_least=self._blocks_per_thread,
        )
        return np.asarray(np.sum(found, axis=0))

    def _moments(
        self, first: int, last: int, longest: float, factor: Array, one: float
    ) -> NDArray[np.int64]:
        features, width = self.n_features, self.n_features + bool(self.intercept_value)
        upper, lower = total = np.zeros((2, width, width), np.int64)
        limit, entry = longest * (1.0 - 2.0**-30), self.intercept_value * one
        if self.compiled and width <= NARROW:
            how = factor, self.wide, limit, entry
            loops.add_moments((self.values, self.norms), first, last, how, upper, lower)
            return np.asarray(total + np.tril(total, -1).transpose(0, 2, 1))
        v = np.empty((width, self.values.shape[2]))
        for b in range(first, last):
            if self.compiled:
                rows = self.values[b], self.norms[b]
                loops.shorten_block(*rows, factor, self.wide, limit, entry, v)
            else:
                shorter = np.minimum(1.0, limit / self.norms[b].astype(np.float64))
                block = self.values[b] * factor[:, None]
                block[self.wide] += block[features:]
                np.trunc(block[:features] * shorter, out=v[:features])
                v[features:] = np.trunc(entry * shorter)
            sums = (v @ v.T).astype(np.int64)
            upper += sums >> loops.LIMB
            lower += sums & loops.LOWER
        return total


def _moment_grid(longest: float) -> int:
    return MOMENT_BITS - math.ceil(math.log2(longest))


def as_moments(total: NDArray[np.int64], longest: float) -> Array:
    """Whole numbers of all rows as second moments."""
    upper, lower = total
    found = np.ldexp(upper.astype(np.float64), loops.LIMB) + lower
    return np.asarray(np.ldexp(found, -2 * _moment_grid(longest)) / longest**2)


def store_integers(scaling: Scaling, limits: Array, data: BoundedData) -> IntegerRows:
    """All rows in a solver's units.

    Parameters
    ----------
    scaling : Scaling
        Into these units.
    limits : array of shape (n_features,)
        Bounds of the features in them: their integers have as many bits as there are.
    data : BoundedData
        Dense rows.
    """
    # By the size of the table, as a rehearsal asks: padding and second columns do not count.
    compiled = worth_compiling(data.n * data.n_features)
    exponents, wide = layout(limits)
    size = block_rows(len(exponents), data.n, compiled)
    shape, kind = (-(-data.n // size), size), np.float32 if compiled else np.float64
    low, high = data.bounds.target or (-math.inf, math.inf)
    raw = data.raw_targets() if compiled and data.n > STORED else None
    rows = IntegerRows(
        np.zeros((shape[0], len(exponents), size), np.int16 if compiled else np.float64),
        np.zeros(shape if raw is None else (0, size), kind),
        np.full(shape, np.inf, kind),
        exponents,
        wide,
        scaling.intercept_value,
        compiled,
        raw or (NO_CLASSES, NO_NUMBERS),
        (float(low), float(high), scaling.target_center, scaling.target_scale),
    )
    in_parts(
        shape[0],
        partial(_store, rows, scaling=scaling, data=data),
        at_least=rows._blocks_per_thread,
    )
    return rows


def layout(limits: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Exponents of all columns, and which features have two, by the features' bounds."""
    wide = np.flatnonzero(limits > SMALL)
    exponents = np.floor(BITS - np.log2(limits)).astype(np.int64)
    return np.append(exponents, exponents[wide] + MORE_BITS), wide


def block_rows(columns: int, n: int, compiled: bool) -> int:
    """Rows of a block, of so many columns."""
    most = MOST_ROWS if compiled else 2 * MOST_ROWS
    size = max(min(most, IN_A_BLOCK // max(columns, 1)), 64) // 64 * 64
    return min(size, max(n, 1))


def integer_facts(rows: IntegerRows, scaling: Scaling) -> Array:
    """Of each feature: its centre, units in one, the largest integer, the square of a unit."""
    wide = np.isin(np.arange(rows.n_features), rows.wide)
    finest = rows.exponents[: rows.n_features] + MORE_BITS * wide
    factor, units = np.ldexp(scaling.inverse_scale, finest), np.ldexp(1.0, -2 * finest)
    largest = np.where(wide, 2.0 ** (BITS + MORE_BITS), 2.0**BITS) - 1.0
    return np.stack([scaling.center, factor, largest, units])


def _store(rows: IntegerRows, first: int, last: int, scaling: Scaling, data: BoundedData) -> None:
    """Write some blocks: integers, targets, and lengths of what was written."""
    size, facts = rows.values.shape[2], integer_facts(rows, scaling)
    _, factor, largest, units = facts
    wide = np.isin(np.arange(rows.n_features), rows.wide)
    if rows.compiled:
        _store_compiled(rows, first * size, last * size, scaling, facts, data)
        return
    for b, block in enumerate(data.blocks(first * size, last * size, size), first):
        own = slice(len(block.y))
        whole = np.rint((block.X - scaling.center) * factor).T
        whole = np.clip(whole, -largest[:, None], largest[:, None]) * block.present
        squares = np.zeros(len(block.y))
        for j, unit in enumerate(units):  # in the order of the compiled loop: the same bits
            squares += whole[j] * whole[j] * unit
        upper = np.where(wide[:, None], np.floor(np.ldexp(whole, -MORE_BITS)), whole)
        rows.values[b][: rows.n_features, own] = upper
        rows.values[b][rows.n_features :, own] = (whole - np.ldexp(upper, MORE_BITS))[rows.wide]
        lengths = np.sqrt(squares + scaling.intercept_value**2)
        there = block.present & (lengths > 0.0)
        rows.norms[b][own] = np.float32(np.where(there, lengths * (1.0 + 2.0**-22), np.inf))
        rows.targets[b][own] = np.float32(scaling.targets(block.y))


def _store_compiled(
    rows: IntegerRows, first: int, last: int, scaling: Scaling, facts: Array, data: BoundedData
) -> None:
    """The same from row `first` to row `last`, clipped on the way."""
    targets, place, size = rows.targets.reshape(-1), first, rows.values.shape[2]
    for block, (low, high, least, most) in data.blocks_to_clip(first, last, size):
        own = np.ascontiguousarray(np.vstack([low, high, facts]).T)
        stored = place, rows.values, rows.norms
        loops.store_rows(block.X, block.present, own, rows.wide, scaling.intercept_value, *stored)
        if targets.size:
            units = float(least[0]), float(most[0]), scaling.target_center, scaling.target_scale
            loops.store_targets(block.y, *units, targets[place : place + len(block.y)])
        place += len(block.y)
