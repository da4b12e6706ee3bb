"""The same iterates with privlearn's calibration: what one visit moves, and an exact curve."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from benchmarks.papers.wang_guo.theorem import Setting

__all__ = [
    "clipped",
    "mixture_noise",
    "permuted_noise",
    "planned_noise",
    "solver_exists",
    "unclipped",
    "visit_law",
]

SHARE_OF_TAIL = 1e-4  # of delta, for counts that are cut off and counted as lost
LEAST_TAIL = 1e-14  # below, scipy's quantiles lose their digits and end at the number of draws
BOTH_ROWS = 2.0  # replace_one: the old row's gradient and the new one's


Bound = Callable[[Setting, int], float]


def unclipped(setting: Setting, steps: int) -> float:
    """Largest gradient after that many steps.

    From |w_(t+1)|^2 <= |w_t|^2 - (2 eta - eta^2 kappa^2) r^2 + 2 eta |r| c, whose maximum over the
    residual r adds at most eta c^2 / (2 - eta kappa^2) a step.
    """
    curvature = setting.step_size * setting.kappa**2
    if curvature >= 2:
        raise ValueError("without clipped residuals step_size * kappa**2 < 2 is needed")
    growth = np.sqrt(setting.step_size * steps / (2.0 - curvature))
    return float(setting.label * setting.kappa * (1.0 + setting.kappa * growth))


def clipped(setting: Setting, steps: int) -> float:
    """Residuals clipped to the largest label: the same at every step."""
    return setting.label * setting.kappa


def permuted_noise(setting: Setting, bound: Bound = unclipped) -> float:
    """One visit per pass, at its end in the worst case: an exact Gaussian curve."""
    from privlearn.accounting import Gaussian, smallest_scale

    ends = setting.rows * np.arange(1, setting.epochs + 1)
    moved = BOTH_ROWS * setting.step_size * sum(bound(setting, int(end)) for end in ends)
    promise = setting.epsilon, setting.delta
    return moved * smallest_scale(lambda z: [(Gaussian(1.0 / z), 1)], *promise)


def mixture_noise(setting: Setting, bound: Bound = unclipped) -> float:
    """Draws with replacement: the number of visits is binomial, whatever the data."""
    from privlearn.accounting import GaussianMixture, smallest_scale

    counts, weights = visit_law(setting)
    moved = BOTH_ROWS * setting.step_size * bound(setting, setting.steps)
    promise = setting.epsilon, setting.delta
    return moved * smallest_scale(lambda z: [(GaussianMixture(counts / z, weights), 1)], *promise)


def visit_law(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """How often a row is visited, and how likely; what is cut off is a small share of delta."""
    law = stats.binom(setting.steps, 1.0 / setting.rows)
    counts = np.arange(int(law.isf(max(SHARE_OF_TAIL * setting.delta, LEAST_TAIL))) + 1)
    return counts, law.pmf(counts)


# What a fit would use


def solver_exists() -> bool:
    """Whether this version of privlearn has the solver."""
    import privlearn.solvers

    return hasattr(privlearn.solvers, "OutputPerturbation")


def planned_noise(setting: Setting, bound: Bound = unclipped, sampling: str = "permuted") -> float:
    """Standard deviation of the noise on the weights, from the plan of a real estimator.

    privlearn scales rows and labels to length 1, so kappa and c must be 1 here.
    """
    from privlearn import Ridge
    from privlearn.solvers import OutputPerturbation

    solver = OutputPerturbation(
        epochs=setting.epochs,
        step_size=setting.step_size,
        clip=setting.label if bound is clipped else np.inf,
        sampling=sampling,
    )
    model = Ridge(
        alpha=0.0,
        solver=solver,
        epsilon=setting.epsilon,
        delta=setting.delta,
        adjacency="replace_one",
        data_norm=setting.kappa,
        bounds_y=(-setting.label, setting.label),
        fit_intercept=False,
    )
    plan = model.plan(n=setting.rows, n_features=2)
    (release,) = plan.releases
    return plan.noise_scale(release)
