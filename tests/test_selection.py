"""The fast tests audit few configurations: every pair of choices that there is must be in them."""

from pathlib import Path

import pytest

from oldest import AUDIT, LIBRARIES, OURS, chosen
from privlearn import Ridge
from privlearn._core.problem import Adjacency
from privlearn.solvers import SOLVERS
from selection import DEMANDED, all_configurations, covering, facets, fast_configurations, met
from support import every_estimator

EVERYWHERE = all_configurations()
FAST = fast_configurations()


# What the selection is for; it may demand more.
ASKED = (
    ("estimator", "solver"),
    ("solver", "relation"),
    ("solver", "facts"),
    ("solver", "estimated"),
    ("loss", "penalty"),
)


def values(what, configurations):
    return {facets(model)[what] for _, model in configurations}


@pytest.mark.parametrize("kind", dict.fromkeys(ASKED + DEMANDED), ids="-".join)
def test_every_pair_is_there(kind):
    there, all_of_them = (
        set().union(*(met(model, [kind]) for _, model in configurations))
        for configurations in (FAST, EVERYWHERE)
    )
    assert there == all_of_them


def test_the_choices_are_those_of_the_library():
    """So that a new solver or estimator cannot be missing from all configurations alike."""
    assert values("solver", FAST) == set(SOLVERS)
    assert values("relation", FAST) == {relation.value for relation in Adjacency}
    assert values("estimator", FAST) >= {cls.__name__ for cls in every_estimator()}
    assert values("estimated", FAST) >= {(False, False), (True, False), (False, True), (True, True)}
    solvers_and_relations = {(name, r.value) for name in SOLVERS for r in Adjacency}
    found = {(facets(model)["solver"], model.adjacency) for _, model in FAST}
    assert solvers_and_relations <= found


def test_each_is_needed_or_near_it():
    """Without one of them some pair is missing, for most: greedy choices are not wasteful."""
    pairs = [met(model, DEMANDED) for _, model in FAST]
    needed = [
        bool(own.difference(*(other for other in pairs if other is not own))) for own in pairs
    ]
    assert sum(needed) > 0.8 * len(FAST)


def test_few_and_some_of_all():
    assert len(FAST) < len(EVERYWHERE) / 3
    order = [name for name, _ in EVERYWHERE]
    assert len(set(order)) == len(order)
    assert [name for name, _ in FAST] == sorted((name for name, _ in FAST), key=order.index)


def test_chosen_alike_in_every_run():
    assert [name for name, _ in covering(EVERYWHERE)] == [name for name, _ in FAST]


@pytest.mark.parametrize("changed", [{"adjacency": "replace_one"}, {"data_norm": 2.0}])
def test_a_new_pair_is_taken(changed):
    known = {"bounds_X": (0, 1), "bounds_y": (0, 1)}
    plain = [("a", Ridge(**known)), ("b", Ridge(**known))]
    assert [name for name, _ in covering(plain)] == ["a"]
    assert [name for name, _ in covering([*plain, ("c", Ridge(**known | changed))])] == ["a", "c"]


def test_on_the_oldest_versions_every_solver_is_audited_under_every_relation():
    models = dict(FAST)
    names = [f"{AUDIT}{name}]" for name in models]
    audited = [(name, models[name.removeprefix(AUDIT)[:-1]]) for name in chosen(names)]
    assert len(audited) < len(FAST) / 2
    for kind in (("estimator",), ("solver", "relation")):
        there, all_of_them = (
            set().union(*(met(model, [kind]) for _, model in some)) for some in (audited, FAST)
        )
        assert there == all_of_them


@pytest.mark.parametrize("place", [*LIBRARIES, *OURS, AUDIT])
def test_what_is_named_for_the_oldest_versions_is_there(place):
    file, _, function = place.rstrip("[").partition("::")
    found = Path(__file__).parent / file
    assert found.exists()
    assert not function or f"def {function}(" in found.read_text(encoding="utf-8")


def test_on_the_oldest_versions_something_of_every_file_is_run():
    names = [f"{place}/test_{k}.py::test_it[{case}]" for place in ("core", "data", "papers")
             for k in range(2) for case in range(4)]  # fmt: skip
    found = chosen(names)
    assert {name.partition("::")[0] for name in found} == {n.partition("::")[0] for n in names}
    assert [sum(name.startswith(p) for name in found) for p in ("core", "data", "papers")] == [
        4,
        8,
        2,
    ]
