"""How rules are derived: one loop for all, and every rule's own part of it."""

import importlib
import types

import numpy as np
import pytest
from benchmarks.derive import __main__ as command
from benchmarks.derive import harness
from benchmarks.derive.harness import USUAL, Candidate

RULES = {name: importlib.import_module(f"benchmarks.derive.{name}") for name in command.RULES}


def made(**parts):
    """A rule whose score is its one constant plus the seed, on two problems."""
    home = types.ModuleType("home")
    home.NUMBER = 1.0
    rule = types.ModuleType("benchmarks.derive.made", "What is compared.")
    rule.home, rule.SEEDS = home, 2
    rule.homes = lambda given: (home,)
    rule.candidates = lambda given: {"other": Candidate(choice=10.0), "twice": Candidate()}
    rule.problems = lambda given: iter([("small", 0.0), ("large", 100.0)])
    rule.data = lambda problem, seed, given: problem + seed
    rule.score = lambda data, choice, seed, given: (data + (choice or 0.0) + home.NUMBER, 7.0)
    rule.summary = lambda found, usual: {"mean": found[..., 0].mean(), "usual": usual[0, 0, 0]}
    vars(rule).update(parts)
    return rule


def test_there_is_a_module_for_every_rule():
    assert {
        "boosted",
        "private_bounds",
        "cd",
        "damping",
        "descent",
        "kernel",
        "sgd",
        "sub_lasso",
    } <= set(RULES)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_keeps_the_contract(name):
    rule = RULES[name]
    given = harness.options(rule, [])
    assert rule.__doc__
    assert given.seeds == rule.SEEDS >= 1
    for candidate in harness._candidates(rule, given).values():
        with harness.changed(rule.homes(given), candidate.constants):
            pass  # a constant that privlearn no longer has is refused
    assert callable(rule.data)
    assert callable(rule.score)


def test_every_candidate_sees_the_same_problems_and_seeds(capsys):
    rule = made()
    given = harness.options(rule, ["NUMBER=3", "--like", "oth"])
    tried = harness._candidates(rule, given)
    assert list(tried) == [USUAL, "other", "NUMBER=3"]
    found = harness.scores(rule, given, tried)
    np.testing.assert_array_equal(found[USUAL][..., 0], [[1, 2], [101, 102]])
    np.testing.assert_array_equal(found["other"], found[USUAL] + [10, 0])
    np.testing.assert_array_equal(found["NUMBER=3"], found[USUAL] + [2, 0])
    assert capsys.readouterr().out.startswith("small 1.50000 11.50000 3.50000\n")


def test_problems_can_be_chosen_and_the_table_has_a_line_for_each_candidate(capsys):
    rule = made()
    harness.derive(rule, harness.options(rule, ["--only", "large", "--seeds", "1"]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["columns: as it is | other | twice", "large 101.00000 111.00000 101.00000"]
    assert [line.split()[-2:] for line in lines[-3:]] == [
        ["101.0000", "101.0000"],
        ["111.0000", "101.0000"],
        ["101.0000", "101.0000"],
    ]


def test_numbers_are_put_back_whatever_happens():
    rule = made()

    def fail():
        with harness.changed((rule.home,), {"NUMBER": 4}):
            assert rule.home.NUMBER == 4.0
            assert isinstance(rule.home.NUMBER, float)
            raise RuntimeError("a fit failed")

    with pytest.raises(RuntimeError, match="a fit failed"):
        fail()
    assert rule.home.NUMBER == 1.0


def test_a_constant_that_is_nowhere_is_refused():
    with pytest.raises(ValueError, match="NUMBR given, but home have no such name"):
        harness.derive(made(), harness.options(made(), ["NUMBR=3"]))


def test_ratios_are_to_the_rule_as_it_is():
    usual = np.array([[[1.0], [3.0]], [[4.0], [4.0]]])
    found = harness.ratios(4.0 * usual, usual, np.mean)
    assert found == {"all": pytest.approx(4.0), "problem 1": 4.0, "problem 2": 4.0}
    found = harness.ratios(np.array([[[0.0], [0.0]], [[4.0], [4.0]]]), usual, np.mean, floor=1.0)
    assert found["all"] == pytest.approx(np.sqrt(1 / 3))


def test_the_command_runs_a_rule_from_end_to_end(capsys):
    assert command.main(["damping", "--problems", "2", "--seeds", "1", "--like", "AdaSSP"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "columns: as it is | AdaSSP"
    assert [line.split()[0] for line in lines[-2:]] == ["as", "AdaSSP"]


def test_the_command_lists_rules_and_refuses_others(capsys):
    assert command.main(["--help"]) == 0
    assert "sub_lasso" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["nothing"])
