"""Arrays and data frames of dask: every partition stays where it is, and tasks go to it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from privlearn._data.frames import refuse_same_names
from privlearn._data.masked import opened, sealed
from privlearn._data.quiet import quietly
from privlearn._data.reading import native
from privlearn._data.sources import AT_ONCE, Batch

if TYPE_CHECKING:
    from dask.delayed import Delayed

__all__ = ["DaskSource", "compute", "dask_source", "fresh_key", "sealed_error", "slices", "tasks"]

HEAD = 1_000  # rows of the first batch, which tells names and kinds of columns
Part = tuple[Any, Any]  # X and y of a partition, or a frame and None: delayed ones


def dask_source(X: Any, y: Any) -> DaskSource:  # noqa: ANN401
    """Partitions of X, with those of y beside them unless y is the name of a column."""
    if not native("dask.array", X, "Array"):
        return DaskSource(X, None if isinstance(y, str) else _beside(X.npartitions, y))
    if X.ndim != 2:
        raise ValueError(
            f"X is an array of dask with {X.ndim} dimension(s), while 2 are needed, rows and "
            "columns; reshape it"
        )
    if isinstance(y, str):
        raise ValueError(
            "y is text, so it names the target, but X is an array, whose columns have no names; "
            "give an array of dask with one number per row"
        )
    return DaskSource(X.rechunk({1: -1}), _in_chunks(X, y))


def _in_chunks(X: Any, y: Any) -> Any:  # noqa: ANN401
    """Y in chunks of the rows of X."""
    import dask.array as da

    rows = X.chunks[0]
    known = not any(np.isnan(rows))
    if native("dask.array", y, "Array"):
        y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        same = known and not any(np.isnan(y.chunks[0])) and sum(y.chunks[0]) == sum(rows)
        return _beside(X.numblocks[0], y.rechunk({0: rows}) if same else y)
    if native("dask.dataframe", y, "Series"):
        return _beside(X.numblocks[0], y)
    if isinstance(y, np.ndarray) and y.ndim == 1 and known and len(y) == sum(rows):
        return da.from_array(y, chunks=(rows,), name=False)  # no name made of its content
    return _beside(X.numblocks[0], y)


def _beside(partitions: int, y: Any) -> Any:  # noqa: ANN401
    """Y, unless it does not lie beside X."""
    series = native("dask.dataframe", y, "Series")
    if not series and not native("dask.array", y, "Array"):
        raise ValueError(
            f"y is a {type(y).__name__}, but where X is one of dask y is the name of one of its "
            "columns, or a series or an array of dask with the same partitions"
        )
    if (not series and y.ndim != 1) or y.npartitions != partitions:
        raise ValueError(
            f"X has {partitions} partition(s) of rows, and y is not one column in as many; make "
            "both of one frame, or call compute_chunk_sizes() on both"
        )
    return y


@dataclass(frozen=True, eq=False)
class DaskSource:
    """Partitions as dask holds them; what is done with one is a task.

    Attributes
    ----------
    X : dask array in chunks of whole rows, or dask data frame
        Features; with the target, where `y` is None.
    y : dask array or series, or None
        The target, in the same partitions.
    """

    X: Any
    y: Any
    _parts: dict[tuple[str, ...] | None, list[Part]] = field(default_factory=dict)

    @property
    def names(self) -> Sequence[str] | None:
        """Names of columns, where the target is one of them."""
        if self.y is not None:
            return None
        names = [str(name) for name in self.X.columns]
        refuse_same_names(names)
        return names

    def parts(self, columns: Sequence[str] | None, *, target_only: bool = False) -> list[Part]:
        """Partitions, of some columns where they have names."""
        if self.y is not None:
            both = self._parts.get(None) or list(
                zip(_delayed(self.X), _delayed(self.y), strict=True)
            )
            self._parts[None] = both
            return [(y, y) for _, y in both] if target_only else both
        own = tuple(self.names or () if columns is None else columns)
        if own not in self._parts:
            labels = {str(label): label for label in self.X.columns}
            some = self.X[[labels[name] for name in own]]
            self._parts[own] = [(part, None) for part in _delayed(some)]
        return self._parts[own]

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """The first rows of each partition, one partition after another: kinds of columns."""
        for place, part in enumerate(self.parts(columns)):
            X, y = self._told(_head, [part], place)[0]
            yield Batch(place, X, y)

    def told(self, work: Callable[[Batch], Any], columns: Sequence[str] | None) -> list[Any]:
        """What `work` says about each partition; it travels sealed."""
        return self._told(work, self.parts(columns), 0)

    def _told(self, work: Callable[[Batch], Any], parts: list[Part], first: int) -> list[Any]:
        key = fresh_key()
        there = tasks("told", key, _Told(work, key), parts, first)
        told = quietly(lambda: compute(there))
        answers = [opened(key, k, found) for k, found in enumerate(told, first)]
        for kind, answer in answers:
            if kind == "error":
                raise answer from None
        return [answer for _, answer in answers]


def _delayed(collection: Any) -> list[Delayed]:  # noqa: ANN401
    """One for each partition of rows."""
    return list(np.asarray(collection.to_delayed(), dtype=object).reshape(-1))


def _head(batch: Batch) -> Part:
    return next(((some.X, some.y) for some in slices(batch, HEAD)), (batch.X, batch.y))


@dataclass(frozen=True, eq=False, repr=False)
class _Told:
    """A task whose answer is sealed, an error, too: what it quotes is for the client alone."""

    work: Callable[[Batch], Any]
    key: bytes

    def __call__(self, X: Any, y: Any, place: int) -> bytes:  # noqa: ANN401
        try:
            return sealed(self.key, place, ("found", self.work(Batch(place, X, y))))
        except Exception as error:
            return sealed_error(self.key, place, error)


def sealed_error(key: bytes, place: int, error: Exception) -> bytes:
    """An error that travels; one that cannot goes by its name."""
    try:
        return sealed(key, place, ("error", error.with_traceback(None)))
    except Exception:
        return sealed(key, place, ("error", RuntimeError(type(error).__name__)))


def slices(batch: Batch, size: int = AT_ONCE) -> Iterator[Batch]:
    """Rows of a partition, some at a time."""
    for first in range(0, batch.rows, size):
        own = slice(first, first + size)
        yield Batch(batch.partition, _rows(batch.X, own), _rows(batch.y, own))


def _rows(held: Any, own: slice) -> Any:  # noqa: ANN401
    if held is None:
        return None
    return held.iloc[own] if hasattr(held, "iloc") else held[own]


def fresh_key() -> bytes:
    """A key for masks: no noise comes of it."""
    from privlearn.noise.stream import KEY_BYTES, system_keys

    return system_keys()[:KEY_BYTES]


def tasks(
    name: str, key: bytes, work: Callable[..., Any], parts: Sequence[Part], first: int = 0
) -> list[Delayed]:
    """A task for each partition, under names that say nothing; the key makes them new ones."""
    from dask import delayed

    token = hashlib.sha256(b"name" + key).hexdigest()[:32]
    call = delayed(work, name=f"privlearn-{name}-{token}", pure=False, traverse=False)
    return [
        call(*part, place, dask_key_name=f"privlearn-{name}-{token}-{place}")
        for place, part in enumerate(parts, first)
    ]


def compute(there: Sequence[Delayed]) -> tuple[Any, ...]:
    """Results, by whatever scheduler is dask's at this moment."""
    import dask

    return tuple(dask.compute(*there, traverse=False))
