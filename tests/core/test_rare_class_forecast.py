"""Forecasts of classes beside the share of the rarer one: a public fact that a plan may be told."""

import json
import math
import pickle

import numpy as np
import pytest

from privlearn import KernelClassifier, LinearRegression, LinearSVC, LogisticRegression
from privlearn.cli import main
from privlearn.exceptions import UnsupportedCombinationError

SIZE = {"n": 20_000, "n_features": 10}
SHARE = 0.04
DEVIATION = math.sqrt(SHARE * (1 - SHARE))


def plans(share=SHARE, **given):
    model = LogisticRegression(**{"epsilon": 0.3, **given})
    return model.plan(**SIZE), model.plan(**SIZE, share_of_rarer_class=share)


def test_errors_are_relative_to_such_a_label():
    plain, told = plans()
    points, beside = plain.forecast(), told.forecast()
    assert told == plain  # nothing else about the plan moves
    assert beside.prediction == points.prediction == points.relative
    assert beside.relative == pytest.approx(points.relative / DEVIATION)
    assert beside.kept == points.kept
    assert np.array_equal(beside.coefficient, points.coefficient)
    assert beside.share == SHARE
    assert math.isnan(points.share)


def test_a_wanted_error_is_relative_to_it():
    """Five points of a class that four of a hundred have are a model of no use."""
    plain, told = plans()
    assert told.for_accuracy(0.05) == plain.for_accuracy(0.05 * DEVIATION)
    assert told.for_accuracy(0.05) > 5 * plain.for_accuracy(0.05)
    error = told.forecast_at(told.for_accuracy(0.05))
    assert error.relative == pytest.approx(0.05, rel=0.03)
    assert error.prediction == pytest.approx(0.0098, rel=0.03)
    assert pickle.loads(pickle.dumps(told)).for_accuracy(0.05) == told.for_accuracy(0.05)
    with pytest.raises(ValueError, match="of classes: of the probability, unless share_of_rarer"):
        told.for_accuracy(0)


def test_what_is_said():
    plain, told = plans()
    text = " ".join(str(plain).replace("forecast ", "").split())
    assert "percentage points of the probability (much where a class is rare); about" in text
    error = told.forecast().prediction
    text = " ".join(str(told).replace("forecast ", "").split())
    assert f"{100 * error / DEVIATION:.2g} % of a label's standard deviation" in text
    ends = f"{SHARE - error:.2g} to {SHARE + error:.2g}"
    assert f"a probability of 0.04, the share of the rarer class, is told as {ends} by" in text
    assert "hides" not in text
    hidden = LogisticRegression(epsilon=1).plan(n=600, n_features=10, share_of_rarer_class=0.01)
    text = " ".join(str(hidden).replace("forecast ", "").split())
    assert "is told as 0 to " in text
    assert "by about two of three fits, so that it hides the class)" in text


def test_where_nothing_is_told_nothing_is_relative():
    withheld = LogisticRegression(epsilon=0.1)
    with pytest.warns(UserWarning, match="effective sample size"):
        found = withheld.plan(n=100, n_features=10, share_of_rarer_class=SHARE).forecast()
    assert math.isnan(found.relative)
    assert found.withheld
    assert "cannot tell" in str(found)
    assert LogisticRegression().plan(n_features=3, share_of_rarer_class=SHARE).outlook is None


def test_several_classes_and_curves():
    model = LogisticRegression(classes=["a", "b", "c"])
    found = model.plan(**SIZE, share_of_rarer_class=0.3).forecast()
    assert found.relative == pytest.approx(found.prediction / math.sqrt(0.21))
    curve = KernelClassifier().plan(**SIZE, share_of_rarer_class=0.1).forecast()
    assert curve.relative == pytest.approx(curve.prediction / 0.3)


@pytest.mark.parametrize("share", [0, -0.1, 0.51, 4, float("nan"), True, "0.04"])
def test_what_is_no_share(share):
    model = LogisticRegression()
    with pytest.raises(ValueError, match=r"share_of_rarer_class is .* up to 0\.5 is needed"):
        model.plan(**SIZE, share_of_rarer_class=share)
    with pytest.raises(ValueError, match=r"up to 0\.333 is needed"):
        model.plan(**SIZE, n_classes=3, share_of_rarer_class=0.4)


def test_models_without_probabilities():
    with pytest.raises(UnsupportedCombinationError, match="LinearSVC tells margins"):
        LinearSVC().plan(**SIZE, share_of_rarer_class=SHARE)
    with pytest.raises(TypeError, match="share_of_rarer_class"):
        LinearRegression().plan(**SIZE, share_of_rarer_class=SHARE)


def test_the_command_line(capsys):
    line = ["plan", "--rows", "20000", "--features", "10", "--model", "logistic"]
    beside = ["--share-of-rarer-class", "0.04"]
    assert main([*line, "--for-error", "0.05"]) == 0
    plain = capsys.readouterr().out.splitlines()[1]
    assert "0.05 (5 points of the probability, which must be few beside the share" in plain
    assert main([*line, "--for-error", "0.05", *beside]) == 0
    told = capsys.readouterr().out
    first = told.splitlines()[1]
    assert first.startswith("an error of 0.05 of a label's standard deviation needs epsilon = ")
    assert float(first.split()[-1]) > 5 * float(plain.split()[-1])
    assert "the share of the rarer class, is told as" in told
    assert main([*line, "--epsilon", "1", "--json", *beside]) == 0
    found = json.loads(capsys.readouterr().out)["forecast"]
    assert found["share_of_rarer_class"] == SHARE
    assert found["relative"] == pytest.approx(found["prediction"] / DEVIATION)
    assert main(["plan", "--rows", "9", "--features", "1", "--epsilon", "1", *beside]) == 1
    assert "about labels, but --model linear predicts a number" in capsys.readouterr().err
    assert main([*line, "--epsilon", "1", "--share-of-rarer-class", "4"]) == 1
    assert "share_of_rarer_class is 4, but" in capsys.readouterr().err
    assert main([*line[:-1], "svc", "--epsilon", "1", *beside]) == 1
    assert "tells margins" in capsys.readouterr().err
