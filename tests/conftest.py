"""The noise of every test is the same in every run, so that a failure can be repeated.

A fit without a seed draws its key from the operating system. Here that key is a function of the
test's name and of how often the test asked, so a test that noise decides passes always or never.
``pytest --noise N`` draws other noise: run a few N to learn how often such a test would fail.
Forked and new processes draw from the operating system, as users' do.

Where several processes test, each compiles another part of what all of them need (`compiling`).
``pytest --oldest`` runs what versions of libraries may decide (`oldest`).
"""

import gc
import hashlib
import itertools
import os

import pytest

from privlearn.noise.stream import system_keys

MANY = 1_000  # tests: fewer do not need all that can be compiled


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the number that chooses the noise."""
    parser.addoption("--noise", type=int, default=0, help="draw other noise in every test")
    parser.addoption("--oldest", action="store_true", help="only what versions may decide")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what no library's version decides, where that is asked for."""
    if config.getoption("--oldest"):
        from oldest import chosen

        names = {item: item.nodeid.removeprefix("tests/") for item in items}
        kept = set(chosen(names.values()))
        config.hook.pytest_deselected(items=[one for one in items if names[one] not in kept])
        items[:] = [item for item in items if names[item] in kept]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Compile a share of what all tests need, where this is one of several processes.

    Thousands of tests stay until the end: the collector of garbage need not look at them.
    """
    gc.freeze()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    if worker.isdigit() and len(session.items) >= MANY:
        from compiling import compile_share

        compile_share(int(worker), int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))


@pytest.fixture(autouse=True)
def _noise_by_name(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"{request.config.getoption('--noise')} {request.node.nodeid}"
    count, here = itertools.count(), os.getpid()

    def keys() -> bytes:
        if os.getpid() != here:
            return system_keys()
        return hashlib.sha512(f"{name} {next(count)}".encode()).digest()

    monkeypatch.setattr("privlearn.noise.source.system_keys", keys)
