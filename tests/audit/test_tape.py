"""A replay on a neighbour draws what the neighbour would have drawn, whoever was drawn."""

import numpy as np
import pytest

from privlearn import LinearRegression, audit
from privlearn.audit.tape import Series, record, remapped, replay_on
from privlearn.solvers import DualCoordinateDescent
from support import regression

X, Y = regression(n=8, p=2)
FACTS = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "epsilon": 50, "adjacency": "add_remove"}
SOLVERS = [DualCoordinateDescent(epochs=1)]  # draws some of few rows, whose number is private


def batches(tape):
    return [item.steps.batches for item in tape.made if isinstance(item, Series)]


@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_the_row_that_is_removed_is_the_one_at_its_place(solver, most):
    last_was_not_drawn = 0
    for seed in range(2):
        model = LinearRegression(
            solver=solver, max_rows_per_person=most, random_state=seed, **FACTS
        )
        for place in (0, 3, 7):
            named, others = [{}, {}], np.arange(8) != place
            if most is not None:
                named = [{"groups": np.arange(8)}, {"groups": np.arange(8)[others]}]
            tape = record(model, X, Y, place=place, **named[0])
            again = replay_on(tape, model, X[others], Y[others], **named[1])
            assert batches(tape)
            for before, after in zip(batches(tape), batches(again), strict=True):
                wanted = remapped(before, place)
                assert np.array_equal(after.rows, wanted.rows)
                assert np.array_equal(after.starts, wanted.starts)
                last_was_not_drawn += 7 not in before.rows
    assert last_was_not_drawn  # else the place of the last could be guessed from who was drawn


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: solver.name)
def test_who_lacks_nobody_draws_the_same(solver):
    for seed in range(2):
        model = LinearRegression(solver=solver, random_state=seed, **FACTS)
        tape = record(model, X, Y, place=3)
        again = replay_on(tape, model, X, Y)
        for before, after in zip(batches(tape), batches(again), strict=True):
            assert np.array_equal(after.rows, before.rows)


class Hoarder(LinearRegression):
    """Keeps something of the rows where nobody is meant to look."""

    def fit(self, X, y):
        found = super().fit(X, y)
        found._seen = float(np.nanmean(np.asarray(X)))
        return found


def test_what_a_model_hides_is_compared_as_well():
    known = {"bounds_X": (0, 1), "bounds_y": (0, 1)}
    audit.check_replay(LinearRegression(**known), n_features=2, every=9)
    with pytest.raises(audit.AuditFailure, match="_seen differs"):
        audit.check_replay(Hoarder(**known), n_features=2, every=9)
