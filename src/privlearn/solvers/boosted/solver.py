"""Least squares by boosting on one noisy Gram matrix ("boosted").

The proof is in proof.md. One Gaussian release gives the Gram matrix of (1, x); every
round releases the clipped residuals times the rows, and the matrix turns them into a step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.norms import OUTER
from privlearn._core.numerics import BlockSum
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.histograms import histogram_release
from privlearn.solvers._common.memory import squares
from privlearn.solvers._common.moment_equations import inverse_eigenvalues, stack, unstack
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.snr import public_n_or_default
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers, need_bounds
from privlearn.solvers.boosted import rules
from privlearn.solvers.boosted.rows import KEPT, BoostedRows
from privlearn.solvers.boosted.rules import BINS, Settings

__all__ = ["BoostedStatistics"]

Array = NDArray[np.float64]
GRAM = "Gram matrix"
RESIDUALS = "residual magnitudes"
INTERCEPT = "clipped residuals"
GRADIENT = "clipped residuals times rows"


@dataclass(frozen=True)
class BoostedStatistics(SolverDefaults):
    """Gradient boosting with AdaSSP as the weak learner, on rows and residuals that are clipped.

    With `clip` it needs no bounds at all, and predictions clip rows as the fit did; without, bounds
    are declared or estimated, and where residuals are clipped is estimated in any case.

    Parameters
    ----------
    rounds : int or None
        Number of boosting rounds; the published value is 100. None chooses by rules.
    clip : float or None
        Largest L2 norm of a row's features and largest residual, in the units of X and y; the
        published value is 1. None takes the bounds, and estimates the residuals' clip.

    Examples
    --------
    >>> from privlearn import LinearRegression
    >>> model = LinearRegression(solver=BoostedStatistics(rounds=100, clip=1.0))
    """

    rounds: int | None = None
    clip: float | None = None

    name: ClassVar[str] = "boosted"
    support: ClassVar[Support] = Support.of(
        losses=["squared"], penalties=["none", "l2"], people=True
    )

    def __post_init__(self) -> None:
        check_numbers(self, whole=("rounds",), positive=("clip",))
        if self.clip is not None:  # then nothing else has to be known
            object.__setattr__(self, "support", replace(type(self).support, bounds=False))

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Public units, and the rule's number of rounds where none is given."""
        if self.clip is None:
            need_bounds(problem, self.name)
        rounds = self.rounds or rules.rounds(public_n_or_default(problem), problem.n_features)
        return Settings.of(problem, rounds, self.clip)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """The Gram matrix, a sum per round, and what is estimated to scale them."""
        width = settings.width
        size = width * (width + 1) // 2
        releases = [
            Release(GRAM, (size,), settings.squared_norm, OUTER),
            Release(GRADIENT, (width,), settings.norm, count=settings.rounds),
        ]
        if settings.estimates_residuals:
            looks = settings.intercept_steps + len(settings.looks)
            releases.append(histogram_release(RESIDUALS, BINS, count=looks))
        if settings.intercept_steps:
            releases.append(
                Release(INTERCEPT, (2,), math.sqrt(2.0), count=settings.intercept_steps)
            )
        if settings.counts:
            releases.append(count_release())
        total = sum(rules.SHARES[one.name] for one in releases)
        shares = [rules.SHARES[one.name] / total for one in releases]
        shared = zip(releases, shares, strict=True)
        return Plan.of(
            problem,
            scale,
            [(one, None if one.name == GRADIENT else share) for one, share in shared],
            paper="Boosted AdaSSP (Tang et al. 2023; Wang 2018), exact Gaussian composition",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Release the Gram matrix, then step along released residuals."""
        rows = BoostedRows(settings, data)
        total = rows_in_all(problem, data, release) if problem.penalty.per_row else 1.0
        penalty = settings.scaling.moment_penalty(problem.penalty.total(total))
        ridge = np.zeros(settings.width)
        ridge[-problem.n_features :] = penalty.curvature
        ridge[-problem.n_features :] += rules.damping(settings, release.noise_scale(GRADIENT))
        step = _preconditioner(settings, rows, ridge, release)
        weights = _boost(settings, rows, ridge, step, release)
        return rows.to_user_units(weights)

    def settled(self, problem: Problem, settings: Settings) -> Settings:
        """The same rounds and clips in units of the estimated box."""
        found = Settings.of(problem, settings.rounds, self.clip)
        return replace(found, scaling=found.scaling.as_planned(settings.scaling))

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[BoostedStatistics, Settings]:
        """Two rounds."""
        short = replace(self, rounds=2)
        return short, short.configure(problem, budget)

    def memory(self, problem: Problem, settings: Settings, *, sparse: bool) -> float:
        """The Gram matrix, and rows where they are kept."""
        rows = 0 if problem.n is None else problem.n
        return squares(settings.width) + 8.0 * min(float(rows) * settings.width, KEPT)

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """First-order noise for evenly spread, independent features that explain half of y."""
        noise = {r.name: plan.noise_scale(r) for r in plan.releases}
        scaling = settings.scaling
        spread = scaling.spread
        eigenvalue, p = n * spread, problem.n_features
        gain = inverse_eigenvalues(np.full(p, eigenvalue), np.zeros(p), noise[GRAM], "adassp")[0]
        deviation = gain * noise[GRADIENT] * settings.typical_clip
        deviation /= math.sqrt(settings.last_rounds)
        intercept = deviation / (gain * n) if problem.fit_intercept else 0.0
        prediction = math.sqrt(p * spread * deviation**2 + intercept**2)
        return Forecast(
            coefficient=deviation * scaling.inverse_scale * scaling.target_scale,
            prediction=prediction * scaling.target_scale,
            kept=1.0 - (1.0 - min(1.0, eigenvalue * gain)) ** settings.rounds,
            n=n,
            assumes=f"{scaling.assumes} and explain half of the target's variance",
        )


def _preconditioner(
    settings: Settings, rows: BoostedRows, ridge: Array, release: Releaser
) -> Array:
    """Inverse of the noisy Gram matrix plus penalty and AdaSSP's ridge (Wang 2018, Algorithm 2).

    The ridge follows from the smallest eigenvalue of the noisy matrix, which costs nothing more.
    """
    gram = BlockSum((settings.width, settings.width))
    for Z, _ in rows.blocks():
        gram.add(Z.T @ Z)
    noisy = release(GRAM, stack(gram.value()), clip=settings.squared_norm)
    eigenvalues, vectors = np.linalg.eigh(unstack(noisy, settings.width) + np.diag(ridge))
    noise = release.noise_scale(GRAM)
    gain = inverse_eigenvalues(eigenvalues, np.zeros(settings.width), noise, "adassp")
    return np.asarray((vectors * gain) @ vectors.T)


def _boost(
    settings: Settings, rows: BoostedRows, ridge: Array, step: Array, release: Releaser
) -> Array:
    """Tang et al. 2023, Algorithm 1: theta <- theta + Gamma (X'(clipped residuals) + noise)."""
    weights, clip = _moved_intercept(settings, rows, release)
    average = np.zeros(settings.width)
    for k in range(settings.rounds):
        if k in settings.looks:
            clip = _look(settings, rows, weights, clip, release)
        total = BlockSum((settings.width,))
        for Z, errors in rows.clipped_errors(weights, clip):
            total.add(Z.T @ errors)
        noisy = release(GRADIENT, total.value(), clip=settings.norm)
        weights = weights + step @ (clip * noisy - ridge * weights)
        if k >= settings.first_averaged:
            average += weights / settings.last_rounds
    return average


def _moved_intercept(
    settings: Settings, rows: BoostedRows, release: Releaser
) -> tuple[Array, float]:
    """The intercept alone: it takes little, and what it leaves needs less clip."""
    weights, clip = np.zeros(settings.width), settings.first_clip
    for _ in range(settings.intercept_steps):
        clip = _look(settings, rows, weights, clip, release)
        total = BlockSum((2,))
        for Z, errors in rows.clipped_errors(weights, clip):
            total.add(np.array([errors.sum(), Z[:, 0].sum()]))
        up, count = release(INTERCEPT, total.value(), clip=math.sqrt(2.0))
        weights[0] += clip * np.clip(up / max(count, 1.0), -1.0, 1.0)
    return weights, clip


def _look(
    settings: Settings, rows: BoostedRows, weights: Array, clip: float, release: Releaser
) -> float:
    """Where to clip residuals next, from a noisy histogram of them."""
    noisy = release(RESIDUALS, rows.residual_magnitudes(weights), clip=1.0)
    noise_std = release.noise_scale(GRADIENT) * math.sqrt(settings.width / settings.last_rounds)
    return rules.residual_clip(noisy, release.noise_scale(RESIDUALS), noise_std, clip)
