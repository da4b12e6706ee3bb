"""Every estimator, found by looking: scikit-learn's contract and every privacy audit."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from privlearn import audit
from privlearn.exceptions import InvalidBudgetError, MissingFactError, UnsupportedCombinationError
from privlearn.solvers import SOLVERS
from selection import all_configurations, fast_configurations
from support import (
    EVERY_THIRD,
    FEW,
    N_FEATURES,
    accepted,
    checks_for,
    every_estimator,
    for_reading,
    label,
    regression,
    run_quickly,
    solver_of,
    solvers_for,
)

EVERY = every_estimator()
EVERYWHERE = dict(all_configurations())
FAST = dict(fast_configurations())
READ = dict(for_reading(EVERYWHERE.items()))

# scikit-learn's checks fit small, arbitrary data and ask for good predictions: an
# epsilon that no one should promise, so that what is tested is the contract and not the noise.
CONTRACT = {
    "epsilon": 1e6,
    "bounds_X": (-10.0, 10.0),
    "bounds_y": (-10.0, 10.0),
    "n_components": 50,  # of kernels, which would take thousands with such an epsilon
}
WEIGHTED = {
    "check_classifiers_one_label_sample_weights": "sample_weight is refused: it has no proof",
}
STREAMED = {
    "check_fit_score_takes_y": "partial_fit wants classes declared, whatever was fitted before",
}
EXPECTED_FAILURES: dict[str, dict[str, str]] = {
    "KernelClassifier": WEIGHTED,
    "LinearSVC": WEIGHTED | STREAMED,
    "LogisticRegression": WEIGHTED | STREAMED,
}


def _contract(cls):
    """Contract, with labels read off y: these checks bring their own."""
    facts = accepted(cls, CONTRACT)
    facts.pop("classes", None)
    return facts


@parametrize_with_checks(
    [cls(**_contract(cls)) for cls in EVERY],
    expected_failed_checks=lambda model: EXPECTED_FAILURES.get(type(model).__name__, {}),
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_few_expected_failures():
    assert all(len(reasons) <= 5 for reasons in EXPECTED_FAILURES.values())
    assert set(EXPECTED_FAILURES) <= {cls.__name__ for cls in EVERY}


@pytest.mark.parametrize("model", FAST.values(), ids=FAST)
def test_audit(model):
    """Every audit that says something about the model, all but `check_row_locality`."""
    for check in checks_for(model):
        run_quickly(check, model)


@pytest.mark.slow
@pytest.mark.parametrize("model", EVERYWHERE.values(), ids=EVERYWHERE)
def test_audit_in_full(model):
    """Configurations that the fast tests leave out, and the data sets that they leave out.

    The former are replayed on a third of the data sets, with every kind of row, but each
    time on another third: neighbours in the list hardly differ.
    """
    if any(model is other for other in FAST.values()):
        for first in range(1, EVERY_THIRD):
            audit.check_replay(model, n_features=N_FEATURES, first=first, every=EVERY_THIRD)
        return
    first = list(EVERYWHERE.values()).index(model) % EVERY_THIRD
    for check in checks_for(model):
        run_quickly(check, model, first=first)


@pytest.mark.parametrize("model", READ.values(), ids=READ)
def test_rows_are_read_one_by_one(model):
    audit.check_row_locality(model, n_features=N_FEATURES)


def test_every_audit_is_run_on_every_solver():
    """But for levels and draws by depth, which not every solver has, and rows, which are read.

    People of several rows have configurations of their own (test_people.py).
    """
    run = {(check, solver_of(model)) for model in FAST.values() for check in checks_for(model)}
    some = {audit.check_levels: {"one-pass"}, audit.check_draws: {"tukey"}}
    some[audit.check_people] = set()
    for check in audit.CHECKS:
        if check is not audit.check_row_locality:
            solvers = {solver for other, solver in run if other is check}
            assert solvers == some.get(check, set(SOLVERS)), check.__name__
    assert {solver_of(model) for model in READ.values()} == set(SOLVERS)


@pytest.fixture(params=EVERY, ids=lambda cls: cls.__name__)
def estimator_class(request):
    return request.param


FACTS = {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}
PUBLIC = {
    "coef_",
    "intercept_",
    "n_features_in_",
    "privacy_",
    "classes_",
    "feature_names_in_",
    "feature_map_",
}


def test_facts_that_cannot_be_estimated_are_named(estimator_class):
    X, y = regression(100)
    y = label(estimator_class, y)
    pure = {"delta": 0.0, "bandwidth": 1.0}
    known = accepted(estimator_class, {"bounds_y": (-1, 1)} | pure)
    with pytest.raises(
        MissingFactError, match=r"bounds_X and data_norm are both missing.*delta > 0"
    ):
        estimator_class(**known).fit(X, y)
    if "bounds_y" in estimator_class().get_params():
        known = accepted(estimator_class, {"bounds_X": (-1, 1)} | pure)
        with pytest.raises(MissingFactError, match=r"bounds_y is missing.*delta > 0"):
            estimator_class(**known).fit(X, y)


def test_missing_facts_are_estimated_and_the_certificate_says_for_how_much(estimator_class):
    X, y = regression(4_000)
    y = label(estimator_class, y)
    model = estimator_class(**accepted(estimator_class, FEW)).fit(X, y)
    shares = {release["name"]: release["share"] for release in model.privacy_.releases}
    assert sum(shares.values()) == pytest.approx(1.0)
    features = [share for name, share in shares.items() if name.endswith("of the features")]
    assert len(features) == 4
    assert sum(features) == pytest.approx(0.15, abs=0.01)
    target = [share for name, share in shares.items() if name.endswith("of the target")]
    numbers = "bounds_y" in model.get_params()
    assert sum(target) == pytest.approx(0.1 if numbers else 0.0, abs=0.01)
    assert "of the budget" in str(model.privacy_)
    assert model.privacy_.spent() <= 1.0 + 1e-6
    solver = solvers_for(estimator_class)[0]  # "auto" looks closer
    known = estimator_class(solver=solver, **accepted(estimator_class, FACTS)).fit(X, y)
    assert not any("of the" in release["name"] for release in known.privacy_.releases)


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"epsilon": 0}, "epsilon=0"),
        ({"epsilon": float("nan")}, "epsilon=nan"),
        ({"epsilon": "1"}, "epsilon is a str"),
        ({"delta": 1.5}, "delta=1.5"),
        ({"delta": 0, "solver": "sgd"}, "delta=0"),
    ],
)
def test_budgets_that_cannot_be_promised(estimator_class, budget, words):
    X, y = regression(100)
    with pytest.raises(InvalidBudgetError, match=words):
        estimator_class(**accepted(estimator_class, FACTS), **budget).fit(
            X, label(estimator_class, y)
        )


def test_nothing_else_is_fitted_and_pickles_hold_nothing_else(estimator_class):
    X, y = regression(3_000)
    y = label(estimator_class, y)
    model = estimator_class(**accepted(estimator_class, FACTS)).fit(X, y)
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert fitted <= PUBLIC
    told = {"_coef_noise"} & set(vars(model))
    ends = {"_clip_bounds"}  # of estimated ranges
    assert set(vars(model)) - fitted == set(model.get_params()) | ends | told
    text = pickle.dumps(model)
    numbers = model.coef_.size * (1 + len(told))
    if hasattr(model, "feature_map_"):
        of_map = model.feature_map_
        numbers += of_map.frequencies.size + of_map.edges.size + of_map.ranks.size
    assert len(text) < 4_500 + 8 * numbers
    again = pickle.loads(text)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert str(again.privacy_) == str(model.privacy_)


def numbers(model):
    """All that was learned: a penalty may put every coefficient to 0, but never the intercept."""
    return np.append(model.coef_, model.intercept_)


def test_noise_is_fresh_unless_seeded_and_the_certificate_says_which(estimator_class):
    X, y = regression(500)
    y = label(estimator_class, y)
    model = estimator_class(**accepted(estimator_class, FACTS))
    first, second = (clone(model).fit(X, y) for _ in range(2))
    assert not np.array_equal(numbers(first), numbers(second))
    assert first.privacy_.private
    seeded = [clone(model).set_params(random_state=1).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(numbers(seeded[0]), numbers(seeded[1]))
    assert not seeded[0].privacy_.private
    assert "reproducible" in str(seeded[0].privacy_)


@pytest.mark.parametrize("argument", ["sample_weight", "class_weight", "sample_epsilon"])
def test_arguments_without_a_proof_are_refused(estimator_class, argument):
    X, y = regression(100)
    model = estimator_class(**accepted(estimator_class, FACTS), solver="sgd")
    with pytest.raises(UnsupportedCombinationError, match=argument):
        model.fit(X, label(estimator_class, y), **{argument: np.ones(100)})


def test_private_n_is_in_no_certificate_or_error(estimator_class):
    X, y = regression(2_311)
    y = label(estimator_class, y)
    facts = accepted(estimator_class, FACTS)
    model = estimator_class(adjacency="add_remove", **facts).fit(X, y)
    assert "2311" not in model.privacy_.to_json() + str(model.privacy_) + repr(model.privacy_)
    with pytest.raises(ValueError, match="inconsistent") as caught:
        model.fit(X, y[:-1])
    assert "2311" not in str(caught.value)
    model.fit(X[:0], y[:0])  # an empty data set is a neighbour of a data set with one row
