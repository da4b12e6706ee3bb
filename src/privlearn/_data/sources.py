"""Rows that stay where they are: files, lazy frames, memory maps and batches, read pass by pass.

A `Source` hands out its rows in batches, as often as it is asked to, always in the same order. Each
row has a place that stays: the number of its partition and its offset within it. What one batch
holds says nothing about how another one is read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privlearn._data.files import FROM_DISK, into_memory
from privlearn._data.frames import refuse_same_names
from privlearn._data.quiet import quietly
from privlearn._data.reading import native
from privlearn._data.targets import one_column

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    import pyarrow.dataset as ds

__all__ = ["AT_ONCE", "Batch", "Source", "is_source", "source_of"]


AT_ONCE = 2**16  # rows of a batch: those of all threads together take a few megabytes
AHEAD = 4  # batches that are read before they are asked for
LONGEST_PARTITION = 2**20  # rows of a memory map
TEXT_FORMATS = ("csv", "json")
FILES = {".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow", ".feather": "feather"}


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows: a data frame that holds the target, too, or X and y; and their partition."""

    partition: int
    X: Any
    y: Any = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


class Source(Protocol):
    """Rows in batches, in an order that stays."""

    @property
    def names(self) -> Sequence[str] | None:
        """Names of the columns, the target's among them, where the source itself knows them."""

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """All rows, from the first; with `columns`, at least these, where columns have names."""


def is_source(X: object) -> bool:
    """Whether rows are read pass by pass, rather than all at once; a look at the type alone.

    Examples
    --------
    >>> is_source([[1.0, 2.0]]), is_source(iter([]))
    (False, True)
    """
    if isinstance(X, np.memmap | os.PathLike):
        return True
    if isinstance(X, np.ndarray | list | tuple) or X is None:
        return False
    if native("pyarrow.dataset", X, "Dataset") or native("polars", X, "LazyFrame"):
        return True
    if native("dask.array", X, "Array") or native("dask.dataframe", X, "DataFrame"):
        return True
    return _is_batches(X)


def _is_batches(X: object) -> bool:
    """Whether X can be gone through, and is nothing that has rows and columns itself."""
    offers = "__array__", "__array_interface__", "__dataframe__", "__arrow_c_stream__", "dtype"
    if isinstance(X, str | bytes | bytearray | memoryview | Sequence | Mapping | Set):
        return False
    if any(hasattr(X, name) for name in (*offers, "fetch_arrow_table", "columns", "shape")):
        return False
    return isinstance(X, Iterable)


def source_of(X: Any, y: object) -> Source:  # noqa: ANN401
    """The source that X is, or a refusal of what can be read only once."""
    if isinstance(X, np.memmap):
        mapped = _Mapped(X, one_column(y))
        if X.shape[:1] != mapped.y.shape:
            raise ValueError("X and y have inconsistent numbers of samples; give one y per row")
        return mapped
    if native("polars", X, "LazyFrame"):
        return _Lazy(X)
    if isinstance(X, os.PathLike):
        return _Arrow(_dataset(os.fspath(X))).checked()
    if native("pyarrow.dataset", X, "Dataset"):
        _refuse_text(X)
        return _Arrow(X).checked()
    if native("dask.array", X, "Array") or native("dask.dataframe", X, "DataFrame"):
        from privlearn._data.dask_source import dask_source

        return dask_source(X, y)
    if isinstance(X, Iterator) or iter(X) is iter(X):
        raise ValueError(
            f"X is a {type(X).__name__}, which can be gone through once, while a fit reads its "
            "rows several times; nothing was charged. Give an object whose __iter__ begins anew "
            "each time, a pyarrow dataset, or the path of a Parquet file as a pathlib.Path"
        )
    return _Batches(X)


def _dataset(path: str) -> ds.Dataset:
    """Files of Parquet or Arrow; an error of pyarrow may quote a path, which is no data."""
    try:
        import pyarrow.dataset as ds
    except ImportError:
        raise ValueError(
            "X is a path, and files are read by pyarrow: pip install 'privlearn[arrow]'"
        ) from None
    kind = FILES.get(os.path.splitext(path)[1].lower(), "parquet")
    problem = ""
    try:
        found = ds.dataset(path, format=kind)
        if not getattr(found, "files", [path]):
            problem = "is the path of a folder without files; check it"
    except FileNotFoundError:
        problem = "is a path at which there is no file; check it, and the folder that you are in"
    except Exception as error:  # of pyarrow, which may quote what is in the file
        problem = f"is a path that cannot be read as {kind.title()} ({type(error).__name__})"
        problem += f"; {FROM_DISK}; read any other into memory, {into_memory(path)}"
    if problem:
        raise ValueError(f"X {problem}; nothing was charged")
    return found


def _refuse_text(dataset: Any) -> None:  # noqa: ANN401
    """Refuse files of text: one row's quotation mark takes in those behind it, without an error.

    And types come from a look at cells, and one cell that does not fit stops the reading.
    """
    for part in getattr(dataset, "children", ()):
        _refuse_text(part)
    kind = getattr(dataset, "format", None)
    if kind is not None and kind.default_extname in TEXT_FORMATS:
        raise ValueError(
            f"X is a dataset of {kind.default_extname} files, in which one row can change how "
            "others are read; write them to Parquet, with a type declared for every column, or "
            "use the command line, privlearn fit FILE.csv, which reads each row on its own"
        )


@dataclass(frozen=True, eq=False)
class _Arrow:
    """A dataset of pyarrow: every file is a partition; `first` is the number of the first.

    A dataset has the types of its first file, and pyarrow would cast the others to them: a fraction
    stops that, and behind truth values 2 becomes 1. So files of other types are read by their own.
    """

    dataset: ds.Dataset
    first: int = 0

    @property
    def names(self) -> Sequence[str]:
        names = list(self.dataset.schema.names)
        refuse_same_names(names)
        return names

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        wanted = self.names if columns is None else list(columns)
        known = {
            "columns": wanted,
            "batch_size": AT_ONCE,
            "batch_readahead": AHEAD,
            "fragment_scan_options": _without_buffers(self.dataset),
        }
        if not self.types.keys().isdisjoint(wanted):
            yield from self._one_by_one(known)
            return
        partition, last = self.first - 1, None
        for tagged in self.dataset.scanner(fragment_readahead=1, **known).scan_batches():
            own = str(tagged.fragment)
            if own != last:
                partition, last = partition + 1, own
            place = self.places.get(own, partition)
            if tagged.record_batch.num_rows:
                yield Batch(place, tagged.record_batch)

    def _one_by_one(self, known: dict[str, Any]) -> Iterator[Batch]:
        """The same, each file by its own types."""
        for place, file in enumerate(self._files, self.first):
            schema = _own_types(self.dataset.schema, file.physical_schema)
            for batch in file.scanner(schema=schema, **known).to_batches():
                if batch.num_rows:
                    yield Batch(place, batch)

    @cached_property
    def types(self) -> dict[str, list[str]]:
        """Columns of which some file has another type than the dataset, and all their types."""
        named = self.dataset.schema
        kinds = [_own_types(named, own) for own in _schemas(self.dataset, self._files)]
        found = {
            name: [str(named.field(name).type), *(str(own.field(name).type) for own in kinds)]
            for name in named.names
        }
        return {name: sorted(set(own)) for name, own in found.items() if len(set(own)) > 1}

    def checked(self) -> _Arrow:
        """The same, unless its files have different types and cannot be read by themselves."""
        types = quietly(lambda: self.types)
        if types and not self._files:
            name, kinds = next(iter(types.items()))
            raise ValueError(
                f"files of X have column {name!r} in different types ({', '.join(kinds)}), and of "
                "a dataset with a filter, or of several datasets, pyarrow brings all to one, which "
                "one cell may stop; write them with the same types, or give all rows of one folder"
            )
        return self

    @cached_property
    def places(self) -> dict[str, int]:
        """Numbers of plain files, where each is there once; else none."""
        files = self._files
        found = {str(file): self.first + k for k, file in enumerate(files)}
        return found if len(found) == len(files) else {}

    @cached_property
    def _files(self) -> list[Any]:
        """Files that can be scanned without others, as nothing is asked of all of them."""
        plain = native("pyarrow.dataset", self.dataset, "FileSystemDataset")
        if not plain or getattr(self.dataset, "_scan_options", None) != {}:  # a filter
            return []
        return list(self.dataset.get_fragments())

    def after(self, first: int) -> Source | None:
        """The rows from some file on; None where it takes reading the others, too."""
        if not self.places:
            return None
        import pyarrow.dataset as ds

        schema, kind = self.dataset.schema, self.dataset.format
        some = ds.FileSystemDataset(
            self._files[first - self.first :], schema, kind, self.dataset.filesystem
        )
        return _Arrow(some, first)


def _schemas(dataset: Any, files: list[Any]) -> Iterator[pa.Schema]:  # noqa: ANN401
    """Of all files: of those of a dataset that is filtered, and of several datasets, too."""
    for part in getattr(dataset, "children", ()):
        yield from _schemas(part, [])
    if not files and native("pyarrow.dataset", dataset, "FileSystemDataset"):
        kind, where = dataset.format, dataset.filesystem
        files = [kind.make_fragment(path, where) for path in dataset.files]
    yield from (file.physical_schema for file in files)


def _own_types(dataset: pa.Schema, file: pa.Schema) -> pa.Schema:
    """The dataset's columns in a file's own types, but for those that no cell can make differ."""
    for place, field in enumerate(dataset):
        if field.name in file.names:
            own = file.field(file.names.index(field.name)).type
            if not _alike(field.type, own):
                dataset = dataset.set(place, field.with_type(own))
    return dataset


def _alike(one: pa.DataType, other: pa.DataType) -> bool:
    """Whether all cells of the other type can be brought to this one, each on its own."""
    import pyarrow.types as known

    texts = known.is_string, known.is_large_string, known.is_string_view
    return (
        one == other
        or (known.is_floating(one) and known.is_floating(other))
        or all(any(is_one(kind) for is_one in texts) for kind in (one, other))
    )


def _without_buffers(dataset: ds.Dataset) -> ds.FragmentScanOptions | None:
    """Of files on this machine: what is read ahead would take more memory than all else.

    Where somebody has chosen how files are scanned it stays so.
    """
    import pyarrow.dataset as ds
    from pyarrow.fs import LocalFileSystem

    kind, usual = getattr(dataset, "format", None), ds.ParquetFragmentScanOptions()
    if not isinstance(kind, ds.ParquetFileFormat) or kind.default_fragment_scan_options != usual:
        return None
    here = isinstance(getattr(dataset, "filesystem", None), LocalFileSystem)
    return ds.ParquetFragmentScanOptions(pre_buffer=False) if here else None


@dataclass(frozen=True, eq=False)
class _Lazy:
    """A lazy frame of polars, one partition: how its engine cuts it into batches may differ."""

    frame: pl.LazyFrame

    @property
    def names(self) -> Sequence[str]:
        return quietly(lambda: list(self.frame.collect_schema().names()))

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        frame = self.frame if columns is None else self.frame.select(list(columns))
        batches = frame.collect_batches(chunk_size=AT_ONCE, maintain_order=True)
        for some in batches:
            for part in some.iter_slices(AT_ONCE):
                if len(part):
                    yield Batch(0, part)


@dataclass(frozen=True, eq=False)
class _Mapped:
    """A memory map, with a target for each row; partitions of a fixed length."""

    X: NDArray[Any]
    y: NDArray[Any]

    @property
    def names(self) -> None:
        return None

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        for first in range(0, len(self.X), AT_ONCE):
            own = slice(first, first + AT_ONCE)
            # Copied, so that pages of the file need not stay in memory as part of this process.
            yield Batch(first // LONGEST_PARTITION, np.array(self.X[own]), self.y[own])


@dataclass(frozen=True, eq=False)
class _Batches:
    """Anything that can be gone through again and again; every batch is a partition."""

    batches_of: Iterable[Any]

    @property
    def names(self) -> None:
        return None

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        for partition, batch in zip(count(), self.batches_of):
            pair = isinstance(batch, tuple) and len(batch) == 2
            yield Batch(partition, *batch) if pair else Batch(partition, batch)
