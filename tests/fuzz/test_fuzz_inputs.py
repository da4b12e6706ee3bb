"""Inputs of every kind against every entry; larger runs: tools/fuzz_inputs.py."""

import tempfile

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from fuzz.entries import ENTRIES, RUNNERS, example
from fuzz.planted import Pick, Secrets

set_hypothesis_home_dir(tempfile.mkdtemp(prefix="hypothesis-"))  # nothing is left in the tree
FEW = {
    "fit": 70,
    "partial_fit": 25,
    "after": 60,
    "plan": 25,
    "map": 25,
    "ledger": 15,
    "command": 25,
}
TIMES = 10  # as many in the slow tests
FIRST = 0.5  # of FEW in the fast ones
CHOICES = st.randoms(use_true_random=False)  # hypothesis makes every choice, and shrinks them


def seeded(examples):
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )


def demand_nothing_broken(entry, examples):
    @seeded(examples)
    @given(CHOICES)
    def holds(source):
        name, broken, _, story = example(source, entry)
        assert not broken, f"{name}: {broken}\n{story}"

    holds()


def test_every_entry_has_its_examples():
    assert FEW.keys() == ENTRIES.keys() == RUNNERS.keys()


@pytest.mark.parametrize("entry", FEW)
def test_nothing_breaks_and_nothing_is_quoted(entry):
    demand_nothing_broken(entry, round(FIRST * FEW[entry]))


@pytest.mark.slow
@pytest.mark.parametrize("entry", FEW)
def test_nothing_breaks_and_nothing_is_quoted_in_many(entry):
    demand_nothing_broken(entry, TIMES * FEW[entry])


def test_a_quoted_number_is_found_in_every_spelling():
    secrets = Secrets(0)
    number, small = secrets.large(), secrets.small()
    for text in (
        f"{number!r}",
        f"{number:.6g}",
        f"{number:.4g}",
        f"{number:.1f}",
        f"{number:,.2f}",
    ):
        assert secrets.found_in(f"cell {text} is odd") == number
    assert secrets.found_in(f"x={int(number)}") == number
    assert secrets.found_in(f"[-{number}]") == number
    assert secrets.found_in(f"{small:.6g}") == small
    assert secrets.found_in(secrets.word().lower())
    for text in ("n = 1500, delta=1e-06", "0.5", "4.768e-07", str(number + 3)):
        assert secrets.found_in(text) is None


def test_a_number_is_found_in_a_file():
    secrets = Secrets(1)
    number = secrets.large()
    import struct

    assert secrets.found_in_bytes(b"xx" + struct.pack("<d", number)) == number
    assert secrets.found_in_bytes(repr(number).encode()) == number
    assert secrets.found_in_bytes(b"1234567.5") is None


def test_choices_are_told():
    import random

    pick = Pick(random.Random(0))
    assert pick("colour", {"red": 1}) == 1
    assert pick.told() == "colour='red'"
