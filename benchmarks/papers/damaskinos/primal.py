"""PrimalDP-SCD, Algorithm 2 of Damaskinos et al. 2021: coordinates of theta, all rows in each step.

Its sensitivity assumes that a *feature* has length 1 over all rows. That would be read off the
data; enforced without a look, each value is at most 1 / sqrt(n). Rows of length 1 have values up to
a public `largest`, so X is multiplied by r = 1 / (largest sqrt(n)), theta divided by it, and
lambda multiplied by r^2: the same objective.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from benchmarks.papers.damaskinos.objective import Objective
from benchmarks.papers.damaskinos.steps import LOGISTIC

__all__ = ["primal_descent"]


def primal_descent(
    objective: Objective,
    largest: float,
    *,
    batch: int,
    steps: int,
    clip: float,
    multiplier: float,
    generator: np.random.Generator,
) -> np.ndarray:
    """Theta in the units of X; Newton steps for the logistic loss, L times its curvature."""
    if objective.loss != LOGISTIC:
        raise ValueError("Algorithm 2 is compared on the logistic problem alone")
    n, p = objective.X.shape
    ratio = 1.0 / (largest * np.sqrt(n))
    columns = np.ascontiguousarray((objective.X * ratio).T)
    penalty = objective.penalty * ratio**2
    noise = multiplier * 2.0 * clip * np.sqrt(batch * (batch + 1.0))  # Lemma 4
    theta, scores = np.zeros(p), np.zeros(n)
    for _ in range(steps):
        members = generator.choice(p, batch, replace=False)
        share = special.expit(-objective.y * scores)
        picked = columns[members]
        gradient = -(picked @ (objective.y * share)) / n + penalty * theta[members]
        curvature = batch * (picked**2 @ (share * (1.0 - share))) / n + penalty
        zeta = np.clip(-gradient / curvature, -clip, clip)
        theta[members] += zeta + noise * generator.standard_normal(batch)
        scores += zeta @ picked + noise * generator.standard_normal(n)
    return theta * ratio
