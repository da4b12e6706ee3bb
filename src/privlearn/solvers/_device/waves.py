"""Second moments of random features of rows on a device: sums of products of whole numbers.

A feature is a cosine or sine times 127, rounded to 8 bits, and the target has 15 bits in two of
them, so that devices multiply integers and every sum is exact. The proof is waves.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.device import Namespace, to_host
from privlearn._data.device_data import DeviceData
from privlearn.solvers._common.loops import fourier_features as formula
from privlearn.solvers._common.moment_equations import solve_moments, stack, unstack
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers._device.ranks import RankTables

__all__ = ["AMPLITUDE", "BLOCK", "LONGEST", "WaveData", "WaveMoments", "wave_moments", "width_of"]

Array = NDArray[np.float64]
AMPLITUDE = 127  # of a cosine or sine
# A rounded pair is at most sqrt(1/2) further from zero than the computed one, of which the square
# is at most 127^2 (1 + 2^-19): less than 127.7074^2 < 16310, and a whole number.
LONGEST = 16309
SPREAD = 512  # seven deviations of the square of a rounded pair
BLOCK = 2**17  # rows: 2^17 127^2 < 2^31
TILE = 2048  # rows of the matrix of products that are computed together, up to the diagonal
TARGET, DIGIT = 127 * 128, 128  # a target of 1, in two digits
MULTIPLE = 32  # of which matrix units want sides
AT_ONCE = 2**22  # numbers that library functions take at a time
COSINE = [float(c) for c in (formula.C4, formula.C3, formula.C2, formula.C1, formula.C0)]
SINE = [float(s) for s in (formula.S4, formula.S3, formula.S2, formula.S1, formula.S0)]


@dataclass(frozen=True, eq=False)
class WaveData(DeviceData):
    """Rows on a device, seen through cosines and sines of frequencies.

    Attributes
    ----------
    frequencies : array of shape (columns, waves / 2)
        Public, in radians per unit of X, or of ranks.
    box : pair of arrays of shape (columns,)
        Ends of the columns of X.
    ranks : (edges, ranks, share) or None
        Released: what takes the place of X, if anything does. Ranks are features, too, and have
        that share of a row's squared length.
    """

    frequencies: Array
    box: tuple[Array, Array]
    ranks: tuple[Array, Array, float] | None = None

    @property
    def waves(self) -> int:
        """How many cosines and sines there are."""
        return 2 * int(self.frequencies.shape[1])

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.waves + (0 if self.ranks is None else len(self.frequencies))

    def units(self) -> Array:
        """Of whole numbers as features: in these no row is longer than 1."""
        columns, share = len(self.frequencies), 0.0 if self.ranks is None else self.ranks[2]
        of_waves = math.sqrt((1.0 - share) / longest(self.waves // 2))
        of_ranks = math.sqrt(share / columns) / AMPLITUDE
        return np.repeat([of_waves, of_ranks], [self.waves, self.n_features - self.waves])


def longest(pairs: int) -> int:
    """The largest sum of squares of so many pairs: what is longer is cut towards zero."""
    return min(LONGEST * pairs, AMPLITUDE**2 * pairs + SPREAD * math.ceil(math.sqrt(pairs)))


def width_of(features: int) -> int:
    """Rows of the matrix of integers: features, 1, two digits of the target, and zeros."""
    return -(-(features + 3) // MULTIPLE) * MULTIPLE


def wave_moments(settings: Scaling, data: WaveData) -> WaveMoments:
    """Second moments of (1, x, y), x the features; a device may still be computing them.

    Parameters
    ----------
    settings : Scaling
        Into units in which x is no longer than 1, and y within [-1, 1].
    data : WaveData
        Rows on a device.
    """
    xp, width = data.xp, width_of(data.n_features)
    sums = xp.full((width, width), 0, "int64")
    for block in _blocks(settings, data):
        _add_products(xp, block, sums)
    longer, half = np.ones(data.n_features), data.waves // 2  # features as predictions have them
    longer[: data.waves] = math.sqrt(longest(half) / half) / AMPLITUDE
    scale, inverse = settings.scale * longer, settings.inverse_scale / longer
    facts = replace(settings, scale=scale, inverse_scale=inverse), data.units()
    if xp.kind == "torch":
        from privlearn.solvers._device.wave_equations import TensorMoments

        return TensorMoments(*facts, sums)
    return WaveMoments(*facts, to_host(sums))


def _blocks(settings: Scaling, data: WaveData) -> Iterator[Any]:
    """Integers of some rows at a time, (width, rows); each block overwrites the last."""
    xp, n, features = data.xp, data.n, data.n_features
    size = min(BLOCK, -(-n // MULTIPLE) * MULTIPLE)
    block = xp.full((width_of(features), size), 0, "int8")
    turns = xp.put(data.frequencies / (2.0 * math.pi))
    low, high = (xp.put(np.array(end)[:, None]) for end in data.box)
    ranked = None if data.ranks is None else RankTables.of(xp, *data.ranks[:2])
    write = _writer(xp)
    for start in range(0, n, size):
        own = slice(start, min(start + size, n))
        rows = own.stop - start
        if rows < size:
            block[:, rows:] = 0
        X = xp.astype(data.array[own, ...].T, "float64")
        X = xp.minimum(xp.maximum(X, low), high)
        if ranked is not None:
            X = ranked(X)
            whole = xp.rint(X * float(AMPLITUDE))
            block[data.waves : features, :rows] = xp.astype(whole, "int8")
        write(xp, X, turns, block)
        block[features, :rows] = 1
        _write_target(xp, settings, data, own, block[features + 1 : features + 3, :rows])
        yield block


def _writer(xp: Namespace) -> Any:  # noqa: ANN401
    """The fused kernel where there is one, else library functions; both write the same integers."""
    if xp.triton:
        from privlearn.solvers._device import wave_launch

        if wave_launch.usable():
            return wave_launch.write_waves
    return write_waves


def write_waves(xp: Namespace, X: Any, turns: Any, block: Any) -> None:  # noqa: ANN401
    """Write cosines and sines of rows, given by columns; what is too long is cut towards zero."""
    rows, half = int(X.shape[1]), int(turns.shape[1])
    squares = xp.full((rows,), 0, "int64")
    for places, numbers in _waves(xp, X, turns):
        whole = xp.rint(numbers)
        block[places, :rows] = xp.astype(whole, "int8")
        squares = squares + xp.sum(xp.astype(whole * whole, "int64"), axis=0)
    too_long = squares > longest(half)
    for places, numbers in _waves(xp, X, turns):
        cut = xp.astype(xp.trunc(numbers), "int8")
        block[places, :rows] = xp.where(too_long, cut, block[places, :rows])


def _waves(xp: Namespace, X: Any, turns: Any) -> Iterator[tuple[slice, Any]]:  # noqa: ANN401
    """Cosines and sines times 127, some frequencies at a time, and where they belong."""
    (columns, rows), half = (int(size) for size in X.shape), int(turns.shape[1])
    step = max(1, AT_ONCE // max(rows, 1))
    for first in range(0, half, step):
        last = min(first + step, half)
        phase = xp.full((last - first, rows), 0.0, "float64")
        for j in range(columns):  # in this order, whatever the row's place
            phase = phase + turns[j, first:last][:, None] * X[j, :][None, :]
        half_turns = xp.floor(phase * 2.0 + 0.5) * 0.5
        f = xp.astype(phase - half_turns, "float32")
        f = xp.where(xp.abs(f) <= 0.25, f, xp.full((), 0.25, "float32"))  # NaN, too
        odd = half_turns - xp.floor(half_turns)
        ends = (xp.full((), sign * float(AMPLITUDE), "float32") for sign in (1.0, -1.0))
        sign, z = xp.where(odd <= 0.25, *ends), f * f
        yield slice(first, last), _series(COSINE, z) * sign
        yield slice(half + first, half + last), _series(SINE, z) * f * sign


def _series(coefficients: list[float], z: Any) -> Any:  # noqa: ANN401
    """By Horner's rule."""
    value = z * coefficients[0] + coefficients[1]
    for coefficient in coefficients[2:]:
        value = value * z + coefficient
    return value


def _write_target(xp: Namespace, settings: Scaling, data: WaveData, own: slice, out: Any) -> None:  # noqa: ANN401
    """Write bounded targets as 128 times a digit, and a digit, each of 8 bits."""
    low, high = data.bounds.target or (-1.0, 1.0)
    y = xp.astype(data.numbers[own], "float64")
    y = xp.minimum(xp.maximum(y, float(low)), float(high))
    y = (y - settings.target_center) / settings.target_scale
    whole = xp.rint(xp.minimum(xp.maximum(y, -1.0), 1.0) * float(TARGET))
    upper = xp.floor((whole + 0.5 * DIGIT) / float(DIGIT))
    out[0, :] = xp.astype(upper, "int8")
    out[1, :] = xp.astype(whole - upper * float(DIGIT), "int8")


def _add_products(xp: Namespace, block: Any, sums: Any) -> None:  # noqa: ANN401
    """Add products of the rows of a block with each other, up to the diagonal, and some beyond."""
    width = int(block.shape[0])
    in_bytes = xp.kind == "torch" and hasattr(xp.module, "_int_mm")
    numbers = block if in_bytes else xp.astype(block, "float64")
    for first in range(0, width, TILE):
        last = min(first + TILE, width)
        some, all_before = numbers[first:last, :], numbers[:last, :]
        if in_bytes:
            sums[first:last, :last] += xp.module._int_mm(some, all_before.T)
        else:  # whole numbers below 2^31: exact in double precision, in any order
            products = xp.matmul(some, all_before.T)
            sums[first:last, :last] += xp.astype(products, "int64")


@dataclass(frozen=True, eq=False)
class WaveMoments:
    """Sums over all rows as whole numbers, up to the diagonal, in NumPy's memory.

    Attributes
    ----------
    scaling : Scaling
        From features as they are for predictions to those whose moments these are.
    units : array of shape (features,)
        Of their whole numbers.
    sums : array of shape (width, width), int64
        Of products of features, 1, and digits of the target.
    """

    scaling: Scaling
    units: Array
    sums: Any

    def there(self, values: Array) -> Any:  # noqa: ANN401
        """Numbers where the sums are."""
        return values

    def zeros(self, size: int) -> Any:  # noqa: ANN401
        """A matrix where the sums are."""
        return np.zeros((size, size))

    def matrix(self) -> Any:  # noqa: ANN401
        """Moments of (1, x, y) in the units of the scaling, in its upper triangle."""
        sums, p = self.sums, len(self.units)
        first = self.scaling.width - p
        found, units = self.zeros(p + first + 1), self.there(self.units)
        of_target = sums[p + 1, :] * DIGIT + sums[p + 2, :]
        square = of_target[p + 1] * DIGIT + sums[p + 2, p + 1] * DIGIT + sums[p + 2, p + 2]
        found[first:-1, first:-1] = sums[:p, :p].T
        found[first:-1, first:-1] *= units[:, None]
        found[first:-1, first:-1] *= units[None, :]
        found[first:-1, -1] = of_target[:p]
        found[first:-1, -1] *= units / TARGET
        found[-1, -1] = square
        found[-1, -1] *= 1.0 / TARGET**2
        if first:
            found[0, 0] = sums[p, p]
            found[0, 1:-1] = sums[p, :p]
            found[0, 1:-1] *= units
            found[0, -1] = of_target[p]
            found[0, -1] *= 1.0 / TARGET
        return found

    def stacked(self) -> Array:
        """What is released, without noise."""
        return stack(self.matrix())

    def solved(self, noisy: Array, **facts: Any) -> tuple[Array, float, Array | None]:  # noqa: ANN401
        """Coefficients, the intercept, and noise, from what was released."""
        return solve_moments(unstack(noisy, self.scaling.width + 1), **facts)
