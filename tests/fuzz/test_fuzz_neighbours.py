"""Neighbours that differ anywhere; an hour of it: tools/fuzz_neighbours.py."""

import numpy as np
import pytest

from fuzz.neighbours import trial
from fuzz.replaying import compare, remapped, without_row
from privlearn import LinearRegression
from privlearn._core.sampling import Batches
from privlearn.audit.tape import record, replay_on

FEW, MANY = 10, 250


def broken_in(numbers, seed=1):
    return [found for number in numbers for found in trial(seed, number)["broken"]]


def test_no_neighbour_moves_more_than_declared():
    assert broken_in(range(FEW)) == []


@pytest.mark.slow
def test_no_neighbour_among_many_moves_more_than_declared():
    assert broken_in(range(FEW, MANY)) == []


def test_batches_without_a_row():
    batches = Batches(np.array([2, 0, 1, 3, 2]), np.array([0, 2, 3, 5]))
    rows, starts = remapped(batches, 2)
    assert rows.tolist() == [0, 1, 2]
    assert starts.tolist() == [0, 1, 2, 3]
    rows, starts = remapped(batches, 0)
    assert rows.tolist() == [1, 0, 2, 1]
    assert starts.tolist() == [0, 1, 2, 4]


@pytest.mark.parametrize("row", [0, 3, 6])
@pytest.mark.parametrize("solver", ["sgd", "one-pass", "output", "moments"])
def test_a_removed_row_leaves_the_others_where_they_are(solver, row):
    rng = np.random.default_rng(row)
    X, y = rng.uniform(0, 1, (7, 2)), rng.uniform(0, 1, 7)
    X[row], y[row] = 0.0, 0.0
    facts = {"bounds_X": (0, 1), "bounds_y": (0, 1), "adjacency": "add_remove"}
    model = LinearRegression(solver=solver, random_state=0, **facts)
    tape = record(model, X, y)
    others = np.arange(7) != row
    again = replay_on(without_row(tape, row), model, X[others], y[others])
    found = compare(tape, again, row)
    assert found.broken == []
    assert max(found.ratios.values()) > 0
