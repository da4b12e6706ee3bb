"""Tuning of the published algorithms on the private data, as the paper does, and unpaid as there.

Each algorithm is tuned twice: by the paper's criterion, the score on held-out rows, and by the
objective on the training rows, which makes the stronger opponent where objectives are compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from statistics import median

import numpy as np

from benchmarks.papers.damaskinos.problems import Task
from benchmarks.papers.damaskinos.runs import Algorithm, Setting, noise_of, outcome, thetas
from benchmarks.papers.damaskinos.steps import SQUARED

__all__ = ["BATCHES", "CRITERIA", "SCALES", "Search", "together", "tune", "walk"]

SCALES = tuple(10.0**power for power in range(-8, 5))  # of C and eta
BATCHES = (5, 10, 50, 100, 200, 500, 1000, 1250, 1500, 1750, 2000)
CRITERIA = ("validation", "objective")
FIRST_SEED = 1000  # apart from the seeds of the runs that count
FINALISTS, FINAL_SEEDS = 3, 3
SIDE_BY_SIDE = 64


@dataclass(eq=False)
class Search:
    """Every setting that was tried on one task, at one epsilon, with its outcomes per seed."""

    task: Task
    algorithm: Algorithm
    epsilon: float
    batches: tuple[int, ...] = BATCHES
    scales: tuple[float, ...] = SCALES
    tried: dict[Setting, list[dict]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.task.loss == SQUARED:
            self.room = self.task.train.at_zero() - self.task.train.at(self.task.train.solution())
            self.steepness = self.task.train.slope_at_zero()

    def tries(self, settings: Iterable[Setting], seeds: int = 1) -> None:
        """Run each setting until it has so many seeds."""
        together([(self, setting) for setting in settings], seeds)

    def grid(self) -> list[Setting]:
        """The paper's grid, for squared loss without what cannot be good (`is_hopeless`)."""
        rates = self.scales if self.algorithm.tunes_rate else (0.0,)
        whole = [
            Setting(batch, clip, rate)
            for batch in self.batches
            if batch <= self.task.n
            for clip in self.scales
            for rate in rates
        ]
        return [setting for setting in whole if not self.is_hopeless(setting)] or whole

    def is_hopeless(self, setting: Setting) -> bool:
        """Whether a ridge problem's setting is about as bad as the zero model, or worse.

        Either the clip keeps theta so near to 0 that F falls by less than a twentieth of what it
        can, or the noise of the last step alone is expected to cost more than all of that. A
        model's score depends on its scale for squared loss only.
        """
        if self.task.loss != SQUARED:
            return False
        epochs, n, penalty = self.task.epochs, self.task.n, self.task.train.penalty
        noise = noise_of(self.task, self.algorithm, setting, self.epsilon)
        if self.algorithm.tunes_rate:
            reach = setting.rate * setting.clip * epochs * n / setting.batch
            last = setting.rate * noise / setting.batch
        else:
            reach, last = epochs * setting.clip / penalty, noise / (penalty * n)
        trace = 1.0 + penalty * self.task.train.X.shape[1]  # of the Hessian, rows of length 1
        return reach * self.steepness < self.room / 20.0 or trace * last**2 / 2.0 > self.room

    def order(self, criterion: str, seeds: int = 1) -> list[Setting]:
        """Settings that have so many seeds, best first by the median."""
        enough = [setting for setting, found in self.tried.items() if len(found) >= seeds]
        return sorted(enough, key=lambda setting: self._loss(setting, criterion, seeds))

    def _loss(self, setting: Setting, criterion: str, seeds: int) -> float:
        value = median(found[criterion] for found in self.tried[setting][:seeds])
        flip = criterion == "validation" and self.task.larger_is_better
        return math.inf if math.isnan(value) else (-value if flip else value)

    def neighbours(self, setting: Setting) -> list[Setting]:
        """Settings one step away on the grid, without hopeless ones."""
        axes = {"batch": self.batches, "clip": self.scales}
        axes |= {"rate": self.scales} if self.algorithm.tunes_rate else {}
        found = []
        for name, values in axes.items():
            here = values.index(getattr(setting, name))
            for there in (here - 1, here + 1):
                if 0 <= there < len(values) and (name != "batch" or values[there] <= self.task.n):
                    found.append(Setting(**(asdict(setting) | {name: values[there]})))
        return [near for near in found if not self.is_hopeless(near)]


def together(jobs: list[tuple[Search, Setting]], seeds: int = 1) -> None:
    """Run each setting of each search until it has so many seeds, equal batch sizes side by side.

    All searches are of one task and one algorithm.
    """
    groups: dict[tuple[int, int], list] = {}
    for search, setting in dict.fromkeys(jobs):
        for number in range(len(search.tried.setdefault(setting, [])), seeds):
            groups.setdefault((number, setting.batch), []).append((search, setting))
    for number, batch in sorted(groups):
        group = groups[number, batch]
        for start in range(0, len(group), SIDE_BY_SIDE):
            _run(group[start : start + SIDE_BY_SIDE], FIRST_SEED + number)


def _run(group: list, seed: int) -> None:
    task, algorithm = group[0][0].task, group[0][0].algorithm
    jobs = [(setting, search.epsilon) for search, setting in group]
    for (search, setting), theta in zip(
        group, thetas(task, algorithm, jobs, seed=seed)[-1], strict=True
    ):
        search.tried[setting].append(outcome(task, theta))


def walk(searches: list[Search], criterion: str, moves: int = 6) -> None:
    """Each goes from its best to the best neighbour on the grid while that is better."""
    going = list(searches)
    for _ in range(moves):
        before = {search: search.order(criterion)[0] for search in going}
        together([(s, near) for s, best in before.items() for near in s.neighbours(best)])
        going = [s for s, best in before.items() if s.order(criterion)[0] != best]


def tune(
    searches: list[Search], *, sample: int | None = None, starts: list[list[Setting]] | None = None
) -> list[dict]:
    """Best settings by each criterion: over the grid, a random part of it, or near a start.

    Searches differ in epsilon. After a first look each walks on from its best, tries what was best
    at the other epsilons, and walks on again, by each criterion.
    """
    if starts is None:
        starts = [_part(search.grid(), sample) for search in searches]
    together([(s, setting) for s, part in zip(searches, starts, strict=True) for setting in part])
    for criterion in CRITERIA:
        walk(searches, criterion)
        found = {search.order(criterion)[0] for search in searches}
        together(
            [(s, setting) for s in searches for setting in found if not s.is_hopeless(setting)]
        )
        walk(searches, criterion)
        together(
            [(s, setting) for s in searches for setting in s.order(criterion)[:FINALISTS]],
            FINAL_SEEDS,
        )
    return [
        {
            "best": {c: asdict(search.order(c, FINAL_SEEDS)[0]) for c in CRITERIA},
            "tried": len(search.tried),
        }
        for search in searches
    ]


def _part(settings: list[Setting], sample: int | None) -> list[Setting]:
    if sample is None or sample >= len(settings):
        return settings
    chosen = np.random.default_rng(0).choice(len(settings), sample, replace=False)
    return [settings[i] for i in sorted(chosen.tolist())]
