"""Standard errors, intervals and p-values: right without noise, and honest about what they miss."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privlearn import (
    HuberRegressor,
    KernelClassifier,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    load,
)
from privlearn._core.releaser import use_releaser
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.schema import Category, Number
from privlearn.solvers import CoordinateDescent
from privlearn.solvers.coordinate_descent import sandwich as middles
from support import NoNoise

BOX = {"bounds_X": ([-5.0, -5.0], [5.0, 5.0])}
N = 4_000


class Quiet(NoNoise):
    """No noise, and a certificate all the same: what is looked at are the errors."""

    def certificate(self):
        return super(NoNoise, self).certificate()


def rows(kind="line", n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    X[:, 1] = 0.6 * X[:, 0] + 0.8 * X[:, 1]
    score = 0.5 * X[:, 0] - 0.3 * X[:, 1] - 0.2
    if kind == "line":
        return X, score + (0.4 + 0.4 * (X[:, 0] > 0)) * rng.standard_normal(n)
    if kind == "classes":
        return X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)
    return X, rng.poisson(np.exp(score))


def sandwich(kind, X, y, coef):
    """Huber's and White's covariance of the estimates, in textbook form."""
    Z = np.column_stack([X, np.ones(len(X))])
    z = Z @ coef
    mean = {"line": z, "classes": 1 / (1 + np.exp(-z)), "counts": np.exp(z)}[kind]
    bend = {"line": np.ones(len(z)), "classes": mean * (1 - mean), "counts": mean}[kind]
    inverse = np.linalg.inv((Z * bend[:, None]).T @ Z)
    return inverse @ ((Z * (y - mean)[:, None] ** 2).T @ Z) @ inverse


MODELS = {
    "line": LinearRegression(intervals=True, bounds_y=(-10, 10), **BOX),
    "classes": LogisticRegression(intervals=True, C=np.inf, classes=[0, 1], **BOX),
    "counts": PoissonRegressor(intervals=True, alpha=0, bounds_y=(0, 40), **BOX),
}


@pytest.mark.parametrize("kind", MODELS)
def test_without_noise_errors_are_those_of_the_textbook(kind):
    X, y = rows(kind)
    with use_releaser(Quiet):
        table = MODELS[kind].fit(X, y).summary()
    expected = np.sqrt(np.diag(sandwich(kind, X, y, table.coef)))
    np.testing.assert_allclose(table.std_err, expected, rtol=0.05)
    assert (table.noise < 1e-9).all()


@pytest.mark.parametrize("kind", MODELS)
def test_noise_is_told_beside_sampling(kind):
    X, y = rows(kind)
    small, large = (
        MODELS[kind].set_params(epsilon=epsilon, random_state=1).fit(X, y).summary()
        for epsilon in (100.0, 1.0)
    )
    assert (small.noise < large.noise).all()
    assert (small.noise < 0.5 * small.std_err).all()
    for table in (small, large):
        assert (table.noise <= table.std_err).all()
        normal = 2 * stats.norm.ppf(0.975) * table.std_err
        assert (table.high - table.low > normal).all()
        z = table.coef / table.std_err
        assert (table.p_value >= 2 * stats.norm.sf(np.abs(z))).all()
    np.testing.assert_allclose(small.high - small.low, 3.92 * small.std_err, rtol=1e-3)


def test_errors_of_few_degrees_reach_as_far_as_students():
    X, y = rows(n=1_500)
    model = MODELS["line"].set_params(epsilon=0.35, random_state=1).fit(X, y)
    table, degrees = model.summary(0.9), model._errors.degrees(np.eye(3))
    assert (degrees[:2] < 30.0).all()
    reach = stats.t.ppf(0.95, degrees)
    np.testing.assert_allclose(table.high - table.coef, reach * table.std_err)
    np.testing.assert_allclose(table.p_value, 2 * stats.t.sf(np.abs(table.z), degrees))
    low, high = model.predict_interval(np.zeros((1, 2)), level=0.9)  # the intercept
    np.testing.assert_allclose([low[0], high[0]], [table.low[2], table.high[2]])


def test_errors_are_of_eigenvalues_that_are_drawn_together(monkeypatch):
    X, y = rows(n=1_500)
    model = MODELS["line"].set_params(epsilon=0.5, random_state=1)
    drawn = model.fit(X, y).summary()
    monkeypatch.setattr(middles, "DRAWN", 0.0)
    pushed = model.fit(X, y).summary()
    np.testing.assert_array_equal(drawn.coef, pushed.coef)
    assert (drawn.std_err[:2] < 0.999 * pushed.std_err[:2]).all()


def test_noise_alone_is_the_spread_over_fits():
    X, y = rows()
    model = MODELS["line"].set_params(epsilon=1.0)
    tables = [model.set_params(random_state=seed).fit(X, y).summary() for seed in range(40)]
    spread = np.std([table.coef for table in tables], axis=0, ddof=1)
    told = np.sqrt(np.mean([table.noise**2 for table in tables], axis=0))
    assert (told / spread > 0.7).all()
    assert (told / spread < 1.5).all()


def test_coefficients_of_lists_are_told_after_centring():
    rng = np.random.default_rng(0)
    n = 20_000
    frame = pd.DataFrame(
        {"age": rng.integers(17, 91, n), "sex": rng.choice(["F", "M"], n), "pay": 0.0}
    )
    frame["pay"] = 0.1 * frame["age"] + 2.0 * (frame["sex"] == "M") + rng.standard_normal(n)
    schema = {"age": Number(17, 90), "sex": Category(["F", "M"])}
    model = LinearRegression(intervals=True, schema=schema, bounds_y=(-5, 20), random_state=0)
    table = model.fit(frame, "pay").summary()
    assert table.names == ("age", "sex = F", "sex = M", "(intercept)")
    assert np.isfinite(table.std_err).all()
    np.testing.assert_allclose(table.std_err[1], table.std_err[2])  # one is less the other
    low, high = model.predict_interval(frame[:5])
    assert ((low < model.predict(frame[:5])) & (model.predict(frame[:5]) < high)).all()


def test_a_column_that_repeats_another_is_not_told():
    X, y = rows()
    twice = np.column_stack([X, X[:, 0]])
    model = LinearRegression(intervals=True, bounds_X=(-5, 5), bounds_y=(-10, 10), random_state=0)
    table = model.fit(twice, y).summary()
    assert np.isnan(table.std_err[[0, 2]]).all()
    assert np.isfinite(table.std_err[1])
    assert "nan: noise leaves too little" in str(table)
    low, _ = model.predict_interval(twice[:50])  # what is known is their sum
    assert np.isfinite(low).mean() > 0.5


def test_intervals_of_a_row_are_wider_than_those_of_the_mean():
    X, y = rows()
    model = MODELS["line"].set_params(epsilon=30.0, random_state=0).fit(X, y)  # noise widens them
    low, high = model.predict_interval(X, of="row")
    narrow, wide = model.predict_interval(X)
    assert ((low < narrow) & (wide < high)).all()
    assert np.mean((y > low) & (y < high)) == pytest.approx(0.95, abs=0.02)
    probabilities = MODELS["classes"].set_params(epsilon=3.0, random_state=0).fit(*rows("classes"))
    low, high = probabilities.predict_interval(X)
    assert ((low > 0) & (high < 1)).all()
    with pytest.raises(MissingFactError, match="of='mean'"):
        probabilities.predict_interval(X, of="row")


def test_tables_are_text_html_and_frames():
    table = MODELS["line"].set_params(random_state=0).fit(*rows()).summary(level=0.9)
    text = str(table)
    assert "noise s.e." in text
    assert "[0.05" in text
    assert "(intercept)" in text
    assert table.to_frame().loc["x0", "std_err"] == table.std_err[0]
    assert table.to_dict()["names"][-1] == "(intercept)"
    X, y = rows()
    hostile = pd.DataFrame(X, columns=["<script>alert(1)</script>", "a\nb"])
    page = MODELS["line"].fit(hostile, y).summary()
    assert "<script>" not in page._repr_html_()
    assert "a\\nb" in str(page)


def test_what_is_missing_is_said():
    X, y = rows()
    with pytest.raises(MissingFactError, match="intervals=True"):
        LinearRegression(bounds_X=(-5, 5), bounds_y=(-10, 10)).fit(X, y).summary()
    with pytest.raises(ValueError, match=r"level=95"):
        MODELS["line"].fit(X, y).summary(95)
    with pytest.raises(UnsupportedCombinationError, match="intervals=True"):
        LinearRegression(intervals=True, solver="moments").fit(X, y)
    with pytest.raises(UnsupportedCombinationError, match="block"):
        LinearRegression(intervals=True, solver=CoordinateDescent(block=1)).fit(X, y)
    with pytest.raises(UnsupportedCombinationError, match="intervals=True"):
        LogisticRegression(intervals=True, classes=[0, 1, 2]).fit(X, rows("classes")[1])


@pytest.mark.parametrize("cls", [Lasso, HuberRegressor, LinearSVC, KernelClassifier])
@pytest.mark.parametrize("method", ["summary", "contrast", "predict_interval"])
def test_models_without_errors_say_which_have_them(cls, method):
    assert not hasattr(cls(), method)
    with pytest.raises(AttributeError, match=rf"intervals=True for {method}\(\)"):
        getattr(cls(), method)()
    with pytest.raises(AttributeError, match="no attribute 'sumary'"):
        cls().sumary()
    with pytest.raises(AttributeError, match="bounds_X_ is only there after a fit"):
        _ = cls().bounds_X_


def test_a_penalty_is_part_of_what_intervals_are_about():
    X, y = rows()
    strong = Ridge(alpha=2_000.0, intervals=True, bounds_y=(-10, 10), random_state=0, **BOX)
    table = strong.set_params(epsilon=100.0).fit(X, y).summary()
    Z = X - X.mean(axis=0)
    known = np.linalg.solve(Z.T @ Z + 2_000.0 * np.eye(2), Z.T @ (y - y.mean()))
    assert (np.abs(table.coef[:2] - known) < 3 * table.noise[:2] + 0.01).all()
    assert "penalty" in str(table)


def test_the_title_says_what_is_predicted(tmp_path):
    """The target by its name, and of two labels the one that positive coefficients speak for."""
    X, y = rows("classes")
    frame = pd.DataFrame(X).add_prefix("x").assign(back=np.where(y > 0, "yes", "no"))
    model = LogisticRegression(intervals=True, bounds_X=(-5, 5), classes=["no", "yes"])
    title = model.fit(frame, "back").summary().title
    assert title == "LogisticRegression of back = yes, epsilon = 1, delta = 1e-06"
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").summary().title == title
    unnamed = LogisticRegression(intervals=True, bounds_X=(-5, 5)).fit(X, (y > 0).astype(int))
    assert unnamed.summary().title.startswith("LogisticRegression of y = 1, epsilon")
    bounds = {"bounds_X": (-5, 5), "bounds_y": (-10, 10), "intervals": True}
    line = Ridge(**bounds).fit(frame.assign(back=y), "back")
    assert line.summary().title.startswith("Ridge of back, epsilon")
    assert Ridge(**bounds).fit(X, y).summary().title.startswith("Ridge, epsilon")


def test_a_label_in_the_title_is_harmless():
    X, y = rows("classes")
    odd = ["<b>", "\x1b[31m<i>"]
    model = LogisticRegression(intervals=True, bounds_X=(-5, 5), classes=odd)
    table = model.fit(X, np.where(y > 0, odd[0], odd[1])).summary()
    assert "\x1b" not in str(table)
    assert "\x1b" not in table._repr_html_()
    assert "<b>" not in table._repr_html_()


def test_a_table_says_how_far_the_penalty_pulls():
    X = np.random.default_rng(0).uniform(-1, 1, (20_000, 2))
    y = np.random.default_rng(1).poisson(np.exp(X @ [0.5, 0.0]))
    known = {"intervals": True, "epsilon": 20.0, "random_state": 0, "bounds_X": (-1, 1)}
    model = PoissonRegressor(alpha=0.1, bounds_y=(0, 12), **known)
    with pytest.warns(UserWarning, match="alpha=0, on the command line"):
        table = model.fit(X, y).summary()
    plain = PoissonRegressor(alpha=0, bounds_y=(0, 12), **known).fit(X, y).summary()
    assert "penalty" not in str(plain)
    pulled = 1 - table.coef[0] / plain.coef[0]
    told = float(re.search(r"some by (\d+)%", str(table))[1]) / 100
    assert abs(told - pulled) < 0.04
    assert "alpha=0 leaves it out" in str(table)


def test_a_penalty_of_no_account_is_not_spoken_of():
    X, y = rows(n=20_000)
    model = LogisticRegression(intervals=True, bounds_X=(-1, 1), classes=[0, 1], random_state=0)
    assert "penalty" not in str(model.fit(X, y > np.median(y)).summary())
