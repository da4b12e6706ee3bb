"""Planted privacy bugs of people with several rows. Each must be caught by the generic audits."""

from dataclasses import replace

import numpy as np
import pytest

from people_models import people_configurations
from planting import Bugs, demand_caught
from privlearn import audit
from privlearn._core import releaser
from privlearn._core.plan import Plan
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches
from privlearn._data import people as reading
from privlearn._data.people import People
from privlearn.linear_model import people as estimators
from support import checks_for

BUGS = Bugs()


@BUGS.shown_in("sgd-zero_out")
def rows_are_drawn_in_place_of_people(patch):
    def steps(self, name, n, *, clip, at_most, person_starts=None):
        release = self._find(name)
        count = max(1, min(at_most, release.count - self._made[name]))
        self._take(name, release.shape, clip, count)
        return self._hand_out(release, n, count)

    patch.setattr(Releaser, "steps", steps)


@BUGS.shown_in("scd-add_remove")
def some_rows_of_people_are_drawn(patch):
    right = releaser.rows_of_people

    def every_second(batches, person_starts):
        rows, starts = right(batches, person_starts)
        there = rows % 2 == 0
        return Batches(rows[there], np.concatenate([[0], np.cumsum(there)])[starts])

    patch.setattr(releaser, "rows_of_people", every_second)


@BUGS.shown_in("sgd-replace_one")
def rows_of_a_person_in_two_batches_accounted_once(patch):
    right = releaser.rows_of_people

    def ends_moved(batches, person_starts):
        rows, starts = right(batches, person_starts)
        moved = np.minimum(starts[1:-1] + 1, starts[2:])
        return Batches(rows, np.concatenate([starts[:1], moved, starts[-1:]]))

    patch.setattr(releaser, "rows_of_people", ends_moved)


@BUGS.shown_in("moments-zero_out")
def all_rows_count(patch):
    right = reading.rows_that_count
    patch.setattr(reading, "rows_that_count", lambda people, most, key: right(people, 10**6, key))


@BUGS.shown_in("scd-zero_out")
def all_rows_are_summed_and_the_limit_is_applied_to_batches(patch):
    right = People.limited

    def later(self, table, most, key, room):
        every = right(self, table, 10**6, key, room)
        starts = right(self, table, most, key, self.room(table)).person_starts
        return replace(every, person_starts=starts)

    patch.setattr(People, "limited", later)


@BUGS.shown_in("whole-add_remove")
def one_row_more_than_declared_counts(patch):
    right = reading.rows_that_count
    patch.setattr(
        reading, "rows_that_count", lambda people, most, key: right(people, most + 1, key)
    )


@BUGS.shown_in("moments-replace_one")
def a_choice_depends_on_how_many_rows_others_have(patch):
    right = reading._marks

    def marks(words, place, key):
        return right(words, place, key ^ len(words))

    patch.setattr(reading, "_marks", marks)


@BUGS.shown_in("moments-add_remove")
def a_choice_depends_on_the_order_of_people(patch):
    right = reading.rows_that_count

    def by_number(people, most, key):
        numbered = replace(people, words=np.arange(people.count, dtype=np.uint64))
        return right(numbered, most, key)

    patch.setattr(reading, "rows_that_count", by_number)


@BUGS.shown_in("boosted-zero_out")
def a_person_is_as_sensitive_as_a_row(patch):
    """In the noise and in the price alike: so that only what really moves can tell."""
    patch.setattr(Plan, "contribution", lambda self, release: release.clip)


@BUGS.shown_in("greedy-zero_out")
def noise_for_people_and_a_price_for_rows(patch):
    right = Plan.sensitivity

    def of_a_row(self, release, visits=1):
        return right(self, release, visits) / (self.rows_per_person or 1)

    patch.setattr(Plan, "sensitivity", of_a_row)


@BUGS.shown_in("moments-zero_out")
def the_number_of_rows_is_taken_for_public(patch):
    right = estimators.people_of

    def counted(estimator, groups, table):
        people = right(estimator, groups, table)
        words = np.resize(people.words, len(table.y))
        return replace(people, count=len(table.y), words=words)

    patch.setattr(estimators, "people_of", counted)


@BUGS.shown_in("moments-zero_out")
def one_odd_id_makes_text_of_all(patch):
    right = reading._by_cell

    def alike(cells):
        texts = any(isinstance(cell, str) for cell in cells)
        return right([str(cell)[:1] for cell in cells] if texts else cells)

    patch.setattr(reading, "_by_cell", alike)


@BUGS.shown_in("moments-zero_out")
def one_missing_id_makes_nobody_of_all(patch):
    right = reading._by_cell
    patch.setattr(
        reading, "_by_cell", lambda cells: right([None] * len(cells) if None in cells else cells)
    )


FAST = {
    "rows_are_drawn_in_place_of_people",
    "rows_of_a_person_in_two_batches_accounted_once",
    "all_rows_count",
    "all_rows_are_summed_and_the_limit_is_applied_to_batches",
    "a_choice_depends_on_how_many_rows_others_have",
    "a_person_is_as_sensitive_as_a_row",
}
MARKED = [
    pytest.param(*bug, id=name, marks=[] if name in FAST else [pytest.mark.slow])
    for bug in BUGS
    for name in [bug[0].__name__]
]


@pytest.mark.parametrize(("plant", "where"), MARKED)
def test_it_is_caught(plant, where, monkeypatch):
    models = [model for name, model in people_configurations().items() if where in name]
    assert models, f"no configuration is called {where!r}"
    demand_caught(plant, models, monkeypatch)


LOUD = {"all_rows_count", "one_row_more_than_declared_counts", "a_person_is_as_sensitive_as_a_row"}


@pytest.mark.parametrize(
    "plant", [p for p, _ in BUGS if p.__name__ in LOUD], ids=lambda p: p.__name__
)
def test_replay_alone_sees_what_moves_too_far(plant, monkeypatch):
    models = [people_configurations()["moments-zero_out-box"]]
    assert audit.check_replay in checks_for(models[0])
    demand_caught(plant, models, monkeypatch, lambda *_: [audit.check_replay])
