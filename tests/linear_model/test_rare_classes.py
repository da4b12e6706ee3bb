"""Rare classes: probabilities must add up to how many there are, not only be in the right order."""

import numpy as np
import pytest
from benchmarks.datasets.classes import scored

from privlearn import LogisticRegression
from privlearn._objective.losses import Logistic, Softmax
from privlearn._objective.losses.logistic import KEPT


@pytest.mark.parametrize(("minority", "n"), [(0.02, 20_000), (0.05, 5_000), (0.1, 5_000)])
def test_probabilities_of_a_rare_class_add_up(minority, n):
    """Clipping had made one of 2 % ten times rarer, with the best of orders."""
    X, y = scored(n, 10, 2, seed=3, strength=3.0, minority=minority)
    told = []
    for seed in range(3):
        model = LogisticRegression(epsilon=1, delta=1e-6, random_state=seed).fit(X, y)
        told.append(model.predict_proba(X)[:, 1].mean() / np.mean(y == 1))
    assert min(told) > 0.6
    assert max(told) < 1.6


def test_classes_that_are_alike_have_no_slope_to_keep():
    assert Logistic().slope_to_keep(np.zeros(1)) == pytest.approx(0.0)
    assert Softmax(4).slope_to_keep(np.zeros(4)) == pytest.approx(0.0)


def test_the_slope_to_keep_follows_the_largest_share():
    odds = np.log(np.array([0.9, 0.1]))
    two = Logistic().slope_to_keep(odds[1:] - odds[:1])
    assert two == pytest.approx(KEPT * 0.8)
    assert Logistic().slope_to_keep(odds[:1] - odds[1:]) == pytest.approx(two)
    assert Softmax(2).slope_to_keep(odds) == pytest.approx(two * np.sqrt(2.0))
    assert Softmax(3).slope_to_keep(np.array([40.0, 0.0, 0.0])) == pytest.approx(KEPT * np.sqrt(2))
