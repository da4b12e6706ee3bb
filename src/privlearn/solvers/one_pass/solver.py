"""One pass of gradient descent over disjoint batches ("one-pass"): pure privacy, levels, streams.

The proof is in proof.md, the rule for every number that is not given in rules.py. Each
row enters the sum of one batch and nothing else, so all batches together cost what one costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.mechanisms import GAUSSIAN, SPHERICAL, Mechanism
from privlearn._core.plan import GRID_BITS, Plan, Release
from privlearn._core.problem import Budget, Level, Problem
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Disjoint
from privlearn._data.bounded import BoundedData
from privlearn._objective.losses import LOSSES
from privlearn.exceptions import InvalidBudgetError, UnsupportedCombinationError
from privlearn.solvers._common.batches import batch_rate
from privlearn.solvers._common.forecast import outlook_of_steps
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.row_count import COUNT, count_release
from privlearn.solvers._common.row_source import make_row_source
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers, need_bounds
from privlearn.solvers.one_pass import rules
from privlearn.solvers.one_pass.rules import Settings
from privlearn.solvers.one_pass.state import OnePassState

__all__ = ["GRADIENT", "OnePassSGD", "deviation_of"]

Array = NDArray[np.float64]
GRADIENT = "clipped gradient"
NOISES: dict[str, Mechanism] = {"spherical": SPHERICAL, "gaussian": GAUSSIAN}
SCHEDULES = ("constant", "sqrt", "inverse")


@dataclass(frozen=True)
class OnePassSGD(SolverDefaults):
    """Gradient descent in which each row is used once: pure epsilon, without any delta.

    It is the solver for ``delta=0``, for a privacy level per person (`sample_epsilon` of `fit`) and
    for streams (`partial_fit`). What is None is chosen by a rule from public facts.

    Parameters
    ----------
    batch_size : int or None
        Rows in a batch, on average; needs a public number of rows.
    step_size : float or None
        The constant c of the schedule.
    schedule : {"constant", "sqrt", "inverse"} or None
        Steps c, c / sqrt(t), or c / (lambda t) with lambda the weight of the L2 penalty; the last
        iterate is returned. None takes constant steps with momentum and averages the second half.
    clip : float or None
        Largest length of one row's gradient; longer ones are shortened.
    noise : {"spherical", "gaussian"} or None
        Density exp(-|z| / s), which needs no delta, or Gaussian. None takes the smaller noise.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LogisticRegression
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> y = np.where(X[:, 0] > 0.5, "yes", "no")
    >>> model = LogisticRegression(epsilon=1, delta=0, solver="one-pass", bounds_X=(0, 1))
    >>> levels = np.where(np.arange(20_000) % 2, 1.0, 0.1)
    >>> model.fit(X, y, sample_epsilon=levels).predict([[0.1], [0.9]])
    array(['no', 'yes'], dtype='<U3')
    """

    batch_size: int | None = None
    step_size: float | None = None
    schedule: str | None = None
    clip: float | None = None
    noise: str | None = None

    name: ClassVar[str] = "one-pass"
    support: ClassVar[Support] = Support.of(losses=[loss.name for loss in LOSSES], levels=True)
    short_run: ClassVar[dict[str, int]] = {"batches": 2}

    def __post_init__(self) -> None:
        check_numbers(self, whole=("batch_size",), positive=("step_size", "clip"))
        for name, offered in (("schedule", SCHEDULES), ("noise", tuple(NOISES))):
            value = getattr(self, name)
            if value is not None and value not in offered:
                raise ValueError(f"{name}={value!r}, but None or one of {offered} is needed")

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        need_bounds(problem, self.name)
        if self.noise == "gaussian" and budget.delta == 0:
            raise InvalidBudgetError(
                "delta=0, but noise='gaussian' needs delta > 0; leave noise out"
            )
        if self.schedule == "inverse" and not problem.penalty.curvature > 0.0:
            raise UnsupportedCombinationError(
                "schedule='inverse' divides by the weight of an L2 penalty, and there is none; "
                "choose schedule='sqrt', or a penalty"
            )
        law = NOISES[self.noise] if self.noise else rules.mechanism(problem, budget)
        signal = rules.signal(problem, law, budget)
        clip = self.clip or rules.clip(problem, signal)
        batches = rules.batches(problem, signal, clip)
        if self.batch_size is not None:
            batches = max(1, round(1.0 / batch_rate(problem, self.batch_size)))
        return Settings(
            batches=batches,
            clip=clip,
            mechanism=law,
            schedule=self.schedule,
            step_size=self.step_size,
            budget=budget,
            batch_size=self.batch_size,
        )

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """A sum per batch and level, each row in one of them; row counts where they are private."""
        gradient = Release(
            name=GRADIENT,
            shape=(n_weights(problem),),
            clip=settings.clip,
            mechanism=settings.mechanism,
            sampling=Disjoint(settings.batches, dealt=problem.n is None),
            count=settings.batches,
        )
        count = (count_release(settings.mechanism), rules.COUNT_SHARE)
        plan = Plan.of(
            problem,
            scale,
            [(gradient, None)] if problem.n is not None else [count, (gradient, None)],
            paper="One-pass SGD (Song, Chaudhuri, Sarwate 2013), disjoint batches, a release each",
        )
        by_level = (_by_level(release, problem, settings) for release in plan.releases)
        return replace(plan, releases=tuple(chain.from_iterable(by_level)))

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Descend along the released gradients of the batches."""
        people = _people(problem, data)
        counts = _counts(problem, data, people, release)
        drawn = [
            release.steps(name, len(own), clip=settings.clip, at_most=settings.batches)
            for name, own in zip(_names(problem, GRADIENT), people, strict=True)
        ]
        scaling = Scaling.for_gradients(problem, sparse=data.sparse)
        sizes = counts / settings.batches
        shares, noise = _shares(problem, settings, release.plan, sizes)
        rows, total = make_row_source(scaling, data), float(counts.sum())
        state = OnePassState.begin(
            problem, settings, scaling, rows=total, noise=noise, ends=settings.batches
        )
        objective, clip = state.objective, settings.clip
        for t in range(settings.batches):
            gradient = np.zeros(objective.size)
            for own, steps, weight in zip(people, drawn, shares / sizes, strict=True):
                batch = own[steps.rows(t)]
                found = rows.gradient_sum(batch, objective, state.weights, clip)
                gradient += weight * steps.release_step(t, found)
            state.take_step(gradient)
        return objective.solution(state.found())

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise on the weights, as if steps were constant, with momentum and averaged."""
        levels = problem.levels or (Level(1.0, n),)
        people = [n / len(levels) if level.people is None else level.people for level in levels]
        sizes = np.maximum(np.array(people, dtype=np.float64), 1.0) / settings.batches
        _, noise = _shares(problem, settings, plan, sizes)
        return outlook_of_steps(
            problem,
            n,
            noise=noise,
            step=rules.steady_step(problem, noise, settings.batches),
            steps=settings.batches,
            momentum=rules.MOMENTUM,
            averaged=rules.AVERAGED,
        )


def _names(problem: Problem, name: str) -> list[str]:
    """A release's name for every level, or its own where everybody has the same."""
    if not problem.levels:
        return [name]
    return [f"{name}, people at epsilon {level.epsilon:g}" for level in problem.levels]


def _by_level(release: Release, problem: Problem, settings: Settings) -> list[Release]:
    """The release once for every level, with the noise that its people were promised."""
    if not problem.levels:
        return [release]
    noises = [
        rules.multiplier(problem, settings.mechanism, settings.budget, level.epsilon)
        for level in problem.levels
    ]
    noises = [noise * (1.0 + _rounded(problem, noise)) for noise in noises]
    return [
        replace(
            release, name=name, level=level.epsilon, weight=release.weight * noise / min(noises)
        )
        for name, level, noise in zip(
            _names(problem, release.name), problem.levels, noises, strict=True
        )
    ]


def _rounded(problem: Problem, noise: float) -> float:
    """What the grid, which is as coarse as the noise allows, adds to a sum's movement at most.

    The largest level is calibrated with it; this gives the others, whose grids are coarser, more.
    """
    return 1.01 * math.sqrt(n_weights(problem)) * 2.0**-GRID_BITS * noise


def _people(problem: Problem, data: BoundedData) -> list[NDArray[np.int64]]:
    """Rows of each level; all of them where everybody has the same."""
    level = data.level
    if level is None:
        return [np.arange(data.n, dtype=np.int64)]
    return [np.flatnonzero(level == k) for k in range(len(problem.levels))]


def _counts(
    problem: Problem, data: BoundedData, people: list[NDArray[np.int64]], release: Releaser
) -> Array:
    """How many rows each level has: public, or released; at least 1."""
    levels = problem.levels or (Level(1.0, problem.n),)
    present = None if problem.n is not None else data.present()
    counts = []
    for name, level, own in zip(_names(problem, COUNT), levels, people, strict=True):
        count = level.people
        if present is not None:
            found = np.full(1, float(present[own].sum()))
            count = int(release(name, found, clip=1.0)[0])
        counts.append(max(1.0, float(count or 0)))
    return np.array(counts)


def deviation_of(problem: Problem, settings: Settings, plan: Plan, name: str) -> float:
    """Standard deviation of the noise on one number of a planned sum of gradients."""
    (release,) = (one for one in plan.releases if one.name == name)
    size = n_weights(problem)
    spread = math.sqrt(size + 1.0) if settings.mechanism == SPHERICAL else 1.0
    return plan.noise_scale(release) * spread


def _shares(problem: Problem, settings: Settings, plan: Plan, sizes: Array) -> tuple[Array, float]:
    """How much each level's mean gradient counts, and the noise of their weighted mean.

    Inverse variances: of the noise, and of a batch's mean, whose gradients are at most a clip long.
    """
    names = _names(problem, GRADIENT)
    noises = np.array([deviation_of(problem, settings, plan, name) for name in names]) / sizes
    sampling = settings.clip**2 / (n_weights(problem) * sizes)
    shares = 1.0 / (noises**2 + sampling)
    shares /= shares.sum()
    return shares, float(np.linalg.norm(shares * noises))
