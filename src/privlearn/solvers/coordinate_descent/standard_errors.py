"""Standard errors of coefficients: from two more releases, and without shrinkage.

The gradients of the last loop, at weights w_t, are g_t = H (w_t - w) + noise for a quadratic loss,
where w minimises it and H is its curvature. So one Newton step from their means,

    mean(w_t) - (H + P)^-1 (mean(g_t) + P mean(w_t)),    P the penalty's curvature,

is w plus (H + P)^-1 times the mean noise, whose law is known; whatever led to w_t drops out. H and
the second moments of gradients are released at the last weights. The second moments say how far w
itself is from that of the population (the sandwich of Huber 1967, White 1980): no assumption about
errors is needed. proof.md, "Standard errors", has what is left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privlearn._core.releaser import Releaser
from privlearn.solvers._common.moment_equations import stack, unstack
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.residuals import Residual
from privlearn.solvers._common.standard_errors import Doubt, StandardErrors
from privlearn.solvers.base import Solution
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.gaussian_rows import curvature_at
from privlearn.solvers.coordinate_descent.private_scales import (
    BENDS,
    SLOPES,
    SQUARES,
    Prepared,
    RowMoments,
)
from privlearn.solvers.coordinate_descent.sandwich import (
    MomentsAt,
    drawn_together,
    middle,
    semidefinite,
    square_without_noise,
)
from privlearn.solvers.coordinate_descent.weighted_moments import (
    Factor,
    squared_errors,
    weighted_moments,
)
from privlearn.solvers.coordinate_descent.whole_rows import FloatRows

__all__ = ["LoopRecord", "newton_solution"]

Array = NDArray[np.float64]
OF_SAMPLING = 0.95  # level at which the variance of errors is not taken for too small


@dataclass
class LoopRecord:
    """Weights and gradients of one loop, each with its part in the averages."""

    shares: list[float] = field(default_factory=list)
    weights: list[Array] = field(default_factory=list)
    gradients: list[Array] = field(default_factory=list)
    noise_std: float = 0.0  # of one gradient, the same for all of a loop

    def add(self, share: float, weights: Array, gradient: Array, noise_std: float) -> None:
        """Note a step."""
        self.shares.append(share)
        self.weights.append(weights.copy())
        self.gradients.append(gradient)
        self.noise_std = noise_std

    def means(self) -> tuple[Array, Array, float]:
        """Of weights and gradients, and the variance of the noise on each of the latter."""
        parts = np.array(self.shares) / sum(self.shares)
        variance = self.noise_std**2 * float(parts @ parts)
        return parts @ np.array(self.weights), parts @ np.array(self.gradients), variance


def newton_solution(
    prepared: Prepared,
    settings: rules.Settings,
    last: LoopRecord,
    weights: Array,
    clip: float,
    rows: RowMoments,
    release: Releaser,
) -> Solution:
    """One Newton step from the means of the last loop, with its errors, in units of X and y."""
    objective = prepared.objective
    center, gradient, variance = last.means()
    at_model = prepared, weights, clip, release
    found = _second_derivatives(*at_model, settings.longest_for_errors)
    steep = _together(found, _curvature_before(objective, rows, weights))
    penalty = np.diag(objective.penalty.curvature)
    inverse, weak = _inverse(steep.mean + penalty, steep.noise)
    slope, own = gradient + penalty @ center, variance * np.eye(len(center))
    step = inverse @ slope
    if settings.of_one_size:
        slopes, residual = _slopes_of_one_size(*at_model, steep)
        between = semidefinite(slopes - np.outer(gradient, gradient))
        square, spread, unsure = np.outer(step, step), inverse, 0.0
    else:
        moments = _squared_slopes(*at_model)
        known = _curvature_of_errors(objective, rows, weights, found, steep)
        between, residual = middle(moments, gradient, known), _residual(prepared, moments, clip)
        square = square_without_noise(step, slope, variance)
        unsure = known.noise
        spread = _inverse(drawn_together(MomentsAt(known.mean + penalty, unsure)), unsure)[0]
    # Noise of the curvature counts as far as the step is long: of variance s^2 on the diagonal and
    # s^2 / 2 off it, times the step, it has covariance s^2 / 2 (|step|^2 I + step step').
    turned = 0.5 * steep.noise**2 * (np.trace(square) * np.eye(len(step)) + square)
    noise = own + turned
    total = spread @ (noise + between / prepared.count) @ spread
    errors = StandardErrors(
        spread @ noise @ spread,
        total,
        weak,
        np.eye(len(step)),
        residual,
        _pulled(np.diag(penalty), steep),
        Doubt(unsure * spread, total) if unsure > 0.0 else None,
    )
    return objective.solution(center - step, errors=errors)


def _curvature_before(objective: Objective, moments: RowMoments, weights: Array) -> MomentsAt:
    """What second moments of rows tell about the curvature: all of it, or as if rows were Gaussian.

    Of Poisson's loss only the mean is known; what is released at the model says the rest.
    """
    loss, intercept = objective.loss, objective.scaling.intercept_value > 0.0
    if not loss.bends:
        return MomentsAt(loss.curvature * moments.noisy, loss.curvature * moments.noise)
    within = curvature_at(loss, moments.noisy, intercept, weights[None, :]).within
    return MomentsAt(within, loss.curvature * moments.noise)


def _curvature_of_errors(
    objective: Objective, rows: RowMoments, weights: Array, found: MomentsAt, steep: MomentsAt
) -> MomentsAt:
    """The curvature through which noise reaches the estimates: `steep`, or a surer one.

    The step has the noise of `steep`, but its errors pass the curvature as it is (proof.md). Of
    Poisson's loss much more is known of that, if rows were Gaussian, than the mean: their second
    moments are less noisy than what is released at the model, and taken for as much as agrees.
    """
    loss, moments = objective.loss, rows.noisy
    intercept = objective.scaling.intercept_value > 0.0
    if loss.bends or loss.of_residual or not intercept or moments[-1, -1] <= rows.noise:
        return steep
    within = curvature_at(loss, moments, intercept, weights[None, :]).within
    mean = float(within[-1, -1] / moments[-1, -1])
    # Noise of the moments bends exp, too: to first order by up to so much, per unit of the mean.
    noise = abs(mean) * rows.noise * (1.0 + float(weights[:-1] @ weights[:-1]))
    surer = _together(found, MomentsAt(within, noise))
    return surer if surer.noise < steep.noise else steep


def _second_derivatives(
    prepared: Prepared, weights: Array, clip: float, release: Releaser, times: float
) -> MomentsAt:
    """Mean derivative of clipped gradients: those that are cut do not change with the weights."""
    loss, squares = prepared.objective.loss, prepared.squares.sum()
    typical = float(squares) + prepared.objective.scaling.intercept_value**2
    steepest = min(loss.largest_curvature, rules.STEEP * loss.curvature)
    longest = math.sqrt(times * typical * steepest)

    def root(targets: Array, scores: Array, lengths: Array) -> Array:
        whole = np.abs(loss.derivative(targets, scores)) * lengths <= clip
        return np.where(whole, np.sqrt(loss.second_derivative(scores)), 0.0)

    return _released(prepared, weights, BENDS, root, longest, release)


def _together(found: MomentsAt, before: MomentsAt) -> MomentsAt:
    """Two noisy matrices of about the same mean, the first of which is right.

    By their noise, but for what of their difference noise does not explain.
    """
    size, noise = len(found.mean), found.noise**2 + before.noise**2
    apart = float(np.sum((found.mean - before.mean) ** 2))
    explained = size * (size + 1) / 2 * noise
    structure = max(0.0, 1.0 - explained / max(apart, np.finfo(np.float64).tiny))
    trust = max(before.noise**2 / max(noise, np.finfo(np.float64).tiny), structure)
    mean = before.mean + trust * (found.mean - before.mean)
    return MomentsAt(mean, math.hypot(trust * found.noise, (1.0 - trust) * before.noise))


def _squared_slopes(
    prepared: Prepared, weights: Array, clip: float, release: Releaser
) -> MomentsAt:
    loss = prepared.objective.loss
    return _released(
        prepared, weights, SLOPES, lambda y, z, _: loss.derivative(y, z), clip, release
    )


def _slopes_of_one_size(
    prepared: Prepared, weights: Array, clip: float, release: Releaser, steep: MomentsAt
) -> tuple[Array, Residual | None]:
    """Second moments of gradients whose errors have one variance, and that variance.

    Errors are cut where gradients of rows of the usual length are.
    """
    rows, one = prepared.rows, prepared.objective.scaling.intercept_value
    assert isinstance(rows, FloatRows)
    largest = clip / math.sqrt(float(prepared.squares.sum()) + one**2)
    found = squared_errors(rows.stored, prepared.objective, weights, largest)
    noisy, unit = release(SQUARES, np.array([found]), clip=1.0), largest**2 / prepared.count
    residual = Residual(float(noisy[0]) * unit, release.noise_scale(SQUARES) * unit, largest**2)
    variance = min(residual.largest(OF_SAMPLING), largest**2)
    return variance * semidefinite(steep.mean), residual


def _released(
    prepared: Prepared, weights: Array, name: str, factor: Factor, longest: float, release: Releaser
) -> MomentsAt:
    rows, size = prepared.rows, prepared.objective.scaling.width
    assert isinstance(rows, FloatRows)
    sums = weighted_moments(rows.stored, prepared.objective, weights, factor, longest)
    noisy = release(name, stack(sums), clip=1.0)
    unit = longest**2 / prepared.count
    return MomentsAt(unstack(noisy, size) * unit, release.noise_scale(name) * unit)


def _inverse(matrix: Array, noise: float) -> tuple[Array, Array]:
    """The inverse, and directions of which noise may have made all that is there."""
    values, vectors = np.linalg.eigh(matrix)
    least = rules.CLEAR_OF_NOISE * noise
    weak = values < least
    floor = max(least, values[-1] * np.finfo(np.float64).eps, np.finfo(np.float64).tiny)
    inverse = (vectors / np.maximum(values, floor)) @ vectors.T
    return inverse, vectors[:, weak].T


def _pulled(penalty: Array, steep: MomentsAt) -> float:
    """By which part the penalty makes a coefficient smaller, of the one that it moves most."""
    curvature = np.maximum(np.diag(steep.mean), max(steep.noise, np.finfo(np.float64).tiny))
    return float(np.max(penalty / (penalty + curvature)))


def _residual(prepared: Prepared, slopes: MomentsAt, clip: float) -> Residual | None:
    """Mean square of the errors: the intercept's entry of gradients, which are errors."""
    loss, one = prepared.objective.loss, prepared.objective.scaling.intercept_value
    if not loss.of_residual or not one > 0.0:
        return None
    cut = clip**2 / (float(prepared.squares.sum()) + one**2)
    return Residual(float(slopes.mean[-1, -1]) / one**2, slopes.noise / one**2, cut)
