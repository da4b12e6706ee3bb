"""Every parameter that takes several numbers refuses what holds none, with a sentence."""

from decimal import Decimal
from numbers import Integral

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.kernel_approximation import RandomFourierFeatures, RandomProjection
from privlearn.solvers import CoordinateDescent
from support import every_estimator

ENDLESS = []
ENDLESS.append(ENDLESS)
ODD = {
    "an integer beyond floats": 10**400,
    "integers beyond floats": [10**400, 1],
    "text": "abc",
    "texts": ["a", "b"],
    "an object": object(),
    "objects": [object(), object()],
    "lists of two lengths": [[1.0], [1.0, 2.0]],
    "a list in itself": ENDLESS,
    "a masked array": np.ma.masked_array([1.0, 2.0], [True, False]),
    "complex numbers": [1j, 2j],
    "not a number": [np.nan, 1.0],
    "nothing in it": [],
    "a set": {1.0, 2.0},
    "dates": np.array(["2000-01-01"] * 2, dtype="datetime64[D]"),
}
TAKERS = {
    "bounds_X": lambda value: LinearRegression(bounds_X=(0.0, value)),
    "bounds_X, both": lambda value: LinearRegression(bounds_X=value),
    "bounds_y": lambda value: LinearRegression(bounds_X=(0.0, 1.0), bounds_y=(0.0, value)),
    "scale_X": lambda value: LinearRegression(bounds_X=(0.0, 1.0), scale_X=value),
    "coef_bounds": lambda value: LinearRegression(coef_bounds=(0.0, value)),
    "smoothness": lambda value: LinearRegression(solver=CoordinateDescent(smoothness=value)),
}


# A limit beyond all floats is no limit.
REFUSED = [
    (name, odd)
    for name in TAKERS
    for odd in ODD
    if name != "coef_bounds" or "beyond floats" not in odd
]


@pytest.mark.parametrize(("name", "odd"), REFUSED)
def test_what_holds_no_numbers_is_refused(name, odd):
    rows = np.linspace(0.0, 1.0, 40).reshape(20, 2)
    with pytest.raises((TypeError, ValueError), match=name.split(",")[0]):
        TAKERS[name](ODD[odd]).fit(rows, rows[:, 0])


COUNTED = [
    *every_estimator(),
    KendallSelector,
    SubLassoSelector,
    RandomFourierFeatures,
    RandomProjection,
]


@pytest.mark.parametrize("kind", COUNTED)
def test_every_count_has_a_largest_value(kind):
    """Who asks for 10**400 models is told so before anything is charged or allocated."""
    for name, allowed in kind._parameter_constraints.items():
        for interval in allowed:
            if getattr(interval, "type", None) is Integral and name != "feature_seed":
                assert interval.right is not None, name


def test_numbers_that_no_operation_takes_are_refused_in_words():
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).uniform(size=(50, 3))
    selector = KendallSelector(2, epsilon=10, random_state=0).fit(X, X[:, 0])
    odd = pandas.DataFrame([[Decimal("sNaN"), 1.0, 2.0]], dtype=object)
    with pytest.raises(ValueError, match="convert its columns to float"):
        selector.transform(odd)
