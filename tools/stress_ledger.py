"""Charge one ledger from many processes that are killed at random, and check what is left.

python tools/stress_ledger.py [--processes 8] [--charges 1000] [--kills 60] [--seed 0]

Workers go on until all kills are done; every tenth kill the whole file is verified.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import monotonic, perf_counter, sleep

import numpy as np

from privlearn import Ledger
from privlearn._core.mechanisms import LAPLACE
from privlearn._core.norms import L1, OUTER
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn._core.sampling import FULL, Poisson
from privlearn.accounting import Gaussian, compose
from privlearn.accounting.composition import evaluate, size
from privlearn.exceptions import BudgetExceededError, LedgerError
from privlearn.ledger.composition_cost import balanced
from privlearn.ledger.dominate import dominating_mu

DATASETS = ("busy", "busy", "busy", "quiet")


@dataclass(frozen=True)
class Trial:
    """What one stress run does."""

    folder: Path
    processes: int = 8
    charges: int = 1000
    kills: int = 60
    epsilon: float = 3.0
    delta: float = 1e-6
    seed: int = 0
    damaged: list[str] = field(default_factory=list)  # what was found after a kill

    @property
    def path(self) -> Path:
        """The ledger."""
        return self.folder / "stress.ledger"

    @property
    def enough(self) -> Path:
        """A file that is there when all kills are done."""
        return self.folder / "enough"

    def log(self, worker: int) -> Path:
        """Where a worker writes down each answer that it got."""
        return self.folder / f"worker-{worker}.log"


def random_plan(name: str, rng: random.Random) -> Plan:
    """Moments, Poisson-sampled steps or one Laplace number, one in ten with its very own noise."""
    scale = rng.uniform(0.8, 1.25) if rng.random() < 0.1 else 1.0
    kind = rng.random()
    if kind < 0.35:
        scale *= rng.choice([60.0, 120.0, 240.0])
        return Plan((Release(name, (55,), 10.0, OUTER),), Adjacency.ZERO_OUT, scale, 1000)
    if kind < 0.75:
        rate, steps = rng.choice([(0.001, 100), (0.001, 1000), (0.003, 300), (0.01, 30)])
        scale *= rng.choice([2.0, 4.0])
        release = Release(name, (8,), 1.0, sampling=Poisson(rate), count=steps)
        return Plan((release,), Adjacency.ZERO_OUT, scale, 1000)
    scale *= rng.choice([80.0, 200.0])
    release = Release(name, (1,), 1.0, L1, LAPLACE, FULL, count=rng.choice([1, 4]))
    return Plan((release,), Adjacency.ZERO_OUT, scale, 1000)


def work(trial: Trial, worker: int) -> None:
    """Charge what is left to charge, and write each answer down before asking again."""
    log = trial.log(worker)
    done = len(log.read_text().splitlines()) if log.exists() else 0
    rng = random.Random(f"{trial.seed} {worker} {done} {os.getpid()}")
    ledger = Ledger(trial.path)
    with log.open("a") as out:
        for number in count(done):
            if number >= trial.charges and trial.enough.exists():
                return
            name = f"w{worker}n{number}p{os.getpid()}"
            plan = random_plan(name, rng)
            start, answer = perf_counter(), "charged"
            try:
                ledger.charge(plan, rng.choice(DATASETS))
            except BudgetExceededError:
                answer = "refused"
            out.write(f"{name} {answer} {perf_counter() - start:.6f}\n")
            out.flush()


def prepare(trial: Trial) -> None:
    """Make the ledger; two pure charges at first would else keep Gaussian ones out."""
    ledger = Ledger.create(trial.path, epsilon=trial.epsilon, delta=trial.delta)
    for name in set(DATASETS):
        ledger.declare(name, kind="gaussian")


def run(trial: Trial) -> int:
    """Keep all workers busy until they are done; return how many were killed."""
    prepare(trial)
    fork = multiprocessing.get_context("fork")
    rng = random.Random(trial.seed)
    running: dict[int, BaseProcess] = {}
    killed, pause = 0, 0.0

    def start(worker: int) -> None:
        running[worker] = fork.Process(target=work, args=(trial, worker))
        running[worker].start()

    for worker in range(trial.processes):
        start(worker)
    while running:
        sleep(0.005)
        for worker, process in list(running.items()):
            if not process.is_alive():
                process.join()
                del running[worker]
                if process.exitcode == -signal.SIGKILL:
                    start(worker)
                elif process.exitcode:
                    raise RuntimeError(f"worker {worker} failed")
        if killed >= trial.kills:
            trial.enough.touch()
        elif running and monotonic() > pause:
            killed += kill(trial, running[rng.choice(list(running))], killed)
            pause = monotonic() + rng.uniform(0.0, 0.2)
    return killed


def kill(trial: Trial, process: BaseProcess, before: int) -> int:
    """Kill one worker; returns how many were killed."""
    if process.pid is None or not process.is_alive():
        return 0
    os.kill(process.pid, signal.SIGKILL)
    if before % 10 == 9:
        verify(trial)
    return 1


def verify(trial: Trial) -> None:
    """Open the file, which verifies every record."""
    try:
        Ledger(trial.path)
    except LedgerError as error:
        trial.damaged.append(str(error))


def answers(trial: Trial) -> Iterator[tuple[str, str, float]]:
    """Every answer that a worker lived to write down: (name, charged or refused, seconds)."""
    for worker in range(trial.processes):
        for line in trial.log(worker).read_text().splitlines():
            parts = line.split()
            if len(parts) == 3:
                yield parts[0], parts[1], float(parts[2])


def booked(trial: Trial) -> Counter[str]:
    """How often each name is in the file."""
    ledger = Ledger(trial.path)
    lines = [charge for name in ledger.datasets() for charge in ledger.history(name)]
    return Counter(charge.releases[0].split(":")[0] for charge in lines)


def check(trial: Trial) -> dict[str, float]:
    """Nothing lost, nothing twice, nothing over budget; returns the composed epsilons."""
    found = booked(trial)
    acknowledged = {name for name, answer, _ in answers(trial) if answer == "charged"}
    refused = {name for name, answer, _ in answers(trial) if answer == "refused"}
    lost = acknowledged - set(found)
    print(f"lost charges: {len(lost)}, damaged files: {len(trial.damaged)}")
    assert not lost, "a charge that was acknowledged is not in the file"
    assert not trial.damaged, trial.damaged[0]
    assert not refused & set(found), "a charge that was refused is in the file"
    assert max(found.values()) == 1, "a charge is in the file twice"
    with sqlite3.connect(trial.path) as link:
        assert link.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    ledger, spent = Ledger(trial.path), {}
    ledger.check()
    for name in ledger.datasets():
        spent[name] = ledger.spent(name)
        share = share_by_history(ledger, name)
        assert share <= 1, f"{name} has spent {share:.6f} of its delta"
    return spent


def share_by_history(ledger: Ledger, name: str) -> float:
    """delta of the history over the budget's, composed; an upper bound.

    Pairs that hardly matter are replaced by Gaussians first: one grid cannot hold wide and narrow.
    Where it still cannot, it says 1, and all of them are replaced.
    """
    whole = compose(tuple(term for charge in ledger.history(name) for term in charge.pairs)).terms
    slack = 1e-4 * ledger.delta / len(whole)
    gaussian = [(Gaussian(dominating_mu((term,), slack)), 1) for term in whole]
    total = size(whole)
    mixed = [
        replaced if size((term,)) < 0.1 * total else term
        for term, replaced in zip(whole, gaussian, strict=True)
    ]
    found = min(
        evaluate(balanced(compose(terms).terms), ledger.epsilon).delta
        for terms in (mixed, gaussian)
    )
    return (found + slack * len(whole)) / ledger.delta


def report(trial: Trial, killed: int, seconds: float, spent: dict[str, float]) -> None:
    """Print the table."""
    times = np.array([time for _, _, time in answers(trial)])
    kinds = Counter(answer for _, answer, _ in answers(trial))
    print(f"{trial.processes} processes x {trial.charges} charges, {seconds:.0f} s, {killed} kills")
    print(f"  acknowledged {kinds['charged']}, refused {kinds['refused']}", end="")
    print(f", in the file {sum(booked(trial).values())}")
    for name, value in spent.items():
        print(f"  {name}: epsilon {value:.5f} of {trial.epsilon:g}")
    for kind in ("charged", "refused"):
        own = [time for _, answer, time in answers(trial) if answer == kind] or [0.0]
        print(f"  {kind}: mean {np.mean(own):.3f} s, 95 % below {np.quantile(own, 0.95):.3f} s")
    rows = [f"{100 * q:g} % {np.quantile(times, q):.3f} s" for q in (0.5, 0.95, 0.99, 1.0)]
    print("  one charge: " + ", ".join(rows))


def main() -> None:
    """Run, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("processes", 8), ("charges", 1000), ("kills", 60), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(Path(folder), **given)
        start = perf_counter()
        killed = run(trial)
        report(trial, killed, perf_counter() - start, check(trial))


if __name__ == "__main__":
    main()
