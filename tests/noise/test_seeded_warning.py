"""Whoever sets a seed is told that the result is not private, before anything is charged."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from privlearn import KernelRegressor, LinearRegression, LogisticRegression
from privlearn.audit import check
from privlearn.exceptions import NotPrivateWarning
from privlearn.feature_selection import KendallSelector

X = np.linspace(0.0, 1.0, 400).reshape(-1, 2)
Y = X.sum(axis=1)
BOUNDS = {"bounds_X": (0, 1), "bounds_y": (0, 2), "delta": 1e-6}


FITS = [  # of every kind that charges; a test takes a copy
    (LinearRegression(**BOUNDS), Y),
    (LogisticRegression(bounds_X=(0, 1), delta=1e-6, classes=[False, True]), Y > 1.0),
    (KernelRegressor(n_components=8, **BOUNDS), Y),
    (KendallSelector(1, epsilon=1.0), Y),
]


@pytest.mark.parametrize(("model", "y"), FITS)
def test_a_seed_is_warned_of_before_the_charge(model, y, tmp_path):
    from privlearn import Ledger

    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=5, delta=1e-5)
    model = clone(model).set_params(random_state=0, ledger=ledger, dataset="people")
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPrivateWarning)
        with pytest.raises(NotPrivateWarning, match="leave random_state out"):
            model.fit(X, y)
    assert not ledger.history("people")
    with pytest.warns(NotPrivateWarning):
        model.fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPrivateWarning)
        model.set_params(random_state=None).fit(X, y)


def test_the_table_of_coefficients_says_so():
    model = LinearRegression(intervals=True, **BOUNDS)
    assert "NOT PRIVATE" not in str(model.fit(X, Y).summary())
    assert "NOT PRIVATE" in str(model.set_params(random_state=0).fit(X, Y).summary())


def test_audits_that_repeat_noise_say_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotPrivateWarning)
        check(LinearRegression(**BOUNDS), n_features=2)
