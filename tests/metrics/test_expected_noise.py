"""What a plan of scores says about their noise, beside what evaluations then have."""

import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier

from privlearn.metrics import evaluate, plan

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6_000, 2))
NEW = slice(2_000, 6_000)
N = 4_000


def of(kind):
    """A model, the labels of new rows, and what is asked."""
    noisy = X[:, 0] + 1.2 * RNG.normal(size=len(X))
    if kind == "numbers":
        y, model, more = noisy, LinearRegression(), {"bounds_y": (-6, 6)}
    elif kind == "two classes":
        y, model, more = (noisy > 0).astype(int), LogisticRegression(), {}
    elif kind == "scores":
        y, model, more = (noisy > 0).astype(int), RidgeClassifier(), {}
    else:
        y, model, more = np.digitize(noisy, [-0.5, 0.5]), LogisticRegression(), {}
    return model.fit(X[:2_000], y[:2_000]), y[NEW], more


KINDS = ["numbers", "two classes", "scores", "three classes"]
SURE = {"mse", "mae", "log_loss", "brier", "confusion"}  # hardly any row matters


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove", "replace_one"])
def test_evaluations_have_that_noise(kind, adjacency):
    model, y, more = of(kind)
    given = {"epsilon": 1.0, "adjacency": adjacency, **more}
    planned = plan(model, N, **given).outlook
    found = evaluate(model, X[NEW], y, random_state=0, **given)
    made = {score.name: score.noise for score in found.scores}
    if found.confusion is not None:
        made["confusion"] = found.confusion.noise
    if found.calibration is not None:
        made["calibration"] = np.median([row.observed.noise for row in found.calibration.bins])
    assert planned.noise.keys() == made.keys()
    for name, noise in planned.noise.items():
        assert noise == pytest.approx(made[name], rel=0.05 if name in SURE else 0.25), name


@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_and_more_epsilon_mean_less_noise(kind):
    model, _, more = of(kind)
    few, many = (plan(model, n, epsilon=1.0, **more).outlook.noise for n in (N, 10 * N))
    much = plan(model, N, epsilon=4.0, **more).outlook.noise
    for name in few:
        assert much[name] < few[name]
        factor = few[name] / many[name]
        assert factor == pytest.approx(1.0 if name == "confusion" else 10.0, rel=0.4), name


def test_fewer_metrics_and_rows_of_one_person():
    model, _, _ = of("two classes")
    alone = plan(model, N, epsilon=1.0, metrics=["auc"]).outlook.noise
    assert [*alone] == ["auc"]
    assert alone["auc"] < plan(model, N, epsilon=1.0).outlook.noise["auc"]
    several = plan(model, N, epsilon=1.0, max_rows_per_person=3).outlook.noise
    assert several["log_loss"] == pytest.approx(
        3 * plan(model, N, epsilon=1.0).outlook.noise["log_loss"], rel=0.2
    )


def test_what_is_said():
    model, _, more = of("numbers")
    both = plan(model, N, epsilon=1.0, **more)
    assert both.forecast() is both.outlook
    text = str(both)
    assert "with n = 4,000 the privacy noise has these standard deviations:" in text
    assert f"r2 {both.outlook.noise['r2']:.2g}, mse" in text
    assert "if y has a standard deviation of 0.125 of its range" in text
    means = plan(model, N, epsilon=1.0, metrics=["mse", "mae"], **more)
    assert means.outlook.assumes == ""  # whatever the rows are
    assert str(means).count("  forecast    ") == 2
    counted = plan(model, N, epsilon=1.0, metrics=["mse"], adjacency="add_remove", **more)
    assert counted.outlook.assumes  # a noisy number of rows moves the mean with its size
    hidden = plan(of("two classes")[0], 40, epsilon=0.1)
    assert hidden.outlook.noise["auc"] == math.inf
    assert "auc hidden by it" in str(hidden)


def test_the_page_has_what_is_said():
    page = (Path(__file__).resolve().parents[2] / "docs" / "metrics.md").read_text(encoding="utf-8")
    told = str(plan(of("two classes")[0], 2_000, epsilon=0.5, delta=1e-6)).splitlines()[-3:]
    assert "\n".join(told) in page


def test_without_a_number_of_rows_nothing_is_said():
    model, _, more = of("numbers")
    private = plan(model, epsilon=1.0, adjacency="add_remove", **more)
    assert private.outlook is None
    assert "forecast" not in str(private)
    public = plan(model, N, epsilon=1.0, adjacency="add_remove", **more)
    assert public == private  # what is released has nothing of it
    assert public.outlook is not None


def test_no_row_is_in_it():
    """The model is not even asked about the rows that are made up."""
    model, _, more = of("numbers")
    expected = plan(model, N, epsilon=1.0, **more).outlook.noise
    model.coef_ = model.coef_ * 1e6
    model.predict = None
    assert plan(model, N, epsilon=1.0, **more).outlook.noise == expected
