"""Selectors: scikit-learn's contract, every privacy audit, and what they select."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from privlearn import LinearRegression, audit, feature_selection
from privlearn._core.problem import Adjacency
from privlearn._core.sampling import Batches
from privlearn.audit.tape import record
from privlearn.exceptions import BudgetExceededError, DeltaWarning, InvalidBudgetError
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.feature_selection.sub_lasso_selector import _among_present, _portions
from privlearn.ledger import Ledger
from privlearn.solvers._common.noisy_top_k import VOTES
from privlearn.solvers._common.row_count import COUNT
from support import without_noise

EVERY = tuple(getattr(feature_selection, name) for name in feature_selection.__all__)
RELATIONS = [relation.value for relation in Adjacency]


def linear(n=4_000, p=8, seed=0):
    """Three features matter: 6, 2 and 4, in that order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X[:, 2] - 1.5 * X[:, 6] + 0.5 * X[:, 4] + 0.1 * rng.standard_normal(n)


@pytest.fixture(params=EVERY, ids=lambda cls: cls.__name__)
def selector_class(request):
    return request.param


# scikit-learn's data have as few as one column, and the checks are not about noise.
@parametrize_with_checks([cls(1, epsilon=1e6) for cls in EVERY])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


CONFIGURED = {
    "Kendall, zero_out": KendallSelector(3, delta=1e-6),
    "Kendall, add_remove": KendallSelector(2, adjacency="add_remove"),
    "Kendall, replace_one": KendallSelector(2, adjacency="replace_one"),
    "Kendall, one": KendallSelector(1),
    "SubLasso, zero_out": SubLassoSelector(2),
    "SubLasso, add_remove": SubLassoSelector(2, adjacency="add_remove", delta=1e-6),
    "SubLasso, replace_one": SubLassoSelector(3, adjacency="replace_one"),
    "SubLasso, models": SubLassoSelector(1, models=3, adjacency="add_remove"),
}


@pytest.mark.parametrize("check", audit.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("model", CONFIGURED.values(), ids=CONFIGURED)
def test_audit(model, check):
    check(model, n_features=3)


def test_every_selector_is_audited_under_every_relation():
    met = {(type(model), model.adjacency) for model in CONFIGURED.values()}
    assert met == {(cls, relation) for cls in EVERY for relation in RELATIONS}


@pytest.mark.parametrize("relation", RELATIONS)
def test_what_matters_is_selected(selector_class, relation):
    X, y = linear()
    model = selector_class(3, epsilon=3, adjacency=relation, random_state=0).fit(X, y)
    assert sorted(model.selected_) == [2, 4, 6]
    np.testing.assert_array_equal(model.get_support(indices=True), [2, 4, 6])
    np.testing.assert_array_equal(model.transform(X), X[:, [2, 4, 6]])


def test_best_comes_first_and_copies_are_passed_over():
    X, y = linear()
    X[:, 0] = np.exp(3 * X[:, 6])  # in the same order as the best
    with without_noise():
        model = KendallSelector(3).fit(X, y)
    assert model.selected_.tolist() == [0, 2, 4]  # the first of two equals
    assert model.selected_.dtype == np.int64


def test_every_group_has_k_votes():
    X, y = linear()
    tape = record(SubLassoSelector(3, models=100, random_state=0), X, y)
    votes = tape.entries[0].statistic
    assert votes[[2, 4, 6]].tolist() == [100.0, 100.0, 100.0]
    assert votes.sum() == 300.0
    assert all(entry.release.name == VOTES for entry in tape.entries)


def test_units_outliers_and_orders_do_not_matter(selector_class):
    X, y = linear()
    X[:, 2] *= 1e12
    X[:, 6] = X[:, 6] * 1e-9 + 1e-3
    X[:, 1] = 7.0  # constant
    X[0, 5] = 1e308
    y = np.where(np.arange(len(y)) == 1, -1e308, y)
    model = selector_class(2, epsilon=2, random_state=1).fit(X, y)
    assert sorted(model.selected_) == [2, 6]


def test_two_classes_as_numbers_or_booleans(selector_class):
    X, y = linear()
    for labels in ((y > 0), (y > 0).astype(int), (y > 0).astype(float).tolist()):
        model = selector_class(2, epsilon=3, random_state=0).fit(X, labels)
        assert sorted(model.selected_) == [2, 6]
    with pytest.raises(ValueError, match="y holds something that is no number"):
        selector_class(2).fit(X, np.where(y > 0, "yes", "no"))


def test_containers_agree(selector_class):
    X, y = linear(600)
    X = np.where(np.abs(X) < 0.8, 0.0, X).astype(np.float32)
    model = selector_class(3, random_state=5)
    expected = clone(model).fit(X, y).selected_
    names = [f"column {j}" for j in range(8)]
    frame = pd.DataFrame(X, columns=names)
    found = clone(model).fit(frame, y)
    np.testing.assert_array_equal(found.selected_, expected)
    chosen = [names[j] for j in np.sort(expected)]
    assert found.get_feature_names_out().tolist() == chosen
    assert found.set_output(transform="pandas").transform(frame).columns.tolist() == chosen
    sparse = clone(model).fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(sparse.selected_, expected)
    assert sparse.transform(sp.csr_array(X)).shape == (600, 3)


def test_in_a_pipeline_with_one_ledger(selector_class, tmp_path):
    X, y = linear()
    ledger = Ledger.create(tmp_path / "ledger.db", epsilon=1.0, delta=1e-6)
    known = {"ledger": ledger, "dataset": "people"}
    selector = selector_class(3, epsilon=0.5, **known)
    model = LinearRegression(epsilon=0.4, bounds_X=(-4, 4), bounds_y=(-8, 8), **known)
    pipeline = make_pipeline(selector, model).fit(X, y)
    assert pipeline[-1].coef_.shape == (3,)
    assert pipeline.predict(X).shape == (4_000,)
    assert 0.5 < ledger.spent("people") <= 1.0
    with pytest.raises(BudgetExceededError):
        clone(selector).set_params(epsilon=0.9).fit(X, y)


def test_invalid_rows(selector_class):
    X, y = linear()
    X[3, 1] = np.nan
    y[5] = np.inf
    with pytest.raises(ValueError, match=r"NaN.*on_invalid='drop'"):
        selector_class(2).fit(X, y)
    model = selector_class(2, epsilon=3, on_invalid="drop", random_state=0).fit(X, y)
    assert sorted(model.selected_) == [2, 6]


def test_refusals_say_what_to_do(selector_class):
    X, y = linear(50)
    with pytest.raises(ValueError, match=r"k=9, but k features .* out of 8"):
        selector_class(9).fit(X, y)
    with pytest.raises(ValueError, match="k=9"):
        selector_class(9).plan(50, n_features=8)
    with pytest.raises(InvalidBudgetError, match="epsilon=0"):
        selector_class(2, epsilon=0).fit(X, y)
    with pytest.raises(ValueError, match="'k' parameter"):
        selector_class(0).fit(X, y)
    with pytest.raises(ValueError, match="requires y"):
        selector_class(2).fit(X, None)


def test_a_delta_that_promises_nothing_is_warned_of(selector_class):
    with pytest.warns(DeltaWarning, match="1/n = 0.01"):
        selector_class(2, delta=0.02).plan(100, n_features=4)
    selector_class(2, delta=0.02, adjacency="add_remove").plan(100, n_features=4)  # n is private


def test_a_refused_fit_charges_nothing(selector_class):
    class Full:
        charged = 0

        def charge(self, plan, dataset):
            self.charged += 1

    ledger, (X, y) = Full(), linear(50)
    with pytest.raises(ValueError, match="k=9"):
        selector_class(9, ledger=ledger).fit(X, y)
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        selector_class(2, ledger=ledger).fit(X, y)
    assert ledger.charged == 0


def test_nothing_else_is_fitted_and_pickles_hold_nothing_else(selector_class):
    X, y = linear(1_000)
    model = selector_class(3).fit(X, y)
    assert {name for name in vars(model) if name.endswith("_")} == {
        "selected_",
        "privacy_",
        "n_features_in_",
    }
    text = pickle.dumps(model)
    assert len(text) < 4_000
    np.testing.assert_array_equal(pickle.loads(text).selected_, model.selected_)


def test_private_n_is_in_no_certificate_or_error(selector_class):
    X, y = linear(2_311)
    model = selector_class(3, adjacency="add_remove").fit(X, y)
    assert "2311" not in model.privacy_.to_json() + str(model.privacy_)
    assert model.plan(2_311, n_features=8) == model.plan(n_features=8)
    with pytest.raises(ValueError, match="inconsistent") as caught:
        model.fit(X, y[:-1])
    assert "2311" not in str(caught.value)
    for n in (0, 1, 2):
        assert len(model.fit(X[:n], y[:n]).selected_) == 3


def test_certificates_and_plans_agree(selector_class):
    X, y = linear(500)
    model = selector_class(3, epsilon=2, delta=1e-6).fit(X, y)
    assert (model.privacy_.epsilon, model.privacy_.delta) == (2.0, 1e-6)
    assert model.privacy_.plan == model.plan(500, n_features=8)
    assert model.privacy_.spent(1e-6) <= 2.0
    assert "the number of rows is public" in model.privacy_.assumptions
    assert "Dick" in str(model.privacy_)


def test_delta_buys_less_noise_for_many_rounds(selector_class):
    def noise(delta):
        plan = selector_class(10, delta=delta).plan(1_000, n_features=20)
        return plan.noise_scale(plan.releases[-1])

    assert noise(1e-6) < 0.8 * noise(0.0)


def test_a_count_is_estimated_only_where_it_is_needed():
    def names(**parameters):
        return [r.name for r in SubLassoSelector(4, **parameters).plan(n_features=9).releases]

    assert names() == names(models=7, adjacency="add_remove") == [VOTES]
    assert names(adjacency="add_remove") == [COUNT, VOTES]
    plan = SubLassoSelector(4, adjacency="add_remove").plan(n_features=9)
    count, votes = plan.releases
    assert plan.sensitivity(count) / plan.noise_scale(count) == pytest.approx(0.05, rel=1e-3)
    assert 8 * plan.sensitivity(votes) / plan.noise_scale(votes) == pytest.approx(0.95, rel=1e-3)


def test_one_ballot_moves_no_count_by_more_than_one_under_every_relation():
    for relation in RELATIONS:
        plan = SubLassoSelector(2, models=5, adjacency=relation).plan(100, n_features=4)
        assert plan.sensitivity(plan.releases[0]) == pytest.approx(1.0, rel=1e-3)


def test_groups_lose_their_empty_rows_and_come_in_portions(monkeypatch):
    rows, starts = np.array([5, 0, 3, 1, 4, 2]), np.array([0, 2, 2, 5, 6])
    present = np.array([True, True, True, False, True, False])
    kept = _among_present(Batches(rows, starts), present)
    assert kept.rows.tolist() == [0, 1, 4, 2]
    assert kept.starts.tolist() == [0, 1, 1, 3, 4]
    for cells in (1, 4, 8, 100):
        monkeypatch.setattr("privlearn.feature_selection.sub_lasso_selector.CELLS", cells)
        groups = []
        for part, cuts in _portions(kept, width=2):
            groups += [part[a:b].tolist() for a, b in pairwise(cuts)]
        assert groups == [[0], [], [1, 4], [2]]


def test_lasso_of_a_group_is_scikit_learns():
    from sklearn.linear_model import Lasso

    from privlearn.feature_selection.lasso_votes import _lasso, _standardise

    X, y = linear(40)
    columns, target = X.T.copy(), y.copy()
    for column in (*columns, target):
        _standardise(column)
    np.testing.assert_allclose(np.linalg.norm(columns, axis=1), 1.0)
    weights = np.empty(8)
    _lasso(columns, target.copy(), 0.05, weights)
    expected = Lasso(alpha=0.05 / 40, fit_intercept=False, tol=1e-12, max_iter=100_000)
    np.testing.assert_allclose(weights, expected.fit(columns.T, target).coef_, atol=1e-5)
    assert np.count_nonzero(weights) < 8


def test_ballots_are_zeros_and_ones_for_any_rows():
    from privlearn.feature_selection.lasso_votes import cast_ballots

    rng = np.random.default_rng(0)
    odd = [1e308, -1e308, 5e-324, 0.0, 1.0]
    for _ in range(50):
        X, y = rng.choice(odd, (6, 4)), rng.choice(odd, 6)
        votes = np.zeros(4)
        cast_ballots(X, y, np.array([0, 6]), 2, 0.1, votes)
        assert set(votes) <= {0.0, 1.0}
        assert votes.sum() <= 2
