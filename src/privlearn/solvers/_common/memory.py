"""How much memory a fit will need, and whether it is there: asked before anything is charged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers.base import Solver, stored_rows

__all__ = ["available", "refuse_too_large", "squares", "stored_rows"]

MATRICES = 8  # of one size that moments, their noise, their eigenvectors and a solution take
NUMBERS = 6  # as many numbers as a release has: statistic, noise, words, sum, solution
AT_ONCE = 2.0**20  # numbers of several releases whose noise is drawn together
GIBI = 2.0**30
LITTLE = 2.0**28  # bytes: not worth a question


def squares(width: int) -> float:
    """Bytes of the matrices that a solver works with."""
    return MATRICES * 8.0 * float(width) ** 2


def refuse_too_large(
    solver: Solver,
    problem: Problem,
    settings: Any,  # noqa: ANN401
    plan: Plan,
    *,
    sparse: bool,
) -> None:
    """Refuse a fit whose arrays do not fit into memory; all of it follows from public facts.

    Parameters
    ----------
    solver, problem, settings, plan
        What is about to be charged; the plan's noise does not matter.
    sparse : bool
        Whether X is sparse.
    """
    largest = max(release.size for release in plan.releases)
    several = sum(float(release.size) * release.count for release in plan.releases)
    numbers = NUMBERS * (float(largest) + min(several, AT_ONCE))
    needed = 8.0 * numbers + solver.memory(problem, settings, sparse=sparse)
    if needed <= LITTLE:
        return
    there = available()
    if there is not None and needed > there:
        raise UnsupportedCombinationError(
            f"solver={solver.name!r} needs about {needed / GIBI:.1f} GiB of memory for "
            f"{problem.n_features} features, but {there / GIBI:.1f} GiB are available; nothing was "
            "charged. Use fewer features (select some first), or a solver that keeps no matrix of "
            "them, such as 'sgd' or 'one-pass'"
            + (", or a smaller max_rows_per_person" if problem.most_rows > 1 else "")
        )


def available() -> float | None:
    """Bytes that this process may still take; None where nothing tells."""
    found = list(_limits())
    return min(found) if found else None


def _limits() -> Iterator[float]:
    """What the machine has, and what a container allows."""
    free = _free_of_machine()
    if free is not None:
        yield free
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        ),
    ):
        most, taken = _number_in(limit), _number_in(used)
        if most is not None and taken is not None:
            yield max(most - taken, 0.0)


def _free_of_machine() -> float | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _number_in(path: str) -> float | None:
    """The number that a file holds; "max", or no file, is None."""
    try:
        return float(Path(path).read_text())
    except (OSError, ValueError):
        return None
