"""Kernel models by rule: a line first, features of its residuals, or the line alone."""

from itertools import pairwise, product

import numpy as np
import pytest

from privlearn import KernelClassifier, KernelRegressor, LinearRegression, LogisticRegression, audit
from privlearn._core.problem import Adjacency, Budget
from privlearn._data.bounded import BoundedData, Table
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.kernel_model import base
from privlearn.kernel_model.line_first import OF_THE_LINE, LineFirst, _with_residuals, part_of
from privlearn.solvers import Solution
from privlearn.solvers.dual_coordinate_descent import rules as dual
from support import exact

RELATIONS = [relation.value for relation in Adjacency]
PAIRS = {"numbers": (KernelRegressor, LinearRegression)}
PAIRS["classes"] = (KernelClassifier, LogisticRegression)


def table(n, p=3, seed=0, bent=0.0):
    """Columns of several scales, and a sum of them with a wave in the first."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(-1, 1, (n, p))
    y = U.sum(axis=1) + bent * np.sin(5 * U[:, 0]) + 0.3 * rng.standard_normal(n)
    return 5.0 + U * 10.0 ** (np.arange(p) % 4), y


def as_labels(kind, y):
    return (y > 0).astype(int) if kind == "classes" else y


def solver_of(n, p=3, kind=KernelRegressor, classes=0, **given):
    """What stands behind the estimated ranges."""
    model = kind(**given)
    problem = model._problem(n, p, classes)
    found = model._solver_for(problem, Budget(model.epsilon, model.delta))[1]
    return getattr(found, "inner", found)


# Which of them


@pytest.mark.parametrize("kind", PAIRS)
def test_where_little_is_seen_it_is_the_linear_model(kind):
    """To the last bit: the same plan, and with one seed the same noise."""
    curve, line = PAIRS[kind]
    X, y = table(600, p=5)
    y = as_labels(kind, y)
    ours, theirs = (one(random_state=3).fit(X, y) for one in (curve, line))
    assert ours.privacy_.plan == theirs.privacy_.plan
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y))


def test_several_classes_are_told_by_lines_where_little_is_seen():
    X, y = table(600, p=5)
    labels = np.digitize(y, [-0.5, 0.5])
    ours, theirs = (
        one(random_state=3).fit(X, labels) for one in (KernelClassifier, LogisticRegression)
    )
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)


def test_a_curve_needs_n_mu_in_all_and_per_column():
    mu = equivalent_mu(1.0, 1e-6)
    each, few = base.LINE_BELOW_PER_COLUMN, base.FEW_COLUMNS
    per_column = {few: each, few + 5: 1.5 * each, 40: base.MORE_OF_MANY * each}
    for p, least in ((1, base.LINE_BELOW), *((p, p * each) for p, each in per_column.items())):
        enough = int(np.ceil(least / mu))
        assert solver_of(enough, p).curve is not None
        assert solver_of(enough - 1, p).curve is None
        assert solver_of(enough, p, adjacency="replace_one").curve is None


def test_many_columns_need_no_more_for_two_classes():
    enough = int(np.ceil(40 * base.LINE_BELOW_PER_COLUMN / equivalent_mu(1.0, 1e-6)))
    assert solver_of(enough, 40, KernelClassifier, 2).curve is not None
    assert solver_of(enough - 1, 40, KernelClassifier, 2).curve is None


def test_several_classes_need_more():
    mu = equivalent_mu(1.0, 1e-6)
    enough = int(np.ceil(5 * 4 * base.OF_SEVERAL_CLASSES / mu))
    assert not isinstance(solver_of(enough, 5, KernelClassifier, 4), LineFirst)
    assert solver_of(enough - 1, 5, KernelClassifier, 4).curve is None


def test_the_share_of_the_line_falls_as_more_is_seen():
    shares = [solver_of(n).share for n in (1_000, 5_000, 30_000, 10**8)]
    assert shares[0] == base.LINE_SHARE
    assert shares[-1] == base.LEAST_LINE_SHARE
    assert all(more > less for more, less in pairwise(shares))


@pytest.mark.parametrize(
    "given",
    [{"n_components": 20}, {"bandwidth": 1.0}, {"alpha": 1.0}, {"solver": "scd"}],
    ids=lambda given: next(iter(given)),
)
def test_what_is_given_makes_a_model_of_features_alone(given):
    assert not isinstance(solver_of(100, **given), LineFirst)
    assert not isinstance(solver_of(100_000, **given), LineFirst)


# What is released


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("kind", PAIRS)
def test_the_line_has_its_share_and_the_plan_keeps_the_promise(kind, relation):
    curve, _ = PAIRS[kind]
    known = {"bounds_X": (-1, 1), "adjacency": relation}
    known |= {"bounds_y": (-1, 1)} if kind == "numbers" else {}
    plan = curve(**known).plan(n=20_000, n_features=3)
    mine = [r for r in plan.releases if r.name.startswith(OF_THE_LINE)]
    share = solver_of(20_000, kind=curve, classes=2, **known).share
    ranges = sum(plan.share(r) for r in plan.releases if "histogram" in r.name)
    assert ranges > 0.1  # looked for inside declared bounds, too
    assert sum(plan.share(r) for r in mine) == pytest.approx(share * (1.0 - ranges), rel=1e-3)
    assert 0 < len(mine) < len(plan.releases)
    assert plan.epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)


def test_a_part_of_the_budget_is_one_in_mu_squared():
    budget = Budget(2.0, 1e-6)
    part = part_of(budget, 0.3)
    assert equivalent_mu(part.epsilon, 1e-6) ** 2 == pytest.approx(
        0.3 * equivalent_mu(2.0, 1e-6) ** 2
    )


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "relation"), list(product(PAIRS, RELATIONS)))
def test_audits(kind, relation, monkeypatch):
    """With few features and steps: replay takes each of them hundreds of times."""
    monkeypatch.setattr(dual, "STEPS", 20)
    monkeypatch.setattr(dual, "FULL_STEPS", 20)
    monkeypatch.setattr(base, "LEAST", 8)
    monkeypatch.setattr(base, "MOST", 8)
    curve, _ = PAIRS[kind]
    known = {"bounds_X": (-1, 1), "epsilon": 8.0, "delta": 1e-6, "adjacency": relation}
    known |= {"bounds_y": (-1, 1)} if kind == "numbers" else {"classes": [0, 1]}
    audit.check(curve(**known), n_features=2)


# What is learned


def test_residuals_are_those_of_each_row_and_none_of_empty_ones():
    X, y = table(50)
    X[3, 1], y[7] = np.nan, np.inf
    problem = KernelRegressor(bounds_X=(-2000, 2000), bounds_y=(-4, 2))._problem(50, 3, 0)
    solver = solver_of(20_000, bounds_X=(-2000, 2000), bounds_y=(-4, 2))
    rest = solver._residual_problem(problem)
    assert rest.bounds.target == (-3.0, 3.0)
    line = Solution(np.array([[1.0, 0.1, 0.01]]), np.array([-5.0]))
    data = BoundedData(Table(X, y), problem.bounds, True)
    found = _with_residuals(problem, rest, line, data)
    there = np.isfinite(X).all(axis=1) & np.isfinite(y)
    np.testing.assert_array_equal(found.present(), there)
    wanted = np.clip(y, -4, 2) - (X @ line.coef[0] - 5.0)
    np.testing.assert_allclose(found.table.y[there], wanted[there])
    (rows,) = found.blocks()
    assert np.abs(rows.y).max() <= 3.0
    assert (rows.y[~there] == 0.0).all()


def test_scores_are_those_of_features_and_of_columns():
    X, y = table(3_000, bent=1.0)
    model = exact(KernelRegressor(bounds_X=(-2000, 2000), bounds_y=(-6, 6), epsilon=20), X, y)
    phi = model.feature_map_.transform(X)
    size = phi.shape[1]
    assert model.coef_.shape == (size + 3,)
    wanted = phi @ model.coef_[:size] + X @ model.coef_[size:] + model.intercept_
    np.testing.assert_allclose(model.predict(X), wanted, atol=1e-3)
    assert np.abs(X @ model.coef_[size:]).max() > 0.5
    assert model.score(X, y) > LinearRegression(epsilon=20, random_state=0).fit(X, y).score(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PAIRS)
def test_a_curve_is_found_and_a_line_is_not_lost(kind):
    curve, line = PAIRS[kind]
    for bent, least in ((0.0, -0.02), (3.0, 0.02)):
        gaps = []
        for seed in range(3):
            X, y = table(24_000, p=3, seed=seed, bent=bent)
            y = as_labels(kind, y)
            scores = [
                one(random_state=seed).fit(X[:20_000], y[:20_000]).score(X[20_000:], y[20_000:])
                for one in (curve, line)
            ]
            gaps.append(scores[0] - scores[1])
        assert min(gaps) > least, (bent, gaps)


def test_the_forecast_adds_both_kinds_of_noise():
    known = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
    both = KernelRegressor(**known).plan(n=20_000, n_features=3).forecast()
    line = LinearRegression(**known).plan(n=20_000, n_features=3).forecast()
    size = solver_of(20_000, **known).curve.spec.n_components
    assert both.coefficient.shape == (size + 3 + 3,)
    assert both.prediction > line.prediction


def test_declared_bounds_cost_a_curve_nothing():
    """One column has a long tail, and new rows lie beyond what was declared."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=12_000), np.exp(1.5 * rng.normal(size=12_000))])
    y = np.sin(2.0 * X[:, 0]) + np.log(X[:, 1]) + 0.3 * rng.normal(size=12_000)
    old, fresh = slice(0, 9_000), slice(9_000, None)
    known = {"bounds_X": ([-5.0, 0.0], [5.0, 60.0]), "bounds_y": (-10.0, 10.0)}

    def score(**facts):
        model = KernelRegressor(epsilon=3.0, random_state=0, **facts).fit(X[old], y[old])
        return model.score(X[fresh], y[fresh])

    assert score(**known) > score() - 0.02
