"""Least squares from one noisy matrix of second moments ("moments").

The proof is in proof.md. Public maps bring features and target to [-1, 1]; one
Gaussian release gives the second moments of (1, x, y); the rest is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.forecast import Forecast
from privlearn._core.norms import OUTER
from privlearn._core.numerics import BlockSum
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget, Problem
from privlearn._core.releaser import Releaser
from privlearn._data.bounded import BoundedData
from privlearn.solvers._common.memory import squares
from privlearn.solvers._common.moment_equations import (
    Ridge,
    inverse_eigenvalues,
    solve_moments,
    stack,
    unstack,
)
from privlearn.solvers._common.row_count import count_release, rows_in_all
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.base import Solution, SolverDefaults, Support, need_bounds, positive_number

if TYPE_CHECKING:
    from privlearn.solvers._device.waves import WaveMoments

__all__ = ["SufficientStatistics"]

Array = NDArray[np.float64]
MOMENTS = "second moments"
COUNT_SHARE = 0.02  # of the budget (in mu^2), for the number of rows where nothing tells it


@dataclass(frozen=True)
class SufficientStatistics(SolverDefaults):
    """One Gaussian release of the second moments, then a solve that costs no privacy.

    Parameters
    ----------
    ridge : {"noise", "adassp"} or float, default="noise"
        What is added to the Gram matrix of the features scaled to [-1, 1] so that the noise cannot
        be amplified: an amount at the level of the noise; AdaSSP's, which shrinks as the smallest
        eigenvalue grows (Wang 2018, Algorithm 2, here without a release of its own); or a number.

    Examples
    --------
    >>> from privlearn import LinearRegression
    >>> model = LinearRegression(solver=SufficientStatistics(ridge="adassp"))
    """

    ridge: Ridge = "noise"

    name: ClassVar[str] = "moments"
    support: ClassVar[Support] = Support.of(
        losses=["squared"], people=True, narrows=True, sources=["squared"]
    )

    def __post_init__(self) -> None:
        if isinstance(self.ridge, str):
            if self.ridge not in ("noise", "adassp"):
                raise ValueError(
                    f"ridge={self.ridge!r}, but 'noise', 'adassp' or a number >= 0 is needed"
                )
        elif isinstance(self.ridge, bool) or self.ridge != 0:
            object.__setattr__(self, "ridge", positive_number("ridge", self.ridge))

    def configure(self, problem: Problem, budget: Budget) -> Scaling:
        """Public units in which every row of (1, x, y) is short."""
        need_bounds(problem, self.name)
        return Scaling.for_moments(problem.bounds, problem.n_features, problem.fit_intercept)

    def plan(self, problem: Problem, settings: Scaling, scale: float) -> Plan:
        """One release of the upper triangle; the number of rows where a penalty depends on it."""
        size = settings.width + 1
        release = Release(
            name=MOMENTS, shape=(size * (size + 1) // 2,), clip=settings.squared_norm, norm=OUTER
        )
        count = [(count_release(), COUNT_SHARE)] if _counts(problem) else []
        paper = "noisy second moments (Dwork et al. 2014; AdaSSP: Wang 2018)"
        return Plan.of(problem, scale, [(release, None), *count], paper)

    def solve(
        self, problem: Problem, settings: Scaling, data: BoundedData, release: Releaser
    ) -> Solution:
        """Release the moments and solve for the coefficients."""
        moments = _moments(settings, data)
        if data.on_device:  # which is still multiplying
            release.draw_ahead(MOMENTS)
        noisy = release(MOMENTS, moments.stacked(), clip=settings.squared_norm)
        count = problem.n if problem.n is not None and not problem.rows_may_be_empty else None
        total = problem.penalty.total(_rows(problem, data, noisy, release))
        coef, intercept, noise = moments.solved(
            noisy,
            intercept=problem.fit_intercept,
            penalty=moments.scaling.moment_penalty(total),
            noise=release.noise_scale(MOMENTS),
            ridge=self.ridge,
            count=count,
        )
        return moments.scaling.to_user_units(
            np.append(coef, intercept)[None, :],
            by_division=True,
            noise=None if noise is None else noise[None, :],
        )

    def settled(self, problem: Problem, settings: Scaling) -> Scaling:
        """Units of the estimated box, in which rows are as short as planned."""
        found = Scaling.for_moments(problem.bounds, problem.n_features, problem.fit_intercept)
        return found.as_planned(settings)

    def narrowed(self, problem: Problem, settings: Scaling) -> tuple[SufficientStatistics, Scaling]:
        """Rows of fewer entries are shorter, too."""
        return self, Scaling.for_moments(problem.bounds, problem.n_features, problem.fit_intercept)

    def memory(self, problem: Problem, settings: Scaling, *, sparse: bool) -> float:
        """The second moments."""
        return squares(settings.width + 1)

    def row_passes(self, problem: Problem, settings: Scaling) -> int:
        """One, for the second moments."""
        return 1

    def forecast(self, problem: Problem, settings: Scaling, plan: Plan, n: int) -> Forecast:
        """First-order noise on the solution for evenly spread, independent features.

        With Gram matrix e I the noise is f (e_xy - E w), f = 1/e damped, so that coefficient j gets
        variance f^2 s^2/2 (1 + |w|^2 + w_j^2); |w|^2 is set so that half of y's variance is
        explained.
        """
        p, noise = problem.n_features, plan.noise_scale(plan.releases[0])
        eigenvalue = n * settings.spread
        signal = 0.5 / 3.0 / settings.spread  # |w|^2 when y is evenly spread over its range
        cross = np.full(p, eigenvalue * math.sqrt(signal / p))
        factor = float(inverse_eigenvalues(np.full(p, eigenvalue), cross, noise, self.ridge)[0])
        deviation = factor * noise * math.sqrt((1.0 + signal + signal / p) / 2.0)
        intercept = noise / (math.sqrt(2.0) * n) if problem.fit_intercept else 0.0
        prediction = math.sqrt(p * settings.spread * deviation**2 + intercept**2)
        return Forecast(
            coefficient=deviation * settings.inverse_scale * settings.target_scale,
            prediction=prediction * settings.target_scale,
            kept=eigenvalue * factor,
            n=n,
            assumes=settings.assumes + " and explain half of the target's variance",
        )


@dataclass(frozen=True, eq=False)
class _Moments:
    """Second moments of (1, x, y) in the units of `scaling`; a secret."""

    scaling: Scaling
    matrix: Array

    def stacked(self) -> Array:
        """What is released, without noise."""
        return stack(self.matrix)

    def solved(self, noisy: Array, **facts: Any) -> tuple[Array, float, Array | None]:  # noqa: ANN401
        """Coefficients, the intercept, and noise, from what was released."""
        return solve_moments(unstack(noisy, len(self.matrix)), **facts)


def _moments(settings: Scaling, data: BoundedData) -> _Moments | WaveMoments:
    """Sums over all rows, where these lie."""
    if data.on_device:
        from privlearn.solvers._device.waves import WaveData, wave_moments

        assert isinstance(data, WaveData)
        return wave_moments(settings, data)
    size = settings.width + 1
    moments = BlockSum((size, size))
    for rows in data.blocks():
        Z = settings.moment_rows(rows)
        moments.add(Z.T @ Z)
    return _Moments(settings, moments.value())


def _counts(problem: Problem) -> bool:
    """Whether a penalty per row needs a private number of rows that the matrix does not hold."""
    private = not problem.adjacency.n_is_public or problem.most_rows > 1
    return private and problem.penalty.per_row and not problem.fit_intercept


def _rows(problem: Problem, data: BoundedData, noisy: Array, release: Releaser) -> float:
    """The number of rows, public or released, perhaps as part of the matrix; at least 1."""
    if problem.n is not None or _counts(problem):
        return rows_in_all(problem, data, release)
    return max(1.0, float(noisy[0]))  # with an intercept this is the noisy sum of 1 * 1
