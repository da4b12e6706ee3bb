"""`cross_fit`: one budget, every person in all fits but one and in one score."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from privlearn import LogisticRegression, Ridge
from privlearn._core.certificate_check import check_certificate
from privlearn._core.problem import Adjacency
from privlearn._core.releaser import Releaser, use_releaser
from privlearn.accounting import compose
from privlearn.exceptions import (
    BudgetExceededError,
    FewRowsWarning,
    InvalidBudgetError,
    UnsupportedCombinationError,
)
from privlearn.model_selection import cross_fit, cross_fitting

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(3003, 2))
Z = X[:, 0] - 0.5 * X[:, 1] + 0.1 * RNG.standard_normal(3003)
RIDGE = Ridge(bounds_X=(-1, 1), bounds_y=(-2, 2))
ONE = {"epsilon": 4.0, "delta": 1e-6, "random_state": 0}


def quietly(model, *data, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        return cross_fit(model, *data, **ONE | more)


def test_it_scores_models_on_what_they_did_not_see():
    found = quietly(RIDGE, X, Z, predictions=True)
    assert len(found.models) == 5
    assert found.evaluation.r2.low < 0.97 < found.evaluation.r2.high
    assert np.corrcoef(found.predictions, Z)[0, 1] > 0.9
    assert all(model.privacy_ is found.privacy for model in found.models)
    assert "5 models" in str(found)
    classes = quietly(LogisticRegression(bounds_X=(-1, 1)), X, Z > 0, metrics=["accuracy"])
    assert classes.evaluation.accuracy.value > 0.85


@pytest.mark.parametrize("relation", [*Adjacency])
@pytest.mark.parametrize("solver", ["cd", pytest.param("one-pass", marks=pytest.mark.slow)])
def test_the_plan_is_what_a_person_enters(relation, solver):
    """(k - 1) fits and one score: noise as in the fits, and the price of all of them."""
    opened = []

    class Watched(Releaser):
        def __init__(self, *given):
            super().__init__(*given)
            opened.append(self.plan)

    model = clone(RIDGE).set_params(adjacency=relation.value, solver=solver)
    with use_releaser(Watched):
        found = quietly(model, X, Z, folds=4, metrics=["mse"])
    whole, *fits, score = opened
    assert len(fits) == 4
    assert found.privacy.plan == whole
    entered = [pair for plan in (*fits[:3], score) for pair in plan.pairs()]
    assert compose(entered).delta(4.0) <= 1e-6
    assert whole.delta(4.0) <= 1e-6
    assert whole.epsilon(1e-6) == pytest.approx(compose(entered).epsilon(1e-6), rel=1e-3)
    assert {plan.rows for plan in fits} == {None if relation.value == "add_remove" else 2250}
    for release in fits[0].releases:
        same = [r for r in whole.releases if r.name.startswith(release.name)]
        for one in same:
            assert whole.noise_scale(one) == pytest.approx(fits[0].noise_scale(release), rel=1e-9)
        made = sum(1 if r.sampling.at_once else r.count for r in same)
        assert made == 3 * (1 if release.sampling.at_once else release.count)
    assert check_certificate(found.privacy.to_dict(), second_opinion=False).holds


def folds_seen(model, patch, *data, **more):
    """For each fit, the first column of the rows that it saw."""
    seen, fit = [], Ridge.fit

    def watched(self, X, y, **named):
        seen.append(set(np.asarray(X)[:, 0].tolist()))
        return fit(self, X, y, **named)

    patch.setattr(Ridge, "fit", watched)
    quietly(model, *data, **more)
    return seen


def test_every_row_is_in_all_fits_but_one(monkeypatch):
    seen = folds_seen(RIDGE, monkeypatch, X, Z, folds=3)
    times = [sum(x in one for one in seen) for x in X[:, 0].tolist()]
    assert set(times) == {2}
    seen = folds_seen(RIDGE, monkeypatch, X[:3000], Z[:3000], folds=7)
    times = [sum(x in one for one in seen) for x in X[:3000, 0].tolist()]
    assert times.count(6) == 7 * (3000 // 7)
    assert set(times) == {6, 0}  # who is left over takes no part


def test_people_are_parted(monkeypatch):
    ids = np.random.default_rng(1).integers(0, 700, 3003)
    table = np.column_stack([ids / 1000.0, X[:, 1]])
    model = clone(RIDGE).set_params(max_rows_per_person=2)
    seen = folds_seen(model, monkeypatch, table, Z, folds=5, groups=ids)
    times = {who: sum(who / 1000.0 in one for one in seen) for who in set(ids.tolist())}
    assert set(times.values()) <= {4, 0}
    found = quietly(model, table, Z, groups=ids)
    assert found.privacy.unit == "person"


def test_one_charge_before_everything():
    class Refuses:
        def charge(self, plan, dataset):
            raise BudgetExceededError("no", 1.0, 0.0, None)

    events = []

    class Watched(Releaser):
        def _noise(self):
            events.append("noise")
            return super()._noise()

    class Counts:
        def charge(self, plan, dataset):
            events.append("charge")

    with use_releaser(Watched):
        with pytest.raises(BudgetExceededError):
            quietly(RIDGE, X, Z, ledger=Refuses())
        assert events == []
        quietly(RIDGE, X, Z, ledger=Counts())
    assert events[0] == "charge"
    assert events.count("charge") == 1


def test_a_fit_too_few_in_the_plan_is_found(monkeypatch):
    """A planted bug: training parts are taken for parallel, so one fit is charged."""
    times = cross_fitting._times
    monkeypatch.setattr(cross_fitting, "_times", lambda release, k: times(release, 1))
    with pytest.raises(AssertionError):
        test_the_plan_is_what_a_person_enters(Adjacency.ZERO_OUT, "cd")


def test_refusals():
    with pytest.raises(InvalidBudgetError, match="delta=0"):
        quietly(RIDGE, X, Z, delta=0)
    with pytest.raises(UnsupportedCombinationError, match="predictions"):
        quietly(clone(RIDGE).set_params(on_invalid="drop"), X, Z, predictions=True)
    with pytest.raises(ValueError, match="folds"):
        quietly(RIDGE, X, Z, folds=0)
