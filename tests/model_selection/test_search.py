"""`PrivateSearchCV`: what it promises, charges, refuses and publishes."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from privlearn import (
    KernelRegressor,
    Lasso,
    Ledger,
    LinearSVC,
    LogisticRegression,
    Ridge,
)
from privlearn._core.certificate import Certificate
from privlearn._core.certificate_check import check_certificate
from privlearn._core.mechanisms import DisjointParts, RandomTries, tries
from privlearn._core.releaser import Releaser, progress, use_releaser
from privlearn.exceptions import (
    BudgetExceededError,
    FewRowsWarning,
    InvalidBudgetError,
    MissingFactError,
    PrivacyTestFailedError,
    UnsupportedCombinationError,
)
from privlearn.metrics import evaluate
from privlearn.metrics import plan as score_plan
from privlearn.model_selection import PrivateSearchCV, attempts, parts, searching
from privlearn.schema import Category, Ignore, Number

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(3000, 2))
Z = X[:, 0] - 0.5 * X[:, 1] + 0.1 * RNG.standard_normal(3000)
Y = (Z > 0).astype(int)
LOGISTIC = LogisticRegression(bounds_X=(-1, 1), classes=[0, 1])
RIDGE = Ridge(bounds_X=(-1, 1), bounds_y=(-2, 2))
ON_PATH = clone(RIDGE).set_params(solver="moments")
CS, ALPHAS = {"C": [1e-5, 1.0]}, {"alpha": [0.1, 10.0, 1e6]}
ONE = {"epsilon": 4.0, "delta": 1e-6}


def classified(model=LOGISTIC, grid=CS, **more):
    return PrivateSearchCV(model, grid, **ONE | more)


def regressed(model=RIDGE, grid=ALPHAS, **more):
    return PrivateSearchCV(model, grid, **ONE | more)


class Witness:
    """A ledger that writes down what happens, in its order."""

    def __init__(self, refuses=False):
        self.refuses, self.events, self.plans = refuses, [], []

    def charge(self, plan, dataset):
        self.events.append("charge")
        self.plans.append(plan)
        if self.refuses:
            raise BudgetExceededError("no", 1.0, 0.0, None)

    def __deepcopy__(self, memo):
        return self

    def releaser(self):
        witness = self

        class Watched(Releaser):
            def _noise(self):
                witness.events.append("noise")
                return super()._noise()

        return Watched


def check_charged_once(search, *data):
    """One charge, before any noise; none of what follows a refusal."""
    witness = Witness()
    with use_releaser(witness.releaser()):
        clone(search).set_params(ledger=witness).fit(*data)
    assert witness.events.count("charge") == 1, "charged more than once"
    assert witness.events[0] == "charge", "noise before the charge"
    refusing = Witness(refuses=True)
    model = clone(search).set_params(ledger=refusing)
    with use_releaser(refusing.releaser()), pytest.raises(BudgetExceededError):
        model.fit(*data)
    assert refusing.events == ["charge"]
    assert not hasattr(model, "privacy_")


FITTED = {"best_params_", "best_estimator_", "best_score_", "privacy_"}


def check_tells_nothing_else(search, *data):
    """Nothing but the best is kept, in whatever is reachable."""
    found = clone(search).fit(*data)
    params = set(found.get_params(deep=False))
    assert set(vars(found)) - params == FITTED
    one = clone(found.estimator).fit(*data)
    assert {*vars(found.best_estimator_)} == {*vars(one)}
    assert not hasattr(found, "cv_results_")


def check_parts(search, *data, patch):
    """No row is in a fit and in a score."""
    seen = {"fit": [], "score": []}
    run = attempts.Attempts.run

    def watched(self, setting, seed, train, test):
        seen["fit"].append(np.asarray(train.X)[:, 0])
        seen["score"].append(np.asarray(test.X)[:, 0])
        return run(self, setting, seed, train, test)

    patch.setattr(attempts.Attempts, "run", watched)
    clone(search).fit(*data)
    fits, scores = np.concatenate(seen["fit"]), np.concatenate(seen["score"])
    assert not np.isin(fits, scores).any(), "a row is in both parts"
    assert len(np.unique(np.concatenate([fits, scores]))) == len(data[0])


# What it finds


def test_it_finds_the_better_setting():
    for seed in range(3):
        search = classified(random_state=seed).fit(X, Y)
        assert search.best_params_ == {"C": 1.0}
        assert search.score(X, Y) > 0.9
        assert 0.8 < search.best_score_ <= 1.0
    assert is_classifier(search)
    assert search.predict_proba(X[:3]).shape == (3, 2)
    assert search.n_features_in_ == 2
    assert list(search.classes_) == [0, 1]


def test_it_finds_a_better_penalty_on_a_path():
    for seed in range(3):
        search = regressed(ON_PATH, random_state=seed).fit(X, Z)
        assert search.best_params_["alpha"] < 1e6
        assert search.score(X, Z) > 0.5
        assert isinstance(search.privacy_.plan.releases[0].mechanism, DisjointParts)
    assert not hasattr(search, "predict_proba")


@pytest.mark.parametrize("scoring", ["accuracy", "auc", "log_loss", "brier"])
def test_every_score_of_classes(scoring):
    found = classified(scoring=scoring, random_state=1).fit(X, Y)
    assert found.best_params_ == {"C": 1.0} or scoring == "auc"  # a penalty changes no order
    assert 0.0 <= found.best_score_ <= 7.0


@pytest.mark.parametrize("scoring", ["mse", "mae", "r2"])
@pytest.mark.parametrize("solver", ["auto", "moments"])
def test_every_score_of_numbers(scoring, solver):
    model = clone(RIDGE).set_params(solver=solver)
    found = regressed(model, scoring=scoring, random_state=1, epsilon=20.0).fit(X, Z)
    assert found.best_params_["alpha"] < 1e6


def check_relation_and_solver(relation, solver):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        model = clone(RIDGE).set_params(solver=solver, adjacency=relation)
        found = regressed(model, random_state=0).fit(X[:600], Z[:600])
    certificate = found.privacy_
    assert certificate.adjacency == relation
    assert certificate.spent() <= 4.0
    assert certificate.plan.rows == (None if relation == "add_remove" else 600)


@pytest.mark.parametrize(
    ("relation", "solver"),
    [("replace_one", "cd"), ("add_remove", "cd"), ("zero_out", "scd"), ("add_remove", "moments")],
)
def test_some_relations_and_solvers(relation, solver):
    check_relation_and_solver(relation, solver)


@pytest.mark.slow
@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("solver", ["cd", "sgd", "scd", "moments", "one-pass"])
def test_every_relation_and_solver(relation, solver):
    check_relation_and_solver(relation, solver)


@pytest.mark.slow
def test_kernels_and_margins_can_be_searched():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)
        curves = KernelRegressor(bounds_X=(-1, 1), bounds_y=(-2, 2), n_components=64)
        assert regressed(curves, {"bandwidth": [0.5, 1.0]}).fit(X, Z).best_params_
    svc = classified(LinearSVC(bounds_X=(-1, 1), classes=[0, 1])).fit(X, Y)
    assert svc.decision_function(X[:2]).shape == (2,)


def test_every_container():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y})
    for table in (frame, pl.from_pandas(frame), pl.from_pandas(frame).to_arrow()):
        assert classified(random_state=2).fit(table, "y").best_params_ == {"C": 1.0}
    for rows in (csr_array(X), X.tolist()):
        assert classified(random_state=2).fit(rows, Y.tolist()).best_params_ == {"C": 1.0}


def test_a_schema():
    frame = pd.DataFrame({"a": X[:, 0], "s": np.where(X[:, 1] > 0, "u", "v"), "y": Y})
    schema = {"a": Number(-1, 1), "s": Category(["u", "v"])}
    model = LogisticRegression(schema=schema)
    search = classified(model, random_state=0).fit(frame, "y")
    assert search.score(frame, "y") > 0.8
    assert "the set of class labels in y is public" in search.privacy_.assumptions


def test_a_label_that_only_few_rows_have():
    """A part of the rows may lack it; the labels are those of all."""
    y = np.where(np.arange(3000) == 5, 2, Y)
    search = classified(LogisticRegression(bounds_X=(-1, 1)), random_state=0).fit(X, y)
    assert list(search.classes_) == [0, 1, 2]
    assert search.best_estimator_.classes == "from_y"


# What it promises


def test_the_certificate_is_that_of_the_whole():
    search = classified().fit(X, Y)
    certificate = search.privacy_
    assert search.best_estimator_.privacy_ is certificate
    assert (certificate.epsilon, certificate.delta, certificate.private) == (4.0, 1e-6, True)
    assert (search.best_estimator_.epsilon, search.best_estimator_.delta) == (4.0, 1e-6)
    content = json.loads(certificate.to_json())
    assert check_certificate(content, second_opinion=False).problems == ()
    assert Certificate.from_dict(content) == certificate
    law = certificate.plan.releases[0].mechanism
    assert isinstance(law, RandomTries)
    assert tries.price(law)[0] <= 4.0
    assert searching.CHOSEN in certificate.assumptions


def test_a_seed_makes_it_reproducible_and_not_private():
    one, two = (classified(random_state=7).fit(X, Y) for _ in range(2))
    assert one.best_params_ == two.best_params_
    assert one.best_score_ == two.best_score_
    assert bool((one.best_estimator_.coef_ == two.best_estimator_.coef_).all())
    assert not one.privacy_.private
    free = [classified().fit(X, Y).best_score_ for _ in range(2)]
    assert free[0] != free[1]


def test_every_try_keeps_both_promises():
    for solver in ("cd", "sgd", "one-pass"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRowsWarning)
            asked = searching.Asked.of(regressed(clone(RIDGE).set_params(solver=solver)))
            read = clone(RIDGE).set_params(solver=solver)
            table = read._read(X, Z)
            ready = asked.attempts(read, table, (2400, 600))
        law = asked.mechanism()
        for plan in (*(job.plan for job in ready.jobs), ready.scores):
            assert plan.delta(law.epsilon) <= law.delta
            assert plan.delta(law.pivot) <= law.pivot_delta


def test_a_plan_before_any_data():
    plan = classified().plan(n=3000)
    assert plan.epsilon(1e-6) <= 4.0
    assert "secret number of tries" in str(plan)
    assert classified().plan().rows is None


# What it charges


@pytest.mark.parametrize("search", [classified(), regressed(ON_PATH)])
def test_it_is_charged_once(search):
    check_charged_once(search, X[:500], Y[:500] if is_classifier(search) else Z[:500])


def test_a_ledger(tmp_path):
    ledger = Ledger.create(tmp_path / "ledger", epsilon=5, delta=1e-5)
    search = classified(ledger=ledger, dataset="d").fit(X, Y)
    assert ledger.spent("d") == pytest.approx(4.0, rel=1e-3)
    assert search.privacy_.ledger_head
    ledger.check(certificates=[search.privacy_])
    with pytest.raises(BudgetExceededError):
        classified(ledger=ledger, dataset="d").fit(X, Y)
    assert ledger.spent("d") == pytest.approx(4.0, rel=1e-3)


def test_a_setting_that_is_refused_refuses_the_search_before_the_charge():
    witness = Witness()
    with pytest.raises(ValueError, match="C"):
        classified(grid={"C": [1.0, -1.0]}, ledger=witness).fit(X, Y)
    with pytest.raises(UnsupportedCombinationError):
        classified(grid={"solver": ["cd", "moments"]}, ledger=witness).fit(X, Y)
    with pytest.raises(ValueError, match="NaN"):
        classified(ledger=witness).fit(np.where(X > 0.99, np.nan, X), Y)
    assert witness.events == []


def test_a_search_that_fails_changes_nothing():
    search = classified(random_state=0).fit(X, Y)
    before = dict(vars(search))
    with pytest.raises(ValueError, match="NaN"):
        search.fit(np.full((10, 2), np.nan), Y[:10])
    assert vars(search) == before


# What it keeps to itself


@pytest.mark.parametrize("search", [classified(), regressed(ON_PATH)])
def test_nothing_else_is_told(search):
    check_tells_nothing_else(search, X, Y if is_classifier(search) else Z)


def test_neither_progress_nor_warnings_tell_the_number_of_tries():
    told = []
    with progress(lambda done, total: told.append((done, total))), warnings.catch_warnings():
        warnings.simplefilter("always")
        classified(random_state=0, epsilon=0.5).fit(X, Y)
    assert told == []
    counts = set()
    for seed in range(4):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            classified(random_state=seed, epsilon=0.01).fit(X[:100], Y[:100])
        counts.add(len(caught))
    assert len(counts) == 1


def told(model, grid, seed, capsys, caplog):
    """All that a search of a try or more says while it runs, but for addresses and times."""
    capsys.readouterr(), caplog.clear()
    with caplog.at_level("DEBUG", logger="privlearn"), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        PrivateSearchCV(model, grid, random_state=seed, **ONE).fit(X, Y if grid is CS else Z)
    printed = capsys.readouterr()
    lines = [record.getMessage() for record in caplog.records]
    return printed.out, printed.err, lines, [str(one.message) for one in seen]


@pytest.mark.parametrize(("model", "grid"), [(LOGISTIC, CS), (RIDGE, ALPHAS), (ON_PATH, ALPHAS)])
def test_what_is_logged_or_shown_is_the_same_for_every_number_of_tries(model, grid, capsys, caplog):
    chatty = clone(model).set_params(verbose=1)
    first = told(chatty, grid, 0, capsys, caplog)
    assert len(first[2]) == 1  # the charge of the whole
    for seed in range(1, 6):
        assert told(chatty, grid, seed, capsys, caplog) == first


def test_it_can_be_pickled_and_says_as_little():
    search = classified(random_state=0).fit(X, Y)
    again = pickle.loads(pickle.dumps(search))
    assert again.best_params_ == search.best_params_
    assert bool((again.predict(X) == search.predict(X)).all())


def test_parts_share_no_row(monkeypatch):
    check_parts(classified(random_state=0), X, Y, patch=monkeypatch)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
def test_parts_share_nobody(relation, monkeypatch):
    seen, run = [], attempts.Attempts.run

    def watched(self, setting, seed, train, test):
        seen.append((set(train.groups.tolist()), set(test.groups.tolist())))
        return run(self, setting, seed, train, test)

    monkeypatch.setattr(attempts.Attempts, "run", watched)
    ids = np.random.default_rng(1).integers(0, 900, 3000)
    model = clone(RIDGE).set_params(max_rows_per_person=2, adjacency=relation)
    found = regressed(model, random_state=3).fit(X, Z, groups=ids)
    assert found.privacy_.unit == "person"
    for fits, scores in seen:
        assert not fits & scores
        assert fits | scores == set(ids.tolist())
        if relation == "zero_out":
            assert len(scores) == len(set(ids.tolist())) // 5


def test_one_row_each_is_the_same_as_no_groups():
    model = clone(LOGISTIC).set_params(max_rows_per_person=1)
    one = classified(model, random_state=4).fit(X, Y, groups=np.arange(3000))
    two = classified(random_state=4).fit(X, Y)
    assert one.best_score_ == two.best_score_
    assert bool((one.best_estimator_.coef_ == two.best_estimator_.coef_).all())
    assert (one.privacy_.unit, two.privacy_.unit) == ("person", "row")


def test_a_search_in_which_every_try_fails_is_spent(monkeypatch):
    def fail(*given, **named):
        raise ValueError("the secret cell")

    monkeypatch.setattr(attempts, "evaluate", fail)
    witness = Witness()
    search = classified(ledger=witness)
    with pytest.raises(PrivacyTestFailedError, match="budget is spent") as caught:
        search.fit(X, Y)
    assert witness.events == ["charge"]
    assert caught.value.__context__ is None
    assert not hasattr(search, "privacy_")


# What it refuses


def test_what_is_not_ours_is_refused():
    for model in (Plain(), make_pipeline(StandardScaler(), LOGISTIC), LogisticRegression):
        with pytest.raises(TypeError, match="estimator of privlearn"):
            classified(model).fit(X, Y)


@pytest.mark.parametrize("name", ["ledger", "dataset", "random_state"])
def test_what_is_the_searchs_is_not_the_estimators(name):
    with pytest.raises(ValueError, match=f"{name} of the estimator"):
        classified(clone(LOGISTIC).set_params(**{name: 3})).fit(X, Y)


@pytest.mark.parametrize("name", ["epsilon", "adjacency", "bounds_y", "classes", "random_state"])
def test_what_must_be_the_same_is_not_in_a_grid(name):
    model = LOGISTIC if name == "classes" else RIDGE
    with pytest.raises(UnsupportedCombinationError, match=name):
        PrivateSearchCV(model, {name: [1, 2]}, **ONE).fit(X, Z)


def test_other_refusals():
    with pytest.raises(ValueError, match="no parameter of LogisticRegression"):
        classified(grid={"alpha": [1.0, 2.0]}).fit(X, Y)
    with pytest.raises(ValueError, match="at least 2"):
        classified(grid={"C": [1.0]}).fit(X, Y)
    with pytest.raises(ValueError, match="grid cannot be read"):
        classified(grid=3).fit(X, Y)
    with pytest.raises(InvalidBudgetError, match="delta=0"):
        classified(delta=0).fit(X, Y)
    with pytest.raises(InvalidBudgetError, match="delta=0"):
        regressed(ON_PATH, delta=0).fit(X, Z)
    with pytest.raises(MissingFactError, match="bounds_y"):
        regressed(Ridge()).fit(X, Z)
    with pytest.raises(ValueError, match="scoring"):
        classified(scoring="f1").fit(X, Y)
    with pytest.raises(UnsupportedCombinationError, match="log_loss"):
        classified(LinearSVC(bounds_X=(-1, 1)), scoring="log_loss").fit(X, Y)
    with pytest.raises(ValueError, match="folds"):
        classified(folds=1).fit(X, Y)
    with pytest.raises(ValueError, match="folds of at least 2"):
        classified().fit(X[:8], Y[:8])
    with pytest.raises(MissingFactError, match="max_rows_per_person"):
        classified().fit(X, Y, groups=np.arange(3000))


def test_lasso_paths_choose_by_scores():
    model = Lasso(bounds_X=(-1, 1), bounds_y=(-2, 2), solver="moments")
    assert regressed(model, {"alpha": [1e-3, 10.0]}, random_state=0).fit(X, Z).score(X, Z) > 0.9


# Planted bugs, each found by a check above


def charged_in_every_try(patch):
    run = attempts.Attempts.run

    def charging(self, setting, seed, train, test):
        for model in self.estimators:
            model.ledger, model.dataset = Witness.last, "d"
        return run(self, setting, seed, train, test)

    patch.setattr(attempts.Attempts, "run", charging)


def test_a_charge_per_try_is_found(monkeypatch):
    charge = Witness.charge

    def remembered(self, plan, dataset):
        Witness.last = self
        return charge(self, plan, dataset)

    monkeypatch.setattr(Witness, "charge", remembered)
    charged_in_every_try(monkeypatch)
    with pytest.raises(AssertionError, match="charged more than once"):
        check_charged_once(classified(), X[:500], Y[:500])


def test_a_number_of_tries_that_leaks_is_found(monkeypatch):
    publish = PrivateSearchCV._publish

    def telling(self, found, certificate):
        publish(self, found, certificate)
        self.n_tries_ = 3

    monkeypatch.setattr(PrivateSearchCV, "_publish", telling)
    with pytest.raises(AssertionError):
        check_tells_nothing_else(classified(), X, Y)


def test_rows_in_both_parts_are_found(monkeypatch):
    folds = parts.folds_of

    def sharing(*given):
        first, *rest = folds(*given)
        return [np.concatenate([first, rest[0][:5]]), *rest]

    monkeypatch.setattr(parts, "folds_of", sharing)
    with pytest.raises(AssertionError, match="both parts"):
        check_parts(classified(random_state=0), X, Y, patch=monkeypatch)


def test_a_search_is_scored_as_its_best_estimator(tmp_path):
    """By names and schema, with columns that it ignores, at the price and noise of the model."""
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(sex=np.where(Y, "F", "M"), who=0, y=Y)
    schema = {"sex": Category(["F", "M"]), "who": Ignore(), "a": Number(-1, 1), "b": Number(-1, 1)}
    model = LogisticRegression(schema=schema, classes=[0, 1])
    search = PrivateSearchCV(model, CS, **ONE).fit(frame, "y")
    asked = {"epsilon": 1, "delta": 1e-6, "random_state": 0}
    found = evaluate(search, frame, "y", **asked)
    assert found.to_dict() == evaluate(search.best_estimator_, frame, "y", **asked).to_dict()
    assert found.model == "LogisticRegression"
    plan = score_plan(search, 3_000, epsilon=1, delta=1e-6)
    assert plan == score_plan(search.best_estimator_, 3_000, epsilon=1, delta=1e-6)
    with pytest.raises(NotFittedError):
        evaluate(PrivateSearchCV(model, CS), frame, "y", **asked)


def test_the_best_error_is_the_smallest_and_positive():
    found = regressed(epsilon=200.0).fit(X, Z)
    assert 0 < found.best_score_ < 0.1
    assert found.best_params_["alpha"] < 1e6
