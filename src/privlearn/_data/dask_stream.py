"""Passes over partitions of dask: each adds up in tasks where rows are, and by a tree of tasks.

What a task says is a sum of whole numbers, so the total has the same bits however rows are cut into
partitions, whoever adds them, and however often a lost worker's share is computed again. Nothing is
released here: noise is added to the total, once, by the client's Releaser. Beside its sum a task
says a digest of the rows that it saw (stream.py), and both travel behind masks (masked.py).
Digests of partitions are added up, each times an odd number of its own, so that the client compares
one for each column. A task raises nothing: errors quote cells, and dask logs them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from privlearn._core.jit import on_a_large_table
from privlearn._core.numerics import MAX_ROWS
from privlearn._core.version import __version__
from privlearn._data import dask_source, loops
from privlearn._data.dask_source import DaskSource, slices
from privlearn._data.masked import (
    DamagedError,
    Words,
    as_words,
    checked,
    from_words,
    mask,
    opened,
    stamped,
    total_mask,
)
from privlearn._data.quiet import quietly
from privlearn._data.sources import Batch
from privlearn._data.stream import Piece, Read, Stream, added, changed, digests
from privlearn.exceptions import PlanViolationError, SourceChangedError

if TYPE_CHECKING:
    from dask.delayed import Delayed

__all__ = ["DaskStream"]

T = TypeVar("T")
BRANCHES = 16  # of the tree that adds up
PART_OF_MEMORY = 0.3  # of a cluster, for rows as a solver wants them


class DaskStream(Stream):
    """As `Stream`, by tasks."""

    _digest: Words  # of all partitions

    def look(self) -> None:
        """The first pass: refuse, count, remember digests; our own errors are told as they are."""
        self.passes += 1
        zero = np.zeros(2, np.int64)
        task = _Task(self.read, _counted, zero, self.n_features, tells=True)
        found = quietly(lambda: self._pass(task))
        if isinstance(found, Exception):
            raise found from None
        self._digest, counts = found
        self.n, self.present = (int(one) for one in counts)
        if self.n > MAX_ROWS:
            raise ValueError(f"X has more than {MAX_ROWS} rows, the most that is supported")

    def results(self, work: Callable[[Piece], T], *, target_only: bool = False) -> Iterator[T]:
        """Refuse: what is not added up stays where it is."""
        raise PlanViolationError("rows of a cluster were asked for, not sums: a solver bug")

    def total(self, work: Callable[[Piece], T], zero: T, *, target_only: bool = False) -> T:
        """The sum of what `work` makes of pieces, in one pass."""
        task = _Task(self.read, work, zero, self.n_features, target_only)
        return self._checked(lambda: self._pass(task), zero, target_only=target_only)

    def keep(self, make: Callable[[Piece], T], bytes_each: float, most: float) -> _Kept | None:
        """What `make` makes of pieces, held where they are; None where there is no room."""
        if self.n * bytes_each > PART_OF_MEMORY * _memory():
            return None
        import dask

        assert isinstance(self.source, DaskSource)
        key = dask_source.fresh_key()
        held = _Hold(self.read, make, self.n_features)
        parts = dask_source.tasks("rows", key, held, self.source.parts(self.columns))
        return _Kept(self, list(dask.persist(*parts, traverse=False)))

    def _pass(self, task: _Task) -> tuple[Words, Any] | Exception:
        """Digests and sums of all partitions."""
        assert isinstance(self.source, DaskSource)
        alone = task.target_only and self.target is not None
        names = [self.target] if alone and self.target is not None else self.columns
        parts = self.source.parts(names, target_only=task.target_only)
        run = partial(_run, task)
        return _added_up(run, parts, task.zero, self.n_features, tells=task.tells)

    def _checked(
        self, run: Callable[[], tuple[Words, Any] | Exception], zero: T, *, target_only: bool
    ) -> T:
        """A later pass: what stops it is told by its kind, and rows must be as at first."""
        self.passes += 1
        found: tuple[Words, Any] | BaseException
        try:
            found = run()
        except (MemoryError, KeyboardInterrupt, SystemExit, PlanViolationError):
            raise
        except BaseException as error:  # of dask: workers that are lost again and again
            found = error
        if isinstance(found, BaseException):
            kind = str(found) if isinstance(found, _Stopped) else type(found).__name__
            raise SourceChangedError(changed(f"could not be read again ({kind})"))
        digest, result = found
        own = [0, -1] if target_only else slice(None)
        if not np.array_equal(digest[own], self._digest[own]):
            raise SourceChangedError(changed("changed between two passes"))
        return result


@dataclass(frozen=True, eq=False)
class _Kept:
    """Rows as a solver wants them, where they are; a lost worker's are made again by dask."""

    stream: DaskStream
    parts: list[Delayed]

    def total(
        self, work: Callable[[Any], T], zero: T, rest: Callable[[Piece], T] | None = None
    ) -> T:
        """The sum of what `work` makes of them: all are held."""
        parts = [(part, None) for part in self.parts]
        width = self.stream.n_features
        run = partial(_added_up, partial(_run_on_held, work, zero), parts, zero, width)
        return self.stream._checked(run, zero, target_only=False)


Answer = tuple[Words, Any]  # rows and digests of a partition, and its sum


@dataclass(frozen=True, eq=False, repr=False)
class _Task:
    """What is done with each piece of a partition."""

    read: Read
    work: Callable[[Piece], Any]
    zero: Any
    n_features: int
    target_only: bool = False
    tells: bool = False  # whether an error says more than its kind
    version: str = __version__

    def pieces(self, batch: Batch) -> Iterator[tuple[Words, Piece]]:
        """Rows and digests of pieces, and the pieces."""
        if self.version != __version__:
            raise ValueError(
                f"privlearn is {self.version} here and {__version__} on a worker; install the same"
            )
        first = 0
        for some in slices(batch):
            piece = self.read(some, self.target_only)
            if len(piece.y) != some.rows or (batch.y is not None and len(batch.y) != batch.rows):
                raise ValueError(
                    "X and y of a partition have inconsistent numbers of samples; give one y per "
                    "row"
                )
            sums = digests(piece, first, self.n_features)
            first += some.rows
            yield np.append(np.uint64(some.rows), sums), piece


def _run(task: _Task, X: Any, y: Any, place: int) -> Answer:  # noqa: ANN401
    """All pieces of a partition."""
    digest, total = np.zeros(task.n_features + 2, np.uint64), task.zero
    for own, piece in task.pieces(Batch(place, X, y)):
        digest += own
        total = added(total, task.work(piece))
    return digest, total


@dataclass(frozen=True, eq=False, repr=False)
class _Hold:
    """A task that makes rows of a partition what a solver wants, and holds them."""

    read: Read
    make: Callable[[Piece], Any]
    n_features: int

    def __call__(self, X: Any, y: Any, place: int) -> tuple[Words, list[Any]] | bytes:  # noqa: ANN401
        task = _Task(self.read, self.make, None, self.n_features)
        try:
            with on_a_large_table(True):
                found = [(own, self.make(piece)) for own, piece in task.pieces(Batch(place, X, y))]
        except Exception as error:
            return type(error).__name__.encode()
        digest = sum((own for own, _ in found), np.zeros(self.n_features + 2, np.uint64))
        return digest, [made for _, made in found]


def _run_on_held(
    work: Callable[[Any], Any],
    zero: Any,  # noqa: ANN401
    held: tuple[Words, list[Any]] | bytes,
    _: None,
    place: int,
) -> Answer:
    if isinstance(held, bytes):
        raise _Stopped(held.decode())
    digest, total = held[0], zero
    for made in held[1]:
        total = added(total, work(made))
    return digest, total


class _Stopped(RuntimeError):
    """What a task raised, by name."""


def _counted(piece: Piece) -> Any:  # noqa: ANN401
    """Rows, and those that are not empty."""
    present = len(piece.y) if piece.finite else int(piece.table().present().sum())
    return np.array([len(piece.y), present])


def _added_up(
    run: Callable[..., Answer],
    parts: Sequence[dask_source.Part],
    zero: Any,  # noqa: ANN401
    n_features: int,
    *,
    tells: bool = False,
) -> tuple[Words, Any] | Exception:
    """One pass: masked answers of all partitions, added up by a tree of tasks."""
    key = dask_source.fresh_key()
    there = dask_source.tasks("sum", key, _Masked(run, key, tells), parts)
    (found,) = dask_source.compute([_tree(there, key)])
    if isinstance(found, tuple):
        return _error_of(key, *found)
    masked = checked(key, found)
    words, head = masked - total_mask(key, range(len(parts)), len(masked)), n_features + 3
    if int(words[0]) != len(parts):
        raise PlanViolationError("a partition was lost or counted twice: nothing was released")
    return words[1:head], from_words(words[head:], zero)


def _error_of(key: bytes, place: int, answer: bytes) -> Exception:
    kind, error = opened(key, place, answer)
    assert kind == "error"
    return error if isinstance(error, Exception) else RuntimeError(kind)


Travels = bytes | tuple[int, bytes]  # masked words, or where something went wrong, and what
ADDING = 2**63  # in the place of a partition's number


@dataclass(frozen=True, eq=False, repr=False)
class _Masked:
    """A task whose answer nobody can read on its way: 1, digests, sums."""

    run: Callable[..., Answer]
    key: bytes
    tells: bool

    def __call__(self, X: Any, y: Any, place: int) -> Travels:  # noqa: ANN401
        try:
            with on_a_large_table(True), np.errstate(all="ignore"):
                digest, total = self.run(X, y, place)
            words = np.concatenate([[np.uint64(1)], digest * _odd(place), as_words(total)])
        except Exception as error:
            told = error if self.tells else _Stopped(type(error).__name__)
            return place, dask_source.sealed_error(self.key, place, told)
        return stamped(self.key, words + mask(self.key, place, len(words)))


def _odd(place: int) -> np.uint64:
    """A number of a partition's own."""
    weight = np.empty(1, np.uint64)
    loops.write_weights(place, weight)
    return np.uint64(weight[0])


def _tree(there: list[Delayed], key: bytes) -> Delayed:
    """The task that has the sum of all."""
    from dask import delayed

    token = hashlib.sha256(b"tree" + key).hexdigest()[:32]
    call = delayed(_Add(key), name=f"privlearn-add-{token}", pure=False, traverse=False)
    level = 0
    while level == 0 or len(there) > 1:
        there = [
            call(*there[k : k + BRANCHES], dask_key_name=f"privlearn-add-{token}-{level}-{k}")
            for k in range(0, len(there), BRANCHES)
        ]
        level += 1
    return there[0]


@dataclass(frozen=True, eq=False, repr=False)
class _Add:
    """Masked words added up modulo 2^64, or the first thing that went wrong."""

    key: bytes

    def __call__(self, *some: Travels) -> Travels:
        total = np.zeros(1, np.uint64)
        for one in some:
            if isinstance(one, tuple):
                return one
            try:
                total = total + checked(self.key, one)
            except DamagedError as error:
                return ADDING, dask_source.sealed_error(self.key, ADDING, error)
        return stamped(self.key, total)


def _memory() -> float:
    """Bytes of all workers, or of this machine; 0 where nobody says."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    if client is None or not hasattr(client, "scheduler_info"):
        from distributed.system import MEMORY_LIMIT

        return float(MEMORY_LIMIT)
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # an older one tells of all
        workers = client.scheduler_info()["workers"]
    return float(sum(worker["memory_limit"] or 0 for worker in workers.values()))
