"""Does one row change what the other rows contribute?

The guarantee is about one row, so what a row contributes must depend on that row alone: not on the
type that its cells give to an array, not on a label of another kind, not on a missing cell. Here
one row is changed in every way that a container allows, and rows are put in and taken out, while
the bounded rows that reach the solver are watched. The others' must keep every bit, and no change
of one row may refuse the fit where invalid rows are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from privlearn._data.bounded import BoundedData, watch_rows
from privlearn._data.sparse import bounded_csr
from privlearn.audit.adversary import audited, few_rows, most_rows
from privlearn.audit.containers import Container, Row, containers, malformed
from privlearn.audit.protocols import AuditFailure, Model

__all__ = ["check_row_locality", "rows_reached"]


class _Reached(Exception):
    """Carries the rows out of a fit, which has then shown what is to be seen."""


def _stop(data: BoundedData) -> None:
    raise _Reached(data)


def check_row_locality(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Find a row that changes what others contribute, or pass.

    Parameters
    ----------
    estimator : estimator
        It is cloned, with ``on_invalid="drop"``.
    n_features : int
        Number of columns of the adversarial data.
    seed : int, default=0
        For the adversarial data.

    Examples
    --------
    >>> from privlearn import LinearRegression, audit
    >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1))
    >>> audit.check_row_locality(model, n_features=2)
    """
    model = audited(estimator, on_invalid="drop", random_state=seed)
    _declare_width(model, n_features)
    data = few_rows(model, n_features, seed)
    rows = [Row(tuple(map(float, x)), float(y)) for x, y in zip(data.X, data.y, strict=True)]
    for story, built in malformed(n_features):
        _demand_refusal(model, story, built)
    met = 0
    for container in containers(classifies=getattr(model, "classes", None) is not None):
        before = _contributions(model, container, rows)
        if before is None:
            continue  # such a container is refused as such
        met += 1
        for story, changed, others in _changes(container, rows):
            _compare(model, container, before, story, changed, others)
    if not met:
        raise AuditFailure("no container of rows can be fitted at all")


def _declare_width(model: Model, n_features: int) -> None:
    """The same box with a number per column: lists of rows need it, for theirs may differ."""
    box = getattr(model, "bounds_X", None)
    if box is not None:
        low, high = (np.broadcast_to(side, (n_features,)).tolist() for side in box)
        model.set_params(bounds_X=(low, high))


def _demand_refusal(model: Model, story: str, built: tuple[Any, Any]) -> None:
    """What is malformed as a whole must not reach a solver, whose loops trust column numbers."""
    try:
        _rows_reached(model, built)
    except ValueError:
        return
    except Exception as error:
        raise AuditFailure(f"{story} ends in {type(error).__name__}, not in a refusal") from None
    raise AuditFailure(f"{story} reached the solver")


def _changes(
    container: Container, rows: list[Row]
) -> Iterator[tuple[str, list[Row], list[tuple[int, int]]]]:
    """Rows with one of them changed, put in or taken out; and which others are which."""
    n = len(rows)
    for k, (story, row) in enumerate(container.odd_rows(rows[0])):
        place = (0, n // 2, n - 1)[k % 3]
        same = [(i, i) for i in range(n) if i != place]
        yield f"row {place} has {story}", [*rows[:place], row, *rows[place + 1 :]], same
    _, odd = next(iter(container.odd_rows(rows[0])), ("", rows[0]))
    for place in (0, n // 2):
        after = [(i, i + (i >= place)) for i in range(n)]
        yield f"a row is put in at {place}", [*rows[:place], odd, *rows[place:]], after
    for place in (0, n // 2):
        after = [(i, i - (i > place)) for i in range(n) if i != place]
        yield f"row {place} is taken out", rows[:place] + rows[place + 1 :], after


def _compare(
    model: Model,
    container: Container,
    before: list[bytes],
    story: str,
    changed: list[Row],
    others: list[tuple[int, int]],
) -> None:
    where = f"{container.name}, {story}"
    after = _contributions(model, container, changed, where)
    if after is None:
        return  # the container does not take such a row
    if len(after) != len(changed):
        raise AuditFailure(f"rows got lost: {where}")
    for old, new in others:
        if before[old] != after[new]:
            raise AuditFailure(f"another row contributes something else: {where}")


def _contributions(
    model: Model, container: Container, rows: list[Row], where: str | None = None
) -> list[bytes] | None:
    """What each row brings to the solver, as bytes; None where the container is refused.

    A refusal of rows of which one was changed is a failure, and `where` says of which.
    """
    built = container.build(rows)
    if built is None:
        return None
    try:
        reached = _rows_reached(model, built)
    except Exception as error:
        if where is None:
            return None
        refused = type(error).__name__
        raise AuditFailure(f"one row refuses the whole fit ({refused}): {where}") from None
    return _as_bytes(reached, where or container.name)


def _rows_reached(model: Model, built: tuple[Any, Any]) -> BoundedData:
    """The same for what a container was built to."""
    return rows_reached(model, *built, **_everyone(model, built))


def rows_reached(model: Model, X: object, y: object, **named: object) -> BoundedData:
    """The bounded rows as the solver gets them; the fit ends there."""
    try:
        with watch_rows(_stop):
            model.fit(X, y, **named)
    except _Reached as reached:
        data: BoundedData = reached.args[0]
        return data
    raise AuditFailure("a fit ended without rows")


def _everyone(model: Model, built: tuple[Any, Any]) -> dict[str, object]:
    """An id of its own for every row, where people may have several."""
    return {} if most_rows(model) is None else {"groups": np.arange(len(built[1]))}


def _as_bytes(data: BoundedData, where: str) -> list[bytes]:
    """Each row's cells, target and presence; present and empty rows must be told apart alike."""
    found: list[bytes] = []
    present = data.present()
    for rows in data.blocks():
        for x, y, there in zip(rows.X, rows.y, rows.present, strict=True):
            if bool(there) != bool(present[len(found)]) or not np.isfinite(x).all():
                raise AuditFailure(f"a row is empty in one place and not in another: {where}")
            found.append(x.tobytes() + y.tobytes() + there.tobytes())
    return _with_sparse(found, data) if data.sparse else found


def _with_sparse(found: list[bytes], data: BoundedData) -> list[bytes]:
    """The same with the sparse form of each row behind its dense one."""
    assert not isinstance(data.table.X, np.ndarray)
    rows = bounded_csr(data.table.X, data.bounds, data.fit_intercept, data.present())
    for place, (first, last) in enumerate(pairwise(rows.indptr)):
        columns = np.asarray(rows.indices[first:last], dtype=np.int64)
        found[place] += columns.tobytes() + rows.data[first:last].tobytes()
    return found
