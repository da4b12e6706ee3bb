"""Attacks with a person of several rows: promised and measured."""

import numpy as np
import pytest

from privlearn import LinearRegression, audit
from privlearn._core.calibration import _smallest_scale
from privlearn._core.plan import Plan
from privlearn.audit import AuditFailure

MOST = 4
FACTS = {"bounds_X": (0, 1), "bounds_y": (0, 1), "max_rows_per_person": MOST}


@pytest.fixture
def a_person_costs_a_row(monkeypatch):
    """Noise and price of rows, which hide one of a person's four."""
    _smallest_scale.cache_clear()
    monkeypatch.setattr(Plan, "contribution", lambda self, release: release.clip)
    yield
    _smallest_scale.cache_clear()


@pytest.mark.parametrize(
    ("solver", "adjacency"),
    [
        ("moments", "zero_out"),
        pytest.param("moments", "replace_one", marks=pytest.mark.slow),
        pytest.param("scd", "zero_out", marks=pytest.mark.slow),
        pytest.param("sgd", "add_remove", marks=pytest.mark.slow),
        pytest.param("cd", "zero_out", marks=pytest.mark.slow),
    ],
)
def test_white_box(solver, adjacency):
    model = LinearRegression(solver=solver, adjacency=adjacency, **FACTS)
    found = audit.white_box(model, n_features=2, tries=10, runs=16)
    assert 0.8 < found.ratio <= 1.0 + 2e-3
    assert found.covered


def test_white_box_sees_what_is_charged_for_rows(a_person_costs_a_row):
    with pytest.raises(AuditFailure):
        audit.white_box(LinearRegression(solver="moments", **FACTS), n_features=2, tries=6, runs=8)


def worlds():
    """Others in the middle, and a person of four rows at a corner, or of none."""
    X, y = np.full((44, 1), 0.5), np.full(44, 0.5)
    ids = np.append(np.arange(40), np.full(MOST, 99))
    X[40:], y[40:] = 1.0, 1.0
    other, nobody = X.copy(), y.copy()
    other[40:], nobody[40:] = np.nan, np.nan
    return (X, y, ids), (other, nobody, ids)


@pytest.mark.slow
def test_black_box():
    model = LinearRegression(solver="moments", epsilon=4.0, **FACTS)
    found = audit.black_box(model, data=worlds(), fits=3_000)
    assert found.kept
    assert found.bound.mu > 0.2


@pytest.mark.slow
def test_black_box_proves_what_is_charged_for_rows(a_person_costs_a_row):
    model = LinearRegression(solver="moments", epsilon=4.0, **FACTS)
    with pytest.raises(AuditFailure, match="more was proven than promised"):
        audit.black_box(model, data=worlds(), fits=3_000)
