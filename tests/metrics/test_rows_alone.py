"""What a row adds is what it would add alone, whatever the model and whoever else is there."""

import numpy as np
import pytest
from sklearn import linear_model as theirs
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import privlearn
from privlearn._core.problem import Bounds
from privlearn.metrics.evaluation import _sums, prepare, read_rows
from privlearn.metrics.known_models import NEAR, is_known, too_large
from privlearn.metrics.predictions import _answers_of
from privlearn.metrics.task import Task
from scored_models import MODELS as FIXED

WIDTH = 40
ALONE = "the model's prediction for a row depends on that row alone"


class InTheBatch(LogisticRegression):
    """Standardises by whoever is there."""

    def predict_proba(self, X):
        return super().predict_proba((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9))


def with_weights(model, y, intercept, rng):
    """A fitted model with weights of our own."""
    model.fit(rng.normal(size=(60, WIDTH)), y)
    model.coef_ = rng.normal(size=np.shape(model.coef_))
    model.intercept_ = intercept
    return model


def jumps(rng):
    """Probabilities of three classes that jump where the first score is -1, and rows there."""
    model = theirs.SGDClassifier(loss="modified_huber")
    with_weights(model, np.repeat([0, 1, 2], 20), np.array([0.0, -500.0, -500.0]), rng)
    w = model.coef_[0]
    X = rng.normal(size=(60, WIDTH))
    X[:, -1] = (-1.0 - X[:, :-1] @ w[:-1]) / w[-1]
    return model, X, None


def counts(model, scale, low, high):
    """Means of counts in a narrow range, where the link is steep."""

    def made(rng):
        w = rng.normal(size=WIDTH)
        if model is privlearn.PoissonRegressor:
            content = {"coef": [w.tolist()], "intercept": [0.0], "clip_y": [low, high]}
            fitted = model.from_dict(content)
        else:
            fitted = with_weights(model(), np.ones(60), 0.0, rng)
            fitted.coef_ = w
        X = rng.normal(size=(60, WIDTH)) * scale
        X[:, -1] = (np.log(rng.uniform(low, high, 60)) - X[:, :-1] @ w[:-1]) / w[-1]
        return fitted, X, (low, high)

    return made


def in_the_batch(rng):
    X = rng.normal(size=(60, WIDTH))
    return InTheBatch().fit(X, np.arange(60) % 2), X, None


def patched(rng):
    """A known kind of model whose method somebody replaced."""
    model, X, _ = in_the_batch(rng)
    plain = LogisticRegression().fit(X, np.arange(60) % 2)
    plain.predict_proba = model.predict_proba
    return plain, X, None


def far_box(rng):
    """A model that clips small features to large ones, and sums them up then."""
    w = rng.normal(size=WIDTH)
    w -= w.mean()
    model = privlearn.LinearRegression.from_dict({"coef": [w.tolist()], "intercept": [0.0]})
    low, high = np.full(WIDTH, 1e9), np.full(WIDTH, 1e9 + 50.0)
    model._clip_bounds = Bounds(low, high, None, None)
    return model, rng.uniform(0, 50, size=(60, WIDTH)), (-100.0, 100.0)


def line(model):
    def made(rng):
        X = rng.normal(size=(60, WIDTH)) * 10.0 ** rng.uniform(-3, 5, WIDTH)
        y = X[:, 0] if "Regress" in type(model).__name__ else np.arange(60) % 2
        y = y if type(model).__name__ != "LogisticRegression" else np.arange(60) % 3
        return model.fit(X, y), X, None if hasattr(model, "classes_") else (-10.0, 10.0)

    return made


MODELS = {
    "jumps": jumps,
    "their counts": counts(theirs.PoissonRegressor, 500, 100_000.0, 100_010.0),
    "our counts": counts(privlearn.PoissonRegressor, 500, 100_000.0, 100_010.0),
    "in the batch": in_the_batch,
    "patched": patched,
    "far box": far_box,
    "their line": line(theirs.LinearRegression()),
    "their classes": line(LogisticRegression(max_iter=20)),
    "their margins": line(LinearSVC(max_iter=20)),
    "a pipeline": line(make_pipeline(StandardScaler(), LogisticRegression())),
    "a forest": line(RandomForestClassifier(2, random_state=0)),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("setting", [("add_remove", "raise"), ("zero_out", "drop")])
@pytest.mark.parametrize("kind", MODELS)
def test_rows_add_what_they_would_add_alone(kind, setting):
    relation, on_invalid = setting
    model, X, bounds = MODELS[kind](np.random.default_rng(0))
    task = Task.of(model, None, bounds)
    y = np.zeros(len(X)) if bounds is None else np.full(len(X), bounds[0])
    job = prepare(task, len(X), 1.0, 1e-6, relation, on_invalid)

    def sums_of(first, last, without=()):
        rows = X[first:last].copy()
        if on_invalid == "drop":
            rows[list(without)] = np.nan
        else:
            rows = np.delete(rows, without, axis=0)
        data = read_rows(task, rows, y[: len(rows)], relation, on_invalid)
        return _sums(job, data, strict=on_invalid == "raise")

    alone = [sums_of(k, k + 1) for k in range(len(X))]
    for size in (2, 5, 12, 60):
        for first in range(0, len(X) - size + 1, size):
            for without in ((), (size - 1,)):
                rest = [alone[first + k] for k in range(size) if k not in without]
                found = sums_of(first, first + size, without)
                for name, total in found.items():
                    expected = np.sum([one[name] for one in rest], axis=0)
                    np.testing.assert_allclose(total, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["their counts", "our counts", "far box", "their line"])
def test_what_is_asked_among_others_is_near_what_it_would_be_alone(kind):
    """The inequality of the proof, on every row that a known model is not asked about alone."""
    model, X, bounds = MODELS[kind](np.random.default_rng(0))
    task = Task.of(model, None, bounds)
    ask, lone = _answers_of(task), too_large(task, WIDTH)
    alone = np.vstack([ask(row[None]) for row in X])
    for size in (2, 3, 5, 12, 60):
        for first in range(0, len(X) - size + 1, size):
            own = slice(first, first + size)
            apart = np.abs(ask(X[own]) - alone[own])[~lone(X[own])]
            assert apart.max(initial=0.0) <= NEAR


def test_a_model_without_a_proof_is_named_as_an_assumption():
    rng = np.random.default_rng(0)
    for kind, made in MODELS.items():
        model, _, bounds = made(rng)
        proved = kind in ("their counts", "our counts", "far box") or kind.startswith("their")
        assert is_known(model) == proved, kind
        assert (ALONE in Task.of(model, None, bounds).assumed) != proved
    for model in FIXED.values():
        assert not is_known(model())
    X = rng.uniform(-1, 1, (500, 2))
    for kernel in (privlearn.KernelRegressor, privlearn.KernelClassifier):
        assert not is_known(kernel())
    model = LogisticRegression().fit(X, X[:, 0] > 0)
    model.coef_ = model.coef_.astype(np.float32)  # sums in another precision
    assert not is_known(model)
