"""Fitted models as plain values, and back."""

import json

import numpy as np
import pytest

from privlearn import KernelRegressor, LinearRegression, LinearSVC, LogisticRegression

RNG = np.random.default_rng(0)
X = RNG.uniform(-1.0, 3.0, (600, 3))
Y = X @ [1.0, -2.0, 0.5] + 4.0
LABELS = np.digitize(Y, [2.0, 5.0])
SEEDED = {"epsilon": 10.0, "random_state": 0}


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LinearRegression(**SEEDED), Y),
        (LinearRegression(bounds_X=(-1, 3), bounds_y=(-5, 12), **SEEDED), Y),
        (LogisticRegression(classes=[0, 1], **SEEDED), (LABELS > 0).astype(int)),
        (LogisticRegression(bounds_X=(-1, 3), classes=[0, 1, 2], **SEEDED), LABELS),
        (
            LinearSVC(bounds_X=(-1, 3), classes=["a", "b"], **SEEDED),
            np.array(["a", "b"])[LABELS % 2],
        ),
    ],
    ids=["estimated", "declared", "two classes", "three classes", "text"],
)
def test_models_come_back_from_json(model, y):
    fitted = model.fit(X, y)
    again = type(model).from_dict(json.loads(json.dumps(fitted.to_dict())))
    far = np.vstack([X, 1e6 * X])  # estimated ranges clip
    np.testing.assert_array_equal(again.predict(far), fitted.predict(far))
    for name in ("decision_function", "predict_proba"):
        if hasattr(fitted, name):
            np.testing.assert_array_equal(getattr(again, name)(far), getattr(fitted, name)(far))
    assert again.privacy_.spent() == fitted.privacy_.spent()
    assert hasattr(again, "bounds_X_") == hasattr(fitted, "bounds_X_")


def test_names_of_columns_are_kept():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    fitted = LinearRegression(**SEEDED).fit(frame, Y)
    again = LinearRegression.from_dict(fitted.to_dict())
    np.testing.assert_array_equal(again.predict(frame), fitted.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["b", "a", "c"]])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"coef": [[1.0, 2.0, np.inf]]}, "finite"),
        ({"coef": [1.0, 2.0, 3.0]}, "a row of coefficients"),
        ({"intercept": [0.0, 1.0]}, "a row of coefficients"),
        ({"model": "Ridge"}, "another model"),
        ({"classes": [0, 1]}, "regressors have none"),
    ],
)
def test_wrong_values_are_refused(change, words):
    content = {"coef": [[1.0, 2.0, 3.0]], "intercept": [0.0], **change}
    with pytest.raises(ValueError, match=words):
        LinearRegression.from_dict(content)


def test_missing_parts_are_named():
    with pytest.raises(ValueError, match="'intercept' is missing"):
        LinearRegression.from_dict({"coef": [[1.0]]})
    with pytest.raises(ValueError, match="classifiers have 'classes'"):
        LogisticRegression.from_dict({"coef": [[1.0]], "intercept": [0.0]})


def test_kernel_models_come_back_from_json():
    fitted = KernelRegressor(n_components=8, **SEEDED).fit(X, Y)
    content = json.loads(json.dumps(fitted.to_dict()))
    np.testing.assert_array_equal(KernelRegressor.from_dict(content).predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "'features' is missing"),
        ({"frequencies": [1.0, 2.0]}, "a row of finite numbers"),
        ({"ranks": None}, "go together"),
        ({"edges": [[0.0, 1.0]]}, "as many finite numbers"),
        ({"frequencies": [[1.0]] * 3}, "one coefficient for each feature"),
    ],
)
def test_wrong_feature_maps_are_refused(change, words):
    content = KernelRegressor(n_components=8, **SEEDED).fit(X, Y).to_dict()
    changed = None if change is None else content["features"] | change
    with pytest.raises(ValueError, match=words):
        KernelRegressor.from_dict(content | {"features": changed})


@pytest.mark.parametrize(
    ("classes", "rows"), [(["a"], 1), (["a", "a"], 1), (["a", "b"], 2), (["a", "b", "c"], 1)]
)
def test_rows_of_coefficients_that_do_not_fit_the_classes_are_refused(classes, rows):
    content = {"coef": [[1.0]] * rows, "intercept": [0.0] * rows, "classes": classes}
    with pytest.raises(ValueError, match=r"two or more labels|one row of coefficients, or"):
        LogisticRegression.from_dict(content)
    with pytest.raises(ValueError, match="one row of coefficients, or one for"):
        LinearRegression.from_dict({"coef": [[1.0]] * 2, "intercept": [0.0] * 2})
