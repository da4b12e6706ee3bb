"""Every audit, with neighbours of whom one person's whole record differs."""

import numpy as np
import pytest

from people_models import people_configurations, some_people_configurations
from privlearn import audit
from privlearn._core.problem import Adjacency
from privlearn.solvers import SOLVERS
from support import N_FEATURES, checks_for, run_quickly, solver_of

EVERYWHERE, FAST = people_configurations(), some_people_configurations()


@pytest.mark.parametrize("model", FAST.values(), ids=FAST)
def test_audit(model):
    for check in checks_for(model):
        run_quickly(check, model)


@pytest.mark.slow
@pytest.mark.parametrize("model", EVERYWHERE.values(), ids=EVERYWHERE)
def test_audit_in_full(model):
    for check in checks_for(model):
        check(model, n_features=N_FEATURES)


def test_every_solver_that_takes_people_is_audited_under_every_relation():
    able = {name for name, solver in SOLVERS.items() if solver.support.people}
    assert {solver_of(model) for model in FAST.values()} == able
    found = {(solver_of(model), model.adjacency) for model in EVERYWHERE.values()}
    assert found >= {(name, relation.value) for name in able for relation in Adjacency}
    assert {model.adjacency for model in FAST.values()} == {one.value for one in Adjacency}
    assert all(audit.check_people in checks_for(model) for model in FAST.values())


def test_rows_are_read_one_by_one():
    audit.check_row_locality(EVERYWHERE["moments-zero_out-box"], n_features=N_FEATURES)


def test_neighbours_have_records_that_are_too_long_and_lie_anywhere():
    model = next(iter(FAST.values()))
    pairs = list(audit.adversary.neighbourhoods(model, N_FEATURES, np.random.default_rng(0)))
    own = [np.flatnonzero(data.groups == data.groups.max()) for data, _ in pairs]
    assert {len(rows) for rows in own} >= {1, 3, 5}
    assert any(np.diff(rows).max(initial=0) > 1 for rows in own)
    assert any(rows[0] == 0 for rows in own)
