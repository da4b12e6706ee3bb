"""A planned release that nobody will look at: paid for, used up, and neither counted nor drawn."""

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.releaser import Releaser
from privlearn.audit.tape import Entry, record
from privlearn.exceptions import PlanViolationError
from privlearn.noise import source
from privlearn.private_bounds import solver as bounds_solver

PLAN = Plan((Release("a", (2, 3), 1.0), Release("b", (5,), 1.0)), Adjacency.ZERO_OUT, scale=5.0)
BUDGET = Budget(1.0, 1e-6)


def unseen():
    """A statistic that nobody computes."""
    raise AssertionError("it was computed")


def test_it_is_used_up_and_seeded_runs_go_on_as_if_it_had_been_made():
    made, passed = Releaser(PLAN, BUDGET, 1), Releaser(PLAN, BUDGET, 1)
    made("a", np.zeros((2, 3)), clip=1.0)
    assert passed.pass_over("a", unseen, clip=1.0) is None
    np.testing.assert_array_equal(*(one("b", np.zeros(5), clip=1.0) for one in (made, passed)))
    assert made.certificate().made == passed.certificate().made
    for again in (
        lambda: passed.pass_over("a", unseen, clip=1.0),
        lambda: passed("b", [0.0] * 5, clip=1.0),
    ):
        with pytest.raises(PlanViolationError, match="planned 1 times"):
            again()


def test_it_must_be_planned():
    release = Releaser(PLAN, BUDGET, 1)
    with pytest.raises(PlanViolationError, match="not in the plan"):
        release.pass_over("c", unseen, clip=1.0)
    with pytest.raises(PlanViolationError, match="clipped to"):
        release.pass_over("a", unseen, clip=2.0)


def test_without_a_seed_nothing_is_drawn(monkeypatch):
    release = Releaser(PLAN, BUDGET)
    monkeypatch.setattr(source, "system_keys", lambda: 1 / 0)
    release.pass_over("a", unseen, clip=1.0)
    with pytest.raises(ZeroDivisionError):
        release("b", np.zeros(5), clip=1.0)


@pytest.mark.parametrize("narrow", [False, True])
def test_columns_that_are_surely_wide_are_looked_at_twice_and_not_four_times(narrow, monkeypatch):
    rng, bins, count = np.random.default_rng(0), [], bounds_solver.count_evenly
    X = rng.standard_normal((20_000, 2))
    y = X.sum(axis=1)
    X[:, 1] += 1e6 * narrow

    def noted(data, what, low, high, many, only=None):
        bins.extend([many] if what == "features" and data.n == len(y) else [])
        return count(data, what, low, high, many, only)

    monkeypatch.setattr(bounds_solver, "count_evenly", noted)
    model = LinearRegression(random_state=0).fit(X, y)
    assert bins[-1] == bounds_solver.LAST_BINS
    assert len(bins) == (3 if narrow else 1)
    bins.clear()
    audited = LinearRegression(random_state=0)
    tape = record(audited, X, y)
    assert len(bins) == 3  # audits look at what could be asked for
    made = [entry.release.name for entry in tape.made if isinstance(entry, Entry)]
    assert all(made.count(one.name) == one.count for one in tape.plan.releases)
    np.testing.assert_array_equal(audited.coef_, model.coef_)
