"""Releasers that record what a fit releases, and feed recorded values back."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.releaser import Counts, ReleaseBatch, Releaser, use_releaser
from privlearn._core.sampling import Batches, Disjoint, WithReplacement
from privlearn.audit.protocols import AuditFailure, Model

__all__ = ["Deal", "Entry", "Tape", "gathered", "record", "remapped", "replay_on"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Entry:
    """One release: its declaration, the statistic without noise, and what left."""

    release: Release
    statistic: Array
    released: Array
    row_came: int = 1  # how often the row that differs did, where a sampler lets rows come often
    keys: tuple[Any, ...] = ()  # of counts of values: whose each number is


@dataclass(frozen=True, eq=False)
class Series:
    """Several releases that a compiled loop makes; it fills the arrays of `steps`.

    `place` is the number of the row that differs between neighbours; None is the last. `drawn_from`
    is the number of rows, or of people, that batches were drawn from, where it was recorded.
    """

    release: Release
    steps: ReleaseBatch
    place: int | None = None
    drawn_from: int | None = None
    handed: Batches | None = None  # rows, where people were drawn

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
    drawn_from: int | None = None

    def entries(self) -> list[Entry]:
        """None."""
        return []


Made = list[Entry | Series | Deal]


@dataclass(frozen=True, eq=False)
class Tape:
    """Everything that one fit released, in order, with its plan and its model.

    `place` is the row in which neighbours will differ; None is the last.
    """

    plan: Plan
    made: Made
    published: dict[str, NDArray[Any]]
    place: int | None = None

    @property
    def entries(self) -> list[Entry]:
        """One entry per release, once the fit is over."""
        each = ([item] if isinstance(item, Entry) else item.entries() for item in self.made)
        return [entry for entries in each for entry in entries]


def _counted(release: Release, counts: Counts, noisy: Counts) -> Entry:
    """Counts of values that are there, before the threshold: what follows from it is checked."""
    before, after = (np.array([*each.values()], dtype=np.float64) for each in (counts, noisy))
    return Entry(release, before, after, keys=tuple(counts))


def _recording(steps: ReleaseBatch) -> ReleaseBatch:
    """The same steps with space for what the loop computes."""
    empty = np.full(steps.noise.shape, np.nan)
    return steps._replace(statistics=empty, released=empty.copy())


def _only(batches: Batches, there: NDArray[np.bool_]) -> Batches:
    """The batches without some of the rows that they list."""
    before = np.concatenate([[0], np.cumsum(there)])
    return Batches(batches.rows[there], before[batches.starts])


def remapped(batches: Batches, removed: int) -> Batches:
    """The batches of a neighbour that lacks the row `removed`; later rows move up by one.

    Examples
    --------
    >>> remapped(Batches(np.array([0, 2, 1]), np.array([0, 2, 3])), 1)
    Batches(rows=array([0, 1]), starts=array([0, 2, 2]))
    """
    rows, starts = _only(batches, batches.rows != removed)
    return Batches(rows - (rows > removed), starts)


def _of_neighbour(batches: Batches, drawn_from: int | None, n: int, place: int | None) -> Batches:
    """Recorded batches for a neighbour of `n` rows, who may lack the row at `place`, or the last.

    Who lacks one is seen from how many there were to draw from, not from who was drawn.
    """
    if place is None or drawn_from is None or n == drawn_from:
        return _only(batches, batches.rows < n)
    return remapped(batches, place)


def _published(estimator: Model) -> dict[str, NDArray[Any]]:
    """Copies of all that a fit leaves, but for the certificate, which repeats the plan.

    Also of attributes that nobody is meant to read: they are in every pickle and saved model. Of a
    stream, which has a random name, its state.
    """
    params: dict[str, object] = estimator.get_params(deep=False)  # type: ignore[attr-defined]
    known = {*params, "privacy_"}
    left = {name: value for name, value in vars(estimator).items() if name not in known}
    return {name: _content(getattr(value, "state", value)) for name, value in left.items()}


def _content(value: object) -> NDArray[Any]:
    """Numbers as they are, other objects as the bytes of what they hold, not of where they are."""
    array = np.array(value)
    return array if array.dtype != object else np.frombuffer(pickle.dumps(value), dtype=np.uint8)


def _taped(
    releaser: type[Releaser],
    made: Made,
    estimator: Model,
    rows: tuple[object, object],
    sample_epsilon: Array | None,
    groups: NDArray[Any] | None,
) -> Tape:
    """What a fit makes with such a releaser; not every estimator takes a level per person."""
    named = {"sample_epsilon": sample_epsilon, "groups": groups}
    plans: list[Plan] = []

    def opened(plan: Plan, budget: Budget, seed: int | None = None) -> Releaser:
        plans.append(plan)
        return releaser(plan, budget, seed)

    with use_releaser(opened):
        estimator.fit(*rows, **{name: one for name, one in named.items() if one is not None})
    if not plans:
        raise AuditFailure("the fit opened no release")
    return Tape(plans[-1], made, _published(estimator))


def gathered(batches: Batches, row: int, share: float) -> Batches:
    """The same draws with all of one row together, after so large a share of the others.

    Examples
    --------
    >>> gathered(Batches(np.array([1, 0, 2, 1]), np.array([0, 2, 4])), 1, 0.5).rows
    array([0, 1, 1, 2])
    """
    others = batches.rows[batches.rows != row]
    visits = np.full(len(batches.rows) - len(others), row, dtype=np.int64)
    return Batches(np.insert(others, int(share * len(others)), visits), batches.starts)


def record(
    estimator: Model,
    X: object,
    y: object,
    *,
    sample_epsilon: Array | None = None,
    groups: NDArray[Any] | None = None,
    place: int | None = None,
    gather: float | None = None,
) -> Tape:
    """Fit for real, and keep the statistics without noise beside what was released.

    `place` is the row, or the person, in which neighbours will differ; None is the last. With
    `gather` its visits come together, that share of the draws being over, wherever rows are drawn
    one by one: every order of such draws is as likely, so a statistic must not move too far in any.
    """
    made: Made = []

    class Recorder(Releaser):
        def _emit(self, release: Release, statistic: Array) -> Array:
            released = super()._emit(release, statistic)
            made.append(Entry(release, statistic.copy(), released.copy()))
            return released

        def _leave_out(self, release: Release, statistic: Callable[[], ArrayLike]) -> None:
            self._emit(release, np.asarray(statistic(), dtype=np.float64))

        def _count(self, release: Release, counts: Counts) -> Counts:
            noisy = super()._count(release, counts)
            made.append(_counted(release, counts, noisy))
            return noisy

        def _draw(self, release: Release, ordered: Array) -> Array:
            released = super()._draw(release, ordered)
            made.append(Entry(release, ordered.copy(), released.copy()))
            return released

        def _hand_out(self, release: Release, n: int, count: int) -> ReleaseBatch:
            steps = super()._hand_out(release, n, count)
            if gather is not None and isinstance(release.sampling, WithReplacement):
                batches = gathered(steps.batches, n - 1 if place is None else place, gather)
                steps = steps._replace(batches=batches)
            series = Series(release, _recording(steps), place, n)
            made.append(series)
            return series.steps

        def steps(self, name: str, n: int, **facts: Any) -> ReleaseBatch:  # noqa: ANN401
            steps, last = super().steps(name, n, **facts), len(made) - 1
            series = made[last]
            assert isinstance(series, Series)
            made[last] = replace(series, handed=steps.batches)
            return steps

        def _deal(self, sampling: Disjoint, n: int) -> Batches:
            batches = super()._deal(sampling, n)
            made.append(Deal(sampling, batches, n))
            return batches

    tape = _taped(Recorder, made, estimator, (X, y), sample_epsilon, groups)
    return replace(tape, place=place)


def replay_on(
    tape: Tape,
    estimator: Model,
    X: object,
    y: object,
    *,
    sample_epsilon: Array | None = None,
    groups: NDArray[Any] | None = None,
) -> Tape:
    """Fit to other data while every release answers what `tape` holds, with the same batches."""
    made: Made = []

    class Replayer(Releaser):
        def _emit(self, release: Release, statistic: Array) -> Array:
            recorded = tape.made[len(made)]
            assert isinstance(recorded, Entry)
            if recorded.release != release:
                raise AuditFailure(f"what {release.name!r} is, or its size, depends on the data")
            made.append(Entry(release, statistic.copy(), recorded.released))
            return recorded.released.copy()

        def _leave_out(self, release: Release, statistic: Callable[[], ArrayLike]) -> None:
            self._emit(release, np.asarray(statistic(), dtype=np.float64))

        def _count(self, release: Release, counts: Counts) -> Counts:
            recorded = tape.made[len(made)]
            assert isinstance(recorded, Entry)
            answers = dict(zip(recorded.keys, recorded.released.tolist(), strict=True))
            noisy = {key: answers.get(key, count) for key, count in counts.items()}
            made.append(_counted(release, counts, noisy))
            return noisy

        def _draw(self, release: Release, ordered: Array) -> Array:
            return self._emit(release, ordered)

        def _hand_out(self, release: Release, n: int, count: int) -> ReleaseBatch:
            recorded = tape.made[len(made)]
            assert isinstance(recorded, Series)
            old = recorded.steps.batches
            batches = _of_neighbour(old, recorded.drawn_from, n, tape.place)
            steps = _recording(recorded.steps)._replace(
                batches=batches, answers=recorded.steps.released
            )
            made.append(Series(release, steps))
            return steps

        def _deal(self, sampling: Disjoint, n: int) -> Batches:
            recorded = tape.made[len(made)]
            if not isinstance(recorded, Deal) or recorded.sampling != sampling:
                raise AuditFailure("how rows are assigned to groups depends on the data")
            batches = _of_neighbour(recorded.batches, recorded.drawn_from, n, tape.place)
            made.append(Deal(sampling, batches))
            return batches

    return _taped(Replayer, made, estimator, (X, y), sample_epsilon, groups)
