"""Pictures: what they show, where they are drawn, and what they say without matplotlib."""

import sys
import warnings

import numpy as np
import pytest

from privlearn import KernelRegressor, Ledger, LinearRegression, LogisticRegression, plotting
from privlearn.exceptions import UnsupportedCombinationError

KNOWN = {"bounds_X": (0, 1), "bounds_y": (0, 3), "random_state": 0}
X = np.random.default_rng(0).uniform(0, 1, (500, 3))


@pytest.fixture(scope="module")
def model():
    return LinearRegression(**KNOWN).fit(X, X @ [1.0, 0.0, 2.0])


@pytest.fixture(autouse=True)
def figures():
    matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    matplotlib.use("agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_coefficients_and_their_noise(model):
    axes = model.coef_plot()
    (container,) = axes.containers
    points, _, (bars,) = container.lines
    np.testing.assert_allclose(points.get_xdata(), model.coef_)
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(np.ptp(ends, axis=1), 4.0 * model.coef_noise())
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["column 0", "column 1", "column 2"]


def test_coefficients_of_several_classes_and_of_some_features(figures):
    labels = np.digitize(X[:, 0], [0.3, 0.6])
    classifier = LogisticRegression(bounds_X=(0, 1), random_state=0).fit(X, labels)
    axes = classifier.coef_plot(most=2)
    assert len(axes.containers) == 3
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["0", "1", "2"]
    assert "(2 of 3)" in axes.get_title(loc="left")
    kernel = KernelRegressor(n_components=4, bandwidth=1.0, **KNOWN).fit(X, X[:, 0])
    with pytest.raises(UnsupportedCombinationError, match="random features"):
        kernel.coef_plot()


def test_the_privacy_curve_holds(model):
    for source in (model, model.privacy_):
        curve, promised = plotting.privacy_curve(source).get_lines()
        epsilons, deltas = curve.get_data()
        assert promised.get_xydata().tolist() == [[1.0, 1e-6]]
        for k in (0, 7, 20):
            assert deltas[k] == model.privacy_.delta_at(epsilons[k])
    (curve,) = plotting.privacy_curve(model.privacy_.plan).get_lines()
    assert (np.diff(curve.get_ydata()[:30]) < 0).all()
    with pytest.raises(TypeError, match="a dict was given"):
        plotting.privacy_curve({})


def test_shares_of_the_budget_are_those_of_the_certificate(model):
    axes = plotting.budget_shares(model)
    widths = {bar.get_y() + bar.get_height() / 2: bar.get_width() for bar in axes.patches}
    found = [widths[key] for key in sorted(widths)]
    np.testing.assert_allclose(found, [100 * one["share"] for one in model.privacy_.releases])
    assert sum(found) == pytest.approx(100.0)


@pytest.mark.parametrize("quantity", ["kept", "error"])
def test_forecasts_are_those_of_plans(quantity):
    estimator = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        axes = plotting.forecast(
            estimator, n=[1_000, 30_000], n_features=3, epsilons=[0.1, 1.0], quantity=quantity
        )
    few, many, _ = axes.get_lines()
    expected = estimator.plan(30_000, n_features=3).forecast()
    value = expected.kept if quantity == "kept" else expected.relative
    assert many.get_ydata()[1] == pytest.approx(100.0 * value)
    assert (few.get_ydata()[1] < many.get_ydata()[1]) == (quantity == "kept")
    with pytest.raises(ValueError, match="'kept' or 'error'"):
        plotting.forecast(estimator, n=10, n_features=1, quantity="loss")


def test_what_cannot_be_told_is_said():
    hopeless = LogisticRegression(epsilon=0.01)
    axes = plotting.forecast(hopeless, n=50, n_features=8, epsilons=[0.01], quantity="error")
    assert "cannot be told: " in axes.get_xlabel()


def test_spent_budget_ends_at_what_the_ledger_says(tmp_path):
    ledger = Ledger.create(tmp_path / "l.ledger", epsilon=3, delta=1e-6)
    for epsilon in (0.5, 1.0, 0.2):
        ledger.charge(LinearRegression(epsilon=epsilon).plan(1_000, n_features=3), "people")
    axes = plotting.spent_budget(tmp_path / "l.ledger")
    spent = axes.get_lines()[0].get_ydata()
    assert spent[0] == pytest.approx(0.5, abs=0.01)
    assert spent[-1] == ledger.spent("people")
    assert (np.diff(spent) > 0).all()
    assert axes.get_xlabel() == "charge"


def test_axes_that_are_given_are_drawn_on(model, figures):
    _, (first, second) = figures.subplots(1, 2)
    before = figures.get_fignums()
    assert plotting.coefficients(model, ax=first) is first
    assert plotting.budget_shares(model, ax=second) is second
    assert plotting.privacy_curve(model, ax=second) is second
    assert figures.get_fignums() == before


def test_without_matplotlib_the_extra_is_named(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'privlearn\[plot\]'"):
        model.coef_plot()
