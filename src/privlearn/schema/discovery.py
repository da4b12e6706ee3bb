"""Kinds and lists of columns, estimated privately inside a fit: two planned releases at most.

First how many cells of each unknown column can be read as what, then which values of the columns
that are lists are frequent. All but the counting is post-processing; the proof is discovery.md.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.mechanisms.frequent import FrequentValues
from privlearn._core.norms import ONE_BIN
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.releaser import Releaser
from privlearn.schema.categories import Category
from privlearn.schema.encoding import Array, Column, Encoding
from privlearn.schema.estimate import Estimate
from privlearn.schema.kinds import Date, Flag, Kind, Number
from privlearn.schema.parsing import as_text
from privlearn.schema.raw import (
    BINS,
    MISSING,
    READ,
    WORD,
    RawRows,
    count_bins,
    count_values,
)

__all__ = ["KINDS", "LISTS", "METHOD", "Discovery", "kind_by"]

KINDS, LISTS = "cells by what they can be read as", "frequent values of lists"
METHOD = "kinds and lists of columns estimated privately from counts"
# Shares of the budget (in mu^2), and of its delta (derive/discovery.py).
KINDS_SHARE, LISTS_SHARE, FAILURE = 0.02, 0.10, 0.10
PLAIN = Number()
MOSTLY = 0.8  # of the cells that are there: as what they can be read decides the kind
RARELY, HIDDEN = 0.01, 4.0  # missing cells that get no column: of all, or in deviations of noise


@dataclass(frozen=True)
class Discovery:
    """What is to be estimated about columns before rows can be encoded; all of it public.

    Attributes
    ----------
    unknown : int
        Columns whose kind is estimated.
    lists : int
        Columns that may turn out to be lists, or are.
    most : int
        The most values that are published of one of them.
    delta : float
        Probability with which a value of one person may be published.
    """

    unknown: int
    lists: int
    most: int
    delta: float

    @classmethod
    def of(cls, encoding: Encoding, budget: Budget) -> Discovery:
        """What the columns leave open."""
        kinds = [column.kind for column in encoding.columns if column.kind.pending]
        unknown = sum(isinstance(kind, Estimate) for kind in kinds)
        most = max(getattr(kind, "max_categories", 1) for kind in kinds)
        return cls(unknown, len(kinds), most, FAILURE * budget.delta)

    def releases(self) -> list[tuple[Release, float]]:
        """Planned releases with their shares of the budget."""
        shape, mechanism = (self.lists, self.most), FrequentValues(self.delta)
        # A row is one value of each column.
        lists = Release(LISTS, shape, math.sqrt(self.lists), ONE_BIN, mechanism)
        if not self.unknown:
            return [(lists, LISTS_SHARE)]
        kinds = Release(KINDS, (self.unknown, BINS), math.sqrt(self.unknown), ONE_BIN)
        return [(kinds, KINDS_SHARE), (lists, LISTS_SHARE)]

    def run(self, rows: RawRows, present: NDArray[np.bool_], release: Releaser) -> Encoding:
        """Columns as what was released tells; rows that are not present count for nothing."""
        kinds = {column.name: column.kind for column in rows.encoding.columns}
        if self.unknown:
            names, counts = count_bins(rows, present)
            noisy = release(KINDS, counts, clip=math.sqrt(self.unknown))
            noise = release.noise_scale(KINDS)
            most = {name: getattr(kinds[name], "max_categories", 1) for name in names}
            written = {name: getattr(kinds[name], "number", PLAIN) for name in names}
            for name, found in zip(names, noisy, strict=True):
                kinds[name] = kind_by(found, noise, most[name], written[name])
        pending = [kind for kind in kinds.values() if kind.pending]
        if pending:
            release.narrow(_of(len(pending), release.plan))
            there = count_values(rows, kinds, present)
            published = release.publish(LISTS, there, clip=math.sqrt(len(pending)))
            kinds = {name: _listed(name, kind, published) for name, kind in kinds.items()}
        columns = (Column(column.name, kinds[column.name]) for column in rows.encoding.columns)
        return Encoding(tuple(columns), rows.encoding.shifted)


def _of(columns: int, plan: Plan) -> Plan:
    """The plan of the lists alone, of so many columns, with the noise that was planned for them."""
    planned = next(one for one in plan.releases if one.name == LISTS)
    shape = columns, planned.shape[1]
    return replace(plan, releases=(replace(planned, shape=shape, clip=math.sqrt(columns)),))


def kind_by(counts: Array, noise: float, most: int, written: Number = PLAIN) -> Kind:
    """What a column is, by noisy counts of what its cells can be read as.

    Parameters
    ----------
    counts : array of shape (6,)
        Noisy: missing, 0 or 1, other numbers, words such as yes, dates, other texts.
    noise : float
        Standard deviation of the noise on a count.
    most : int
        The most values of a list.
    written : Number, default=Number()
        How numbers are written.

    Examples
    --------
    >>> kind_by(np.array([0.0, 9.0, 4.0, 9_000.0, -8.0, 12.0]), 10.0, 20)
    Flag(missing='fill')
    >>> kind_by(np.array([900.0, 2.0, 9.0, 3.0, -8.0, 9_000.0]), 10.0, 20)
    Category(missing='flag')
    """
    there = max(float(counts[MISSING + 1 :].sum()), 1.0)
    share = {kind: float(counts[list(bins)].sum()) / there for kind, bins in READ.items()}
    words = float(counts[WORD]) / there
    kinds = (Flag, words >= MOSTLY / 2), (Number, True), (Date, True)
    for kind, possible in kinds:
        if possible and share[kind] >= MOSTLY:
            unread = [place for place in range(BINS) if place not in READ[kind]]
            missing = _missing(counts, unread, noise)
            return replace(written, missing=missing) if kind is Number else kind(missing=missing)
    return Category(missing=_missing(counts, [MISSING], noise), max_categories=most)


def _missing(counts: Array, unread: list[int], noise: float) -> str:
    """Whether cells that are not of the kind are so many that a column tells where they are."""
    found, hidden = float(counts[unread].sum()), HIDDEN * noise * math.sqrt(len(unread))
    return "flag" if found > max(hidden, RARELY * float(counts.sum())) else "fill"


def _listed(name: str, kind: Kind, published: Mapping[Any, float]) -> Kind:
    """A list of the most frequent of its values, as they were published."""
    if not (isinstance(kind, Category) and kind.pending):
        return kind
    own = [(-count, text, value) for (n, text, value), count in published.items() if n == name]
    values = [str(as_text(value)) for _, _, value in sorted(own)[: kind.max_categories]]
    return replace(kind, values=tuple(values), other=True)
