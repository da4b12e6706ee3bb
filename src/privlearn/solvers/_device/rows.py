"""Integer rows on a device, and sums over them: the same integers as in memory.

Every operation here has one rounding, or none, as in NumPy, and sums are of integers that float64
holds exactly (_common/integer_rows.md). So neither the library, nor the device, nor the size of a
block changes a bit. Formulas of slopes are not written again: those of NumPy run on other arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.device import Namespace, to_host
from privlearn._data.device_data import DeviceData
from privlearn.solvers._common.integer_rows import (
    MORE_BITS,
    SLOPES,
    IntegerRows,
    integer_facts,
    layout,
)
from privlearn.solvers._common.loops import integer_rows as loops
from privlearn.solvers._common.scaling import Scaling

__all__ = ["DeviceRows", "any_order", "on_arrays", "store_on_device"]

Array = NDArray[np.float64]
How = tuple[int, float, float]  # the loss, the unit of scores, and the intercept
BLOCK = 256  # rows of a block, by columns: 8 for each lane of a warp
AT_ONCE = 2**22  # numbers that library functions take at a time


def on_arrays(formula: Any, xp: Namespace) -> Callable[..., Any]:  # noqa: ANN401
    """A compiled formula as it runs on NumPy's arrays, on those of another library."""
    plain = formula.py_func
    return FunctionType(plain.__code__, {**plain.__globals__, "np": xp}, plain.__name__)


@dataclass(frozen=True, eq=False)
class DeviceRows(IntegerRows):
    """Integer rows whose arrays lie on a device; targets may be classes in single bytes."""

    xp: Any = None

    @property
    def _blocks_per_thread(self) -> int:
        """All: a device has threads of its own."""
        return max(int(self.values.shape[0]), 1)

    def _kernels(self) -> Any:  # noqa: ANN401
        """Fused kernels for these rows, or None where library functions do it."""
        if not self.xp.triton:
            return None
        from privlearn.solvers._device import launch

        return launch if launch.usable(len(self.exponents)) else None

    def _parts(self) -> Iterator[tuple[Any, Any, Any]]:
        """Some blocks at a time in double precision: values, targets, norms."""
        step = max(1, AT_ONCE // max(math.prod(self.values.shape[1:]), 1))
        for start in range(0, int(self.values.shape[0]), step):
            own = slice(start, min(start + step, int(self.values.shape[0])))
            arrays = (self.values, self.targets, self.norms)
            yield tuple(self.xp.astype(one[own, ...], "float64") for one in arrays)

    def _scored(self, how: How, weights: Array) -> Iterator[tuple[Any, Any, Any]]:
        """Values, slopes and norms of some blocks."""
        xp, (code, unit, shift) = self.xp, how
        slope, own = on_arrays(SLOPES[code], xp), xp.put(weights[None, None, :])
        for values, targets, norms in self._parts():
            scores = xp.matmul(own, values)[:, 0, :] * unit + shift
            yield values, slope(targets, scores), norms

    def _gradients(
        self,
        first: int,
        last: int,
        how: How,
        weights: Array,
        per_unit: float,
        reach: float,
    ) -> list[int]:
        """Exact sums over all blocks: of each column times the slopes, then of the slopes."""
        kernels, xp = self._kernels(), self.xp
        if kernels is not None:
            return list(kernels.gradients(self, how, weights, per_unit, reach))
        cut = on_arrays(loops.integer_slope, xp)
        upper, lower = np.zeros((2, len(self.exponents) + 1), np.int64)
        for values, slopes, norms in self._scored(how, weights):
            whole = cut(slopes, norms, per_unit, reach)
            sums = xp.matmul(values, whole[:, :, None])[:, :, 0]
            sums = xp.concat([sums, xp.sum(whole, axis=1)[:, None]], axis=1)
            for total, part in zip((upper, lower), _limbs(xp, sums), strict=True):
                total += part
        return [
            (int(high) << loops.LIMB) + int(low) for high, low in zip(upper, lower, strict=True)
        ]

    def _lengths(
        self, first: int, last: int, how: How, weights: Array, longest: float, bins: int
    ) -> Array:
        kernels, xp = self._kernels(), self.xp
        if kernels is not None:
            return np.asarray(kernels.lengths(self, how, weights, longest, bins))
        counts = np.zeros((1, bins))
        for _, slopes, norms in self._scored(how, weights):
            there = norms < math.inf
            relative = xp.minimum(xp.abs(slopes * norms / longest), 1.0)
            counts += _below(xp, relative * relative, there, bins)
        return counts[0]

    def _moments(
        self, first: int, last: int, longest: float, factor: Array, one: float
    ) -> NDArray[np.int64]:
        kernels, xp = self._kernels(), self.xp
        limit, entry = longest * (1.0 - 2.0**-30), self.intercept_value * one
        if kernels is not None and not len(self.wide):
            return np.asarray(kernels.moments(self, factor, limit, entry))
        features, width = self.n_features, self.n_features + bool(self.intercept_value)
        own, total = xp.put(factor[None, :, None]), np.zeros((2, width, width), np.int64)
        for values, _, norms in self._parts():
            shorter, block = xp.minimum(limit / norms, 1.0)[:, None, :], values * own
            if len(self.wide):
                block = self._joined(block)
            parts = [xp.trunc(block[:, :features, :] * shorter)]
            if self.intercept_value:
                parts.append(xp.trunc(entry * shorter))
            v = xp.concat(parts, axis=1)
            total += np.stack(_limbs(xp, xp.matmul(v, xp.turned(v))))
        return total

    def _joined(self, block: Any) -> Any:  # noqa: ANN401
        """Second columns of wide features added to their first ones."""
        features, found = self.n_features, []
        second = {int(j): features + k for k, j in enumerate(self.wide)}
        for j in range(features):
            own = block[:, j : j + 1, :]
            if j in second:
                own = own + block[:, second[j] : second[j] + 1, :]
            found.append(own)
        return self.xp.concat(found, axis=1)


def _limbs(xp: Namespace, sums: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # noqa: ANN401
    """Sums of integers over the first axis in two parts, as in `loops`: neither overflows."""
    whole = xp.astype(sums, "int64")
    upper, lower = whole >> loops.LIMB, whole & loops.LOWER
    return to_host(xp.sum(upper, axis=0)), to_host(xp.sum(lower, axis=0))


def _below(xp: Namespace, sizes: Any, there: Any, bins: int) -> Array:  # noqa: ANN401
    """How many numbers, of those that are there, lie between two powers of two below 1.

    Number k of them is below 2^-k and not below 2^-(k + 1); the last takes the rest. Powers of two
    are compared, so that no library needs to know exponents.
    """
    every = [xp.count(there)]
    for k in range(1, bins):
        every.append(xp.count((sizes < 2.0**-k) & there))
    found = np.array([int(one) for one in every] + [0], dtype=np.float64)
    return -np.diff(found)[None, :]


def _some(array: Any) -> Iterator[Any]:  # noqa: ANN401
    """Some rows at a time."""
    step = max(1, AT_ONCE // max(array.shape[1], 1) // BLOCK) * BLOCK
    for start in range(0, array.shape[0], step):
        yield array[start : min(start + step, array.shape[0]), ...]


def store_on_device(scaling: Scaling, limits: Array, data: DeviceData) -> DeviceRows:
    """All rows in a solver's units, as `store_integers` stores them.

    Parameters
    ----------
    scaling : Scaling
        Into these units.
    limits : array of shape (n_features,)
        Bounds of the features in them.
    data : DeviceData
        Rows on a device.
    """
    xp, n = data.xp, data.n
    exponents, wide = layout(limits)
    shape = -(-n // BLOCK), BLOCK
    values = xp.full((shape[0], len(exponents), BLOCK), 0, "int16")
    norms = xp.full(shape, math.inf, "float32")
    classes = "int8" in str(data.numbers.dtype) and scaling.target_scale == 1.0
    classes = classes and scaling.target_center == 0.0 and data.bounds.target is None
    targets = xp.full(shape, 0, "int8" if classes else "float32")
    rows = DeviceRows(
        values, targets, norms, exponents, wide, scaling.intercept_value, compiled=True, xp=xp
    )
    facts = integer_facts(rows, scaling)
    assert data.bounds.low is not None
    assert data.bounds.high is not None
    ends = np.stack([data.bounds.low, data.bounds.high])
    kernels = rows._kernels()
    plain = kernels is not None and not len(wide) and kernels.reads(data.array)
    if plain and any_order(facts):
        kernels.store(rows, data.array, np.concatenate([ends, facts]))
    else:
        _store(rows, data.array, ends, facts)
    _store_targets(rows, scaling, data)
    return rows


def any_order(facts: Array) -> bool:
    """Whether squares of stored numbers add up without rounding, so in any order.

    All are whole multiples of the smallest unit's square, and there are less than 2^53 of it.
    """
    _, _, largest, units = facts
    return bool(np.sum(largest**2 * (units / units.min(initial=math.inf))) < 2.0**52)


def _store(rows: DeviceRows, array: Any, ends: Array, facts: Array) -> None:  # noqa: ANN401
    """Write integers, and lengths of what was written, by library functions."""
    xp, block = rows.xp, 0
    low, high = (xp.put(end[None, :]) for end in ends)
    center, factor, largest = (xp.put(fact[None, :]) for fact in facts[:3])
    for some in _some(array):
        X = xp.minimum(xp.maximum(xp.astype(some, "float64"), low), high)
        whole = xp.rint((X - center) * factor)
        whole = xp.maximum(xp.minimum(whole, largest), -largest)
        squares = xp.full((some.shape[0],), 0.0, "float64")
        for j, unit in enumerate(facts[3]):  # in the order of the other forms: the same bits
            squares = squares + whole[:, j] * whole[:, j] * float(unit)
        lengths = xp.sqrt(squares + rows.intercept_value**2)
        lengths = xp.where(lengths > 0.0, lengths * (1.0 + 2.0**-22), lengths + math.inf)
        block = _write_blocks(rows, block, whole, xp.astype(lengths, "float32"))


def _write_blocks(
    rows: DeviceRows,
    block: int,
    whole: Any,  # noqa: ANN401
    lengths: Any,  # noqa: ANN401
) -> int:
    """Write rows from a block on, by columns; the last one is filled up. The next block."""
    xp, n = rows.xp, whole.shape[0]
    blocks, features = -(-n // BLOCK), rows.n_features
    missing = blocks * BLOCK - n
    if missing:
        whole = xp.concat([whole, xp.full((missing, features), 0.0, "float64")], axis=0)
        lengths = xp.concat([lengths, xp.full((missing,), math.inf, "float32")], axis=0)
    own = slice(block, block + blocks)
    turned = xp.turned(xp.module.reshape(whole, (blocks, BLOCK, features)))
    rows.norms[own, :] = xp.module.reshape(lengths, (blocks, BLOCK))
    rows.values[own, :features, :] = xp.astype(turned, "int16")  # of wide ones: written below
    for k, j in enumerate(rows.wide):
        above = xp.floor(turned[:, int(j), :] * 0.5**MORE_BITS)
        lower = turned[:, int(j), :] - above * 2.0**MORE_BITS
        rows.values[own, int(j), :] = xp.astype(above, "int16")
        rows.values[own, features + k, :] = xp.astype(lower, "int16")
    return block + blocks


def _store_targets(rows: DeviceRows, scaling: Scaling, data: DeviceData) -> None:
    """Write targets in a solver's units, clipped."""
    xp, n, y = rows.xp, data.n, data.numbers
    if "int8" not in str(rows.targets.dtype):
        low, high = data.bounds.target or (-math.inf, math.inf)
        y = xp.minimum(xp.maximum(xp.astype(y, "float64"), float(low)), float(high))
        y = xp.astype((y - scaling.target_center) / scaling.target_scale, "float32")
    whole = n // BLOCK * BLOCK
    if whole:
        rows.targets[: n // BLOCK, :] = xp.module.reshape(y[:whole], (n // BLOCK, BLOCK))
    if n > whole:
        rows.targets[n // BLOCK, : n - whole] = y[whole:]
