"""Many processes charge one ledger and are killed at random: nothing lost, never over budget."""

import importlib.util
import multiprocessing
import os
import signal
import sqlite3
import sys
from pathlib import Path

import pytest

from privlearn import Ledger
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn.exceptions import BudgetExceededError, LedgerError

pytestmark = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="needs fork and kill -9"
)


def stress_tool():
    file = Path(__file__).resolve().parents[2] / "tools" / "stress_ledger.py"
    spec = importlib.util.spec_from_file_location("stress_ledger", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules["stress_ledger"] = module
    spec.loader.exec_module(module)
    return module


STRESS = stress_tool()


@pytest.mark.slow
def test_killed_processes_lose_no_charge(tmp_path):
    trial = STRESS.Trial(tmp_path, processes=2, charges=8, kills=3)
    assert STRESS.run(trial) == 3
    assert 0 < STRESS.check(trial)["busy"] <= trial.epsilon


@pytest.mark.slow
def test_forty_kills(tmp_path):
    """A part of `python tools/stress_ledger.py --kills 1000`, which takes minutes."""
    trial = STRESS.Trial(tmp_path, processes=4, charges=40, kills=40, epsilon=1.0)
    assert STRESS.run(trial) == 40
    spent = STRESS.check(trial)
    assert 0.2 * trial.epsilon < spent["busy"] <= trial.epsilon
    assert len(list(STRESS.answers(trial))) >= 0.99 * trial.processes * trial.charges


def test_the_check_notices_a_lost_charge(tmp_path):
    trial = STRESS.Trial(tmp_path, processes=1, charges=5, kills=0)
    STRESS.run(trial)
    with sqlite3.connect(trial.path) as link:
        link.execute("DELETE FROM charges WHERE number = 1")
    with pytest.raises(LedgerError, match="missing or were changed"):
        STRESS.check(trial)


def plan(scale):
    return Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale, rows=100)


def die_inside_the_transaction(path):
    """Charge, but be killed after the last write and before the commit."""
    from privlearn.ledger.records import Records

    write = Records.write_charge

    def write_and_die(*arguments):
        write(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)

    Records.write_charge = write_and_die
    Ledger(path).charge(plan(10.0), "patients")


def test_a_charge_is_there_as_a_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.ledger"
    ledger = Ledger.create(path, epsilon=1, delta=1e-6)
    ledger.charge(plan(10.0), "patients")
    before = ledger.spent("patients")
    child = multiprocessing.get_context("fork").Process(
        target=die_inside_the_transaction, args=(path,)
    )
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert ledger.spent("patients") == before
    ledger.charge(plan(10.0), "patients")
    assert len(ledger.history("patients")) == 2


def charge_once(path, gate, answers):
    gate.wait()
    try:
        Ledger(path).charge(plan(4.3), "patients")
        answers.put("charged")
    except BudgetExceededError:
        answers.put("refused")


def test_of_many_at_the_same_time_only_one_gets_the_last_of_the_budget(tmp_path):
    path = tmp_path / "a.ledger"
    Ledger.create(path, epsilon=1, delta=1e-6)
    fork = multiprocessing.get_context("fork")
    gate, answers = fork.Event(), fork.Queue()
    workers = [fork.Process(target=charge_once, args=(path, gate, answers)) for _ in range(6)]
    for worker in workers:
        worker.start()
    gate.set()
    found = sorted(answers.get(timeout=300) for _ in workers)
    for worker in workers:
        worker.join()
    assert found == ["charged", *["refused"] * 5]
    assert len(Ledger(path).history("patients")) == 1
