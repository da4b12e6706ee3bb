"""Releasers that record what a fit releases, and feed recorded values back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.plan import Plan, Release
from privlearn.problem import Budget
from privlearn.release import Releaser, releasing_with

__all__ = ["Entry", "Tape", "record", "replay_on"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Entry:
    """One release: its declaration, the statistic without noise, and what left."""

    release: Release
    statistic: Array
    released: Array


@dataclass(eq=False)
class Tape:
    """Everything that one fit released, in order, with its plan and its batches."""

    plan: Plan | None = None
    entries: list[Entry] = field(default_factory=list)
    batches: list[NDArray[np.int64]] = field(default_factory=list)


def record(estimator: Any, X: Any, y: Any) -> Tape:  # noqa: ANN401
    """Fit for real, and keep the statistics without noise beside what was released."""
    tape = Tape()

    class Recorder(Releaser):
        def __init__(self, plan: Plan, budget: Budget, seed: int | None = None) -> None:
            super().__init__(plan, budget, seed)
            tape.plan = plan

        def _draw_batch(self, release: Release, n: int) -> NDArray[np.int64]:
            tape.batches.append(super()._draw_batch(release, n))
            return tape.batches[-1]

        def _emit(self, release: Release, statistic: Array) -> Array:
            released = super()._emit(release, statistic)
            tape.entries.append(Entry(release, statistic.copy(), released.copy()))
            return released

    with releasing_with(Recorder):
        estimator.fit(X, y)
    return tape


def replay_on(tape: Tape, estimator: Any, X: Any, y: Any) -> Tape:  # noqa: ANN401
    """Fit to other data while every release answers what `tape` holds, with the same batches."""
    again = Tape()

    class Replayer(Releaser):
        def __init__(self, plan: Plan, budget: Budget, seed: int | None = None) -> None:
            super().__init__(plan, budget, seed)
            again.plan = plan

        def _draw_batch(self, release: Release, n: int) -> NDArray[np.int64]:
            batch = tape.batches[len(again.batches)]
            again.batches.append(batch[batch < n])
            return again.batches[-1]

        def _emit(self, release: Release, statistic: Array) -> Array:
            released = tape.entries[len(again.entries)].released
            again.entries.append(Entry(release, statistic.copy(), released))
            return released.copy()

    with releasing_with(Replayer):
        estimator.fit(X, y)
    return again
