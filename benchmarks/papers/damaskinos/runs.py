"""One run of a published algorithm at one setting, and what came out of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchmarks.papers.damaskinos import loops
from benchmarks.papers.damaskinos import noise as accountants
from benchmarks.papers.damaskinos.primal import primal_descent
from benchmarks.papers.damaskinos.problems import DELTA, Task

__all__ = ["ACCOUNTANTS", "Algorithm", "Setting", "noise_of", "outcome", "thetas"]

ACCOUNTANTS = {
    "renyi": accountants.renyi_multiplier,
    "moments": accountants.moments_multiplier,
    "exact": accountants.exact_multiplier,
    "honest": accountants.honest_multiplier,
}
INDICATOR = 1.0 / math.sqrt(30.0)  # the largest value in a row of Phishing, for Algorithm 2


@dataclass(frozen=True)
class Setting:
    """What the paper tunes: L, C and, for gradient descent, eta."""

    batch: int
    clip: float
    rate: float = 0.0


@dataclass(frozen=True)
class Algorithm:
    """One of the paper's, with an accountant: "dual", "sequential", "gradient" or "primal"."""

    kind: str
    accountant: str = "renyi"
    shuffled: bool = False

    @property
    def tunes_rate(self) -> bool:
        """Whether there is a step size to tune."""
        return self.kind == "gradient"


def steps_of(task: Task, algorithm: Algorithm, batch: int) -> int:
    """How many batches make the paper's number of epochs."""
    rows = task.train.X.shape[1] if algorithm.kind == "primal" else task.n
    return max(1, task.epochs * rows // batch)


def noise_of(task: Task, algorithm: Algorithm, setting: Setting, epsilon: float | None) -> float:
    """Deviation of the noise on one number; none without an epsilon."""
    if epsilon is None:
        return 0.0
    steps = steps_of(task, algorithm, setting.batch)
    rate = 1.0 if algorithm.kind == "primal" else setting.batch / task.n
    multiplier = ACCOUNTANTS[algorithm.accountant](epsilon, DELTA, rate, steps)
    correlated = 2.0 * math.sqrt(setting.batch * (setting.batch + 1.0))  # Lemmas 4 and 5
    sensitivity = {"dual": math.sqrt(2.0), "gradient": 1.0}.get(algorithm.kind, correlated)
    return multiplier * sensitivity * setting.clip


def thetas(
    task: Task,
    algorithm: Algorithm,
    jobs: list[tuple[Setting, float | None]],
    *,
    seed: int,
    epochs: tuple[int, ...] | None = None,
) -> np.ndarray:
    """Models after these epochs, by default after all; of shape (epochs, jobs, features).

    A job is a setting and an epsilon, None for no noise. All jobs have the same batch size.
    """
    (batch,) = {setting.batch for setting, _ in jobs}
    generator = np.random.default_rng(seed)
    steps = steps_of(task, algorithm, batch)
    ends = (task.epochs,) if epochs is None else epochs
    at = np.array([max(1, steps * end // task.epochs) for end in ends])
    clips = np.array([setting.clip for setting, _ in jobs])
    noises = np.array([noise_of(task, algorithm, setting, epsilon) for setting, epsilon in jobs])
    if algorithm.kind == "primal":
        return np.array([[_primal(task, *job, at[-1], generator) for job in jobs]])
    rows = (task.train.X.astype(np.float32), task.train.y, task.loss)
    if algorithm.kind == "gradient":
        rates = np.array([setting.rate for setting, _ in jobs])
        given = (task.train.penalty, batch, clips, noises, rates)
        return loops.gradient_descent(*rows, *given, algorithm.shuffled, generator, at)
    given = (task.weight, batch, clips, noises, algorithm.kind == "sequential")
    return loops.dual_descent(*rows, *given, algorithm.shuffled, generator, at)[0]


def _primal(task, setting, epsilon, steps, generator) -> np.ndarray:
    noise = noise_of(task, Algorithm("primal"), setting, epsilon)
    sensitivity = 2.0 * setting.clip * math.sqrt(setting.batch * (setting.batch + 1.0))
    return primal_descent(
        task.train,
        INDICATOR,
        batch=setting.batch,
        steps=steps,
        clip=setting.clip,
        multiplier=noise / sensitivity,
        generator=generator,
    )


def outcome(task: Task, theta: np.ndarray) -> dict[str, float]:
    """F on the rows to train on, and the scores on the others; a diverged model is worst."""
    if not np.all(np.isfinite(theta)):
        worst = 0.0 if task.larger_is_better else math.inf
        return {"objective": math.inf, "validation": worst, "test": worst}
    return {
        "objective": task.train.at(theta),
        "validation": task.validation.score(theta),
        "test": task.test.score(theta),
    }
