"""choice/failures and datasets/hostile: what counts as a failure, and tables to learn from."""

import numpy as np
import pytest
from benchmarks.choice import failures
from benchmarks.datasets.hostile import FRESH, KINDS, OF_A_RARE_CLASS, table


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_the_same_for_the_same_seed(kind):
    for seed, task in ((0, "number"), (1, "two classes")):
        one, again = table(kind, seed), table(kind, seed)
        np.testing.assert_array_equal(one.X, again.X)
        assert np.isfinite(one.X).all()
        assert np.isfinite(one.y).all()
        assert one.n == len(one.y) - FRESH > 0
        assert one.task == ("two classes" if kind in OF_A_RARE_CLASS else task)


def test_a_fit_collapses_where_the_others_do_not():
    assert failures.collapsed({"kept": [0.9] * 19 + [0.0]}) == 1
    assert failures.collapsed({"kept": [0.9] * 10 + [0.0] * 10}) == 0  # hardly one keeps half
    assert failures.collapsed({"kept": [0.9] * 20}) == 0


def test_flat_and_wild_coefficients_are_told():
    one = table("rare flags", 0)
    reference = failures.Reference(one)
    right = reference.effect / np.where(reference.deviation > 0, reference.deviation, 1.0)
    ends = np.zeros(len(right)), np.full(len(right), 2.0)
    assert not reference.flat(right)
    assert not reference.wild(right, *ends)
    assert reference.flat(1e-18 * right)
    wild = right.copy()
    wild[-1] = 5e19
    assert reference.wild(wild, *ends)
    ends[0][-1], ends[1][-1] = -1.0, 1.0  # only zeros were seen of it
    assert not reference.wild(wild, *ends)
