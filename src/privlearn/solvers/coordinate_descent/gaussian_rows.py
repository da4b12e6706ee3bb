"""The mean curvature of a loss at the present weights, if rows were Gaussian: post-processing.

The second moments of the rows are released once. Scores of Gaussian rows are Gaussian, and by
Stein's lemma, E[f(z) u u'] for z = w'u needs three numbers besides the moments: means of f(z), of
f(z) s and of f(z) (s^2 - 1), where s is the standardised score. So the curvature can be renewed at
every step, and nothing is paid for it.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from privlearn._objective.losses import Loss
from privlearn.solvers.coordinate_descent.quadratic_model import Curvature

__all__ = ["curvature_at", "shift_of_scores"]

Array = NDArray[np.float64]
NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
POINTS = 512  # of several scores at once
NEWTON_STEPS = 20
FLAT = 1e-10  # eigenvalue that counts as 0, relative to the largest
RAREST = 1e-9  # share that no class is moved below
ROUNDED = 2.0**-50  # of shares: what may be rounding
NO_DOUBT = 1e-100  # share, or second derivative, below which no row's class is in doubt
NARROW = 1e-12  # variance of scores that count as constant


def curvature_at(
    loss: Loss, moments: Array, intercept: bool, weights: Array, least: float = 0.0
) -> Curvature:
    """Expected second derivative of the loss in the weights.

    Parameters
    ----------
    loss : Loss
        Of scores in a solver's units.
    moments : array of shape (width, width)
        Second moments of the rows about zero, the intercept's entry last where there is one.
    intercept : bool
        Whether there is one.
    weights : array of shape (outputs, width)
        Where.
    least : float, default=0.0
        Second derivative that the loss has in any case.
    """
    mean = moments[-1] / moments[-1, -1] if intercept else np.zeros(len(moments))
    spread = moments - np.outer(mean, mean) * (moments[-1, -1] if intercept else 0.0)
    if loss.outputs > 1:
        between = _of_several_scores(loss, weights @ mean, weights @ spread @ weights.T)
        return Curvature(between + least * np.eye(loss.outputs), moments)
    own = weights[0]
    across = spread @ own
    variance = max(float(own @ across), 0.0)
    second = loss.second_derivative(float(own @ mean) + math.sqrt(variance) * NODES)
    within = (float(NODE_WEIGHTS @ second) + least) * moments
    if variance > NARROW:
        tilt = float(NODE_WEIGHTS @ (second * NODES)) / math.sqrt(variance)
        bend = float(NODE_WEIGHTS @ (second * (NODES**2 - 1.0))) / variance
        within += tilt * (np.outer(mean, across) + np.outer(across, mean))
        within += bend * np.outer(across, across)
    return Curvature(np.ones((1, 1)), within)


def shift_of_scores(
    loss: Loss, moments: Array, weights: Array, change: Array, noise_std: float, usual: float
) -> Array:
    """By how much to move all scores, so that the mean slope changes by so much.

    Slopes are probabilities, less 1 for a row's own class. The change is wanted relative to the
    mean probability of Gaussian rows, and a small one grows as exp(shift) does: what rows look like
    matters as far as that is not theirs. A class that Gaussian rows would not have stays.

    Parameters
    ----------
    loss : Loss
        Of classes.
    moments : array of shape (width, width)
        Second moments of the rows about zero, the intercept's entry last.
    weights : array of shape (outputs, width)
        Where.
    change : array of shape (outputs,)
        Noisy.
    noise_std : float
        Its standard deviation.
    usual : float
        Change of a class's share that is usual, relative to that share: the noisy one is shrunk to
        its mean under such a prior, and no class becomes rarer than what noise would hide.
    """
    outputs, shift = loss.outputs, np.zeros(loss.outputs)
    scores = _gaussian_scores(moments, weights)
    if not np.isfinite(scores).all():  # where noise has thrown the weights far out
        return shift
    shares = loss.mean_shares(scores)
    likely = np.maximum(usual * np.minimum(shares, 1.0 - shares), NO_DOUBT)
    trusted = 1.0 / (1.0 + np.square(noise_std / likely))
    change = np.clip(change if outputs > 1 else np.append(-change, change), -1.0, 1.0)
    least = np.minimum(shares, max(noise_std, RAREST))  # rarer already: for no reason of its own
    wanted = np.clip(shares + trusted * change, least, 1.0 - least.sum() + least)
    wanted /= wanted.sum()
    if np.abs(wanted - shares).max() <= ROUNDED:
        return shift
    for _ in range(NEWTON_STEPS):
        missing = (wanted - loss.mean_shares(scores + shift))[-outputs:]
        bend = loss.mean_second_derivative(scores + shift)  # flat where all scores move alike
        if not bend.max() > NO_DOUBT:  # its inverse would overflow, and no step get there
            break
        step = np.linalg.pinv(bend, rcond=FLAT, hermitian=True) @ missing
        shift += np.clip(step, -1.0, 1.0)
    return shift


def _gaussian_scores(moments: Array, weights: Array) -> Array:
    """Fixed points that stand for the scores of Gaussian rows."""
    mean = moments[-1] / moments[-1, -1]
    spread = moments - np.outer(mean, mean) * moments[-1, -1]
    with np.errstate(all="ignore"):
        covariance = weights @ spread @ weights.T
    if not np.isfinite(covariance).all():
        return np.full((1, len(weights)), np.nan)
    values, vectors = np.linalg.eigh(covariance)
    points = _normal_points(len(weights)) * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(weights @ mean + points @ vectors.T)


def _of_several_scores(loss: Loss, mean: Array, covariance: Array) -> Array:
    """Mean of the matrix of second derivatives over evenly spread quantiles of Gaussian scores."""
    values, vectors = np.linalg.eigh(covariance)
    scores = mean + _normal_points(len(mean)) * np.sqrt(np.maximum(values, 0.0)) @ vectors.T
    return loss.mean_second_derivative(scores)


@cache
def _normal_points(dimensions: int) -> Array:
    """Fixed points that fill a Gaussian evenly: multiples of irrational steps, as quantiles.

    The steps are powers of the root of x^(d + 1) = x + 1, the golden ratio for d = 1.
    """
    root = 1.5
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return np.asarray(ndtri((0.5 + np.arange(POINTS)[:, None] * steps) % 1.0))
