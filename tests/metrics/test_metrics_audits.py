"""Every privacy audit on `evaluate`, as for any estimator."""

import pytest

from privlearn import audit
from privlearn._core.problem import Adjacency
from scored_models import CONFIGURED, N_FEATURES
from support import run_quickly

QUICK = ("two classes, zero_out", "three classes, add_remove", "line, replace_one")
LONG = (audit.check_noise_law, audit.check_price, audit.check_grid)  # of thousands of counts


# Those that say something here: nobody has a level, no row is sampled, and no point is drawn.
# Which rows of a person count is chosen after predictions, not before a solver sees rows:
# test_evaluate_people.py checks that, in the place of `check_people`.
IDLE = {audit.check_levels, audit.check_draws, audit.check_sampling, audit.check_people}
CHECKS = [check for check in audit.CHECKS if check not in IDLE]
SOME = [(name, check) for name in QUICK for check in CHECKS]
SOME = [(name, check) for name, check in SOME if name != QUICK[0] or check not in LONG]
SOME += [("three classes, people, replace_one", check) for check in CHECKS]


@pytest.mark.parametrize(("name", "check"), SOME, ids=[f"{a}-{b.__name__}" for a, b in SOME])
def test_audit(name, check):
    run_quickly(check, CONFIGURED[name], N_FEATURES)


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", CONFIGURED)
def test_every_audit(name, check):
    check(CONFIGURED[name], n_features=N_FEATURES)


def test_every_kind_is_audited_under_every_relation():
    met = {(model.kind, model.adjacency) for model in CONFIGURED.values()}
    for kind in ("two classes", "three classes", "line"):
        assert {(kind, relation.value) for relation in Adjacency} <= met
