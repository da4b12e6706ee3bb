"""The three findings of Song et al. 2013 as inequalities between measured numbers.

"Room" is F(0) - F*, all that there is to learn. F is the mean over permutations of the objective
over all rows after one pass; the paper's noise is that of `replace_one`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.song.loops import SCHEDULES
from benchmarks.papers.song.problems import KDD, MNIST, SYNTHETIC

__all__ = ["MATCHING", "Finding", "best", "find", "findings", "of_batches", "room"]

SLOW, FAST, STRONG = SCHEDULES
MATCHING = {KDD: 5, MNIST: 10}  # batch sizes at which the paper sees no difference
PAPERS = "replace_one"


@dataclass(frozen=True)
class Finding:
    """A number that must be at least, or at most, another one."""

    number: int
    problem: str
    claim: str
    value: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the inequality is true of what was measured."""
        low = -np.inf if self.at_least is None else self.at_least
        high = np.inf if self.at_most is None else self.at_most
        return bool(low <= self.value <= high)


def find(problem: dict, schedule: str, noise: str, batch: int) -> np.ndarray:
    """Objectives of one setting, per seed."""
    for row in problem["rows"]:
        if (row["schedule"], row["noise"], row["batch"]) == (schedule, noise, batch):
            return np.array(row["objectives"])
    raise LookupError(f"there is no row of {schedule}, {noise}, b = {batch}")


def room(problem: dict) -> float:
    """F(0) - F*."""
    return problem["zero"] - problem["optimum"]


def best(problem: dict, schedule: str, noise: str = PAPERS) -> tuple[int, float]:
    """The batch size with the smallest mean objective, and that mean."""
    means = {
        row["batch"]: float(np.mean(row["objectives"]))
        for row in problem["rows"]
        if (row["schedule"], row["noise"]) == (schedule, noise)
    }
    winner = min(means, key=means.__getitem__)
    return winner, means[winner]


def findings(problems: dict) -> list[Finding]:
    """All inequalities about all problems."""
    found = [finding for name in MATCHING for finding in of_batches(name, problems[name])]
    return [*found, *_strong_steps_vary(problems[SYNTHETIC])]


def of_batches(name: str, problem: dict) -> list[Finding]:
    """Inequalities about one of the real problems: the first two findings."""
    first = _batches_reduce_variance(name, problem, MATCHING[name])
    return [*first, *_there_is_a_best_batch(name, problem)]


def _batches_reduce_variance(name: str, problem: dict, batch: int) -> Iterator[Finding]:
    """Section IV.C and Figure 1."""
    private = {b: find(problem, SLOW, PAPERS, b) for b in (1, batch)}
    plain = {b: find(problem, SLOW, "none", b) for b in (1, batch)}
    gap = {b: (private[b].mean() - plain[b].mean()) / room(problem) for b in (1, batch)}
    spread = {b: private[b].std(ddof=1) for b in (1, batch)}
    cost = "private less non-private F, as a share of the room"
    yield Finding(1, name, f"b = 1: {cost}", gap[1], at_least=0.5)
    ratio = _ratio(spread[1], plain[1].std(ddof=1))
    yield Finding(1, name, "b = 1: deviation over that without privacy", ratio, at_least=50.0)
    yield Finding(1, name, f"b = {batch}: {cost}", gap[batch], at_most=0.1)
    claim = f"deviation at b = 1 over that at b = {batch}"
    yield Finding(1, name, claim, spread[1] / spread[batch], at_least=3.0)


def _there_is_a_best_batch(name: str, problem: dict) -> Iterator[Finding]:
    """Section IV.D and Figure 2."""
    last = max(row["batch"] for row in problem["rows"])
    share = room(problem)
    degraded = {}
    for schedule in (SLOW, FAST):
        batch, smallest = best(problem, schedule)
        single, large = (find(problem, schedule, PAPERS, b).mean() for b in (1, last))
        degraded[schedule] = (large - smallest) / share
        claim = f"{schedule}: F at b = 1 less that at the best b, share of the room"
        yield Finding(2, name, claim, (single - smallest) / share, at_least=0.5)
        claim = f"{schedule}: largest rise of F from one b to the next up to the best, share"
        yield Finding(2, name, claim, _largest_rise(problem, schedule, batch) / share, at_most=0.05)
    claim = f"{SLOW}: F at b = {last} less that at the best b, share of the room"
    yield Finding(2, name, claim, degraded[SLOW], at_least=0.1)
    claim = f"the same at {FAST} over that at {SLOW}"
    yield Finding(2, name, claim, _ratio(degraded[FAST], degraded[SLOW]), at_most=0.5)
    ends = {schedule: best(problem, schedule)[1] - problem["optimum"] for schedule in (SLOW, FAST)}
    claim = f"excess over the optimum at the best b: {FAST} over {SLOW}"
    yield Finding(2, name, claim, ends[FAST] / ends[SLOW], at_most=0.8)


def _ratio(above: float, below: float) -> float:
    return float(above / below) if below else np.inf


def _largest_rise(problem: dict, schedule: str, until: int) -> float:
    batches = sorted({row["batch"] for row in problem["rows"] if row["batch"] <= until})
    means = [find(problem, schedule, PAPERS, batch).mean() for batch in batches]
    return float(np.diff(means).max()) if len(means) > 1 else np.inf


def _strong_steps_vary(problem: dict) -> Iterator[Finding]:
    """Section IV.D and Figure 3."""
    strong, slow = (find(problem, schedule, PAPERS, 5).std(ddof=1) for schedule in (STRONG, SLOW))
    claim = f"b = 5: deviation at {STRONG} over that at {SLOW}"
    yield Finding(3, SYNTHETIC, claim, strong / slow, at_least=20.0)
    strong, slow = (find(problem, schedule, "none", 5).mean() for schedule in (STRONG, SLOW))
    claim = f"b = 5, no privacy: F at {STRONG} over that at {SLOW}"
    yield Finding(3, SYNTHETIC, claim, strong / slow, at_most=1.0)
