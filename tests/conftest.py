"""The noise of every test is the same in every run, so that a failure can be repeated.

A fit without a seed draws its key from the operating system. Here that key is a function of the
test's name and of how often the test asked, so a test that noise decides passes always or never.
``pytest --noise N`` draws other noise: run a few N to learn how often such a test would fail.
Forked and new processes draw from the operating system, as users' do.
"""

import hashlib
import itertools
import os

import pytest

from privlearn.noise.stream import system_keys


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number that chooses the noise."""
    parser.addoption("--noise", type=int, default=0, help="draw other noise in every test")


@pytest.fixture(autouse=True)
def _noise_by_name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{request.config.getoption('--noise')} {request.node.nodeid}"
    count, here = itertools.count(), os.getpid()

    def keys() -> bytes:
        if os.getpid() != here:
            return system_keys()
        return hashlib.sha512(f"{name} {next(count)}".encode()).digest()

    monkeypatch.setattr("privlearn.noise.source.system_keys", keys)
