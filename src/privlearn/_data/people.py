"""Who the rows belong to, and which of a person's rows count.

An id is compared by value, cell by cell: 1, 1.0 and True are one person, "1" is another one. A row
whose cell is no id is nobody's. Which rows of a person count follows from that person's own rows
and from a number that the Releaser draws, whatever others have and wherever they stand; the
guarantee holds for every such number (_core/people.md).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn._data.bounded import Table
from privlearn._data.labels import EXACT, plain_value
from privlearn._data.named_cells import series_name
from privlearn._data.reading import is_frame
from privlearn._data.targets import one_column

__all__ = ["People", "name_of_ids", "read_people", "rows_that_count"]

Indices = NDArray[np.int64]
Words = NDArray[np.uint64]
NOBODY = -1
SINGLE, HALF = 2.0**24, 2.0**11
ROUNDED = {"float32": SINGLE, "float": SINGLE, "complex64": SINGLE, "float16": HALF} | {
    name: HALF for name in ("halffloat", "half_float")
}


@dataclass(frozen=True, eq=False)
class People:
    """Whose each row is; all of it a secret but for the number of people, where that is public.

    Attributes
    ----------
    of_row : array of shape (n,)
        Numbers of people in the order in which they first come, -1 for rows that are nobody's.
    count : int
        Number of people.
    words : array of shape (count,)
        A word that depends on a person's id alone.
    name : str
        The public name of the column of ids, empty where it has none.
    """

    of_row: Indices
    count: int
    words: Words
    name: str = ""

    def room(self, table: Table) -> Table:
        """Memory for rows that count, as many as there are: asked for before anything is charged.

        Sparse rows get theirs when they are chosen.
        """
        X = np.empty(table.X.shape, table.X.dtype) if isinstance(table.X, np.ndarray) else table.X
        return replace(table, X=X, y=np.empty_like(table.y))

    def limited(self, table: Table, most: int, key: int, room: Table) -> Table:
        """The rows that count, those of one person side by side, people as they first came."""
        rows, starts = rows_that_count(self, most, key)
        several = starts if most > 1 else None  # else a row is a person
        if len(rows) == len(table.y) and bool(np.all(rows[1:] > rows[:-1])):
            return replace(table, people=None, person_starts=several)
        n, X = len(rows), table.X[rows] if room.X is table.X else room.X[: len(rows)]
        for start in range(0, n, BLOCK_ROWS):
            some = slice(start, start + BLOCK_ROWS)
            room.y[:n][some] = table.y[rows[some]]
            if room.X is not table.X:
                X[some] = table.X[rows[some]]
        return replace(table, X=X, y=room.y[:n], people=None, person_starts=several)


def read_people(groups: object, n: int, *, strict: bool) -> People:
    """Read the ids, one per row, or refuse; errors quote neither ids nor the number of rows.

    Parameters
    ----------
    groups : array-like
        Ids: lists, numpy, pandas, polars, Arrow.
    n : int
        Number of rows, which is a secret.
    strict : bool
        Whether a cell that is no id is refused, or left to be nobody's.
    """
    groups, name = _column_of(groups)
    cells = one_column(groups, strict=strict, what="groups")
    if len(cells) != n:
        raise ValueError("X and groups have inconsistent numbers of rows; give one id per row")
    exact = _exact_below(getattr(groups, "dtype", cells.dtype))
    if cells.dtype.kind in "biuf":
        keys, words = _by_value(cells, exact)
    else:
        ids = [_id_of(cell, exact) for cell in cells.tolist()]
        if strict:
            _refuse_mixed(ids)
        keys, words = _by_cell(ids)
    if strict and bool(np.any(keys == NOBODY)):
        raise ValueError(
            "groups holds None, NaN or something else that is no id: an id is text, a UUID or a "
            "number below 2^53 in size, or below 2^24 in single and 2^11 in half precision, which "
            "round larger ones; give larger numbers as text, take out rows without an id (spelled "
            "'nan', they would be one person's), or pass on_invalid='drop': such rows then count "
            "for nothing"
        )
    of_row, order = _as_they_come(keys)
    return People(of_row, len(order), words[order], name)


def name_of_ids(groups: Any) -> str:  # noqa: ANN401
    """The public name of the column of ids; empty where it has none."""
    return "" if groups is None else _column_of(groups)[1]


def _column_of(groups: Any) -> tuple[Any, str]:  # noqa: ANN401
    """The only column of a data frame, or what else holds ids; and its name, empty if it has none.

    A name of another kind than text is none: a file spells it in its own way.
    """
    name = None
    if not isinstance(groups, np.ndarray) and is_frame(groups):
        import narwhals.stable.v1 as nw

        frame = nw.from_native(groups, eager_only=True)
        if len(frame.columns) == 1:
            name = frame.columns[0]
            groups = frame.get_column(name).to_native()
    else:
        name = series_name(groups)
    return groups, name if isinstance(name, str) else ""


def _exact_below(kind: object) -> float:
    """Up to where a container tells whole numbers apart; beyond, it rounds ids to one another."""
    return ROUNDED.get(str(kind).lower().removesuffix("[pyarrow]"), EXACT)


def _id_of(cell: Any, exact: float) -> Any:  # noqa: ANN401
    """An id as a plain Python value, None where a cell is no id."""
    if issubclass(type(cell), UUID):  # not what the cell says that it is: its error may quote it
        try:
            return UUID.__str__(cell)
        except Exception:  # a subclass may do anything, and its error may quote it
            return None
    if issubclass(type(cell), np.generic | np.ndarray):
        exact = min(exact, _exact_below(cell.dtype))
    key = plain_value(cell)
    rounded = key is not None and not isinstance(key, str | bytes) and not abs(key) < exact
    return None if rounded else key


def _refuse_mixed(ids: list[Any]) -> None:
    """Refuse numbers beside text: somebody may be spelled in both ways, and would be two people."""
    kinds = {kind if kind in (str, bytes) else float for kind in set(map(type, ids)) - {type(None)}}
    if len(kinds) > 1:
        raise ValueError(
            "groups holds text beside other ids, but 1 and '1' are different people, each of whom "
            "would be protected alone; spell all ids alike, for example as text"
        )


def _by_value(cells: NDArray[Any], exact: float) -> tuple[Indices, Words]:
    """Numbers: the place of each among the distinct ones, and a word for each of those."""
    with np.errstate(all="ignore"):
        values = cells.astype(np.float64)
        there = (np.abs(values) < exact) & (values == cells)  # neither NaN nor rounded
    distinct, places = np.unique(values[there] + 0.0, return_inverse=True)
    keys = np.full(len(values), NOBODY, dtype=np.int64)
    keys[there] = places
    return keys, _mixed(distinct.view(np.uint64))


def _by_cell(ids: list[Any]) -> tuple[Indices, Words]:
    """The same for ids of any kind, one by one."""
    known: dict[Any, int] = {}
    keys = np.full(len(ids), NOBODY, dtype=np.int64)
    for place, key in enumerate(ids):
        if key is not None:
            keys[place] = known.setdefault(key, len(known))
    return keys, np.fromiter(map(_word, known), np.uint64, len(known))


def _word(key: object) -> int:
    """Equal ids have equal words."""
    if isinstance(key, str | bytes):
        spelled = key if isinstance(key, bytes) else key.encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(spelled, digest_size=8).digest(), "little")
    value = np.array([key], dtype=np.float64) + 0.0
    return int(_mixed(value.view(np.uint64))[0])


def _as_they_come(keys: Indices) -> tuple[Indices, Indices]:
    """Numbers of people by the first row of each, and which key has which number."""
    there = keys != NOBODY
    distinct, first, places = np.unique(keys[there], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    of_row = np.full(len(keys), NOBODY, dtype=np.int64)
    of_row[there] = number[places]
    return of_row, distinct[order]


def rows_that_count(people: People, most: int, key: int) -> tuple[Indices, Indices]:
    """At most so many rows of each person, and where each person's begin; in order of people.

    Of a person with more, the rows with the smallest marks count. A mark follows from the key, the
    person's own id and the row's place among the person's own rows.

    Parameters
    ----------
    people : People
        Whose each row is.
    most : int
        How many rows of one person count.
    key : int
        A 64-bit number that nothing about the data decided.
    """
    order = np.argsort(people.of_row, kind="stable")
    order = order[int(np.sum(people.of_row == NOBODY)) :]
    owner = people.of_row[order]
    sizes = np.bincount(owner, minlength=people.count)
    if int(sizes.max(initial=0)) > most:
        starts = np.concatenate([[0], np.cumsum(sizes)])
        place = np.arange(len(owner)) - starts[owner]
        marks = _marks(people.words[owner], place, key)
        ranked = np.lexsort((marks, owner))  # of each person's own, in the same stretch
        kept = np.sort(ranked[place < most])
        order, sizes = order[kept], np.minimum(sizes, most)
    return order, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _marks(words: Words, place: Indices, key: int) -> Words:
    return _mixed(_mixed(words ^ np.uint64(key)) + place.astype(np.uint64))


def _mixed(words: Words) -> Words:
    """SplitMix64 (Steele, Lea, Flood 2014): a bijection of words that looks random."""
    z = words + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
