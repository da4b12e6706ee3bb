import importlib
import pkgutil
from dataclasses import MISSING, FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import pytest

import privlearn.solvers
from privlearn._core.problem import Adjacency, Bounds, Budget, Problem
from privlearn._objective.losses import LOSSES
from privlearn._objective.penalties import PENALTIES
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import SOLVERS, check_supported, resolve

EVERY = sorted(SOLVERS.items())


@pytest.fixture(params=EVERY, ids=[name for name, _ in EVERY])
def solver_class(request):
    return request.param[1]


def problem(loss, penalty, adjacency):
    bounds = Bounds.declared(3, bounds_X=(-1, 1), bounds_y=(0, 1), data_norm=2.0)
    return Problem(
        n=100_000, n_features=3, bounds=bounds, loss=loss, penalty=penalty, adjacency=adjacency
    )


def supported(solver_class):
    for loss in LOSSES:
        for penalty in PENALTIES:
            for relation in Adjacency:
                one = problem(loss, penalty, relation)
                if not solver_class.support.missing(one):
                    yield one


def test_registry_holds_the_solver_of_every_package():
    found = set()
    for info in pkgutil.iter_modules(privlearn.solvers.__path__):
        if not info.ispkg or info.name.startswith("_"):
            continue
        module = importlib.import_module(f"privlearn.solvers.{info.name}.solver")
        found |= {
            thing
            for thing in vars(module).values()
            if isinstance(thing, type)
            and hasattr(thing, "solve")
            and hasattr(thing, "support")
            and is_dataclass(thing)
        }
    assert found == set(SOLVERS.values())


def test_frozen_with_defaults(solver_class):
    solver = solver_class()
    assert all(f.default is not MISSING or f.default_factory is not MISSING for f in fields(solver))
    with pytest.raises(FrozenInstanceError):
        setattr(solver, fields(solver)[0].name, 1)


def test_proof_stands_beside_the_code(solver_class):
    file = Path(importlib.import_module(solver_class.__module__).__file__)
    note = file.with_name("proof.md")
    assert note.exists(), f"{note.name} is missing"
    text = note.read_text()
    for relation in Adjacency:
        assert relation.value in text, f"{note.name} says nothing of {relation.value}"


def test_plans_are_made_from_public_facts_and_more_scale_costs_less(solver_class):
    problems = list(supported(solver_class))
    assert problems
    for one in problems:
        settings = solver_class().configure(one, Budget(1.0, 1e-6))
        less, more = (solver_class().plan(one, settings, scale) for scale in (3.0, 6.0))
        assert less == solver_class().plan(one, settings, 3.0)
        assert more.epsilon(1e-6) < less.epsilon(1e-6)
        assert less.paper
        assert less.assumptions


def test_what_is_not_in_the_table_is_refused_in_words(solver_class):
    class Odd:
        name = "odd loss"

    one = problem(Odd(), PENALTIES[0], Adjacency.ZERO_OUT)
    with pytest.raises(UnsupportedCombinationError, match="odd loss"):
        check_supported(solver_class(), one)
    with pytest.raises(UnsupportedCombinationError, match="odd loss"):
        resolve("auto", one, Budget(1.0, 1e-6))
