"""What a component needs, and the sentence that says why it is not there."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

__all__ = [
    "Need",
    "Options",
    "dataset",
    "environment",
    "estimator",
    "one_thread",
    "package",
    "python_of",
    "unless_quick",
]

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ROOT = Path(__file__).resolve().parents[2]


def one_thread() -> None:
    """Ask for one thread everywhere; it must come before numpy and others are imported."""
    os.environ.update(dict.fromkeys(THREADS, "1"))


@dataclass(frozen=True)
class Options:
    """What the command line asked for."""

    quick: bool = False
    seeds: int | None = None
    fetch: bool = False
    redraw: bool = False
    one_thread: bool = False
    results: Path | None = None

    @property
    def clock(self) -> Callable[[], float]:
        """Wall time; with one thread, CPU time, which tells nearly the same on a busy machine."""
        return process_time if self.one_thread else perf_counter

    def repeats(self, usual: int, quick: int) -> int:
        """How many seeds or rounds: as asked, else the component's own number."""
        if self.seeds is not None:
            return self.seeds
        return quick if self.quick else usual


@dataclass(frozen=True)
class Need:
    """Something a component cannot do without; `missing` says why it is not there, or None."""

    what: str
    missing: Callable[[Options], str | None]


def unless_quick(need: Need) -> Need:
    """A need of the full run only: a short one has generated rows."""
    return Need(need.what, lambda options: None if options.quick else need.missing(options))


def dataset(name: str) -> Need:
    """A data set of `benchmarks.datasets.manifest`."""

    def missing(options: Options) -> str | None:
        from benchmarks.datasets import manifest

        return manifest.missing(name, fetch=options.fetch)

    return Need(f"data set {name}", missing)


def package(name: str, remedy: str) -> Need:
    """A package that can be imported here."""

    def missing(options: Options) -> str | None:
        found = importlib.util.find_spec(name) is not None
        return None if found else f"the package {name} is not installed here; {remedy}"

    return Need(f"package {name}", missing)


def estimator(path: str) -> Need:
    """A name of privlearn, such as "LogisticRegression" or "solvers.SGD"."""

    def missing(options: Options) -> str | None:
        import privlearn

        found = privlearn
        for part in path.split("."):
            try:
                found = getattr(found, part)
            except AttributeError:
                return f"this version of privlearn has no {path}"
        return None

    return Need(f"privlearn.{path}", missing)


def python_of(name: str) -> Path:
    """The interpreter of the environment that `make bench-peers` makes for one peer."""
    return ROOT / f".venv-bench-{name}" / "bin" / "python"


def environment(name: str) -> Need:
    """A peer that lives in an environment of its own, since it needs other versions."""

    def missing(options: Options) -> str | None:
        there = python_of(name).exists()
        return None if there else f"{name} has no environment here; make bench-peers makes it"

    return Need(f"environment of {name}", missing)
