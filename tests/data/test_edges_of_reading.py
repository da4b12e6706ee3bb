"""What one row must not decide: a width, a refusal, others' labels, how long a fit takes."""

import weakref
from decimal import Decimal

import numpy as np
import pytest

from privlearn import LogisticRegression, Ridge
from privlearn._data.labels import declared_classes, encode_labels
from privlearn._data.tables import read_table

B = ([0.0, 0.0], [1.0, 1.0])


def ridge(**given):
    return Ridge(**{"bounds_X": B, "bounds_y": (0, 1), "on_invalid": "drop", **given})


def read(X, **given):
    y = [0.5] * len(X)
    return read_table(ridge(adjacency="add_remove", **given), X, y)


@pytest.mark.parametrize("rows", [[None, None, None], [None, None, [0.1, 0.2]], []])
def test_rows_that_are_none_are_empty_rows_however_many_they_are(rows):
    model = ridge(adjacency="add_remove")
    read = read_table(model, rows, [0.5] * len(rows))
    assert read.X.shape == (len(rows), 2)


def test_a_list_has_no_width_by_vote():
    ragged = [[0.1, 0.2]] * 5 + [[0.1, 0.2, 0.3]] * 5
    with pytest.raises(ValueError, match="the number of columns must be public"):
        read(ragged, bounds_X=(0, 1))
    assert np.isfinite(read(ragged).X).all(axis=1).sum() == 5
    assert np.isfinite(read([*ragged, [0.1, 0.2, 0.3]]).X).all(axis=1).sum() == 5


class Raising(list):
    def __len__(self):
        raise RuntimeError("SECRET")


class Gone:
    pass


def test_cells_and_rows_that_raise_are_invalid():
    gone = weakref.proxy(Gone())
    found = read([[0.1, 0.2], Raising([0.1, 0.2]), [gone, 0.5], range(10**12), [0.3, 0.4]]).X
    assert np.isfinite(found).all(axis=1).tolist() == [True, False, False, False, True]
    model = LogisticRegression(bounds_X=B, classes=[0, 1], on_invalid="drop", random_state=0)
    model.fit([[0.1, 0.2]] * 3, [0, gone, 1])


def test_labels_that_containers_round_to_one_another_are_none():
    b = 2**53
    assert np.isnan(encode_labels([b, b + 1, 1], np.array([0, 1]), "drop")).tolist() == [
        True,
        True,
        False,
    ]
    for classes in ([b, b + 1], np.array([b, b + 1]), np.array([0, b])):
        with pytest.raises(ValueError, match="label"):
            declared_classes(classes, None)


def test_missing_labels_do_not_round_others():
    pd = pytest.importorskip("pandas")
    for y in (["0", "1", None], [0, 1, None]):
        classes = declared_classes(["0", "1"] if isinstance(y[0], str) else [0, 1], None)
        kind = "string" if isinstance(y[0], str) else "Int64"
        codes = encode_labels(pd.array(y, dtype=kind), classes, "drop")
        assert codes[:2].tolist() == [0.0, 1.0]
        assert np.isnan(codes[2])


def test_wide_integers_of_polars_are_read_with_nulls_and_without():
    pl = pytest.importorskip("polars")
    if not hasattr(pl, "Int128"):
        pytest.skip("this polars has no Int128")
    for y in ([0, 1, 0], [0, 1, None]):
        codes = encode_labels(pl.Series(y, dtype=pl.Int128), np.array([0, 1]), "drop")
        assert codes[:2].tolist() == [0.0, 1.0]


def test_a_huge_label_takes_no_time_to_refuse():
    """It would be written out in full, digit by digit, before it was compared."""
    codes = encode_labels([0, Decimal("1E+999999"), 1], np.array([0, 1]), "drop")
    assert np.isnan(codes).tolist() == [False, True, False]


def test_no_levels_are_refused_before_the_charge():
    charged = []

    class Book:
        def charge(self, plan, dataset):
            charged.append(plan)

    model = LogisticRegression(
        bounds_X=B, classes=[0, 1], adjacency="add_remove", on_invalid="drop", solver="one-pass",
        ledger=Book(),
    )  # fmt: skip
    with pytest.raises(ValueError, match="sample_epsilon is empty"):
        model.fit(np.empty((0, 2)), [], sample_epsilon=[])
    assert not charged


def test_levels_that_hold_themselves_are_refused():
    endless = [0.5]
    endless.append(endless)
    model = LogisticRegression(bounds_X=B, classes=[0, 1], solver="one-pass")
    with pytest.raises(ValueError, match="sample_epsilon"):
        model.fit(np.zeros((2, 2)), [0, 1], sample_epsilon=endless)


def test_sizes_may_be_numpys_and_must_be_sizes():
    plan = ridge().plan(n=np.int8(100), n_features=np.int8(2))
    assert plan == ridge().plan(n=100, n_features=2)
    for wrong in (
        {"n": 10**400, "n_features": 2},
        {"n": 5, "n_features": -1},
        {"n": True, "n_features": 2},
    ):
        with pytest.raises(ValueError, match="a whole number from 1"):
            ridge().plan(**wrong)
