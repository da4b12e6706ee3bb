"""Numbered trials in other processes: a crash or a hang costs one trial and is counted.

A worker prints a line of JSON before and after each trial: {"start": k}, {"done": k, ...}. Trial k
of a seed is the same wherever it runs, so every finding is reproduced by two numbers.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any

STALL = 120.0  # seconds without a line after which a worker is taken for hung
MEMORY = 12 * 2**30  # address space of a worker: numba and the like map several GiB unused


def serve(numbers: Iterator[int], trial: Callable[[int], dict]) -> None:
    """What a worker does: run the trials and tell. Nothing else may write to its output."""
    faulthandler.enable()
    _limit_memory()
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints goes to stderr
    for number in numbers:
        out.write(json.dumps({"start": number}) + "\n")
        try:
            report = trial(number)
        except Exception as error:  # of the attacker itself: it says nothing about the library
            report = {"crash": f"attacker {type(error).__name__}: {str(error)[:300]}"}
        out.write(json.dumps({"done": number, **report}) + "\n")


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass


@dataclass(eq=False)
class Worker:
    """One process and the numbers that it still has to try."""

    command: Callable[[int], list[str]]
    following: int
    step: int
    current: int | None = None
    process: subprocess.Popen | None = None
    errors: list[str] = field(default_factory=list)

    def start(self, lines: Queue) -> None:
        self.process = subprocess.Popen(
            self.command(self.following), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.errors = []
        process = self.process
        threading.Thread(target=self._keep, args=(process.stderr,), daemon=True).start()
        threading.Thread(target=self._read, args=(process, lines), daemon=True).start()

    def _keep(self, stream: Iterable[str]) -> None:
        for line in stream:
            if not line.startswith(("Extension modules", "  File")) or "privlearn" in line:
                self.errors[:] = [*self.errors[-8:], line.strip()]

    def _read(self, process: Any, lines: Queue) -> None:  # noqa: ANN401
        for line in process.stdout:
            lines.put((self, line))
        lines.put((self, None))

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()

    def crashed(self, why: str) -> dict:
        """The report on the trial that was under way; the next start skips it."""
        number = self.following if self.current is None else self.current
        self.following, self.current = number + self.step, None
        return {"done": number, "crash": f"{why}: {' | '.join(self.errors[-6:])[-600:]}"}


def run(
    command: Callable[[int, int], list[str]], processes: int, last: int | None, seconds: float
) -> Iterator[dict]:
    """Reports of all trials, in the order of their end, until `last` or the time is over.

    Parameters
    ----------
    command : callable
        The command line of a worker that tries number a, a + b, a + 2b, ... (a and b are given).
    processes : int
        How many at a time.
    last : int or None
        One more than the largest number.
    seconds : float
        After which no more reports are waited for.
    """
    from time import monotonic

    lines: Queue = Queue()
    workers = [Worker(lambda a: command(a, processes), k, processes) for k in range(processes)]
    seen = dict.fromkeys(workers, monotonic())
    for worker in workers:
        worker.start(lines)
    end = monotonic() + seconds
    try:
        while workers and monotonic() < end:
            yield from _next_report(lines, workers, seen, last)
    finally:
        for worker in workers:
            worker.stop()


def _next_report(
    lines: Queue, workers: list[Any], seen: dict[Any, float], last: int | None
) -> Iterator[dict]:
    from time import monotonic

    try:
        worker, line = lines.get(timeout=1.0)
    except Empty:
        for worker in workers:
            if monotonic() - seen[worker] > STALL:
                worker.stop()
                seen[worker] = monotonic()
                worker.errors.append(f"no answer for {STALL:g} s")
        return
    seen[worker] = monotonic()
    if line is None:
        status = worker.process.wait()
        if status:
            yield worker.crashed(f"exit status {status}")
        if status and (last is None or worker.following < last):
            worker.start(lines)
        else:
            workers.remove(worker)
        return
    report = json.loads(line)
    if "start" in report:
        worker.current = report["start"]
    else:
        worker.following, worker.current = report["done"] + worker.step, None
        yield report


def until_interrupted(reports: Iterator[dict]) -> Iterator[dict]:
    """The same; an interrupt or a request to end stops them, so that what was found is told."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield from reports
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        signal.signal(signal.SIGTERM, before)


def python() -> str:
    return sys.executable
