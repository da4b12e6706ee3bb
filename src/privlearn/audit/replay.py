"""Replay: does any statistic move further between neighbours than its plan declares?

Record the released values on D, run again on a neighbour D' that gets D's *released* values and
the same sampling bits, and compare every statistic before noise. A later statistic may depend on
earlier releases, so feeding them back isolates what the one person moves. Once all releases are the
same, the published model must be, to the last bit: whatever differs came from the data directly.
"""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np
from numpy.typing import NDArray

from privlearn._core.mechanisms import Kind
from privlearn._core.numerics import round_to_grid
from privlearn._core.plan import Plan
from privlearn.audit.adversary import CONTAINERS, audited, neighbourhoods
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.tape import Entry, Tape, record, replay_on

__all__ = ["check_replay", "moved", "ranks_moved"]

Array = NDArray[np.float64]
# Where all visits of the row come together, as a share of the draws; None leaves them as drawn.
VISITS = (None, 0.5, 0.65, 0.8, 0.95)


def moved(plan: Plan, first: Entry, second: Entry) -> float:
    """Distance between two statistics on the release's grid, in the release's norm."""
    if first.release.mechanism.kind is Kind.DRAW:
        return ranks_moved(first.statistic, second.statistic)
    grid = plan.grid(first.release)
    one, other = first.statistic, second.statistic
    if first.release.mechanism.kind is Kind.LIST:
        one, other = _of_all_values(first, second)
    units = round_to_grid(one, grid) - round_to_grid(other, grid)
    order = first.release.norm.exponent
    return float(np.linalg.norm(units.ravel().astype(np.float64), ord=order)) * grid


def _of_all_values(first: Entry, second: Entry) -> tuple[Array, Array]:
    """Counts of the values that either holds, 0 where it does not."""
    counts = [dict(zip(each.keys, each.statistic, strict=True)) for each in (first, second)]
    keys = {**counts[0], **counts[1]}
    one, other = (np.array([each.get(key, 0.0) for key in keys]) for each in counts)
    return one, other


def ranks_moved(ordered: Array, other: Array) -> float:
    """By how many places values in order moved, at most, in any column.

    The i-th smallest of `other` must lie between the (i - k)-th and the (i + k)-th of `ordered`;
    where k values were exchanged, it does.
    """
    if ordered.shape != other.shape:
        return np.inf
    place = np.arange(1, len(ordered) + 1)
    most = 0
    for column, values in zip(ordered.T, other.T, strict=True):
        below = np.searchsorted(column, values, side="left")
        not_above = np.searchsorted(column, values, side="right")
        most = max(most, int(np.max(place - not_above)), int(np.max(below + 1 - place)))
    return float(most)


def check_replay(
    estimator: Model, *, n_features: int, seed: int = 0, first: int = 0, every: int = 1
) -> None:
    """Refute the declared sensitivities with adversarial neighbours, or pass.

    With `every` it looks at every so many-th data set alone, from the `first` on: quicker, and
    weaker.
    """
    rng = np.random.default_rng(seed)
    model = audited(estimator, on_invalid="drop", random_state=seed)
    # Rows of a stream have places of their own, so that only the last can come or go.
    at_end = bool(getattr(estimator, "rows_have_places", False))
    pairs = neighbourhoods(model, n_features, rng, at_end=at_end)
    chosen = islice(pairs, first, None, every)
    places = zip(cycle(CONTAINERS), cycle(VISITS), chosen, strict=False)
    for container, gather, (data, neighbours) in places:
        held = data.held_in(container)
        tape = record(model, held.X, held.y, place=data.place, gather=gather, **data.named)
        for other in neighbours:
            again = replay_on(tape, model, other.held_in(container).X, other.y, **other.named)
            _compare(tape, again, f"{held.story} against {other.story}")


def _compare(tape: Tape, again: Tape, story: str) -> None:
    if tape.plan != again.plan:
        raise AuditFailure(f"the plan depends on the data: {story}")
    if len(tape.entries) != len(again.entries):
        raise AuditFailure(f"the number of releases depends on the data: {story}")
    for first, second in zip(tape.entries, again.entries, strict=True):
        distance = moved(tape.plan, first, second)
        declared = tape.plan.sensitivity(first.release, _visits(first))
        if not distance <= declared:
            raise AuditFailure(
                f"{first.release.name!r} moved by {distance:.10g}, declared is {declared:.10g}: "
                f"{story}"
            )
    _compare_models(tape, again, story)


def _visits(entry: Entry) -> int:
    """How often a row may come: as declared where that is certain, else as often as it did."""
    law = entry.release.sampling.visits
    return law[0][0] if law is not None and len(law) == 1 else entry.row_came


def _compare_models(tape: Tape, again: Tape, story: str) -> None:
    """The same releases must give the same bits in every fitted attribute."""
    if tape.published.keys() != again.published.keys():
        raise AuditFailure(f"which attributes are published depends on the data: {story}")
    for name, first in tape.published.items():
        second = again.published[name]
        if first.shape != second.shape or first.tobytes() != second.tobytes():
            raise AuditFailure(f"{name} differs although every released value is the same: {story}")
