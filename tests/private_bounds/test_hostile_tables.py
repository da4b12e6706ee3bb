"""`LinearRegression()` with nothing declared, on data whose bounds nobody could declare."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import r2_score

from privlearn import LinearRegression

SEEDS = 20
N = 6_000
WILD = -0.1  # an R^2 below this is worse than any constant anyone would publish


class Case(NamedTuple):
    """Data to fit and fresh rows, and the least R^2 that every seed must reach."""

    X: object
    y: np.ndarray
    fresh_X: object
    fresh_y: np.ndarray
    least: float = WILD


def halves(X, y, least=WILD):
    n = len(y) // 2
    return Case(X[:n], y[:n], X[n:], y[n:], least)


def plain(n=2 * N, p=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, X @ np.linspace(1.0, 0.2, p) + 0.5 * rng.standard_normal(n), rng


def well_behaved():
    X, y, _ = plain()
    return halves(X, y, 0.8)


def cauchy_features():
    X, y, rng = plain()
    X[:, 3:] = rng.standard_cauchy((len(y), 3))
    y = X[:, 0] + 0.5 * rng.standard_normal(len(y))
    return halves(X, y, 0.6)


def cauchy_everything():
    rng = np.random.default_rng(1)
    X = rng.standard_cauchy((2 * N, 4))
    return halves(X, np.clip(X[:, 0], -3, 3) + rng.standard_normal(2 * N), 0.2)


def lognormal_features():
    X, _, rng = plain()
    y = X[:, 0] + 0.3 * rng.standard_normal(len(X))
    return halves(np.exp(4.0 * X), y, 0.1)


def outliers(size):
    def made():
        X, y, _ = plain()
        X[3, 2], X[5], y[7], y[9] = size, -size, size, -size
        return halves(X, y, 0.8)

    made.__name__ = f"outliers_of_{size:g}"
    return made


def constant_and_duplicate_columns():
    X, y, _ = plain()
    X = np.column_stack([X, np.full(len(y), 7.0), np.zeros(len(y)), X[:, :3], -X[:, 0]])
    return halves(X, y, 0.7)


def rare_flags():
    rng = np.random.default_rng(2)
    X = (rng.random((2 * N, 6)) < [0.5, 0.2, 0.05, 0.01, 0.001, 0.95]).astype(float)
    return halves(X, X @ [1.0, 1, 2, 2, 2, 1] + 0.3 * rng.standard_normal(2 * N), 0.6)


def booleans():
    rng = np.random.default_rng(3)
    X = rng.random((2 * N, 5)) < 0.4
    return halves(X, X @ np.ones(5) + 0.5 * rng.standard_normal(2 * N), 0.7)


def scales_apart():
    X, y, _ = plain()
    return halves(X * 10.0 ** np.array([-6.0, 6, 0, -3, 3, 1]), y, 0.8)


def offsets():
    X, y, _ = plain()
    return halves(np.add(X, [1e3, -50.0, 0, 2000.0, 10.0, 0]), 1e4 + y, 0.8)


def integer_codes():
    rng = np.random.default_rng(4)
    X = rng.integers(0, [2, 10, 100, 1000, 5, 3], (2 * N, 6))
    y = X @ [1.0, 0.2, 0.02, 0.002, 0.1, 0.5] + 0.3 * rng.standard_normal(2 * N)
    return halves(X, y, 0.8)


def single_precision():
    X, y, _ = plain()
    return halves((1e4 * X).astype(np.float32), y.astype(np.float32), 0.8)


def frame_with_flags():
    pandas = pytest.importorskip("pandas")
    X, _, rng = plain(p=3)
    frame = pandas.DataFrame({"age": 40 + 10 * X[:, 0], "income": np.exp(X[:, 1] + 10)})
    frame["member"], frame["visits"] = X[:, 2] > 0.5, rng.poisson(3, len(X))
    y = frame["age"] / 10 + 2 * frame["member"] + rng.standard_normal(len(X))
    case = halves(frame, y.to_numpy(), 0.5)
    return case._replace(X=frame.iloc[:N], fresh_X=frame.iloc[N:])


def sparse_features():
    rng = np.random.default_rng(5)
    X = sp.random(2 * N, 8, density=0.2, random_state=1, format="csr")
    return halves(X, X @ np.ones(8) * 3 + 0.3 * rng.standard_normal(2 * N), 0.7)


def zero_inflated():
    rng = np.random.default_rng(6)
    X = np.where(rng.random((2 * N, 5)) < 0.15, rng.gamma(2.0, 300.0, (2 * N, 5)), 0.0)
    return halves(X, X @ np.full(5, 0.01) + rng.standard_normal(2 * N), 0.6)


def constant_target():
    X, y, _ = plain()
    return halves(X, np.full(len(y), 1234.5))


def binary_target():
    X, y, _ = plain()
    return halves(X, (y > 0.3).astype(float), 0.5)


def lognormal_target():
    X, y, _ = plain()
    return halves(X, np.exp(0.7 * y + 5.0), 0.2)


def very_skewed_target():
    X, y, rng = plain()
    return halves(X, np.exp(2.0 * rng.standard_normal(len(y)) + 0.2 * y))


def no_signal():
    X, _, rng = plain()
    return halves(X, 50.0 + rng.standard_normal(len(X)))


def many_columns():
    X, _, rng = plain(n=4_000, p=300)
    return halves(X, 2.0 * X[:, 0] + X[:, 1] + rng.standard_normal(len(X)))


def few_hundred_rows():
    X, y, _ = plain(n=4_500)
    return Case(X[:500], y[:500] + 100.0, X[500:], y[500:] + 100.0)


CASES = [
    well_behaved,
    cauchy_features,
    cauchy_everything,
    lognormal_features,
    outliers(1e12),
    outliers(1e300),
    constant_and_duplicate_columns,
    rare_flags,
    booleans,
    scales_apart,
    offsets,
    integer_codes,
    single_precision,
    frame_with_flags,
    sparse_features,
    zero_inflated,
    constant_target,
    binary_target,
    lognormal_target,
    very_skewed_target,
    no_signal,
    many_columns,
    few_hundred_rows,
]


def scores(case, seeds, **parameters):
    """R^2 on fresh rows, of models that are finite."""
    found = []
    for seed in seeds:
        model = LinearRegression(epsilon=1, delta=1e-6, random_state=seed, **parameters)
        model.fit(case.X, case.y)
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.intercept_)
        predicted = model.predict(case.fresh_X)
        assert np.isfinite(predicted).all()
        found.append(r2_score(case.fresh_y, predicted))
    return np.array(found)


def check(case, found):
    if np.ptp(case.fresh_y) == 0.0:
        return  # R^2 of a constant says nothing; predictions are checked below
    assert found.min() >= max(WILD, case.least), np.round(np.sort(found)[:4], 3)


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_three_seeds(make):
    case = make()
    check(case, scores(case, range(3)))


@pytest.mark.slow
@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_twenty_seeds(make):
    case = make()
    check(case, scores(case, range(100, 100 + SEEDS)))


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("make", [scales_apart, rare_flags, few_hundred_rows])
def test_every_relation(make, relation):
    case = make()
    case = case._replace(least=min(case.least, 0.4))
    check(case, scores(case, range(2), adjacency=relation))


def test_a_constant_target_is_found():
    case = constant_target()
    for seed in range(5):
        model = LinearRegression(epsilon=1, delta=1e-6, random_state=seed).fit(case.X, case.y)
        assert np.abs(model.predict(case.fresh_X) / 1234.5 - 1.0).max() < 0.1


def test_few_rows_give_a_model_near_the_middle_of_y():
    case = few_hundred_rows()
    low, high = np.quantile(case.fresh_y, [0.02, 0.98])
    for seed in range(SEEDS):
        model = LinearRegression(epsilon=1, delta=1e-6, random_state=seed).fit(case.X, case.y)
        inside = (model.predict(case.fresh_X) > low) & (model.predict(case.fresh_X) < high)
        assert inside.mean() > 0.95
        assert (
            model.score(case.fresh_X, case.fresh_y) > 0.0
        )  # it follows y, so it leaves the middle


@pytest.mark.parametrize("n", [1, 2, 50])
@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
def test_hardly_any_rows_do_not_crash(n, relation):
    X, y, _ = plain(n=50)
    for seed in range(3):
        model = LinearRegression(epsilon=1, delta=1e-6, adjacency=relation, random_state=seed)
        assert np.isfinite(model.fit(X[:n], y[:n]).predict(X)).all()
