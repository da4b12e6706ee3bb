"""Fits from rows that stay where they are: the same plan, charge and sums, pass by pass.

A first look, before the charge, reads every row once: it refuses what cannot be used, counts, and
takes the digests that later passes are compared with (_data/stream.py). What is released, and every
bit of it, is what a fit of the same rows in memory would release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.jit import on_a_large_table
from privlearn._core.problem import Adjacency, Problem
from privlearn._core.releaser import charge_and_open
from privlearn._data.bounded import Table
from privlearn._data.dask_source import DaskSource
from privlearn._data.files import needs_memory
from privlearn._data.frames import arrow_columns, arrow_numbers, arrow_target
from privlearn._data.labels import found_labels
from privlearn._data.named_cells import refuse_target_in, refuse_unknown, with_target
from privlearn._data.quiet import quiet, quietly
from privlearn._data.reading import native, refuse_not_finite
from privlearn._data.source_data import SourceData, bound_source
from privlearn._data.sources import Batch, Source, source_of
from privlearn._data.stream import Kept, Piece, Stream
from privlearn._data.tables import DROP
from privlearn._data.targets import target_numbers
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.linear_model.classifier import PrivateLinearClassifier
from privlearn.schema.arrow import encoded_columns, has_columns
from privlearn.schema.reading import unlisted
from privlearn.solvers import SOLVERS
from privlearn.solvers._common.rehearsal import rehearse
from privlearn.solvers._common.row_count import demand_usable

if TYPE_CHECKING:
    import pyarrow as pa

    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.linear_model.job import Job
    from privlearn.schema.encoding import Encoding

__all__ = ["learn_from_source", "rows_stay"]

IN_MEMORY = 2**25  # numbers of a lazy frame or memory map that are read into memory, 256 MiB
OPEN = "say what these columns are, declare them in the schema"
MOST_LABELS = 2**16  # that may be found in y; more are no classes


def rows_stay(estimator: PrivateEstimator, X: Any) -> bool:  # noqa: ANN401
    """Whether rows of a source stay where they are, or are read into memory first.

    Lazy frames and memory maps are read where that is how they may be used at all, and where a
    public number of rows says that they fit. Nothing that is private decides.
    """
    lazy = native("polars", X, "LazyFrame")
    if not lazy and not isinstance(X, np.memmap):
        return True
    loss = estimator._loss(2).name
    solver = estimator.solver
    named = SOLVERS.get(solver) if isinstance(solver, str) else type(solver)
    able = any(loss in one.support.sources for one in SOLVERS.values())
    if solver != "auto":
        able = named is not None and loss in named.support.sources
    plain = estimator.schema is None or isinstance(estimator.schema, Mapping)
    people = estimator.max_rows_per_person is not None
    others = people or getattr(estimator, "intervals", False) or hasattr(estimator, "n_components")
    if not able or not plain or others or (lazy and not hasattr(X, "collect_batches")):
        return False
    return not Adjacency(estimator.adjacency).n_is_public or _numbers_in(X) > IN_MEMORY


def _numbers_in(X: Any) -> int:  # noqa: ANN401
    """How many there are, of a table whose number of rows is public."""
    if isinstance(X, np.memmap):
        return int(X.size)
    import polars as pl

    return quietly(lambda: int(X.select(pl.len()).collect().item()) * len(X.collect_schema()))


def learn_from_source(
    estimator: PrivateEstimator, X: object, y: object, sample_epsilon: object, groups: object
) -> None:
    """Fit an object that nobody else has yet, as `fit` does of rows in memory."""
    _refuse_unsupported(estimator, X, sample_epsilon, groups)
    stream, like, kinds = _looked_at(estimator, X, y)
    n_classes = len(getattr(estimator, "classes_", ()))
    estimator._rows_stay = True
    job = estimator._prepare(stream.n, stream.n_features, n_classes, None, sparse=False)
    del estimator._rows_stay
    _refuse_gathering(stream, job)
    if job.problem.adjacency.n_is_public:
        from privlearn.solvers._common.forecast import warn_of_few_rows

        warn_of_few_rows(job, stream.n)
    _rehearse(job, like, kinds, type(stream))
    charge = {
        "ledger": estimator.ledger,
        "dataset": estimator.dataset,
        "random_state": estimator.random_state,
    }
    with (
        on_a_large_table(True),
        charge_and_open(job.plan, job.budget, **charge) as release,
    ):
        if job.usable is not None:
            demand_usable(job.problem, stream.present, release)
            release.narrow(job.solver_plan)
        rows = bound_source(stream, job.problem, finite=like.finite)
        solution = job.solver.solve(job.problem, job.settings, rows, release)
    estimator._publish_model(solution)
    estimator.privacy_ = release.certificate()


def _refuse_unsupported(
    estimator: PrivateEstimator, X: object, sample_epsilon: object, groups: object
) -> None:
    """What has no form that reads rows in passes; all of it follows from parameters."""
    people = groups is not None or estimator.max_rows_per_person is not None
    schema = estimator.schema
    given = {
        "groups": (people, "leave it out, if nobody has several rows"),
        "sample_epsilon": (sample_epsilon is not None, "leave sample_epsilon out"),
        "a kernel": (hasattr(estimator, "n_components"), "use a linear model"),
        "intervals=True": (getattr(estimator, "intervals", False), "leave intervals out"),
        'schema="estimate"': (unlisted(schema).pending, OPEN),
    }
    for name, (there, instead) in given.items():
        if there:
            raise UnsupportedCombinationError(needs_memory(name, X, instead))


def _looked_at(
    estimator: PrivateEstimator, rows: object, y: object
) -> tuple[Stream, Table, tuple[str, ...]]:
    """The stream after its first pass; its kind as a table without rows; types of its columns."""
    source = source_of(rows, y)
    target, names = _target_of(source, y, estimator.schema)
    first = next((batch for batch in quiet(source.batches(names)) if batch.rows), None)
    public = Adjacency(estimator.adjacency).n_is_public
    if first is None:
        if not public:
            raise ValueError(
                "X holds no batch of rows, so nobody knows its columns; give at least one"
            )
        raise ValueError("X has 0 sample(s) (rows), while a minimum of 1 is required")
    labels = _labels(estimator, source, target, names)
    X, cells = _split(first, target)
    table = estimator._read(X, cells, labels)  # names, number and kinds of columns
    _refuse_open(estimator, rows)
    reader = _Reader(_without_secrets(estimator), target, labels)
    stream = _kind_of(source)(source, reader.piece, int(table.X.shape[1]), target, names)
    stream.look()
    reader.checks = False
    piece = reader.piece(first, target_only=False)
    kinds = tuple(sorted({column.dtype.str for column in piece.columns}))
    like = Table(np.empty((0, len(piece.columns))), piece.y[:0], piece.finite)
    return stream, like, kinds


def _kind_of(source: Source) -> type[Stream]:
    """How rows are gone through: here, or by tasks where they are."""
    if not isinstance(source, DaskSource):
        return Stream
    from privlearn._data.dask_stream import DaskStream

    return DaskStream


def _without_secrets(estimator: PrivateEstimator) -> PrivateEstimator:
    """The same for reading rows, which tasks on other machines may do."""
    bare = copy(estimator)
    for name in ("ledger", "dataset", "random_state"):
        setattr(bare, name, None)
    return bare


def _refuse_gathering(stream: Stream, job: Job) -> None:
    if isinstance(stream.source, DaskSource) and not job.solver.support.cluster:
        raise UnsupportedCombinationError(
            f"solver={job.solver.name!r} adds up rows one block after another, so it does not take "
            "arrays or frames of dask; use solver='auto', or read the rows into memory first with "
            "X.compute()"
        )


def _refuse_open(estimator: PrivateEstimator, X: object) -> None:
    encoding = getattr(estimator, "_encoding", None)
    if encoding is not None and encoding.pending:
        what = "a schema with columns whose kinds or categories are estimated"
        raise UnsupportedCombinationError(needs_memory(what, X, OPEN))


def _target_of(source: Source, y: object, schema: object) -> tuple[str | None, list[str] | None]:
    """The name of the target's column, where it is one, and those of all columns."""
    names = None if source.names is None else list(source.names)
    if isinstance(y, str):
        if names is not None:
            refuse_unknown(y, names, "y", "the target")
            refuse_target_in(schema, y)
        return y, names
    if names is not None:
        raise ValueError(
            f"y is a {type(y).__name__}, but where X stays on disk y is the name of one of its "
            'columns, as in fit(dataset, y="wage")'
        )
    return None, None


def _split(batch: Batch, target: str | None) -> tuple[Any, Any]:
    """X and y of a batch."""
    if target is None:
        return batch.X, batch.y
    return with_target(batch.X, target)


def _labels(
    estimator: Any,  # noqa: ANN401
    source: Source,
    target: str | None,
    names: list[str] | None,
) -> object:
    """Declared labels; or those of the target, found in a pass of its own; None for numbers."""
    declared = getattr(estimator, "classes", None)
    if declared is None or not isinstance(declared, str) or declared != "from_y":
        return declared
    if estimator.on_invalid == "drop":
        raise MissingFactError(
            "classes is missing, but of rows that stay on disk labels are not searched for with "
            "on_invalid='drop', for which of them are valid would follow from all rows; declare "
            "them, as in LogisticRegression(classes=[0, 1])"
        )
    found: NDArray[Any] | None = None
    own = [target] if target is not None and names is not None else names
    work = partial(_labels_of, target, estimator.on_invalid)
    told = source.told(work, own) if isinstance(source, DaskSource) else None
    for some in map(work, quiet(source.batches(own))) if told is None else told:
        if some is not None:
            found = some if found is None else np.unique(np.concatenate([found, some]))
            if len(found) > MOST_LABELS:
                raise ValueError(
                    f"y holds more than {MOST_LABELS} labels; declare them with classes=[...], or "
                    "use a regressor"
                )
    return declared if found is None else found


def _labels_of(target: str | None, on_invalid: str, batch: Batch) -> NDArray[Any] | None:
    """Labels of a batch that has rows."""
    return found_labels(_split(batch, target)[1], on_invalid) if batch.rows else None


@dataclass(eq=False)
class _Reader:
    """From batches to numbers, as the first batch was read; each batch on its own."""

    estimator: PrivateEstimator
    target: str | None
    labels: object
    checks: bool = True  # whether numbers are looked at: once is enough, digests see the rest

    def piece(self, batch: Batch, target_only: bool) -> Piece:
        """Numbers of a batch, or of its target alone."""
        strict = self.estimator.on_invalid == "raise"
        if native("pyarrow", batch.X, "RecordBatch"):
            if not hasattr(self.estimator, "_encoding") or target_only:
                y = self._arrow_target(batch.X, strict)
                columns = () if target_only else arrow_columns(batch.X, self.target)
                return self._checked(Piece(columns, y, strict))
            if has_columns(self.estimator._encoding, batch.X):
                return self._by_schema(batch.X, self.estimator._encoding, strict)
        X, cells = _split(batch, self.target)
        if target_only:
            return Piece((), self._numbers_of(cells, strict), strict)
        if self._is_plain(X):
            y = self._numbers_of(cells, strict)
            return self._checked(Piece(tuple(np.ascontiguousarray(X.T)), y, strict))
        table = self.estimator._read(X, cells, self.labels, reset=False)
        dense = table.X if isinstance(table.X, np.ndarray) else table.X.toarray()
        columns = tuple(np.ascontiguousarray(np.asarray(dense, dtype=np.float64).T))
        return Piece(columns, table.y, table.finite)

    def _by_schema(self, batch: pa.RecordBatch, encoding: Encoding, strict: bool) -> Piece:
        """Numbers of a batch of Arrow, of columns that a schema describes."""
        columns = encoded_columns(encoding, batch, strict=strict and self.checks)
        y = self._arrow_target(batch, strict)
        if self.checks and strict:
            refuse_not_finite("y", y, DROP, [self.target] if self.target else None)
        return Piece(columns, y, strict and not encoding.drops)

    def _is_plain(self, X: object) -> bool:
        """Whether X is numbers already, in as many columns as before."""
        return (
            isinstance(X, np.ndarray)
            and X.dtype in (np.float32, np.float64)
            and X.ndim == 2
            and X.shape[1] == self.estimator.n_features_in_
            and not hasattr(self.estimator, "_encoding")
        )

    def _arrow_target(self, batch: pa.RecordBatch, strict: bool) -> NDArray[Any]:
        """The target of a batch of Arrow as numbers."""
        if not isinstance(self.estimator, PrivateLinearClassifier):
            plain = arrow_numbers(batch, self.target)
            if plain is not None:
                return plain.astype(np.float64)
        return self._numbers_of(arrow_target(batch, self.target), strict)

    def _numbers_of(self, cells: object, strict: bool) -> NDArray[Any]:
        """The target as numbers, as `_read` makes them."""
        if isinstance(self.estimator, PrivateLinearClassifier):
            return self.estimator._encode(self.labels, cells)
        return target_numbers(cells, strict=strict, name=self.target)

    def _checked(self, piece: Piece) -> Piece:
        if self.checks and piece.finite:
            for column in piece.columns:
                refuse_not_finite("X", column, DROP)
            refuse_not_finite("y", piece.y, DROP, [self.target] if self.target else None)
        return piece


def _rehearse(job: Job, like: Table, kinds: tuple[str, ...], through: type[Stream]) -> None:
    """Run through a small problem whose rows are read in passes, too, or by tasks."""
    held = partial(_made_up, kinds, like.y.dtype, through)
    facts = job.solver, job.problem, job.settings, job.solver_plan, job.budget, like
    with on_a_large_table(True):
        rehearse(*facts, held=held, kind=(through.__name__, kinds, like.y.dtype.str, like.finite))


def _made_up(
    kinds: tuple[str, ...],
    of_y: np.dtype[Any],
    through: type[Stream],
    table: Table,
    small: Problem,
) -> SourceData:
    """Made-up rows as a stream, of the kinds of numbers that there are."""
    X, y = np.asarray(table.X), table.y.astype(of_y)

    def read(batch: Batch, target_only: bool) -> Piece:
        columns = tuple(
            np.array(column, dtype=kinds[j % len(kinds)]) for j, column in enumerate(batch.X.T)
        )
        own = y[batch.partition * (len(y) // 2) :][: batch.rows]
        return Piece(() if target_only else columns, own, table.finite)

    if through is Stream:
        stream: Stream = _HalfHeld(_Halves(X), read, X.shape[1])
    else:
        stream = through(_one_batch(X), read, X.shape[1])
    stream.look()
    return bound_source(stream, small, finite=table.finite)


class _HalfHeld(Stream):
    """As `Stream`: one half of the rows is held, and the other one read, whatever there is."""

    def keep(self, make: Callable[[Piece], Any], bytes_each: float, most: float) -> Kept | None:
        """The first half."""
        return super().keep(make, 1.0, float(self.n // 2))


def _one_batch(X: NDArray[Any]) -> Source:
    """Made-up rows of a cluster."""
    import dask.array as da

    whole = da.from_array(X, chunks=X.shape, name=False)
    return DaskSource(whole, whole[:, 0])


@dataclass(frozen=True, eq=False)
class _Halves:
    """Rows in memory as a source of two partitions."""

    X: NDArray[Any]
    first: int = 0
    names: None = None

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """All of them."""
        half = len(self.X) // 2
        yield from [Batch(0, self.X[:half]), Batch(1, self.X[half:])][self.first :]

    def after(self, first: int) -> Source:
        """The second half."""
        return replace(self, first=first)
