"""A command that dies leaves complete files or none, a ledger that opens, and no unpaid output."""

import os
import signal
import sys

import pytest
from tools.kill_cli import Trial, forked, kill_at_random, warm_up

from privlearn import Ledger
from privlearn.cli import main

resource = pytest.importorskip("resource")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    trial = Trial(tmp_path_factory.mktemp("killed"))
    warm_up(trial)
    return trial


def exit_status(child):
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


CHANGES = {"open", "write", "fsync", "close", "truncate", "replace", "rename", "link", "unlink"}


def touches_a_file(call):
    """Whether a function written in C changes a file, or is one of the ledger's database."""
    if getattr(call, "__module__", None) == "posix":
        return call.__name__ in CHANGES
    return type(getattr(call, "__self__", None)).__module__ == "sqlite3"


def stopped_at(count, number, line):
    """Run, and send oneself a signal at the count-th time a file is touched, before or after."""
    seen = 0
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it

    def watch(_frame, event, call):
        nonlocal seen
        if event in ("c_call", "c_return") and touches_a_file(call):
            seen += 1
            if seen == count:
                sys.setprofile(None)
                os.kill(os.getpid(), number)

    sys.setprofile(watch)
    try:
        return main(line)
    finally:
        sys.setprofile(None)


def sweep(trial, number, *, overwrite, step):
    """Stop at each touch of a file in turn, until a run is through; how often it was stopped."""
    count = 1
    while True:
        dataset = f"{number.name} {overwrite} {count}"
        trial.prepare(overwrite=overwrite)
        line = trial.command(dataset, overwrite=overwrite)
        status = exit_status(forked(lambda line=line: stopped_at(count, number, line)))  # noqa: B023
        if number is not signal.SIGKILL:
            assert not list(trial.folder.glob(".privlearn-*"))
            assert status in (0, 130, 143)
        trial.inspect(dataset, overwrite=overwrite)
        assert trial.wrong == 0, trial.found
        if status == 0:
            return count // step
        count += step


@pytest.mark.parametrize("overwrite", [False, True])
def test_killed_at_each_touch_of_a_file(trial, overwrite):
    assert sweep(trial, signal.SIGKILL, overwrite=overwrite, step=1) > 60
    assert trial.found["models written"] > 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop(trial, number):
    assert sweep(trial, number, overwrite=True, step=5) > 5


def test_killed_at_random(trial):
    """A part of `python tools/kill_cli.py --kills 1000`."""
    kill_at_random(trial, kills=60, seed=1)
    assert trial.found["kills"] == 60
    assert trial.wrong == 0, trial.found


@pytest.mark.parametrize("most", [0, 4_096, 40_000])
def test_a_full_disk_is_found_before_the_charge(trial, most):
    def with_limit(line):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        return main(line)

    trial.prepare(overwrite=False)
    dataset = f"full {most}"
    assert exit_status(forked(lambda: with_limit(trial.command(dataset)))) == 1
    assert dataset not in Ledger(trial.path("a.ledger")).datasets()
    assert not (trial.folder / "model.json").exists()
    assert not list(trial.folder.glob(".privlearn-*"))
