"""A warning where nothing can be learned: before the charge, from public numbers alone."""

import re
import warnings

import numpy as np
import pytest

from privlearn import KernelClassifier, LinearRegression, LogisticRegression
from privlearn.exceptions import FewRowsWarning

KNOWN = {"bounds_X": (0, 1), "bounds_y": (0, 1)}


class Till:
    """A ledger that remembers whether it was charged."""

    charged = False

    def charge(self, plan, dataset):
        self.charged = True


def rows(n, p=8):
    X = np.random.default_rng(0).random((n, p))
    return X, X[:, 0]


def warned(act):
    """Texts of what was said about few rows."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        act()
    return [str(one.message) for one in found if one.category is FewRowsWarning]


def of_plan(n, p=8, **parameters):
    return warned(lambda: LinearRegression(**parameters).plan(n=n, n_features=p))


def test_fit_and_plan_say_the_same_and_point_at_the_user():
    model = LinearRegression(**KNOWN)
    with pytest.warns(FewRowsWarning) as by_plan:
        model.plan(n=50, n_features=8)
    with pytest.warns(FewRowsWarning) as by_fit:
        model.fit(*rows(50))
    (one,), (other,) = by_plan, by_fit
    assert str(one.message) == str(other.message)
    assert one.filename == other.filename == __file__


def test_it_comes_before_the_charge():
    till = Till()
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewRowsWarning)
        with pytest.raises(FewRowsWarning, match="n = 50 rows at epsilon=1 "):
            LinearRegression(ledger=till, **KNOWN).fit(*rows(50))
    assert not till.charged


@pytest.mark.parametrize("known", [KNOWN, {}])
@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one", "add_remove"])
def test_what_would_do_does(known, adjacency):
    """With the rows, or the epsilon, that the text names nothing is said; with fewer, it is."""
    given = known | {"adjacency": adjacency}
    (text,) = of_plan(50, **given)
    found = re.search(r"about ([\d,]+) rows or epsilon=([\d.]+) would", text)
    n, epsilon = int(found[1].replace(",", "")), float(found[2])
    assert not of_plan(n, **given)
    assert of_plan(n - 1, **given)
    assert not of_plan(50, epsilon=epsilon, **given)
    assert of_plan(50, epsilon=0.9 * epsilon, **given)


def test_undeclared_ranges_need_more():
    assert not of_plan(120, p=2, **KNOWN)
    (text,) = of_plan(120, p=2)
    assert "ranges that nobody declared are missed" in text
    assert text.endswith("or bounds that are declared")


def test_every_output_and_every_selected_column_counts():
    model = LogisticRegression(bounds_X=(0, 1))
    assert not warned(lambda: model.plan(n=1_000, n_features=20))
    (text,) = warned(lambda: model.plan(n=1_000, n_features=20, n_classes=10))
    assert "for 210 coefficients" in text
    assert not of_plan(2_000, p=2_000), "few of the columns are selected, and fitted"


def test_a_private_number_of_rows_is_not_told():
    model = LinearRegression(adjacency="add_remove", **KNOWN)
    assert not warned(lambda: model.fit(*rows(5)))
    assert warned(lambda: model.plan(n=5, n_features=8)), "but the user may ask about a number"


def test_kernels_count_columns_not_random_features():
    model = KernelClassifier(bounds_X=(0, 1), n_components=1_000)
    assert not warned(lambda: model.plan(n=2_000, n_features=3))
    assert warned(lambda: model.plan(n=20, n_features=3))


def test_a_pure_promise_is_measured_by_its_own_noise():
    given = KNOWN | {"delta": 0, "solver": "one-pass"}
    assert not of_plan(300, p=3, **given)
    assert of_plan(20, p=3, **given)
