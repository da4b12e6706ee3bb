"""Nothing of a row is left when a fit by dual coordinate descent is over, or said meanwhile."""

import gc
import pickle
import sys
import types
import warnings
from functools import lru_cache

import numpy as np
import pytest

from privlearn import HuberRegressor, LinearSVC, Ridge
from privlearn.audit.tape import record
from privlearn.exceptions import PlanViolationError
from privlearn.solvers import DualCoordinateDescent
from privlearn.solvers._common import rehearsal
from privlearn.solvers.dual_coordinate_descent import loops as dual
from privlearn.solvers.dual_coordinate_descent import rules as scd_rule
from support import NUMBERS, modules, tilted

N = 1_009  # a prime, so that no public number of anything is a multiple


def within(start):
    """Everything that can be reached, without going through modules that are not in `start`."""
    scopes = {id(getattr(module, "__dict__", None)) for module in list(sys.modules.values())}
    scopes -= {id(one) for one in start}
    seen, waiting = {}, list(start)
    while waiting:
        one = waiting.pop()
        # By types: what other tests left behind may be a proxy of something that is gone.
        skipped = issubclass(type(one), types.ModuleType | types.FrameType) or id(one) in scopes
        compiler = str(type(one).__module__).startswith(("numba", "llvmlite"))
        if id(one) in seen or skipped or compiler:
            continue
        seen[id(one)] = one
        waiting += gc.get_referents(one)
        if type(one) is np.ndarray and one.base is not None:
            waiting.append(one.base)
    return list(seen.values())


def betrayed(start, tape):
    """Arrays, lists and bytes with something for each row, batches, and sums without noise."""
    series = [item.steps for item in tape.made if hasattr(item, "steps")]
    secrets = [batch for steps in series for batch in np.split(*_parts(steps.batches))]
    secrets += [steps.batches.rows for steps in series]
    secrets += [entry.statistic.ravel() for entry in tape.entries]
    known = {secret.tobytes() for secret in secrets if secret.size > 1}
    found = []
    for one in within(start):
        if isinstance(one, np.ndarray):
            alike = one.dtype != object and np.ndarray.tobytes(one) in known  # a masked one fails
            found += [one] if alike or _per_row(one.size) else []
        elif isinstance(one, bytes | bytearray):
            found += [one] if _per_row(len(one) / 8) else []
        elif isinstance(one, list | tuple | dict | set) and one is not rehearsal._seen:
            found += [one] if _per_row(len(one)) else []
    return found


def _parts(batches):
    return batches.rows, batches.starts[1:-1]


def _per_row(size):
    return size > 0 and size % N == 0


def package():
    return [vars(module) for module in modules() if module.__name__.startswith(HELD_BY)]


HELD_BY = (
    "privlearn.solvers",
    "privlearn._core.release_step",
    "privlearn._core.releaser",
    "privlearn._core.plan",
)
SECRETIVE = {"squared": Ridge, "huber": HuberRegressor, "hinge": LinearSVC}


def recorded(loss, relation="zero_out"):
    X, y = tilted(N)
    solver = DualCoordinateDescent(epochs=6)
    known = {"solver": solver, "adjacency": relation, "random_state": 0, "bounds_X": (-4, 4)}
    known |= {"bounds_y": (-5, 5)} if loss in NUMBERS else {"classes": [0, 1]}
    y = y if loss in NUMBERS else (y > 0).astype(int)
    model = SECRETIVE[loss](**known)
    return model, record(model, X, y)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
@pytest.mark.parametrize("loss", SECRETIVE)
def test_no_fitted_object_and_no_module_holds_anything_of_a_row(loss, relation):
    model, tape = recorded(loss, relation)
    again = pickle.loads(pickle.dumps(model))
    start = [model, again, model.privacy_, model.solver, *package()]
    assert len(within(start)) > 5_000
    assert betrayed(start, tape) == []


PLANTS = ["attribute", "closure", "view", "list", "batch", "sum", "module", "cache", "class"]


@pytest.mark.parametrize("place", PLANTS)
def test_the_search_finds_what_is_planted(place, monkeypatch):
    model, tape = recorded("squared")
    held = np.zeros((N, 1))
    steps = next(item.steps for item in tape.made if hasattr(item, "steps"))
    if place in ("attribute", "view"):
        model.privacy_.__dict__["_held"] = held if place == "attribute" else held.ravel()[:7]
    elif place == "closure":
        model.callback_ = lambda: held
    elif place == "list":
        model.trace_ = {"a": [held[:, 0].tolist()]}
    elif place == "batch":
        model.trace_ = [steps.batches.rows[: steps.batches.starts[1]].copy()]
    elif place == "sum":
        model.trace_ = (steps.statistics[5].copy(),)
    elif place == "module":
        monkeypatch.setattr(scd_rule, "_LAST", {"held": held}, raising=False)
    elif place == "cache":
        remembered = lru_cache(lambda _: held)
        remembered(1)
        monkeypatch.setattr(scd_rule, "_remembered", remembered, raising=False)
    else:
        monkeypatch.setattr(DualCoordinateDescent, "held", held, raising=False)
    assert betrayed([model, model.solver, *package()], tape)


def test_nothing_is_said_while_fitting(caplog, capfd):
    caplog.set_level(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorded("huber", "add_remove")
    planned = "releasing 1002 times by scd, for epsilon = 1 and delta = 1e-06 under add_remove"
    assert [record.getMessage() for record in caplog.records] == [planned]  # public, all of it
    assert capfd.readouterr() == ("", "")


def test_an_error_inside_the_loop_tells_nothing(monkeypatch):
    """The loop stops where a sum would not fit its grid; the error holds words alone."""
    loop = dual.descend_dual

    def stopping(rows, model, own, path, steps, done):
        loop(rows, model, own, path, steps, done)
        return False

    monkeypatch.setattr(dual, "descend_dual", stopping)
    with pytest.raises(PlanViolationError) as caught:
        recorded("squared")
    assert caught.value.args == ("a sum of dual steps does not fit its grid: a solver bug",)
    assert not any(letter.isdigit() for letter in str(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
