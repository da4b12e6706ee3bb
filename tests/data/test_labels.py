"""Labels: declared or read off y, of any kind, and never quoted."""

import warnings

import numpy as np
import pandas as pd
import pytest

from privlearn import KernelClassifier, LinearSVC, LogisticRegression
from privlearn._data.labels import found_labels
from privlearn.exceptions import FactWarning, UnsupportedCombinationError
from privlearn.metrics import evaluate
from privlearn.model_selection import PrivateSearchCV

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


def told_by(fit):
    """Texts of the warnings about what was declared."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit()
    return [str(one.message) for one in told if issubclass(one.category, FactWarning)]


Y = np.where(UP, "survived", "died")
KNOWN = {"epsilon": 3, "classes": ["survived", "died"], **BOX}
WAYS = {
    "logistic": lambda: LogisticRegression(**KNOWN).fit(X, Y),
    "array": lambda: LogisticRegression(**KNOWN | {"classes": np.array(KNOWN["classes"])}).fit(
        X, Y
    ),
    "drop": lambda: LogisticRegression(**KNOWN, on_invalid="drop").fit(X, Y),
    "kernel": lambda: KernelClassifier(**KNOWN).fit(X, Y),
    "stream": lambda: LogisticRegression(epsilon=1, delta=0, solver="one-pass", **BOX).partial_fit(
        X, Y, classes=KNOWN["classes"]
    ),
    "source": lambda: LogisticRegression(**KNOWN).fit(pa_dataset(), "y"),
    "search": lambda: PrivateSearchCV(
        LogisticRegression(**KNOWN), {"C": [0.1, 1.0]}, epsilon=3.0
    ).fit(X, Y),
}


def pa_dataset():
    pa = pytest.importorskip("pyarrow")
    dataset = pytest.importorskip("pyarrow.dataset")
    return dataset.dataset(pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y}))


@pytest.mark.parametrize("fit", WAYS.values(), ids=WAYS)
def test_two_classes_in_another_order_are_told_once(fit):
    (text,) = told_by(fit)
    assert text.startswith("classes=['survived', 'died'] (--classes) are kept in sorted order")
    assert "coefficients are log-odds of 'survived'. If those of 'died' are wanted" in text
    assert "with 1 for 'died'" in text


def test_scores_of_margins_are_no_log_odds():
    (text,) = told_by(lambda: LinearSVC(**KNOWN).fit(X, Y))
    assert "coefficients speak for 'survived'" in text


@pytest.mark.parametrize(
    "classes",
    [["died", "survived"], "from_y", {"survived", "died"}, ["survived", "died", "left"]],
    ids=str,
)
def test_no_order_is_told_where_none_is_lost(classes):
    assert not told_by(lambda: LogisticRegression(**KNOWN | {"classes": classes}).fit(X, Y))


@pytest.mark.parametrize(("classes", "times"), [([1, 0], 1), ([0, 1], 0), ([True, False], 1)])
def test_numbers_have_an_order_too(classes, times):
    model = LogisticRegression(**KNOWN | {"classes": classes})
    told = told_by(lambda: model.fit(X, UP.astype(int)))
    assert len(told) == times
    assert not told_by(lambda: model.plan(300, n_features=2))


def test_the_order_is_told_before_the_charge(tmp_path):
    model = LogisticRegression(**KNOWN, ledger=tmp_path / "ledger", dataset="people")
    with warnings.catch_warnings():
        warnings.simplefilter("error", FactWarning)
        with pytest.raises(FactWarning):
            model.fit(X, Y)
    assert not (tmp_path / "ledger").exists()


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
    declared = LogisticRegression(classes=["a", "b", "c"], solver="sgd", **BOX)
    assert declared.plan(n=1000, n_features=2).releases[0].shape == (9,)


def test_missing_labels_are_no_label_even_where_one_is_called_none():
    y = np.where(UP, "None", "some").astype(object)
    y[::2] = None
    with pytest.raises(ValueError, match="NaN or labels"):
        LogisticRegression(classes=["None", "some"], **BOX).fit(X, y)


LABELLED = [0, 1, 1, 0] * 75
ODD = [None, float("nan"), "1", "text", b"1", 10**400, 0.5, [1, 0], {}, object(), 1 + 2j, 7]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__)
@pytest.mark.parametrize("kind", [int, float, bool])
@pytest.mark.parametrize("library", ["list", "objects", "pandas"])
def test_one_label_changes_how_no_other_is_read(library, kind, odd):
    """One None in a boolean series made every row an empty one."""
    from privlearn._data.labels import encode_labels

    cells = [kind(label) for label in LABELLED]
    wanted = np.array(LABELLED, dtype=float)
    if odd == 7:
        cells, wanted = [*cells, kind(1)], np.append(wanted, 1.0)
    else:
        cells, wanted = [*cells, odd], np.append(wanted, np.nan)
    y = held(library, cells)
    np.testing.assert_array_equal(encode_labels(y, np.array([0, 1]), "drop"), wanted)


def held(library, cells):
    if library == "list":
        return cells
    if library == "pandas":
        series = pytest.importorskip("pandas").Series
        try:
            return series(cells)
        except OverflowError:  # pandas 2 has no number that large
            return series(cells, dtype=object)
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def test_labels_are_matched_by_value():
    from privlearn._data.labels import encode_labels

    same = [1, 1.0, True, np.int64(1), np.float32(1), np.uint8(1), 1 + 0j]
    for classes in ([0, 1], [False, True], [0.0, 1.0], np.array([0, 1], dtype=object)):
        labels = np.asarray(classes)
        assert (encode_labels(same, labels, "raise") == 1).all()
        for cell in same[:-1]:
            assert encode_labels(np.array([cell, cell]), labels, "raise")[0] == 1
    large = np.array([2**53, 2**53 + 1])  # containers with a missing cell round one to the other
    assert np.isnan(encode_labels(large, np.array([0, 1]), "drop")).all()
    np.testing.assert_array_equal(
        encode_labels(np.array([1 + np.finfo(np.longdouble).eps]), np.array([0, 1]), "drop"),
        [np.nan],
    )


@pytest.mark.parametrize("y", [UP.astype(float), UP.tolist(), UP.astype(object)], ids=type)
def test_labels_of_another_kind_than_the_classes_are_named_as_such(y):
    model = LogisticRegression(classes=["0", "1"], **BOX)
    with pytest.raises(ValueError, match="labels of y are numbers, but classes are text"):
        model.fit(X, y)
    model.set_params(on_invalid="drop").fit(X, y)


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ([0, "1"], "numbers and text"),
        ([0, 1, None], "no label"),
        ([0, 1, float("nan")], "no label"),
        ([[0, 1], [2, 3]], "no label"),
        (3, "classes is a int"),
        ({0: 1, 1: 2}, "classes is a dict"),
        ([1, 1.0, True], "number of classes is 1"),
    ],
)
def test_classes_that_are_no_set_of_labels(classes, words):
    with pytest.raises(ValueError, match=words):
        LogisticRegression(classes=classes, **BOX).fit(X, UP)


@pytest.mark.parametrize("library", ["polars", "pandas", "pyarrow", "set"])
def test_classes_in_any_container(library):
    names = ["b", "a"]
    if library == "pyarrow":
        classes = pytest.importorskip(library).array(names)
    else:
        classes = set(names) if library == "set" else pytest.importorskip(library).Series(names)
    model = LogisticRegression(classes=classes, **BOX).fit(X, np.where(UP, "a", "b"))
    assert model.classes_.tolist() == ["a", "b"]


def test_labels_from_y_pass_over_invalid_cells():
    """Their type comes from the values, so that one None does not show in it."""
    from privlearn._data.labels import declared_classes

    for kind in (bool, int, float):
        clean = [kind(label) for label in LABELLED]
        for odd in (None, float("nan"), "text", 0.5, {}, [1, 0], 10**400):
            for library in ("list", "objects", "pandas"):
                found = declared_classes("from_y", held(library, [odd, *clean]), "drop")
                assert found.dtype == np.int64
                assert found.tolist() == [0, 1]
    found = declared_classes("from_y", ["b", None, "a", 3], "drop")
    assert found.tolist() == ["a", "b"]


def test_many_classes_are_looked_up_once():
    from privlearn._data.labels import declared_classes, encode_labels

    names = [f"class {k}" for k in range(50_000)]
    classes = declared_classes(names, names[::-1])
    assert len(classes) == 50_000
    assert sorted(encode_labels(names[::-1], classes, "raise")) == list(range(50_000))


def test_scores_quote_no_label_and_compare_by_value():
    model = LogisticRegression(epsilon=20, classes=[0, 1], **BOX).fit(X, UP)
    assert model.score(X, UP) == model.score(X, UP.astype(float)) > 0.9
    assert model.score(X, UP.astype(int).astype(str)) == 0.0
    for wrong in ([None] * 300, [object()] * 300, UP[:7], "Ms Grey", {"Ms Grey": 1}):
        with pytest.raises(ValueError, match="y") as caught:
            model.score(X, wrong)
        assert "Ms Grey" not in str(caught.value)
        assert "300" not in str(caught.value)


def test_scores_of_regressors_quote_no_target():
    from privlearn import LinearRegression

    model = LinearRegression(epsilon=20, bounds_y=(-1, 1), **BOX).fit(X, X[:, 0])
    assert model.score(X, X[:, 0].tolist()) > 0.5
    for wrong in (["Ms Grey"] * 300, [None] * 300, X[:7, 0]):
        with pytest.raises(ValueError, match=r"(y|sample)") as caught:
            model.score(X, wrong)
        assert "Ms Grey" not in str(caught.value) + repr(caught.value.__context__)
    with pytest.raises(ValueError, match="sample_weight") as caught:
        model.score(X, X[:, 0], sample_weight=["Ms Grey"] * 300)
    assert "Ms Grey" not in str(caught.value)


def in_objects(labels):
    found = np.empty(len(labels), dtype=object)
    found[:] = labels
    return found


@pytest.mark.parametrize("on_invalid", ["raise", "drop"])
@pytest.mark.parametrize("kind", [list, tuple, in_objects, pd.Series, pd.Index])
@pytest.mark.parametrize("place", [0, 1, 7])
def test_how_one_row_spells_its_label_is_not_told(place, kind, on_invalid):
    """Labels are declared public by value; 1, 1.0 and True are one, and so is what is published."""
    plain = [0, 1] * 5
    found = found_labels(kind(plain), on_invalid)
    assert found.dtype == np.int64
    for spelled in (float, bool, np.float32, np.int8, np.bool_):
        labels = [*plain[:place], spelled(plain[place]), *plain[place + 1 :]]
        told = found_labels(kind(labels), on_invalid)
        assert (told.tolist(), told.dtype) == (found.tolist(), found.dtype)


def test_arrays_of_a_declared_type_keep_it():
    for kind in (np.bool_, np.int8, np.float64):
        assert found_labels(np.array([0, 1, 1], dtype=kind), "raise").dtype == kind


def _refused(model, *given, fit="fit", **more):
    with pytest.raises(ValueError, match=r"^y .*holds NaN or labels") as told:
        getattr(model, fit)(*given, **more)
    return str(told.value)


def test_a_refusal_says_where_the_classes_come_from():
    y = np.where(UP, "up", "down").astype(object)
    y[:3] = ["Up", "?", None]
    text = _refused(LogisticRegression(**BOX), X, y)
    assert "4 labels that y itself holds, which classes='from_y' takes" in text
    assert "declare the labels that are meant with classes=[...]" in text
    assert "?" not in text
    named = LogisticRegression(classes=["up", "down"], **BOX)
    assert "not among the 2 declared classes; add them to classes" in _refused(named, X, y)


def test_a_refusal_of_rows_on_disk_of_a_batch_and_of_a_score():
    """None of these has `classes`, so none of them may speak of declared ones."""
    y = np.where(UP, "up", "down").astype(object)
    pa, ds = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": [*y[:-1].tolist(), None]})
    stays = _refused(LogisticRegression(**BOX), ds.dataset(table), "y")
    known = ["up", "down"]
    model = LogisticRegression(delta=0, **BOX).partial_fit(X, y, classes=known)
    y[0] = "sideways"
    later = _refused(model, X, y, fit="partial_fit")
    for text in (stays, later):
        assert "2 classes, which are the labels of all rows on disk, or those of the first" in text
        assert "sideways" not in text
    scored = LogisticRegression(classes=known, **BOX).fit(X, np.where(UP, *known))
    with pytest.raises(ValueError, match=r"the 2 classes of the model \(model.classes_\); clean"):
        evaluate(scored, X, y, epsilon=1, delta=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(intervals=True, on_invalid="drop", **BOX),
        LogisticRegression(solver="scd", **BOX),
        KernelClassifier(solver="scd", **BOX),
    ],
)
def test_labels_too_many_for_a_solver_are_counted(model):
    """Typing errors make more classes than two, whose number is public, as the certificate says."""
    y = np.where(UP, "up", "down").astype(object)
    y[:2] = ["Up", "?"]
    with pytest.raises(UnsupportedCombinationError, match=r"^the target has 4 labels") as told:
        model.fit(X, y)
    assert "pass classes=[...] with these two (on the command line --classes" in str(told.value)
    assert "?" not in str(told.value)
    assert "Up" not in str(told.value)


def test_labels_are_not_blamed_for_what_two_could_not_have_either():
    with pytest.raises(UnsupportedCombinationError, match=r"^solver='moments' does not support"):
        LogisticRegression(solver="moments", **BOX).fit(X, np.arange(300) % 3)
    plan = LogisticRegression(**BOX).plan(n=300, n_features=2, n_classes=4)
    assert "the set of class labels in y is public" in plan.assumptions
