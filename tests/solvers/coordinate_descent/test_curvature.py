"""The curvature at the present weights, and models of several classes that fall apart by class."""

import math
import warnings

import numpy as np
import pytest
from sklearn import linear_model as sk

from privlearn import LogisticRegression
from privlearn._objective.losses import Logistic, Softmax
from privlearn._objective.prox import WeightPenalty
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import CoordinateDescent
from privlearn.solvers.coordinate_descent.gaussian_rows import curvature_at
from privlearn.solvers.coordinate_descent.quadratic_model import Curvature, QuadraticModel
from support import exact

EXACT = CoordinateDescent(passes=600, outer=12, clip=1e3)


def gaussian_rows(n=200_000, *, intercept):
    """Rows of dependent Gaussian features with means, an entry of 1 last, and their moments."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3))
    if intercept:
        rows = np.column_stack([rows + np.array([0.5, -1.0, 2.0]), np.ones(n)])
    return rows, rows.T @ rows / n


def three_classes(n=400):
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (n, 3))
    scores = X @ rng.normal(size=(3, 3)) * 2 + [0.5, 0.0, -0.5] + rng.gumbel(size=(n, 3))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("size", [0.0, 0.3, 2.0])
def test_two_classes_are_as_curved_as_gaussian_rows(size, intercept):
    rows, moments = gaussian_rows(intercept=intercept)
    weights = size * np.array([[0.7, -1.1, 0.4, 0.8]])[:, : rows.shape[1]]
    z = rows @ weights[0]
    second = np.exp(-z) / (1 + np.exp(-z)) ** 2
    expected = (rows * second[:, None]).T @ rows / len(rows)
    between, within = curvature_at(Logistic(), moments, intercept, weights)
    assert between == np.ones((1, 1))
    np.testing.assert_allclose(within, expected, atol=0.02 * np.abs(expected).max())


def test_it_is_the_losss_bound_at_zero_and_never_below_what_is_asked_for():
    _, moments = gaussian_rows(intercept=True)
    start, far = np.zeros((1, 4)), np.array([[90.0, 0.0, 0.0, 400.0]])
    np.testing.assert_allclose(curvature_at(Logistic(), moments, True, start).within, moments / 4)
    flat = curvature_at(Logistic(), moments, True, far, least=0.01).within
    assert np.linalg.eigvalsh(flat - 0.009 * moments).min() > -1e-9


@pytest.mark.parametrize("intercept", [True, False])
def test_several_classes_are_as_curved_as_gaussian_scores(intercept):
    rows, moments = gaussian_rows(intercept=intercept)
    weights = np.random.default_rng(1).normal(size=(4, rows.shape[1]))
    scores = rows @ weights.T
    shares = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    expected = np.diag(shares.mean(axis=0)) - shares.T @ shares / len(shares)
    between, within = curvature_at(Softmax(4), moments, intercept, weights)
    np.testing.assert_allclose(between, expected, atol=0.01)
    np.testing.assert_allclose(between.sum(axis=0), 0.0, atol=1e-12)
    assert within is moments


@pytest.mark.parametrize("absolute", [0.0, 0.3])
def test_models_of_several_classes_are_those_of_the_whole_matrix(absolute):
    """With one output the whole matrix is taken as it is; the two ways must agree."""
    rng = np.random.default_rng(2)
    between, within = (part @ part.T for part in (rng.normal(size=(3, 3)), rng.normal(size=(4, 4))))
    own = WeightPenalty(
        np.full(12, absolute),
        np.tile([0.1, 1.0, 0.3, 0.0], 3),
        np.full(12, -np.inf),
        np.full(12, np.inf),
    )
    apart, whole = QuadraticModel(own, outputs=3), QuadraticModel(own)
    for step in range(3):
        weights, gradient = rng.normal(size=(2, 12))
        scale = 1.0 + step
        told = {"share": 1.0 + step, "noise_std": 0.1}
        apart.add(weights, gradient, Curvature(scale * between, within), **told)
        matrix = np.kron(scale * between, within)
        whole.add(weights, gradient, Curvature(np.ones((1, 1)), matrix), **told)
    start = np.zeros(12)
    np.testing.assert_allclose(apart.minimiser(start), whole.minimiser(start), atol=1e-8)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("intercept", [True, False])
def test_several_classes_reach_scikit_learns_optimum(intercept, relation):
    X, y = three_classes()
    known = {"bounds_X": (-1, 1), "classes": [0, 1, 2], "fit_intercept": intercept}
    ours = exact(LogisticRegression(C=0.1, solver=EXACT, adjacency=relation, **known), X, y)
    theirs = sk.LogisticRegression(C=0.1, fit_intercept=intercept, tol=1e-10, max_iter=10_000)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)


def test_several_classes_with_an_l1_penalty_reach_it_too():
    X, y = three_classes()
    ours = LogisticRegression(
        C=0.1, l1_ratio=1.0, solver=EXACT, bounds_X=(-1, 1), classes=[0, 1, 2]
    )
    theirs = sk.LogisticRegression(
        C=0.1, l1_ratio=1.0, penalty="elasticnet", solver="saga", tol=1e-10, max_iter=100_000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # newer versions need no penalty=
        ours, theirs = exact(ours, X, y), theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert (ours.coef_ == 0.0).any()


def test_the_intercept_starts_where_shares_of_the_classes_are_right():
    slope = np.array([0.5 - 0.02])  # of 2 % positives, at score 0
    assert Logistic().constant_score(slope, 0.0) == pytest.approx(math.log(0.02 / 0.98))
    assert Logistic().constant_score(slope, 0.1) == pytest.approx(math.log(0.1 / 0.9))
    shares = np.array([0.7, 0.2, 0.1])
    found = Softmax(3).constant_score(1 / 3 - shares, 0.0)
    np.testing.assert_allclose(np.exp(found) / np.exp(found).sum(), shares)


@pytest.mark.parametrize(
    "solver", [CoordinateDescent(block=1), CoordinateDescent(selection="greedy")], ids=str
)
def test_one_coordinate_at_a_time_is_for_two_classes(solver):
    X, y = three_classes()
    with pytest.raises(UnsupportedCombinationError, match="several classes move together"):
        LogisticRegression(solver=solver, bounds_X=(-1, 1), classes=[0, 1, 2]).fit(X, y)


def test_more_columns_than_a_matrix_bears_go_elsewhere():
    wide = LogisticRegression(bounds_X=(0, 1), classes=[0, 1, 2], l1_ratio=1.0)
    assert wide.plan(n=999_999, n_features=400).solver == "sgd"
    wide.set_params(solver="cd")
    with pytest.raises(UnsupportedCombinationError, match="here are 1203 weights"):
        wide.plan(n=999_999, n_features=400)
    assert wide.set_params(l1_ratio=0.0).plan(n=999_999, n_features=400).solver == "cd"
