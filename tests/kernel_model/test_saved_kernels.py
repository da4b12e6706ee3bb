"""Kernel models as plain values predict the same bits when they are read back."""

import json

import numpy as np
import pytest

from privlearn import KernelClassifier, KernelRegressor

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (3_000, 2))
Y = np.sin(3 * X[:, 0]) * X[:, 1]
BOX = {"bounds_X": (-1, 1), "random_state": 0, "epsilon": 2}


def again(model):
    text = json.dumps(model.to_dict(), allow_nan=False)
    return type(model).from_dict(json.loads(text))


@pytest.mark.parametrize(
    "more",
    [{}, {"bounds_y": (-1, 1)}, {"bandwidth": 0.5, "bounds_y": (-1, 1)}, {"epsilon": 0.01}],
    ids=["ranks", "declared", "bandwidth", "line alone"],
)
def test_numbers(more):
    model = KernelRegressor(**{**BOX, **more}).fit(X, Y)
    read = again(model)
    assert np.array_equal(read.predict(X), model.predict(X))
    assert read.n_features_in_ == 2
    assert read.privacy_.to_dict() == model.privacy_.to_dict()


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes):
    labels = np.digitize(Y, np.linspace(-0.3, 0.3, classes - 1))
    model = KernelClassifier(classes=list(range(classes)), n_components=64, **BOX).fit(X, labels)
    assert np.array_equal(again(model).predict_proba(X), model.predict_proba(X))


def test_parts_that_do_not_fit_are_refused():
    content = KernelRegressor(bounds_y=(-1, 1), **BOX).fit(X, Y).to_dict()
    for change in (
        lambda values: values.pop("features"),
        lambda values: values["features"].update(ranks=None),
        lambda values: values["features"]["frequencies"][0].__setitem__(0, float("inf")),
        lambda values: values["coef"][0].pop(),
    ):
        damaged = json.loads(json.dumps(content))
        change(damaged)
        with pytest.raises(ValueError, match=r"features|edges|frequencies|coefficient"):
            KernelRegressor.from_dict(damaged)
