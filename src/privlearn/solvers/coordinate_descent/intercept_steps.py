"""Steps of the intercept alone: the first of all, and the last where the target is a class.

The first takes what is the intercept's before features whose sum is constant, as the columns of
one-hot groups, could share in it; and errors are smaller afterwards, and so is the next clip.
Shortened gradients move the mean prediction: rows of a rare class lose most by it, and were
predicted a quarter too seldom. The last step measures that, in slopes that nothing shortens.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from privlearn._core.releaser import Releaser
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.gaussian_rows import shift_of_scores
from privlearn.solvers.coordinate_descent.private_scales import GRADIENT, Prepared, longest_gradient

__all__ = ["first_step", "last_step"]

Array = NDArray[np.float64]


def first_step(
    objective: Objective, weights: Array, step: float, gradient: Array, noise_std: float
) -> Array:
    """Move the intercept to where the mean slope would be 0, less what may be noise; its score."""
    loss, places = objective.loss, _intercepts(objective)
    pull = gradient[places]
    size = max(float(pull @ pull), np.finfo(np.float64).tiny)
    trusted = max(0.0, 1.0 - len(pull) * noise_std**2 / size)
    moved = weights[places] + step * loss.constant_score(trusted * pull, noise_std)
    largest = 1.0 if loss.has_unit else math.inf  # y lies in [-1, 1]; a mean is known to a factor
    weights[places] = np.clip(moved, -largest, largest)
    return weights[places]


def last_step(prepared: Prepared, weights: Array, moments: Array, release: Releaser) -> Array:
    """Weights with the intercept where the mean slope is 0, as far as noise lets it be told.

    A row contributes its slope, no steeper than the loss allows, to the intercept's places of a
    gradient, and nothing to the others.
    """
    objective = prepared.objective
    loss, places = objective.loss, _intercepts(objective)
    longest = longest_gradient(objective, prepared)
    steepest = loss.lipschitz * rules.ROUNDED_UP
    sums = np.zeros(len(weights))
    sums[places] = prepared.rows.gradient_sum(objective, weights, longest)[places] / steepest
    sums /= objective.scaling.intercept_value
    per_row = steepest / prepared.count
    slope = release(GRADIENT, sums, clip=1.0)[places] * per_row
    noise_std = release.noise_scale(GRADIENT) * per_row
    at = weights.reshape(loss.outputs, -1)
    shift = shift_of_scores(loss, moments, at, -slope, noise_std, rules.USUALLY_MISSED)
    moved = weights.copy()
    moved[places] += shift / objective.scaling.intercept_value
    return moved


def _intercepts(objective: Objective) -> NDArray[np.int64]:
    return np.asarray(objective.scaling.width * np.arange(1, objective.loss.outputs + 1) - 1)
