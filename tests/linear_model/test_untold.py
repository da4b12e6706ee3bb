"""What noise hides is said: of coefficients after fits and in plans, and of predictions."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privlearn import LinearRegression, LogisticRegression, PoissonRegressor
from privlearn.exceptions import StandardErrorsWarning
from privlearn.schema import Number
from privlearn.solvers._common.residuals import Residual

KNOWN = {"bounds_X": (-5, 5), "bounds_y": (-10, 10), "intervals": True}


def rows(n, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, 0.5 * X[:, 0] + rng.standard_normal(n)


def warned(act):
    """What was said about standard errors, and the result."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = act()
    return [one for one in found if one.category is StandardErrorsWarning], result


def fitted(n, p=3, **given):
    return warned(lambda: LinearRegression(random_state=0, **KNOWN | given).fit(*rows(n, p)))


def test_a_fit_says_how_many_are_not_told_and_what_would_do():
    (one,), model = fitted(1_000, 19)
    untold = np.isnan(model.summary().std_err).sum()
    text = str(one.message)
    assert text.startswith(f"{untold} of 20 standard errors are not told")
    assert one.filename == __file__
    found = re.search(r"about ([\d,]+) rows or epsilon=([\d.]+) all are", text)
    n, epsilon = int(found[1].replace(",", "")), float(found[2])
    assert not fitted(n, 19)[0]
    assert not fitted(1_000, 19, epsilon=epsilon)[0]
    assert fitted(n // 6, 19)[0]


def test_a_fit_that_hides_many_says_that_one_without_intervals_predicts_better():
    better = "a fit without intervals=True shrinks what noise hides"
    assert all(better in str(one.message) for one in fitted(300, 19)[0])
    X, y = rows(20_000)
    twice = np.column_stack([X, rows(20_000, 5, seed=1)[0], X[:, 0]])
    (one,), model = warned(lambda: LinearRegression(random_state=0, **KNOWN).fit(twice, y))
    assert 0 < np.isnan(model.summary().std_err).sum() <= 0.25 * 10
    assert better not in str(one.message)


def test_nothing_is_said_where_all_are_told_or_nobody_asked():
    assert not fitted(20_000)[0]
    assert not fitted(200, 19, intervals=False)[0]


def test_columns_that_repeat_each_other_are_named_as_the_reason():
    X, y = rows(20_000)
    twice = np.column_stack([X, X[:, 0]])
    (one,), _ = warned(lambda: LinearRegression(random_state=0, **KNOWN).fit(twice, y))
    assert "nearly repeat" in str(one.message)
    assert "about" not in str(one.message)


def test_a_private_number_of_rows_is_not_in_the_text():
    texts = {str(fitted(n, 19, adjacency="add_remove")[0][0].message) for n in (300, 301)}
    (text,) = texts
    without_names = re.sub(r"'[^']*'", "", text)
    assert re.findall(r"\d+", without_names) == ["20", "20", "10"]  # and 10 more names


def test_what_helps_people_and_declared_gaps_is_named():
    X, y = rows(900, 6)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(who=np.arange(900) // 3)
    texts = []
    for missing, most in (("flag", 3), ("flag", 1), ("fill", 3)):
        schema = {name: Number(-5, 5, missing=missing) for name in "abcdef"}
        facts = {**KNOWN, "bounds_X": None, "max_rows_per_person": most, "random_state": 0}
        model = LinearRegression(schema=schema, **facts)
        (one,), _ = warned(lambda model=model: model.fit(frame, y, groups="who"))
        texts.append(str(one.message))
    assert ["max_rows_per_person (--max-rows) below 3" in text for text in texts] == [1, 0, 1]
    assert ["missing='fill' in place of 'flag'" in text for text in texts] == [1, 1, 0]


def test_a_filter_that_raises_loses_no_model():
    model = LinearRegression(random_state=0, **KNOWN)
    with warnings.catch_warnings():
        warnings.simplefilter("error", StandardErrorsWarning)
        with pytest.raises(StandardErrorsWarning):
            model.fit(*rows(300, 19))
    assert model.summary().coef.shape == (20,)


CLASSES = {"bounds_X": (-5, 5), "intervals": True, "C": np.inf}
COUNTS = {"bounds_X": (-5, 5), "bounds_y": (0, 40), "intervals": True, "alpha": 0}


@pytest.mark.parametrize(
    "model", [LinearRegression(**KNOWN), LogisticRegression(**CLASSES), PoissonRegressor(**COUNTS)]
)
def test_a_plan_says_what_to_expect(model):
    def said(n, **given):
        return str(model.set_params(**given).plan(n=n, n_features=19))

    assert "of hardly any of the coefficients" in said(1_000)
    assert "of some of the coefficients" in said(4_000)
    found = re.search(r"of all with about ([\d,]+) rows", said(4_000))
    enough = int(found[1].replace(",", ""))
    assert "expected of all coefficients" in said(int(1.05 * enough))
    assert "expected of all coefficients" not in said(int(0.9 * enough))
    assert "standard errors" not in said(4_000, intervals=False)
    model.set_params(intervals=True)


def test_intervals_of_rows_are_never_those_of_the_mean():
    """Noise brought the released mean square of errors below 0 in some of these fits."""
    new, y = rows(2_000, seed=99)
    shares, below = [], 0
    for seed in range(30):
        model = LinearRegression(epsilon=0.4, random_state=seed, **KNOWN)
        _, model = warned(lambda one=model: one.fit(*rows(1_000)))
        said, (low, high) = warned(lambda one=model: one.predict_interval(new, of="row"))
        down, up = warned(lambda one=model: one.predict_interval(new))[1]
        told, ends = np.isfinite(low), model._clip_bounds.target
        below += model._errors.residual.square <= 0
        if model._errors.residual.square <= 0:
            assert any("how large errors are" in str(one.message) for one in said)
        inside = told & (down > ends[0]) & (up < ends[1])
        assert (low[inside] < down[inside]).all()
        assert (high[inside] > up[inside]).all()
        within = np.clip(y, *ends)
        shares.append(np.mean((low <= within)[told] & (within <= high)[told]))
    assert below >= 2
    assert np.nanmin(shares) >= 0.9
    assert np.nanmean(shares) >= 0.95


def test_what_predictions_do_not_tell_is_said():
    _, model = fitted(20_000)
    assert not warned(lambda: model.predict_interval(rows(5)[0], of="row"))[0]
    model._errors = replace(model._errors, residual=Residual(-1.0, 0.5))
    (one,), (low, high) = warned(lambda: model.predict_interval(rows(5)[0], of="row"))
    assert "how large errors are" in str(one.message)
    assert one.filename == __file__
    assert (high - low > 2.0).all()
    model._errors = replace(model._errors, weak=np.eye(4))
    (one,), (low, _) = warned(lambda: model.predict_interval(rows(5)[0]))
    assert "some predictions (nan)" in str(one.message)
    assert np.isnan(low).all()


def test_places_of_values_that_nobody_listed_are_named_and_need_no_more_rows():
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {"x": rng.standard_normal(20_000), "region": rng.choice(list("ab"), 20_000)}
    )
    y = people["x"] + (people["region"] == "a")
    model = LinearRegression(schema="estimate", bounds_y=(-5, 5), intervals=True, random_state=0)
    found, _ = warned(lambda: model.fit(people, y))
    (text,) = {str(one.message) for one in found}
    assert "'region is another value'" in text
    assert "neither more rows" in text
    assert "all are to be expected" not in text


@pytest.mark.parametrize(("x", "y"), [(1e100, 1e-100), (1e-90, 1e90)])
@pytest.mark.filterwarnings("error:overflow:RuntimeWarning")
def test_what_is_told_does_not_depend_on_units_that_have_no_squares(x, y):
    # One column twice: their own coefficients are hidden, and were told, with an error of 0.
    X, target = rows(400)
    X = np.column_stack([X[:, 2], X[:, 2], X[:, 0]]) / 5

    def untold(a, b):
        model = LinearRegression(**KNOWN | {"bounds_X": (-a, a), "bounds_y": (-b, b)})
        model.set_params(solver="cd", random_state=0)
        return np.isnan(warned(lambda: model.fit(X * a, target / 10 * b))[1].summary().std_err)

    assert untold(x, y).tolist() == untold(1.0, 1.0).tolist()
    assert untold(x, y)[:2].all()
