"""LinearSVC: its objective, one fit for all classes, labels, and refusals in words."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.svm import SVC
from sklearn.svm import LinearSVC as PlainSVC

from privlearn import LinearSVC, LogisticRegression
from privlearn._core.problem import Budget
from privlearn._objective.losses import LOSSES, Hinge, SquaredHinge, Target
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import SGD, resolve
from support import without_noise

BOX = {"bounds_X": (-1.0, 1.0)}
# Full batches, nothing clipped, many steps: what is left is the optimiser. A slope that jumps wants
# short steps and a long average.
SMOOTH = SGD(steps=4_000, batch_size=10**9, step_size=1.0, clip=50.0, momentum=0.95, average=0.1)
KINKED = SGD(steps=20_000, batch_size=10**9, step_size=0.1, clip=50.0, momentum=0.9, average=0.5)
EXACT = {"squared_hinge": SMOOTH, "hinge": KINKED}


def data(n=400, n_classes=2, seed=0):
    """Overlapping classes, so that many rows stay within the margin."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 4))
    score = X @ [2.0, -1.0, 0.5, 0.0] + 0.4 + rng.logistic(size=n)
    return X, np.digitize(score, [0.0, 1.2][: n_classes - 1])


def fitted(model, X, y):
    with without_noise():
        return model.fit(X, y)


def optimum(X, signs, C, intercept=True):
    """Coefficients and intercept of the squared hinge, the intercept without penalty."""
    rows = np.column_stack([X, np.full(len(X), float(intercept))])
    penalised = np.append(np.ones(X.shape[1]), 0.0)

    def objective(w):
        short = np.maximum(0.0, 1.0 - signs * (rows @ w))
        slope = -2.0 * C * signs * short
        value = 0.5 * np.sum(penalised * w**2) + C * np.sum(short**2)
        return value, penalised * w + rows.T @ slope

    return minimize(objective, np.zeros(rows.shape[1]), jac=True, options={"gtol": 1e-9}).x


def numbers(model):
    return np.column_stack([model.coef_, model.intercept_])


# The objective


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_squared_hinge_reaches_the_optimum_with_a_free_intercept(C, intercept):
    X, y = data()
    facts = {"C": C, "fit_intercept": intercept, "solver": SMOOTH, **BOX}
    ours = fitted(LinearSVC(**facts), X, y)
    np.testing.assert_allclose(numbers(ours)[0], optimum(X, 2 * y - 1, C, intercept), atol=1e-4)


def test_without_a_penalty():
    X, y = data()
    ours = fitted(LinearSVC(C=np.inf, solver=SMOOTH, **BOX), X, y)
    np.testing.assert_allclose(numbers(ours)[0], optimum(X, 2 * y - 1, 1e9), atol=1e-3)


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_hinge_reaches_the_optimum_with_a_free_intercept(C):
    """SVC, unlike scikit-learn's LinearSVC, leaves the intercept without penalty."""
    X, y = data()
    ours = fitted(LinearSVC(C=C, loss="hinge", solver=KINKED, **BOX), X, y)
    theirs = SVC(C=C, kernel="linear", tol=1e-8).fit(X, y)
    scores = theirs.decision_function(X)
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=0.02 * np.std(scores))


@pytest.mark.parametrize("loss", EXACT)
def test_as_scikit_learn_where_there_is_no_intercept(loss):
    X, y = data()
    shared = {"C": 0.5, "loss": loss, "fit_intercept": False}
    ours = fitted(LinearSVC(solver=EXACT[loss], **shared, **BOX), X, y)
    theirs = PlainSVC(tol=1e-9, max_iter=1_000_000, **shared).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.01 if loss == "hinge" else 1e-4)


def test_scikit_learn_penalises_the_intercept_and_this_does_not():
    """With little C a penalty holds the intercept back, which the docstring names as the change."""
    X, y = data()
    y[: len(y) // 2] = 1
    ours = fitted(LinearSVC(C=0.001, solver=SMOOTH, **BOX), X, y)
    theirs = PlainSVC(C=0.001, tol=1e-9).fit(X, y)
    assert ours.intercept_[0] > 1.3 * theirs.intercept_[0] > 0


def test_boxes_hold():
    X, y = data()
    ours = fitted(LinearSVC(coef_bounds=(-0.1, [9, 9, 0.05, 9]), solver=SMOOTH, **BOX), X, y)
    assert ours.coef_[0, 1:3] == pytest.approx([-0.1, 0.05])


# Several classes


def test_classes_against_the_rest_as_if_each_were_fitted_alone():
    X, y = data(n_classes=3)
    ours = fitted(LinearSVC(C=0.5, solver=SMOOTH, **BOX), X, y)
    assert ours.coef_.shape == (3, 4)
    for k in range(3):
        alone = optimum(X, np.where(y == k, 1.0, -1.0), 0.5)
        np.testing.assert_allclose(numbers(ours)[k], alone, atol=2e-4)
    scores = ours.decision_function(X)
    np.testing.assert_array_equal(ours.predict(X), scores.argmax(axis=1))


def test_hinge_of_three_classes_as_in_scikit_learn():
    X, y = data(n_classes=3)
    shared = {"C": 0.5, "loss": "hinge", "fit_intercept": False}
    ours = fitted(LinearSVC(solver=KINKED, **shared, **BOX), X, y)
    theirs = PlainSVC(tol=1e-9, max_iter=1_000_000, **shared).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=0.02)


@pytest.mark.parametrize("loss", EXACT)
def test_classes_share_one_release_and_its_clip(loss):
    """Gradients of all classes are shortened together: no class costs a budget of its own."""
    solver = SGD(steps=50, batch_size=100, clip=0.7)
    model = LinearSVC(loss=loss, solver=solver, **BOX)
    two, ten = (model.plan(n=5_000, n_features=4, n_classes=k) for k in (2, 10))
    assert [release.shape for release in two.releases] == [(5,)]
    assert [release.shape for release in ten.releases] == [(50,)]
    assert ten.releases[0].clip == two.releases[0].clip == 0.7
    multipliers = [plan.noise_multiplier(plan.releases[0]) for plan in (two, ten)]
    assert multipliers[0] == pytest.approx(multipliers[1], rel=1e-6)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", [Hinge(3), SquaredHinge(3)], ids=["hinge", "squared hinge"])
def test_clipped_sums_of_several_classes(loss, sparse):
    """Against gradients built row by row, over more rows than are worked on together."""
    from privlearn.solvers._common.loops.row_products import StoredRows
    from privlearn.solvers._common.loops.sgd import CompiledObjective, clipped_sum

    rng = np.random.default_rng(0)
    n, p, unit = 700, 3, 0.4
    kept = rng.uniform(-1, 1, (n, p)).astype(np.float32)  # as solvers store rows
    X, y = kept.astype(np.float64), rng.integers(3, size=n).astype(float)
    rows = np.column_stack([X, np.full(n, unit)])
    norms = np.linalg.norm(rows, axis=1)
    none = np.empty(0, np.int64)
    stored = StoredRows(kept, none, none, y, norms)
    if sparse:
        places = np.tile(np.arange(p), n)
        stored = StoredRows(kept.reshape(1, -1), places, p * np.arange(n + 1), y, norms)
    weights, found = rng.standard_normal((3, p + 1)), np.empty(3 * (p + 1))
    batch = np.flatnonzero(rng.random(n) < 0.7)
    slopes = loss.derivative(y, rows @ weights.T)
    lengths = np.linalg.norm(slopes, axis=1) * norms
    clip = float(np.median(lengths))
    assert clip > 0.5
    objective = CompiledObjective(loss.code, 0.0, 3, p + 1, unit, clip)
    clipped_sum(stored, batch, objective, weights.ravel(), found)
    slopes *= np.minimum(1, clip / np.maximum(lengths, 1e-300))[:, None]
    want = slopes[batch].T @ rows[batch]
    np.testing.assert_allclose(found.reshape(3, p + 1), want, rtol=1e-8)


@pytest.mark.parametrize("loss", [one for one in LOSSES if "hinge" in one.name], ids=str)
def test_slopes_of_scores_beyond_all_bounds(loss):
    """No exception and no NaN: what is not finite is left out when gradients are shortened."""
    from privlearn._objective.losses.compiled import write_loss_gradients

    scores = np.repeat([[np.inf], [-np.inf], [np.nan]], loss.outputs, axis=1)
    targets = np.zeros(3) if loss.target is Target.CLASS else np.ones(3)
    slopes, along = np.empty((3, loss.outputs)), np.empty(3)
    write_loss_gradients(loss.code, 0.0, targets, scores, 1.0, slopes, along)
    assert not np.isnan(slopes).any()
    np.testing.assert_array_equal(slopes[2], 0.0)


# The rule


def test_clip_by_rule_is_in_units_of_the_slope():
    """With much signal nothing is clipped that a prediction of 0 would bring."""
    plans = {
        (loss, k): LinearSVC(loss=loss, solver="sgd", **BOX).plan(
            n=500_000, n_features=4, n_classes=k
        )
        for loss in EXACT
        for k in (2, 3)
    }
    clips = {key: plan.releases[0].clip for key, plan in plans.items()}
    assert clips == pytest.approx(
        {
            ("squared_hinge", 2): 2.0,
            ("squared_hinge", 3): 2.0 * np.sqrt(3),
            ("hinge", 2): 1.0,
            ("hinge", 3): np.sqrt(3),
        }
    )


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_defaults_learn(loss, n_classes):
    X, y = data(20_000, n_classes)
    model = LinearSVC(loss=loss, epsilon=1, random_state=0, **BOX).fit(X, y)
    plain = PlainSVC(dual="auto", loss="squared_hinge").fit(X, y)
    assert model.score(X, y) > plain.score(X, y) - 0.02
    assert model.privacy_.spent(1e-6) <= 1.0


def test_auto_is_able():
    for n_classes in (2, 3):
        problem = LinearSVC(**BOX)._problem(1_000, 4, n_classes)
        chosen = resolve("auto", problem, Budget(1.0, 1e-6))
        assert not chosen.support.missing(problem)


# The interface


def test_labels_of_any_kind_come_back():
    X, y = data(5_000)
    for labels in (["no", "yes"], [False, True], [3, 7]):
        named = np.asarray(labels)[y]
        model = LinearSVC(epsilon=20, **BOX).fit(X, named)
        assert model.predict(X).dtype == named.dtype
        assert model.score(X, named) > 0.7
        positive = model.decision_function(X) > 0
        np.testing.assert_array_equal(model.predict(X) == labels[1], positive)


def test_a_margin_is_no_probability():
    assert not hasattr(LinearSVC(), "predict_proba")
    assert hasattr(LogisticRegression(), "predict_proba")


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_rows_give_the_same_model(loss, n_classes, kind):
    X, y = data(n_classes=n_classes)
    X[np.abs(X) < 0.6] = 0.0
    facts = {"loss": loss, "data_norm": 3.0, "solver": SGD(steps=200, batch_size=10**9)}
    dense = fitted(LinearSVC(**facts), X, y)
    again = fitted(LinearSVC(**facts), kind(X), y)
    np.testing.assert_allclose(numbers(again), numbers(dense), atol=1e-5)
    assert np.abs(dense.coef_).max() > 0.1


def test_pickles_predict_the_same():
    X, y = data(n_classes=3)
    model = LinearSVC(loss="hinge", **BOX).fit(X, np.array(["a", "b", "c"])[y])
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert (again.loss, str(again.privacy_)) == ("hinge", str(model.privacy_))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"loss": "log_loss"}, r"'loss' parameter of LinearSVC must be a str among .*hinge"),
        ({"C": 0}, r"'C' parameter of LinearSVC must be a float in the range \(0.*Got 0"),
        ({"C": -1.0}, r"Got -1\.0"),
        ({"C": "1"}, "Got '1'"),
        ({"coef_bounds": (1.0, 0.0)}, "coef_bounds leave no value.*low <= high is needed"),
        ({"coef_bounds": (0.0, [1.0, 2.0])}, "a pair .* arrays with 4 numbers"),
    ],
)
def test_wrong_parameters_are_refused_in_words(wrong, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        LinearSVC(**wrong, **BOX).fit(X, y)


@pytest.mark.parametrize(("solver", "loss"), [("moments", "squared hinge"), ("cd", "hinge")])
def test_solvers_without_a_proof_are_refused_in_words(solver, loss):
    X, y = data()
    model = LinearSVC(loss=loss.replace(" ", "_"), solver=solver, **BOX)
    with pytest.raises(
        UnsupportedCombinationError, match=f"{solver}.*does not support loss '{loss}'"
    ):
        model.fit(X, y)
