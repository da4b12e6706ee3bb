"""Releasers that record what a fit releases, and feed recorded values back."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.releaser import ReleaseBatch, Releaser, use_releaser
from privlearn._core.sampling import Batches, Disjoint
from privlearn.audit.failure import AuditFailure

__all__ = ["Deal", "Entry", "Tape", "record", "remapped", "replay_on"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Entry:
    """One release: its declaration, the statistic without noise, and what left."""

    release: Release
    statistic: Array
    released: Array
    row_came: int = 1  # how often the row that differs did, where a sampler lets rows come often


@dataclass(frozen=True, eq=False)
class Series:
    """Several releases that a compiled loop makes; it fills the arrays of `steps`.

    `place` is the number of the row that differs between neighbours; None is the last.
    """

    release: Release
    steps: ReleaseBatch
    place: int | None = None

    def entries(self) -> list[Entry]:
        """One entry per release."""
        shape, rows = self.release.shape, self.steps.batches.rows
        place = rows.max(initial=0) if self.place is None else self.place
        came = int(np.sum(rows == place)) if len(self.steps.statistics) == 1 else 1
        pairs = zip(self.steps.statistics, self.steps.released, strict=True)
        return [Entry(self.release, a.reshape(shape), b.reshape(shape), came) for a, b in pairs]


@dataclass(frozen=True, eq=False)
class Deal:
    """Rows that were dealt to groups: nothing left, but a replay must deal them alike."""

    sampling: Disjoint
    batches: Batches


@dataclass(eq=False)
class Tape:
    """Everything that one fit released, in order, with its plan and its model."""

    plan: Plan | None = None
    made: list[Entry | Series | Deal] = field(default_factory=list)
    published: dict[str, NDArray[Any]] = field(default_factory=dict)
    place: int | None = None

    @property
    def entries(self) -> list[Entry]:
        """One entry per release, once the fit is over."""
        return [
            entry
            for item in self.made
            if not isinstance(item, Deal)
            for entry in (item.entries() if isinstance(item, Series) else [item])
        ]


def _recording(steps: ReleaseBatch) -> ReleaseBatch:
    """The same steps with room for what the loop computes."""
    room = steps.noise.shape
    return steps._replace(statistics=np.full(room, np.nan), released=np.full(room, np.nan))


def _among(batches: Batches, n: int) -> Batches:
    """The batches without rows that the neighbour does not have."""
    there = batches.rows < n
    before = np.concatenate([[0], np.cumsum(there)])
    return Batches(batches.rows[there], before[batches.starts])


def remapped(batches: Batches, removed: int) -> Batches:
    """The batches of a neighbour that lacks the row `removed`; later rows move up by one.

    Examples
    --------
    >>> remapped(Batches(np.array([0, 2, 1]), np.array([0, 2, 3])), 1)
    Batches(rows=array([0, 1]), starts=array([0, 2, 2]))
    """
    there = batches.rows != removed
    before = np.concatenate([[0], np.cumsum(there)])
    rows = batches.rows[there]
    return Batches(rows - (rows > removed), before[batches.starts])


def _of_neighbour(batches: Batches, n: int, place: int | None) -> Batches:
    """Recorded batches for a neighbour of `n` rows, who may lack the row at `place`, or the last.

    Rows are numbered within what is drawn from, so a place only counts where all rows are.
    """
    if place is None or int(batches.rows.max(initial=-1)) < n:
        return _among(batches, n)
    return remapped(batches, place)


def _published(estimator: Any) -> dict[str, NDArray[Any]]:  # noqa: ANN401
    """Copies of the fitted attributes but for the certificate, which repeats the plan."""
    fitted = {name: value for name, value in vars(estimator).items() if name.endswith("_")}
    return {name: _content(value) for name, value in fitted.items() if name != "privacy_"}


def _content(value: Any) -> NDArray[Any]:  # noqa: ANN401
    """Numbers as they are, other objects as the bytes of what they hold, not of where they are."""
    array = np.array(value)
    return array if array.dtype != object else np.frombuffer(pickle.dumps(value), dtype=np.uint8)


def _fit(estimator: Any, X: Any, y: Any, sample_epsilon: Array | None) -> None:  # noqa: ANN401
    """Fit, with a level per person where they are given; not every estimator takes them."""
    levels = {} if sample_epsilon is None else {"sample_epsilon": sample_epsilon}
    estimator.fit(X, y, **levels)


def record(
    estimator: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    sample_epsilon: Array | None = None,
    place: int | None = None,
) -> Tape:
    """Fit for real, and keep the statistics without noise beside what was released.

    `place` is the row in which neighbours will differ; None is the last.
    """
    tape = Tape(place=place)

    class Recorder(Releaser):
        def __init__(self, plan: Plan, budget: Budget, seed: int | None = None) -> None:
            super().__init__(plan, budget, seed)
            tape.plan = plan

        def _emit(self, release: Release, statistic: Array) -> Array:
            released = super()._emit(release, statistic)
            tape.made.append(Entry(release, statistic.copy(), released.copy()))
            return released

        def _draw(self, release: Release, ordered: Array) -> Array:
            released = super()._draw(release, ordered)
            tape.made.append(Entry(release, ordered.copy(), released.copy()))
            return released

        def _hand_out(self, release: Release, n: int, count: int) -> ReleaseBatch:
            series = Series(release, _recording(super()._hand_out(release, n, count)), place)
            tape.made.append(series)
            return series.steps

        def _deal(self, sampling: Disjoint, n: int) -> Batches:
            batches = super()._deal(sampling, n)
            tape.made.append(Deal(sampling, batches))
            return batches

    with use_releaser(Recorder):
        _fit(estimator, X, y, sample_epsilon)
    tape.published = _published(estimator)
    return tape


def replay_on(
    tape: Tape,
    estimator: Any,  # noqa: ANN401
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    *,
    sample_epsilon: Array | None = None,
) -> Tape:
    """Fit to other data while every release answers what `tape` holds, with the same batches."""
    again = Tape()

    class Replayer(Releaser):
        def __init__(self, plan: Plan, budget: Budget, seed: int | None = None) -> None:
            super().__init__(plan, budget, seed)
            again.plan = plan

        def _emit(self, release: Release, statistic: Array) -> Array:
            recorded = tape.made[len(again.made)]
            assert isinstance(recorded, Entry)
            again.made.append(Entry(release, statistic.copy(), recorded.released))
            return recorded.released.copy()

        def _draw(self, release: Release, ordered: Array) -> Array:
            return self._emit(release, ordered)

        def _hand_out(self, release: Release, n: int, count: int) -> ReleaseBatch:
            recorded = tape.made[len(again.made)]
            assert isinstance(recorded, Series)
            batches = _of_neighbour(recorded.steps.batches, n, tape.place)
            steps = _recording(recorded.steps)._replace(
                batches=batches, answers=recorded.steps.released
            )
            again.made.append(Series(release, steps))
            return steps

        def _deal(self, sampling: Disjoint, n: int) -> Batches:
            recorded = tape.made[len(again.made)]
            if not isinstance(recorded, Deal) or recorded.sampling != sampling:
                raise AuditFailure("how rows are assigned to groups depends on the data")
            batches = _of_neighbour(recorded.batches, n, tape.place)
            again.made.append(Deal(sampling, batches))
            return batches

    with use_releaser(Replayer):
        _fit(estimator, X, y, sample_epsilon)
    again.published = _published(estimator)
    return again
