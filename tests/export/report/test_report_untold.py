"""Coefficients whose interval is not told are hollow, and say so: they must not look the surest."""

import warnings

import numpy as np
import pandas as pd
import pytest

from privlearn import LinearRegression
from privlearn.export.report.drawing.coefficients import Effects, drawn_effects
from privlearn.schema import Category, Number

NAN = np.nan


def drawn(low, high, bars=True):
    values = np.array([[1.0, 2.0]])
    ends = np.array([low]), np.array([high])
    return str(drawn_effects(Effects(["a", "b"], values, *ends, bars, [], "unit"), ["caption"]))


def test_marks_without_an_interval_are_hollow():
    page = drawn([0.5, NAN], [1.5, NAN])
    assert page.count('fill="#ffffff"') == 2, "one mark, in both widths"
    assert page.count(">not told<") == 2
    assert "b: 2 (interval not told)" in page
    assert "a: 1 (0.5 to 1.5)" in page


def test_they_are_as_before_where_all_are_told_or_none_has_an_interval():
    for page in (drawn([0.5, 1.5], [1.5, 2.5]), drawn([NAN, NAN], [NAN, NAN], bars=False)):
        assert "not told" not in page
        assert 'fill="#ffffff"' not in page


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 2))
    twice, y = np.column_stack([X, X[:, 0]]), X[:, 1] + rng.standard_normal(20_000)
    known = {"bounds_X": (-5, 5), "bounds_y": (-10, 10), "intervals": True, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return LinearRegression(**known).fit(twice, y)


def test_pages_say_it_in_figure_caption_and_table(model, tmp_path):
    model.report(tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert text.count(">not told<") >= 4 + 2, "two marks in both widths, two lines of the table"
    assert "Hollow marks have none" in text


def test_so_do_plots(model):
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    from matplotlib import pyplot

    axes = model.coef_plot()
    assert [text.get_text() for text in axes.texts] == ["not told", "not told"]
    (container,) = axes.containers
    assert container.lines[0].get_xdata().tolist() == [model.coef_[1]]
    pyplot.close(axes.figure)


def test_pages_do_not_blame_noise_for_what_a_plain_fit_never_tells(tmp_path):
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"age": rng.uniform(20, 60, 5_000), "sex": rng.choice(["F", "M"], 5_000)})
    schema = {"age": Number(20, 60), "sex": Category(["F", "M"])}
    model = LinearRegression(schema=schema, bounds_y=(0, 80), random_state=0)
    model.fit(people, people["age"]).report(tmp_path / "model.html")
    text = (tmp_path / "model.html").read_text(encoding="utf-8")
    assert "of categories of a list only a fit with intervals=True tells it" in text
    assert "they are least sure" not in text
