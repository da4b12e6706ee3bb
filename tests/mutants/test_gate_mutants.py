"""Planted bugs of reading: one row decides about others. Each must be caught by an audit."""

import numpy as np
import pytest

from planting import Bugs
from privlearn import LinearRegression, LogisticRegression, audit
from privlearn._data import cells, labels, reading, sparse_check, targets

BUGS = Bugs()
MODELS = {
    "numbers": LinearRegression(bounds_X=(0.0, 1.0), bounds_y=(0.0, 1.0)),
    "labels": LogisticRegression(bounds_X=(0.0, 1.0), classes=[0, 1]),
}


@BUGS.shown_in("labels")
def labels_compared_by_the_type_of_their_array(patch):
    """One None makes the array one of objects, and 'True' is not '1'."""

    def by_type(found, classes):
        found = np.array(found.tolist())
        if found.dtype.kind in "OUS":
            found, classes = found.astype(str), classes.astype(str)
        places = {label: float(place) for place, label in enumerate(classes.tolist())}
        return np.array([places.get(label, np.nan) for label in found.tolist()])

    patch.setattr(labels, "_codes", by_type)


@BUGS.shown_in("labels")
def one_label_of_another_kind_refuses_all(patch):
    encode = labels.encode_labels
    patch.setattr(
        "privlearn.linear_model.classifier.encode_labels",
        lambda y, classes, on_invalid: encode(y, classes, "raise"),
    )


@BUGS.shown_in("numbers")
def numpy_chooses_one_type_for_a_list(patch):
    def promoted(rows, strict, width):
        return cells.as_numbers(np.array([list(row) for row in rows]))

    patch.setattr(reading, "_lists", promoted)


@BUGS.shown_in("numbers")
def numpy_chooses_one_type_for_a_target(patch):
    patch.setattr(targets, "_from_list", lambda found, strict, what: np.array(found))


@BUGS.shown_in("numbers")
def cells_of_objects_are_cast_together(patch):
    def together(array, refused_in=None):
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            return np.full(array.shape, np.nan)

    patch.setattr(reading, "as_numbers", together)


@BUGS.shown_in("numbers")
def the_first_row_says_how_many_columns_there_are(patch):
    read = reading._lists
    patch.setattr(
        reading, "_lists", lambda rows, strict, width: read(rows, strict, max(len(rows[0]), 1))
    )


@BUGS.shown_in("numbers")
def a_row_of_another_length_refuses_all(patch):
    read = reading._lists
    patch.setattr(reading, "_lists", lambda rows, strict, width: read(rows, True, width))


@BUGS.shown_in("numbers")
def column_numbers_are_not_checked(patch):
    patch.setattr(sparse_check, "_within", lambda places, size, what: places)


@BUGS.shown_in("numbers")
def row_starts_are_not_checked(patch):
    patch.setattr(
        sparse_check,
        "_compressed",
        lambda X, major, minor: (X.indptr.astype(np.int64), X.indices.astype(np.int64)),
    )


@BUGS.shown_in("numbers")
def duplicates_are_summed_after_the_finite_check(patch):
    import scipy.sparse as sp

    patch.setattr(
        sparse_check,
        "_canonical",
        lambda X: sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape),
    )
    patch.setattr(sparse_check, "_added", lambda values, first: values[first])


@BUGS.shown_in("numbers")
def sums_of_duplicates_touch_every_row(patch):
    """0.0 + x loses the sign of -0.0, in rows that have no duplicates as well."""

    def all_added(values, first):
        with np.errstate(over="ignore", invalid="ignore"):
            return np.bincount(np.cumsum(first) - 1, weights=values) * (1 + 2.0**-52)

    patch.setattr(sparse_check, "_added", all_added)


@BUGS.shown_in("numbers")
def a_huge_integer_ends_the_fit(patch):
    def strictly(found, refused_in=None, width=0):
        return np.array(
            [float(cell) if isinstance(cell, int) else cells.number(cell) for cell in found]
        )

    patch.setattr(reading, "numbers", strictly)


@BUGS.parametrize()
def test_caught(plant, where, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(audit.AuditFailure) as caught:
        audit.check_row_locality(MODELS[where], n_features=2)
    print(plant.__name__, caught.value)


@pytest.mark.parametrize("where", MODELS)
def test_it_is_the_bug_that_fails_and_not_the_audit(where):
    audit.check_row_locality(MODELS[where], n_features=2)


def test_masks_are_not_ignored(monkeypatch):
    """What a mutant that reads below the mask would do, for the refusal is by the container."""
    X = np.ma.array(np.full((4, 2), 0.5), mask=[[True, False]] * 4)
    model = MODELS["numbers"]
    with pytest.raises(ValueError, match="masked array"):
        model.fit(X, np.ones(4))
    monkeypatch.setattr(reading.np.ma, "MaskedArray", type("Other", (), {}))
    assert model._read(X, np.ones(4)).X[0, 0] == 0.5
