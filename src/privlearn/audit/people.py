"""Neighbours of which one person has several rows, and checks of what reaches a solver of them.

A record may be longer than what counts, its rows may lie anywhere, and its ids may be none: the
rows of all others that reach the solver must keep every bit, and nobody may bring more than counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.random import Generator

from privlearn.audit.adversary import Data, audited, base_data, most_rows, records
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.row_locality import rows_reached
from privlearn.audit.tape import Series, record

__all__ = ["check_people", "has_people"]


def has_people(model: Model) -> bool:
    """Whether people may have several rows, so that there is something to check."""
    return most_rows(model) is not None


def check_people(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Refute that people are protected with all their rows, or pass.

    Parameters
    ----------
    estimator : estimator
        One without `max_rows_per_person` passes.
    n_features : int
        Number of columns of the adversarial data.
    seed : int, default=0
        For the adversarial data and for reproducible choices.

    Examples
    --------
    >>> from privlearn import LinearRegression
    >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), max_rows_per_person=2)
    >>> check_people(model, n_features=2)
    """
    model = audited(estimator, on_invalid="drop", random_state=seed)
    if not has_people(model):
        return
    rng = np.random.default_rng(seed)
    for base in base_data(model, n_features, rng):
        before = _reached(model, base)
        for changed in _changes(model, base, n_features, rng):
            _compare(before, _reached(model, changed), base, changed)
    _check_batches(audited(estimator, random_state=seed), n_features, seed)


def _reached(model: Model, data: Data) -> list[list[bytes]]:
    """What each person, in order, brings to the solver; the fit ends there."""
    try:
        rows = rows_reached(model, data.X, data.y, **data.named)
    except Exception as error:
        refused = type(error).__name__
        raise AuditFailure(f"the whole fit is refused ({refused}): {data.story}") from None
    found = [
        x.tobytes() + y.tobytes() + there.tobytes()
        for block in rows.blocks()
        for x, y, there in zip(block.X, block.y, block.present, strict=True)
    ]
    starts = range(len(found) + 1) if rows.person_starts is None else rows.person_starts
    people = [found[first:last] for first, last in pairwise(starts)]
    most = most_rows(model) or 1
    if any(len(one) > most for one in people):
        raise AuditFailure(f"more than {most} rows of a person reach the solver: {data.story}")
    return people


def _changes(model: Model, base: Data, n_features: int, rng: Generator) -> Iterator[Data]:
    """The same people and one more, of whom nothing is known; who comes last, first, or between."""
    for k, one in enumerate(records(model, n_features, rng)):
        yield base.with_record(one, place=(None, 0)[k % 2])
    strange: tuple[object, ...] = (None, float("nan"), 2**60, (), "\ud800", "1")
    assert base.groups is not None
    for odd in strange:
        ids = [*base.groups.tolist(), odd]
        X, y = np.vstack([base.X, base.X[:1]]), np.append(base.y, base.y[0])
        groups = np.fromiter(ids, dtype=object, count=len(ids))
        yield replace(base, X=X, y=y, groups=groups, story=f"{base.story} and an odd id")


def _compare(
    before: list[list[bytes]], after: list[list[bytes]], base: Data, changed: Data
) -> None:
    """All but one of the people after must be those before, in their order, to the last bit."""
    told = f"{base.story} against {changed.story}"
    if len(after) not in (len(before), len(before) + 1):
        raise AuditFailure(f"one person changes how many people there are: {told}")
    first = next(
        (k for k, (one, two) in enumerate(zip(before, after, strict=False)) if one != two),
        len(before),
    )
    if before[first:] != after[first + len(after) - len(before) :]:
        raise AuditFailure(f"another person's rows are not the same: {told}")


def _check_batches(model: Model, n_features: int, seed: int) -> None:
    """Rows of one person are in the same batches, all of them, once."""
    _, data, _ = base_data(model, n_features, np.random.default_rng(seed))
    assert data.groups is not None
    _, first, place = np.unique(data.groups, return_index=True, return_inverse=True)
    owner = np.sort(np.argsort(np.argsort(first))[place])  # of rows, those of a person together
    tape = record(model, data.X, data.y, **data.named)
    for item in tape.made:
        if not isinstance(item, Series) or item.release.sampling.rate == 1.0:
            continue
        assert item.handed is not None
        rows, starts = item.handed
        for begin, end in pairwise(starts):
            times = np.bincount(rows[begin:end], minlength=len(owner))
            whole = np.bincount(owner, times)[owner] == np.bincount(owner)[owner] * times
            if times.max(initial=0) > 1 or not whole.all():
                raise AuditFailure(f"a batch of {item.release.name!r} has a part of a person")
