"""Counting rows in bins: whole tables, in threads, compiled where a table is worth it.

Counts are whole numbers, so neither threads nor blocks change them; each of the loops has a form in
NumPy that counts the same. What is counted is a secret until noise is added (histograms.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import worth_compiling
from privlearn._core.problem import nearest_to_zero
from privlearn._core.threads import in_parts
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.loops import counting as loops

__all__ = ["count_evenly", "count_magnitudes", "count_signed"]

Array = NDArray[np.float64]
AT_ONCE = 2**16  # numbers in a block: it and its bounds stay near the processor
WORTH_A_THREAD = 2**18


def count_signed(data: BoundedData, what: str, powers: int) -> Array:
    """How many rows lie between which signed powers of two, of each column.

    Parameters
    ----------
    data : BoundedData
        Dense or sparse.
    what : {"features", "target"}
        Whose columns.
    powers : int
        To either side of zero.
    """
    return _counted(data, what, 2 * powers + 1, "count_signed", _signed, powers)


def count_evenly(
    data: BoundedData,
    what: str,
    low: Array,
    high: Array,
    bins: int,
    only: NDArray[np.bool_] | None = None,
) -> Array:
    """How many rows lie in which of the even bins between the ends, of each column.

    Parameters
    ----------
    data, what
        As in `count_signed`.
    low, high : arrays of shape (columns,)
        The ends.
    bins : int
        How many.
    only : array of bool or None, default=None
        Columns to count, by what was released before; nobody will look at the others, which stay 0.
    """
    if only is not None and not only.any():
        return np.zeros((len(low), bins))
    per_width = bins / (high - low)
    counts = _counted(data, what, bins, "count_evenly", _evenly, low, per_width)
    return counts if only is None else np.where(only[:, None], counts, 0.0)


def count_magnitudes(
    data: BoundedData, what: str, center: Array, inverse_scale: Array, bins: int
) -> Array:
    """How many rows lie between two powers of two below 1, of each column in a solver's units."""
    return _counted(data, what, bins, "count_scaled", _scaled, center, inverse_scale)


def _counted(
    data: BoundedData,
    what: str,
    bins: int,
    compiled: str,
    plain: Callable[..., NDArray[np.int64]],
    *facts: Any,  # noqa: ANN401
) -> Array:
    """Counts of shape (columns, bins); loops are looked up by name, as audits replace them."""
    if data.in_passes:
        from privlearn._data.source_data import SourceData
        from privlearn.solvers._common.source_sums import count_in_a_pass

        assert isinstance(data, SourceData)
        own = partial(_in_memory, what, bins, compiled, plain, facts)
        return count_in_a_pass(data, what, bins, compiled, own, *facts)
    if data.on_device:
        from privlearn._data.device_data import DeviceData
        from privlearn.solvers._device.counting import counted_there

        assert isinstance(data, DeviceData)
        found = counted_there(data, what, bins, compiled, facts)
        if found is not None:
            return found
    return _in_memory(what, bins, compiled, plain, facts, data)


def _in_memory(
    what: str,
    bins: int,
    compiled: str,
    plain: Callable[..., NDArray[np.int64]],
    facts: tuple[Any, ...],
    data: BoundedData,
) -> Array:
    """The same of rows that are in memory."""
    width = data.n_features if what == "features" else 1
    if what == "features" and data.sparse and nearest_to_zero(data.bounds) is None:
        return _counted_sparse(data, bins, plain, *facts)
    at_once = max(AT_ONCE // width, 64)
    worth = worth_compiling(data.n * data.n_features)  # of the whole: one is loaded for all

    def part(first: int, last: int) -> Array:
        counts = np.zeros((width, bins))
        if worth:
            for rows, box in data.blocks_to_clip(first, last, at_once):
                X, limits = (rows.X, box[:2]) if what == "features" else (rows.y[:, None], box[2:])
                getattr(loops, compiled)(X, rows.present, limits, *facts, counts)
            return counts
        for X, present in _blocks(data, what, first, last, at_once):
            if present.any():
                places = plain(X[present], *facts, bins) + bins * np.arange(width)
                counts += np.bincount(places.ravel(), minlength=counts.size).reshape(counts.shape)
        return counts

    return np.asarray(sum(in_parts(data.n, part, at_least=max(1, WORTH_A_THREAD // width))))


def _counted_sparse(
    data: BoundedData,
    bins: int,
    plain: Callable[..., NDArray[np.int64]],
    *facts: Any,  # noqa: ANN401
) -> Array:
    """The same from what is stored alone: all other entries are in the bin of zero."""
    rows, present = data.sparse_rows()[0], data.present()
    there = present[np.repeat(np.arange(data.n), np.diff(rows.indptr))]
    values, columns = rows.data[there], rows.indices[there].astype(np.int64)
    own = [fact[columns] if isinstance(fact, np.ndarray) else fact for fact in facts]
    width = data.n_features
    counts = np.bincount(columns * bins + plain(values, *own, bins), minlength=width * bins)
    zeros = int(present.sum()) - np.bincount(columns, minlength=width)
    of_zero = np.arange(width) * bins + plain(np.zeros(width), *facts, bins)
    counts[of_zero] += zeros
    return counts.reshape(width, bins).astype(np.float64)


def _blocks(
    data: BoundedData, what: str, first: int, last: int, at_once: int
) -> Iterator[tuple[Array, NDArray[np.bool_]]]:
    """Numbers to count, and which rows are there."""
    if what == "features":
        for rows in data.blocks(first, last, at_once):
            yield np.asarray(rows.X, dtype=np.float64), rows.present
        return
    y, present = data.targets(first, last)
    yield y[:, None], present


def _signed(X: Array, powers: int, bins: int) -> NDArray[np.int64]:
    place = np.clip(np.frexp(X)[1].astype(np.int64) + powers // 2, 0, powers)
    place[X == 0.0] = 0
    return np.where(X > 0.0, powers + place, powers - place)


def _evenly(X: Array, low: Array, per_width: Array, bins: int) -> NDArray[np.int64]:
    with np.errstate(over="ignore"):  # what is beyond every bin is in the last
        return np.clip((X - low) * per_width, 0.0, bins - 1.0).astype(np.int64)


def _scaled(X: Array, center: Array, inverse_scale: Array, bins: int) -> NDArray[np.int64]:
    with np.errstate(over="ignore"):
        sizes = np.abs((X - center) * inverse_scale)
    place = np.clip(-np.frexp(sizes)[1].astype(np.int64), 0, bins - 1)
    place[sizes == 0.0] = bins - 1
    return place
