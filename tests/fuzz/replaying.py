"""Two neighbours compared, wherever their row is: batches hold row numbers, which move."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from privlearn.audit.replay import moved
from privlearn.audit.tape import Deal, Entry, Series, Tape, remapped


def _number_within(release, row, levels):
    """A row's number in the batches of a release: among the people of its level, if it has one.

    None where the row is not among them.
    """
    if release.level is None or levels is None:
        return row
    own = np.isclose(levels, release.level)
    return int(own[:row].sum()) if own[row] else None


def without_row(tape, removed_row, levels=None):
    """The tape for data that lack one row: the same answers, the others' batches.

    `levels` is everybody's own epsilon, where people have different ones.
    """

    def kept(item):
        if isinstance(item, Deal):
            return Deal(item.sampling, remapped(item.batches, removed_row))
        if isinstance(item, Series):
            number = _number_within(item.release, removed_row, levels)
            old = item.steps.batches
            batches = old if number is None else remapped(old, number)
            return Series(item.release, item.steps._replace(batches=batches))
        return item

    return Tape(tape.plan, [kept(item) for item in tape.made], tape.published)


@dataclass
class Comparison:
    """How far statistics moved, as parts of what was declared, and what does not hold."""

    ratios: dict[str, float] = field(default_factory=dict)
    broken: list[tuple[str, str]] = field(default_factory=list)  # kind, what

    def note(self, release, distance, declared):
        ratio = distance / declared if declared > 0 else (np.inf if distance > 0 else 0.0)
        self.ratios[release] = max(self.ratios.get(release, 0.0), ratio)
        if not ratio <= 1.0:
            self.broken.append(
                ("moved", f"{release}: moved {distance:.6g}, declared {declared:.6g}")
            )


def visits_of(item, row):
    """How often the row that differs may come, or did where that is random."""
    law = item.release.sampling.visits
    if law is None:
        return 1
    if len(law) == 1:
        return law[0][0]
    return int(np.sum(item.steps.batches.rows == row)) if isinstance(item, Series) else 1


def _entries(item):
    return item.entries() if isinstance(item, Series) else [item]


def compare(tape, again, row):
    """Every release's distance against its declared one; plan, number of releases, bits."""
    found = Comparison()
    if tape.plan is None or tape.plan != again.plan:
        found.broken.append(("plan", "the plan depends on the data"))
        return found
    first = [item for item in tape.made if isinstance(item, Entry | Series)]
    second = [item for item in again.made if isinstance(item, Entry | Series)]
    if len(tape.entries) != len(again.entries) or len(first) != len(second):
        found.broken.append(("releases", "the number of releases depends on the data"))
        return found
    for one, other in zip(first, second, strict=True):
        declared = tape.plan.sensitivity(one.release, visits_of(one, row))
        for a, b in zip(_entries(one), _entries(other), strict=True):
            try:
                distance = moved(tape.plan, a, b)
            except Exception as error:  # a statistic that fits no grid
                found.broken.append(("moved", f"{one.release.name}: {type(error).__name__}"))
                continue
            found.note(one.release.name, distance, declared)
    _compare_models(tape, again, found)
    return found


def _compare_models(tape, again, found):
    if tape.published.keys() != again.published.keys():
        found.broken.append(("published", "which attributes are published depends on the data"))
        return
    for name, first in tape.published.items():
        second = again.published[name]
        if first.shape != second.shape or first.tobytes() != second.tobytes():
            found.broken.append(("published", f"{name} differs although all releases are the same"))
