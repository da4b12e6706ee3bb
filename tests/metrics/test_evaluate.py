"""`evaluate`: what it finds, refuses, charges and says."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.special import expit
from sklearn import metrics as plain
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression as PlainLine
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import privlearn
from privlearn.exceptions import (
    BudgetExceededError,
    DeltaWarning,
    InvalidBudgetError,
    MissingFactError,
    PrivacyTestFailedError,
    UnsupportedCombinationError,
)
from privlearn.ledger import Ledger
from privlearn.metrics import CalibrationTable, Evaluation, Score, evaluate, evaluation, plan
from privlearn.metrics.known_models import NEAR, too_large
from privlearn.metrics.predictions import GRID, _row_by_row
from privlearn.metrics.task import Task
from scored_models import MODELS, WEIGHTS, Line, Margins, ThreeClasses, TwoClasses
from support import without_noise

RELATIONS = ("zero_out", "add_remove", "replace_one")
ONE = {"epsilon": 1.0, "delta": 1e-6}
MUCH = {"epsilon": 1e7, "delta": 1e-6}


def labels(n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, (rng.random(n) < expit(2 * X @ WEIGHTS)).astype(int)


def numbers(n=4_000, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 3))
    return X, X @ WEIGHTS + 0.4 * rng.standard_normal(n)


# What it finds


@pytest.mark.parametrize("relation", RELATIONS)
def test_two_classes_agree_with_scikit_learn(relation):
    X, y = labels()
    p = TwoClasses().predict_proba(X)[:, 1]
    found = evaluate(TwoClasses(), X, y, adjacency=relation, random_state=0, **MUCH)
    assert found.auc.value == pytest.approx(plain.roc_auc_score(y, p), abs=1e-3)
    assert found.accuracy.value == pytest.approx(np.mean((p > 0.5) == y), abs=1e-3)
    assert found.log_loss.value == pytest.approx(plain.log_loss(y, p), abs=1e-3)
    assert found.brier.value == pytest.approx(plain.brier_score_loss(y, p), abs=1e-3)
    matrix = plain.confusion_matrix(y, p > 0.5)
    np.testing.assert_allclose(found.confusion.counts, matrix, atol=1.0)
    for line in found.calibration.bins:
        inside = (p > line.low) & (p <= line.high)
        assert line.rows == pytest.approx(inside.sum(), abs=1.5)
        if inside.sum() > 20:
            assert line.observed.value == pytest.approx(y[inside].mean(), abs=0.02)
    assert sum(line.rows for line in found.calibration.bins) == pytest.approx(4_000, abs=2)


@pytest.mark.parametrize("relation", RELATIONS)
def test_three_classes_agree_with_scikit_learn(relation):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (3_000, 3))
    p = ThreeClasses().predict_proba(X)
    y = (rng.random(3_000)[:, None] > p.cumsum(axis=1)).sum(axis=1)
    found = evaluate(ThreeClasses(), X, y, adjacency=relation, random_state=0, **MUCH)
    assert found.accuracy.value == pytest.approx(np.mean(p.argmax(axis=1) == y), abs=1e-3)
    assert found.log_loss.value == pytest.approx(plain.log_loss(y, p), abs=1e-3)
    squares = ((p - np.eye(3)[y]) ** 2).sum(axis=1).mean()
    assert found.brier.value == pytest.approx(squares, abs=1e-3)
    matrix = plain.confusion_matrix(y, p.argmax(axis=1))
    np.testing.assert_allclose(found.confusion.counts, matrix, atol=1.0)
    assert found.calibration is None
    with pytest.raises(AttributeError, match="has no 'auc'; it has accuracy, log_loss, brier"):
        found.auc  # noqa: B018


@pytest.mark.parametrize("relation", RELATIONS)
def test_numbers_agree_with_scikit_learn(relation):
    X, y = numbers()
    found = evaluate(Line(), X, y, bounds_y=(-3, 3), adjacency=relation, random_state=0, **MUCH)
    y, p = np.clip(y, -3, 3), Line().predict(X)
    assert found.r2.value == pytest.approx(plain.r2_score(y, p), abs=1e-3)
    assert found.mse.value == pytest.approx(plain.mean_squared_error(y, p), abs=1e-3)
    assert found.mae.value == pytest.approx(plain.mean_absolute_error(y, p), abs=1e-3)


def test_intervals_without_noise_are_those_of_sampling():
    X, y = numbers()
    e = y - Line().predict(X)
    found = evaluate(Line(), X, y, bounds_y=(-4, 4), random_state=0, **MUCH)
    for score, losses in ((found.mse, e**2), (found.mae, np.abs(e))):
        half = 1.96 * losses.std() / np.sqrt(len(y))
        assert (score.high - score.low) / 2 == pytest.approx(half, rel=0.02)
    influence = e**2 / y.var() - (1 - found.r2.value) * (y - y.mean()) ** 2 / y.var()
    half = 1.96 * influence.std() / np.sqrt(len(y))
    assert (found.r2.high - found.r2.low) / 2 == pytest.approx(half, rel=0.02)
    X, y = labels()
    found = evaluate(TwoClasses(), X, y, random_state=0, **MUCH)
    p = TwoClasses().predict_proba(X)[:, 1]
    minus, plus = np.sort(p[y == 0]), np.sort(p[y == 1])
    below = np.searchsorted(minus, p[y == 1]) / len(minus)
    above = 1 - np.searchsorted(plus, p[y == 0]) / len(plus)
    half = 1.96 * np.sqrt(below.var() / len(plus) + above.var() / len(minus))
    assert (found.auc.high - found.auc.low) / 2 == pytest.approx(half, rel=0.05)
    losses = -np.log(np.where(y == 1, p, 1 - p))
    half = 1.96 * losses.std() / np.sqrt(len(y))
    assert (found.log_loss.high - found.log_loss.low) / 2 == pytest.approx(half, rel=0.02)


def test_margins_have_no_probabilities():
    X, y = labels()
    found = evaluate(Margins(), X, y, random_state=0, **MUCH)
    assert [score.name for score in found.scores] == ["accuracy", "auc"]
    auc = plain.roc_auc_score(y, Margins().decision_function(X))
    assert found.auc.value == pytest.approx(auc, abs=1e-3)
    with pytest.raises(UnsupportedCombinationError, match="'log_loss' is not defined"):
        evaluate(Margins(), X, y, metrics=["log_loss"], **ONE)


def test_scores_that_hardly_vary_or_come_in_steps_widen_the_interval():
    """The order within a bin is unknown: the interval must hold what it could be."""
    rng = np.random.default_rng(3)

    class Dull(TwoClasses):
        def predict_proba(self, X):
            p = 0.3 + 1e-5 * expit(X @ WEIGHTS)
            return np.column_stack([1 - p, p])

    X, y = labels()
    found = evaluate(Dull(), X, y, random_state=0, **MUCH)
    true = plain.roc_auc_score(y, X @ WEIGHTS)
    assert found.auc.low <= true <= found.auc.high
    assert found.auc.high - found.auc.low > 0.4
    tree = DecisionTreeClassifier(max_depth=2).fit(*labels(500, 1))
    auc = plain.roc_auc_score(y, tree.predict_proba(X)[:, 1] + 1e-9 * rng.random(len(y)))
    found = evaluate(tree, X, y, random_state=0, **MUCH)
    assert found.auc.low <= auc <= found.auc.high


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_classes_that_are_far_apart(epsilon):
    X, _ = labels()
    X[:, 0] = np.where(np.arange(4_000) % 3 == 0, 3.0, -3.0) + 0.1 * X[:, 0]
    y = (X[:, 0] > 0).astype(int)
    found = evaluate(TwoClasses(), X, y, epsilon=epsilon, delta=1e-6, random_state=0)
    assert 0.95 < found.auc.low <= found.auc.value <= found.auc.high == 1.0
    backwards = evaluate(TwoClasses(), X, 1 - y, epsilon=epsilon, delta=1e-6, random_state=0)
    assert 0.0 == backwards.auc.low <= backwards.auc.value <= backwards.auc.high < 0.05


@pytest.mark.parametrize("asked", [["accuracy"], ["auc"], ["brier", "accuracy"], ["confusion"]])
def test_only_what_is_asked_for_is_released(asked):
    X, y = labels()
    found = evaluate(TwoClasses(), X, y, metrics=asked, random_state=0, **ONE)
    names = {score.name for score in found.scores}
    assert names == set(asked) - {"confusion", "calibration"}
    assert (found.confusion is not None) == ("confusion" in asked)
    assert found.calibration is None
    whole = evaluate(TwoClasses(), X, y, random_state=0, **ONE)
    for name in names:
        assert getattr(found, name).noise < getattr(whole, name).noise


def test_rare_classes_are_hidden_by_noise_and_it_says_so():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (10_000, 3))
    y = (rng.random(10_000) < 0.02 * (1 + X[:, 0])).astype(int)
    found = evaluate(TwoClasses(), X, y, epsilon=0.1, delta=1e-6, random_state=0)
    assert found.auc.note == "noise hides it: the interval covers 0 to 1"
    assert found.auc.note in str(found)
    assert found.to_dict()["scores"]["auc"]["note"] == found.auc.note
    assert evaluate(TwoClasses(), X, y, **MUCH, random_state=0).auc.note == ""
    X, y = numbers(300)
    hidden = evaluate(Line(), X, y, bounds_y=(-4, 4), epsilon=0.01, delta=1e-6, random_state=1)
    assert "noise hides it" in hidden.r2.note


def test_foreign_models_of_every_kind():
    X, y = labels(1_500)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    named = make_pipeline(
        make_column_transformer((StandardScaler(), ["a", "b"]), remainder="passthrough"),
        PlainLogistic(),
    ).fit(frame[:200], y[:200])
    for model, given in (
        (PlainLogistic().fit(X[:200], y[:200]), X),
        (RandomForestClassifier(10, random_state=0).fit(X[:200], y[:200]), X),
        (named, frame),
        (PlainLogistic().fit(X[:200], y[:200]), sp.csr_array(X)),
        (make_pipeline(StandardScaler(copy=False), PlainLogistic()).fit(7 * X[:200], y[:200]), X),
        (PlainLogistic().fit(X[:200], np.where(y[:200] == 1, "yes", "no")), X),
    ):
        target = np.where(y == 1, "yes", "no") if model.classes_.dtype.kind == "U" else y
        found = evaluate(model, given, target, random_state=0, **MUCH)
        p = model.predict_proba(given.copy())[:, 1]
        assert found.auc.low - 1e-3 <= plain.roc_auc_score(y, p) <= found.auc.high + 1e-3
        assert any("trained without these rows" in one for one in found.privacy.assumptions)


def test_a_model_that_works_in_place_leaves_the_rows_alone():
    X, y = labels(1_500)
    model = make_pipeline(StandardScaler(copy=False), PlainLogistic()).fit(9 * X[:200], y[:200])
    before = X.copy()
    for given in (X, np.asfortranarray(X)):
        evaluate(model, given, y, **ONE)
        np.testing.assert_array_equal(given, before)


def test_our_own_models_bring_their_range():
    X, y = numbers()
    declared = privlearn.LinearRegression(bounds_X=(-1, 1), bounds_y=(-4, 4)).fit(X, y)
    found = evaluate(declared, X, y, **ONE)
    low, high = declared.bounds_y_  # estimated within what was declared
    assert f"targets and predictions are clipped to {low:g} to {high:g}" in found.notes
    moments = privlearn.LinearRegression(bounds_X=(-1, 1), bounds_y=(-4, 4), solver="moments")
    found = evaluate(moments.fit(X, y), X, y, **ONE)
    assert "targets and predictions are clipped to -4 to 4" in found.notes
    assert any("its own certificate covers" in one for one in found.privacy.assumptions)
    estimated = privlearn.LinearRegression(epsilon=5).fit(X, y)
    found = evaluate(estimated, X, y, **ONE)
    low, high = estimated.bounds_y_
    assert f"clipped to {low:g} to {high:g}" in found.notes[0]
    with pytest.raises(MissingFactError, match="bounds_y is missing"):
        evaluate(PlainLine().fit(X, y), X, y, **ONE)


# Rows


def test_invalid_rows_are_refused_or_empty():
    X, y = labels()
    clean = evaluate(TwoClasses(), X, y, random_state=0, **MUCH)
    X = np.vstack([X, [[np.nan, 0, 0], [np.inf, 0, 0], [0, 0, 0]]])
    y = [*y.tolist(), 0, 1, 7]
    for rows in (slice(0, -2), slice(0, None)):
        with pytest.raises(ValueError, match="on_invalid='drop'"):
            evaluate(TwoClasses(), X[rows], y[rows], **ONE)
    found = evaluate(TwoClasses(), X, y, on_invalid="drop", random_state=0, **MUCH)
    assert found.rows == pytest.approx(4_000, abs=2)
    assert found.auc.value == pytest.approx(clean.auc.value, abs=1e-3)
    assert found.accuracy.value == pytest.approx(clean.accuracy.value, abs=1e-3)


def test_rows_that_a_model_cannot_predict():
    class Touchy(Line):
        def predict(self, X):
            if (np.abs(X) > 1e30).any():
                raise ValueError(f"the secret is {X.max()}")
            return np.where(X[:, 0] > 0.9, np.nan, X @ WEIGHTS)

    X, y = numbers(500)
    with pytest.raises(ValueError, match="predictions hold NaN"):
        evaluate(Touchy(), X, y, bounds_y=(-4, 4), **ONE)
    X = np.minimum(X, 0.8)
    X[3, 1] = 4e35
    with pytest.raises(ValueError, match="the model cannot predict these rows") as caught:
        evaluate(Touchy(), X, y, bounds_y=(-4, 4), **ONE)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    given = {"bounds_y": (-4, 4), "on_invalid": "drop", "random_state": 0, **MUCH}
    assert evaluate(Touchy(), X, y, **given).rows == pytest.approx(499, abs=1)


def test_a_rows_answer_does_not_depend_on_the_others():
    """A model whose last bits depend on how many rows there are, as those of BLAS may."""
    rng = np.random.default_rng(0)

    def ask(X):
        return (0.5 + 0.3 * X[:, :1]) * (1.0 + len(X) * 1e-13)

    X = rng.uniform(-1, 1, (1_000, 3))
    middle = (np.rint((0.5 + 0.3 * X[:300, 0]) / GRID) + 0.5) * GRID  # just below: 1 - 5e-11
    X[:300, 0] = (middle * (1.0 - 5e-11) - 0.5) / 0.3
    X[300:310] *= 1e25
    large = too_large(Task.of(Margins(), None, None), 3)
    together = _row_by_row(ask, X, large, strict=True, columns=1)
    for k in [*range(310), 700, 999]:
        alone = _row_by_row(ask, X[k : k + 1], large, strict=True, columns=1)
        np.testing.assert_array_equal(alone[0], together[k])
    assert (together[:300] != np.rint(ask(X) / GRID)[:300] * GRID).any()  # bits do matter
    assert NEAR < GRID


def test_hardly_any_usable_row_ends_in_the_planned_test():
    class Charged:
        plans = ()

        def charge(self, plan, dataset):
            self.plans = (*self.plans, plan)

    X, y = labels(2_000)
    ledger = Charged()
    wrong = np.where(np.arange(2_000) < 1_960, 5, y)  # labels of somebody else
    given = {"ledger": ledger, "dataset": "people", "on_invalid": "drop"}
    with pytest.raises(PrivacyTestFailedError, match="labels are spelled as in model"):
        evaluate(TwoClasses(), X, wrong, epsilon=10, delta=1e-6, **given)
    assert len(ledger.plans) == 1  # spent
    with pytest.raises(PrivacyTestFailedError):
        evaluate(TwoClasses(), X[:5], y[:5], adjacency="add_remove", **ONE)
    evaluate(TwoClasses(), X, np.where(np.arange(2_000) < 1_000, 5, y), **given, **ONE)


# Refusals, order of events, certificates


def test_refusals_say_what_to_do():
    X, y = labels(200)
    with pytest.raises(MissingFactError, match="max_rows_per_person is missing"):
        evaluate(TwoClasses(), X, y, groups=np.arange(200), **ONE)
    with pytest.raises(InvalidBudgetError, match="delta=0, but evaluate adds Gaussian noise"):
        evaluate(TwoClasses(), X, y, epsilon=1, delta=0)
    with pytest.raises(InvalidBudgetError, match="epsilon=0"):
        evaluate(TwoClasses(), X, y, epsilon=0, delta=1e-6)
    with pytest.raises(ValueError, match="adjacency must be one of"):
        evaluate(TwoClasses(), X, y, adjacency="neighbours", **ONE)
    with pytest.raises(ValueError, match="on_invalid must be one of"):
        evaluate(TwoClasses(), X, y, on_invalid="ignore", **ONE)
    with pytest.raises(ValueError, match=r"metrics holds 'r2', but TwoClasses has accuracy, auc"):
        evaluate(TwoClasses(), X, y, metrics=["r2"], **ONE)
    with pytest.raises(ValueError, match="metrics must be None or some of"):
        evaluate(TwoClasses(), X, y, metrics=[], **ONE)
    with pytest.raises(ValueError, match="bounds_y is the range of numbers"):
        evaluate(TwoClasses(), X, y, bounds_y=(0, 1), **ONE)
    with pytest.raises(ValueError, match="X has 2 features, but TwoClasses is expecting 3"):
        evaluate(TwoClasses(), X[:, :2], y, **ONE)
    with pytest.raises(ValueError, match="inconsistent numbers of samples: 200 and 199"):
        evaluate(TwoClasses(), X, y[:-1], **ONE)
    with pytest.warns(DeltaWarning):
        evaluate(TwoClasses(), X, y, epsilon=1, delta=0.1)


def test_models_that_cannot_be_evaluated():
    X, y = labels(200)
    for model, words in (
        (KMeans(2, n_init=1).fit(X), "a fitted classifier or regressor"),
        (TwoClasses, "a fitted classifier or regressor"),
        (PlainLogistic(), "not fitted"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            evaluate(model, X, y, **ONE)
    several = MultiOutputClassifier(PlainLogistic()).fit(X, np.column_stack([y, y]))
    threshold = FixedThresholdClassifier(PlainLogistic(), threshold=0.2).fit(X, y)
    for model, words in ((several, "single list of two or more labels"), (threshold, "threshold")):
        with pytest.raises(UnsupportedCombinationError, match=words):
            evaluate(model, X, y, **ONE)
    nearest = NearestCentroid().fit(X, y)
    if not hasattr(nearest, "decision_function"):
        with pytest.raises(UnsupportedCombinationError, match="neither predict_proba nor"):
            evaluate(nearest, X, y, **ONE)


def test_no_error_quotes_data():
    X, y = labels(50)
    cells = X.astype(object)
    cells[7, 1] = "a secret"
    for rows, target in ((cells, y), (X, [*y[:-1].tolist(), "a secret"])):
        with pytest.raises(ValueError, match=r"no number|labels") as caught:
            evaluate(TwoClasses(), rows, target, **ONE)
        assert "secret" not in str(caught.value)


def test_a_refused_evaluation_charges_nothing_and_a_full_ledger_releases_nothing(tmp_path):
    X, y = labels(500)
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=1.2, delta=1e-6)
    paid = {"ledger": ledger, "dataset": "people"}
    with pytest.raises(ValueError, match="NaN"):
        evaluate(TwoClasses(), np.where(X > 0.99, np.nan, X), y, **paid, **ONE)
    assert ledger.spent("people") == 0.0
    found = evaluate(TwoClasses(), X, y, **paid, **ONE)
    assert 0.5 < ledger.spent("people") <= 1.0
    assert found.privacy.ledger_head is not None
    with pytest.raises(BudgetExceededError):
        evaluate(TwoClasses(), X, y, **paid, **ONE)


def test_plan_and_certificate_agree_and_add_up():
    X, y = labels(700)
    for kind in MODELS:
        model = MODELS[kind]()
        known = {"bounds_y": (-2, 2)} if kind == "line" else {}
        for relation in RELATIONS:
            own = {"adjacency": relation, "on_invalid": "drop"} | known | ONE
            planned = plan(model, 700, **own)
            target = y.astype(float) if kind == "line" else y
            found = evaluate(model, X, target, **own)
            assert found.privacy.plan == planned
            assert planned.delta(1.0) <= 1e-6
            assert found.privacy.spent() == pytest.approx(1.0, rel=1e-3)
            assert sum(one["share"] for one in found.privacy.releases) == pytest.approx(1.0)
            assert ("the number of rows is public" in planned.assumptions) == (
                relation != "add_remove"
            )
            again = type(found.privacy).from_dict(found.privacy.to_dict())
            assert again == found.privacy
    with pytest.raises(ValueError, match="n is -1"):
        plan(TwoClasses(), -1, **ONE)


def test_private_n_is_nowhere():
    X, y = labels(2_311)
    found = evaluate(TwoClasses(), X, y, adjacency="add_remove", **ONE)
    assert "2311" not in json.dumps(found.to_dict()) + str(found) + str(found.privacy)
    assert plan(TwoClasses(), 2_311, adjacency="add_remove", **ONE) == plan(
        TwoClasses(), adjacency="add_remove", **ONE
    )
    with pytest.raises(ValueError, match="inconsistent") as caught:
        evaluate(TwoClasses(), X, y[:-1], adjacency="add_remove", **ONE)
    assert "2311" not in str(caught.value)


# The result


def test_the_result_is_a_table_a_dictionary_and_html():
    X, y = labels()
    y = np.where(y == 1, "<yes>", "no")
    model = PlainLogistic().fit(X[:300], y[:300])
    found = evaluate(model, X, y, random_state=0, **ONE)
    assert isinstance(found, Evaluation)
    assert isinstance(found.auc, Score)
    assert isinstance(found.calibration, CalibrationTable)
    text = str(found)
    for words in ("value", "95 % interval", "noise", "accuracy", "auc", "log_loss", "confusion"):
        assert words in text
    assert "epsilon = 1, delta = 1e-06, zero_out" in text
    assert all(len(line) < 110 for line in text.splitlines())
    page = found._repr_html_()
    assert "&lt;yes&gt;" in page
    assert "<yes>" not in page
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert content["scores"]["auc"]["value"] == found.auc.value
    assert content["certificate"]["epsilon"] == 1.0
    assert len(content["confusion"]["counts"]) == 2
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError):
        found.auc.value = 1.0


@pytest.mark.parametrize("kind", [2, 3])
def test_labels_cannot_write_to_the_terminal(kind):
    X, _ = labels(600)
    odd = np.array(["a\x1b[31m", "b\nfoo\r\x9b2J", "c\u202e\u2028d"])[:kind]
    y = odd[np.arange(600) % kind]
    model = PlainLogistic().fit(X, y)
    found = evaluate(model, X, y, metrics=["confusion"], **ONE)
    text, page = str(found), found._repr_html_()
    assert "a\\x1b[31m" in text
    assert all(line.isprintable() for line in text.split("\n"))
    assert len(text.split("\n")) == kind + 5
    assert page.isprintable()
    assert found.confusion.classes == tuple(odd)  # to compare with; JSON escapes on its own
    assert json.dumps(found.to_dict()).isprintable()


def test_it_is_reproducible_only_with_a_seed():
    X, y = labels(500)
    first, second = (evaluate(TwoClasses(), X, y, random_state=5, **ONE) for _ in range(2))
    assert first == second
    assert not first.privacy.private
    assert any("random_state was set" in one for one in first.privacy.assumptions)
    assert evaluate(TwoClasses(), X, y, **ONE).auc != evaluate(TwoClasses(), X, y, **ONE).auc


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", MODELS)
def test_whatever_noise_says_the_result_can_be_told(kind, relation):
    """Nothing may fail after the charge: few rows, tiny and huge budgets."""
    rng = np.random.default_rng(0)
    known = {"bounds_y": (-2, 2)} if kind == "line" else {}
    for n in (1, 2, 30):
        X = rng.uniform(-1, 1, (n, 3))
        y = rng.integers(2, size=n)
        for epsilon in (1e-4, 0.1, 1e5):
            given = {"epsilon": epsilon, "delta": 1e-9, "adjacency": relation, **known}
            try:
                found = evaluate(MODELS[kind](), X, y, **given)
            except PrivacyTestFailedError:
                continue
            json.dumps(found.to_dict(), allow_nan=False)
            for score in found.scores:
                assert score.low <= score.high
                assert not score.value < score.low
                assert not score.value > score.high


def test_without_noise_nothing_is_certified():
    X, y = labels(300)
    with without_noise():
        found = evaluate(TwoClasses(), X, y, **ONE)
    assert found.privacy is None
    assert evaluation.METHOD


def test_delta_is_that_of_fits_where_it_is_left_out():
    """A promise without an epsilon is none, but every door to one has the same delta."""
    from inspect import Parameter, signature

    from privlearn import Ridge
    from privlearn.model_selection import PrivateSearchCV, cross_fit

    usual = Ridge().delta
    for ask in (evaluate, plan, cross_fit, PrivateSearchCV):
        assert signature(ask).parameters["delta"].default == usual
    assert signature(evaluate).parameters["epsilon"].default is Parameter.empty
    X, y = labels(500)
    assert evaluate(TwoClasses(), X, y, epsilon=1.0).privacy.delta == usual
    assert plan(TwoClasses(), 500, epsilon=1.0) == plan(TwoClasses(), 500, epsilon=1.0, delta=usual)
