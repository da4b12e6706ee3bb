"""Generators are used again; keys are not, and neither is one that is in use."""

import os

import numpy as np
import pytest
from randomgen import ChaCha

from privlearn.noise import NoiseSource, generator
from privlearn.noise.generator import KeyedGenerator

KEYS = [bytes(range(32)), bytes(range(100, 132)), bytes(31) + b"\xff"]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def made(key, block):
    """The words of a new generator."""
    number = int.from_bytes(key, "little")
    return ChaCha(key=number, counter=16 * block, rounds=20)


@pytest.mark.parametrize("block", [0, 1, 5, 2**32 * 3, 2**60 - 1, 2**100 + 7])
@pytest.mark.parametrize("key", KEYS)
def test_words_are_those_of_a_new_one_wherever_the_last_one_stopped(key, block):
    for stopped in (0, 1, 7, 8, 13):
        KeyedGenerator(KEYS[0], 9).random_raw(stopped)
        assert generator._idle
        words = KeyedGenerator(key, block).random_raw(50)
        assert np.array_equal(words, made(key, block).random_raw(50))


def test_what_is_in_use_is_not_lent():
    held = [KeyedGenerator(key) for key in KEYS]
    assert len({id(one._chacha) for one in held}) == len(held)
    found = [[one.random_raw(3) for one in held] for _ in range(4)]
    for k, key in enumerate(KEYS):
        together = np.concatenate([some[k] for some in found])
        assert np.array_equal(together, made(key, 0).random_raw(12))


def test_an_idle_generator_has_forgotten_its_key():
    NoiseSource().gaussian(2.0**20, 5)
    NoiseSource(1).bits(3)
    assert generator._idle
    for one in generator._idle:
        state = one.state["state"]
        assert not state["keysetup"].any()
        assert not state["block"].any()


@needs_fork
def test_a_child_lends_none_of_its_parents():
    """One that another thread holds at the fork has a lock that nobody will release."""
    held = KeyedGenerator(KEYS[1])
    assert held.random_raw(1) is not None
    child = os.fork()
    if child == 0:
        inherited = held._chacha
        del held
        lent = [KeyedGenerator(KEYS[0])._chacha for _ in range(3)]
        os._exit(17 if inherited not in [*lent, *generator._idle] else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 17
