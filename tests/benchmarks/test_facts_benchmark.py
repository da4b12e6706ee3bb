"""Pages of declared facts, of lines and curves, of groups, and of Adult with nothing declared."""

import numpy as np
import pytest
from benchmarks.choice import curves, declared
from benchmarks.peers import adult_undeclared, subgroups


def test_bounds_are_moved_outwards_to_one_digit():
    X = np.array([[0.0, 17.0, -2.3e-4, 1.0], [1.0, 90.1, 0.0, 1.0]])
    low, high = declared.outwards(X)
    np.testing.assert_allclose(low, [0.0, 10.0, -3e-4, 1.0])
    np.testing.assert_allclose(high, [1.0, 100.0, 0.0, 2.0])
    assert declared.outwards(np.array([-7.0, 123.0])) == (-7.0, 200.0)


def cell(nothing, bounds):
    return {"name": "wine", "epsilon": 1.0, "nothing": list(nothing), "bounds": list(bounds)}


def test_bounds_hurt_where_the_interval_is_below_the_limit():
    usual = 0.5 + 0.001 * np.arange(30.0)
    assert declared.hurts(cell(usual, usual - 0.01 + 0.001 * (-1.0) ** np.arange(30)))
    assert not declared.hurts(cell(usual, usual - 0.004))
    assert not declared.hurts(cell(usual, usual - 0.1 * (np.arange(30) % 7 == 0)))  # too uncertain
    mean, low, high = declared.interval(cell(usual, usual + np.tile([0.0, 0.02], 15)))
    assert (mean, (low + high) / 2) == pytest.approx((0.01, 0.01))
    assert high - low == pytest.approx(2 * 2.045 * 0.010171 / np.sqrt(30), rel=1e-3)
    text = declared.tables({"seeds": 30, "cells": [cell(usual, usual - 0.01)]})
    assert "1 of 1 rows below the limit" in text


def test_errors_of_groups_are_those_of_their_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 2))
    y = (X[:, 0] > 0).astype(int)
    y[500:550] = 1 - y[500:550]
    groups = {"odd": np.arange(100) < 50, "usual": np.arange(100) >= 50}
    rows = (X[:500], y[:500]), (X[500:], y[500:])
    args = ("toy", "LogisticRegression", *rows, groups, subgroups.wrong, (10.0,), 2)
    everybody, odd, usual = subgroups.errors(*args)
    assert everybody["share"] == 1.0
    assert odd["plain"] > 0.8
    assert usual["plain"] < 0.1
    assert min(odd["private"][0]) > 0.7
    assert max(usual["private"][0]) < 0.3
    text = subgroups.tables({"seeds": 2, "epsilons": [10.0], "groups": [odd]})
    assert "| toy | odd | 50.0% |" in text
    assert subgroups.root_mean_square(np.array([1.0, 2.0]), np.array([1.0, 4.0])) == 2.0**0.5


def test_a_fit_fails_that_keeps_less_than_half_of_the_way():
    results = {"majority": 0.76, "references": {"a": 0.84, "b": 0.86}}
    assert adult_undeclared.failed(results, [0.80, 0.82, 0.76, 0.85]) == 2


def test_both_models_of_a_pair_see_the_same_rows(monkeypatch):
    import privlearn

    seen = []

    class Fake:
        def __init__(self, **parameters):
            self.parameters = parameters

        def fit(self, X, y):
            seen.append((self.parameters, X.ravel().tolist()))
            return self

        def score(self, X, y):
            seen.append(sorted(X.ravel().tolist()))
            return float(len(y))

    monkeypatch.setattr(privlearn, "LinearRegression", Fake)
    monkeypatch.setattr(privlearn, "KernelRegressor", Fake)
    X, y = np.arange(40.0)[:, None], np.zeros(40)
    assert curves.one_run(X, y, False, 20, 0.5, seed=3) == [10.0, 10.0]
    assert seen[0] == seen[2]
    assert len(seen[0][1]) == 20
    assert not set(seen[0][1]) & set(seen[1])
    assert declared.one_run(X, y, False, {"bounds_y": (0, 1)}, 0.5, seed=3) == [10.0, 10.0]
    assert len(seen[4][1]) == 30
    assert seen[6][0] == seen[4][0] | {"bounds_y": (0, 1)}


def test_a_kernel_loses_where_its_median_is_below_that_of_the_line():
    cell = {"line": [0.5, 0.6, 0.7], "curve": [0.5, 0.595, 0.9]}
    assert not curves.loses(cell)
    assert curves.loses(cell | {"curve": [0.5, 0.58, 0.9]})
