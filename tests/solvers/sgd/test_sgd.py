"""SGD without noise finds the optimum; with noise it keeps its numbers and refuses bad ones."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import HuberRegressor as PlainHuber
from sklearn.linear_model import LinearRegression as PlainLinear
from sklearn.linear_model import LogisticRegression as PlainLogistic
from sklearn.linear_model import Ridge as PlainRidge

from privlearn import HuberRegressor, LinearRegression, LogisticRegression, Ridge
from privlearn._objective.losses import LOSSES, Target
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import SGD
from support import without_noise

# Full batches, nothing clipped, many steps: what is left is the optimiser.
EXACT = SGD(steps=4_000, batch_size=10**9, step_size=3.0, clip=50.0, momentum=0.95, average=0.1)
GENTLE = SGD(steps=6_000, batch_size=10**9, step_size=0.5, clip=50.0, momentum=0.95, average=0.1)
BOX = {"bounds_X": (-1.0, 1.0)}


def data(n=400, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p))
    score = X @ np.array([2.0, -1.0, 0.5, 0.0])[:p] + 0.4
    return X, score, rng


def fitted(model, X, y):
    with without_noise():
        return model.fit(X, y)


def binary():
    X, score, rng = data()
    return X, (rng.random(len(X)) < 1 / (1 + np.exp(-score))).astype(int)


@pytest.mark.parametrize("C", [0.05, 1.0, np.inf])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_reaches_scikit_learns_optimum(C, intercept):
    X, y = binary()
    ours = fitted(LogisticRegression(C=C, fit_intercept=intercept, solver=EXACT, **BOX), X, y)
    theirs = PlainLogistic(C=C, fit_intercept=intercept, tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


@pytest.mark.filterwarnings("ignore:'penalty' was deprecated:FutureWarning")
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
def test_l1_and_elastic_net_as_in_scikit_learn(l1_ratio):
    X, y = binary()
    ours = fitted(LogisticRegression(C=0.08, l1_ratio=l1_ratio, solver=EXACT, **BOX), X, y)
    theirs = PlainLogistic(
        C=0.08, l1_ratio=l1_ratio, penalty="elasticnet", solver="saga", tol=1e-8, max_iter=20_000
    )
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    if l1_ratio == 1.0:
        assert (theirs.coef_ == 0).any()
        np.testing.assert_array_equal(ours.coef_ == 0, theirs.coef_ == 0)


def test_multinomial_as_in_scikit_learn():
    X, score, rng = data()
    y = np.array(["a", "b", "c"])[np.digitize(score + rng.standard_normal(len(X)), [0.0, 1.0])]
    ours = fitted(LogisticRegression(C=0.5, solver=EXACT, **BOX), X, y)
    theirs = PlainLogistic(C=0.5, tol=1e-10, max_iter=10_000).fit(X, y)
    assert ours.coef_.shape == (3, 4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-4)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(np.exp(ours.predict_log_proba(X)), ours.predict_proba(X))


def test_least_squares_ridge_and_boxes():
    X, score, rng = data()
    y = score + 0.1 * rng.standard_normal(len(X))
    facts = BOX | {"bounds_y": (-5.0, 5.0), "solver": GENTLE}
    np.testing.assert_allclose(
        fitted(LinearRegression(**facts), X, y).coef_, PlainLinear().fit(X, y).coef_, atol=1e-4
    )
    np.testing.assert_allclose(
        fitted(Ridge(alpha=30, **facts), X, y).coef_,
        PlainRidge(alpha=30).fit(X, y).coef_,
        atol=1e-4,
    )
    positive = fitted(LinearRegression(positive=True, **facts), X, y)
    theirs = PlainLinear(positive=True).fit(X, y)
    np.testing.assert_allclose(positive.coef_, theirs.coef_, atol=1e-4)
    assert positive.coef_[1] == 0
    boxed = fitted(LinearRegression(coef_bounds=(-0.5, 1.0), **facts), X, y)
    assert boxed.coef_[:2] == pytest.approx([1.0, -0.5])


@pytest.mark.parametrize("scale", [1.0, 1_000.0])
def test_huber_as_in_scikit_learn(scale):
    X, score, rng = data()
    y = score + 0.2 * rng.standard_normal(len(X))
    y[::9] = 9.0
    facts = {"bounds_y": (-10 * scale, 10 * scale), "alpha": 0.1 / scale, **BOX}
    solver = SGD(steps=8_000, batch_size=10**9, step_size=0.5, clip=50, momentum=0.9, average=0.1)
    ours = fitted(HuberRegressor(solver=solver, **facts), X, y * scale)
    theirs = PlainHuber(alpha=0.1 / scale, tol=1e-9, max_iter=10_000).fit(X, y * scale)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-3 * scale)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=2e-3 * scale)
    plain = PlainLinear().fit(X, y * scale)
    assert abs(ours.intercept_ - plain.intercept_) > 0.2 * scale, "outliers were not resisted"


def test_coefficients_are_in_the_units_of_the_data():
    X, y = binary()
    shift, unit = np.array([5.0, -3.0, 0.0, 1e3]), np.array([10.0, 0.1, 1.0, 1e2])
    other = (X + shift) * unit
    box = {"bounds_X": ((-1 + shift) * unit, (1 + shift) * unit)}
    first = fitted(LogisticRegression(C=np.inf, solver=EXACT, **BOX), X, y)
    second = fitted(LogisticRegression(C=np.inf, solver=EXACT, **box), other, y)
    np.testing.assert_allclose(second.coef_ * unit, first.coef_, atol=1e-6)
    np.testing.assert_allclose(second.decision_function(other), first.decision_function(X))


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix, np.float32, np.asfortranarray])
def test_sparse_float32_and_order_give_the_same_model(kind):
    X, y = binary()
    X[np.abs(X) < 0.6] = 0.0
    facts = {"data_norm": 3.0, "solver": SGD(steps=300, batch_size=10**9)}
    dense = fitted(LogisticRegression(**facts), X, y)
    other = kind(X) if kind is not np.float32 else X.astype(np.float32)
    again = fitted(LogisticRegression(**facts), other, y)
    np.testing.assert_allclose(again.coef_, dense.coef_, atol=1e-5)
    np.testing.assert_allclose(again.predict_proba(other), dense.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize(
    "facts",
    [{"bounds_X": (-0.7, 0.7)}, {"data_norm": 1.2}, {"bounds_X": (0.1, 0.7), "data_norm": 1.2}],
)
def test_sparse_rows_are_bounded_as_dense_ones(facts):
    """The last box excludes zero, so entries that are not stored must become 0.1."""
    X, y = binary()
    X[np.abs(X) < 0.6] = 0.0
    X[3], X[5, 1] = 1e308, np.nan
    settings = {"solver": SGD(steps=100, batch_size=10**9), "on_invalid": "drop", **facts}
    dense = fitted(LogisticRegression(**settings), X, y)
    again = fitted(LogisticRegression(**settings), sp.csr_array(X), y)
    np.testing.assert_allclose(again.decision_function(X[:3]), dense.decision_function(X[:3]))


def test_sparse_matrix_without_a_single_entry():
    X, y = sp.csr_array((50, 4)), np.arange(50) % 2
    model = fitted(LogisticRegression(solver=SGD(steps=20), data_norm=2.0), X, y)
    np.testing.assert_array_equal(model.coef_, 0.0)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_compiled_slopes_are_the_losses_derivatives(loss):
    from privlearn._objective.losses.compiled import write_loss_gradients

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(80, loss.outputs)) * np.repeat([3.0, 300.0], 40)[:, None]
    targets = {
        Target.NUMBER: rng.normal(size=80),
        Target.SIGN: rng.choice([-1.0, 1.0], 80),
        Target.CLASS: rng.integers(loss.outputs, size=80).astype(float),
    }[loss.target]
    slopes, along = np.empty((80, loss.outputs)), np.empty(80)
    write_loss_gradients(loss.code, loss.threshold, targets, scores, 1.0, slopes, along)
    z = scores if loss.target is Target.CLASS else scores[:, 0]
    want = loss.derivative(targets, z).reshape(80, -1)
    np.testing.assert_allclose(slopes, want, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("sparse", [False, True])
def test_clipped_sums_are_sums_of_clipped_gradients(sparse):
    """Against gradients built row by row, over more rows than are worked on together."""
    from privlearn.solvers._common.loops.row_products import StoredRows
    from privlearn.solvers._common.loops.sgd import CompiledObjective, clipped_sum

    rng = np.random.default_rng(0)
    n, p, unit, clip = 2_500, 3, 0.4, 0.3
    kept = rng.uniform(-1, 1, (n, p)).astype(np.float32)  # as solvers store rows
    X, y = kept.astype(np.float64), rng.choice([-1.0, 1.0], n)
    norms = np.sqrt((X**2).sum(axis=1) + unit**2)
    norms[7] = 0.0  # an empty row
    none = np.empty(0, np.int64)
    stored = StoredRows(kept, none, none, y, norms)
    if sparse:
        places = np.tile(np.arange(p), n)
        stored = StoredRows(kept.reshape(1, -1), places, p * np.arange(n + 1), y, norms)
    weights, found = rng.standard_normal(p + 1), np.empty(p + 1)
    batch = np.flatnonzero(rng.random(n) < 0.7)
    objective = CompiledObjective(2, 0.0, 1, p + 1, unit, clip)
    clipped_sum(stored, batch, objective, weights, found)
    rows = np.column_stack([X, np.full(n, unit)])
    gradients = (-y / (1 + np.exp(y * (rows @ weights))))[:, None] * rows
    lengths = np.linalg.norm(gradients, axis=1)
    gradients *= np.minimum(1, clip / lengths)[:, None] * (norms > 0)[:, None]
    assert (lengths > clip).mean() > 0.2
    np.testing.assert_allclose(found, gradients[batch].sum(axis=0), rtol=1e-8)


def test_weights_beyond_all_bounds_contribute_nothing():
    from privlearn.solvers._common.loops.row_products import StoredRows
    from privlearn.solvers._common.loops.sgd import CompiledObjective, clipped_sum

    none = np.empty(0, np.int64)
    rows = StoredRows(np.ones((3, 2), np.float32), none, none, np.zeros(3), np.full(3, 1.5))
    found = np.empty(2)
    objective = CompiledObjective(0, 0.0, 1, 2, 0.0, 1.0)
    clipped_sum(rows, np.arange(3), objective, np.full(2, 1e308), found)
    np.testing.assert_array_equal(found, 0.0)


# Settings


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"steps": 0}, "steps=0"),
        ({"steps": 2.5}, "steps=2.5"),
        ({"batch_size": -1}, "batch_size=-1"),
        ({"step_size": 0.0}, "step_size=0.0"),
        ({"clip": float("inf")}, "clip=inf"),
        ({"momentum": 1.0}, "momentum=1.0"),
        ({"average": 1.5}, "average=1.5"),
    ],
)
def test_wrong_settings_are_refused_in_words(wrong, words):
    with pytest.raises(ValueError, match=words):
        SGD(**wrong)


def test_batch_size_needs_a_public_number_of_rows():
    model = LogisticRegression(solver=SGD(batch_size=10), adjacency="add_remove", **BOX)
    with pytest.raises(UnsupportedCombinationError, match="batch_size=10 needs a public number"):
        model.plan(n=100, n_features=2)


def test_given_settings_are_what_is_planned():
    solver = SGD(steps=37, batch_size=50, clip=0.7)
    plan = LogisticRegression(solver=solver, **BOX).plan(n=5_000, n_features=4)
    (release,) = plan.releases
    assert (release.count, release.sampling.rate, release.clip) == (37, 0.01, 0.7)
    assert release.shape == (5,)


def test_private_n_changes_neither_plan_nor_settings():
    model = LogisticRegression(solver="sgd", adjacency="add_remove", **BOX)
    plans = [model.plan(n=n, n_features=4) for n in (100, 1_000_000)]
    assert plans[0] == plans[1]
    assert [release.name for release in plans[0].releases] == ["number of rows", "clipped gradient"]


def test_noise_multiplier_has_a_floor():
    """One row in a million, once: delta alone would keep the promise."""
    solver = SGD(steps=1, batch_size=1)
    model = LogisticRegression(epsilon=1, delta=1e-5, solver=solver, **BOX)
    with pytest.warns(UserWarning, match="delta"):
        plan = model.plan(n=1_000_000, n_features=4)
    assert plan.noise_multiplier(plan.releases[0]) >= 0.3


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
@pytest.mark.parametrize("relation", ["zero_out", "replace_one", "add_remove"])
def test_rule_keeps_sampling_efficient(epsilon, relation):
    """Noise multiplier near 2 or above, at least ten epochs, or all rows."""
    model = LogisticRegression(solver="sgd", epsilon=epsilon, adjacency=relation, **BOX)
    plan = model.plan(20_000, n_features=9)
    release = plan.releases[-1]
    assert release.sampling.rate * release.count >= 9.99
    assert release.sampling.rate == 1.0 or plan.noise_multiplier(release) > 1.7


def test_forecast_tells_the_noise_of_a_quadratic_problem():
    """Spread of coefficients over fits against the forecast, for data as the forecast assumes."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (4_000, 3))
    y = np.clip(X @ [0.3, -0.2, 0.1], -1, 1)
    model = Ridge(alpha=0, solver="sgd", bounds_y=(-1, 1), epsilon=2, delta=1e-5, **BOX)
    told = model.plan(n=len(X), n_features=3).forecast()
    found = [model.set_params(random_state=seed).fit(X, y).coef_ for seed in range(60)]
    spread = np.std(found, axis=0)
    np.testing.assert_allclose(spread, told.coefficient, rtol=0.35)


def test_certificate_names_steps_sampling_and_labels():
    X, y = binary()
    text = str(LogisticRegression(solver="sgd", **BOX).fit(X, y).privacy_)
    assert "clipped gradient" in text
    assert "Poisson batches" in text
    assert "the set of class labels in y is public" in text
    declared = LogisticRegression(classes=[0, 1], **BOX).fit(X, y).privacy_
    assert "classes was chosen without looking at the data" in declared.assumptions


def test_progress_counts_planned_steps_only():
    from privlearn._core.releaser import progress

    X, y = binary()
    seen = []
    with progress(lambda done, total: seen.append((done, total))):
        LogisticRegression(solver="sgd", adjacency="add_remove", **BOX).fit(X, y)
    assert seen[-1] == (501, 501)
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})
    again = []
    with progress(lambda done, total: again.append((done, total))):
        LogisticRegression(solver="sgd", adjacency="add_remove", **BOX).fit(X[:-7], y[:-7])
    assert again == seen
