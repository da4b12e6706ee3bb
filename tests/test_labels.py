"""Labels: declared or read off y, of any kind, and never quoted."""

import numpy as np
import pytest

from privlearn import LogisticRegression

BOX = {"bounds_X": (-1.0, 1.0)}
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (300, 2))
UP = X[:, 0] > 0


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [3, 7], [-1.0, 1.0], np.array(["n", "y"], dtype=object)],
    ids=["text", "bool", "int", "float", "object"],
)
def test_labels_of_any_kind_come_back(labels):
    y = np.asarray(labels)[UP.astype(int)]
    model = LogisticRegression(epsilon=20, **BOX).fit(X, y)
    assert list(model.classes_) == sorted(labels)
    assert model.predict(X).dtype == np.asarray(labels).dtype
    assert (model.predict(X) == y).mean() > 0.9


def test_declared_labels_need_not_occur():
    model = LogisticRegression(classes=["a", "b", "c"], **BOX).fit(X, np.where(UP, "a", "b"))
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.predict_proba(X).shape == (300, 3)
    alone = LogisticRegression(classes=["a", "b"], **BOX).fit(X, np.full(300, "a"))
    assert list(alone.classes_) == ["a", "b"]


def test_declared_order_does_not_matter():
    y = np.where(UP, "up", "down")
    fits = [
        LogisticRegression(classes=classes, random_state=0, **BOX).fit(X, y)
        for classes in (["down", "up"], ["up", "down"])
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)


def test_unknown_labels_are_refused_or_empty_rows():
    y = np.where(UP, "up", "down").astype(object)
    y[:5] = "sideways"
    with pytest.raises(ValueError, match="not among the 2 declared classes") as caught:
        LogisticRegression(classes=["up", "down"], **BOX).fit(X, y)
    assert "sideways" not in str(caught.value)
    model = LogisticRegression(classes=["up", "down"], on_invalid="drop", **BOX).fit(X, y)
    assert list(model.classes_) == ["down", "up"]


@pytest.mark.parametrize(
    ("classes", "y", "words"),
    [
        ("from_y", np.ones(300), "at least two classes"),
        (["only"], np.full(300, "only"), "at least two classes"),
        ("auto", UP, "classes='auto'"),
        ("from_y", X[:, 0], "Unknown label type"),
    ],
)
def test_labels_that_make_no_classifier(classes, y, words):
    with pytest.raises(ValueError, match=words):
        LogisticRegression(classes=classes, **BOX).fit(X, y)


def test_plan_without_data_counts_classes():
    model = LogisticRegression(solver="sgd", **BOX)
    assert model.plan(n=1000, n_features=2).releases[0].shape == (3,)
    assert model.plan(n=1000, n_features=2, n_classes=4).releases[0].shape == (12,)
    declared = LogisticRegression(classes=["a", "b", "c"], **BOX)
    assert declared.plan(n=1000, n_features=2).releases[0].shape == (9,)


def test_missing_labels_are_no_label_even_where_one_is_called_none():
    y = np.where(UP, "None", "some").astype(object)
    y[::2] = None
    with pytest.raises(ValueError, match="NaN or labels"):
        LogisticRegression(classes=["None", "some"], **BOX).fit(X, y)
