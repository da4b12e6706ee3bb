"""The algorithms of Damaskinos et al. 2021 as published, compiled. Nothing here is private.

Batches hold exactly L rows: drawn without replacement anew in each step (the text: "sampled
uniformly at random in each inner iteration"), or cut from an order that is shuffled once per epoch
(the published program). Algorithm 1 prints step 8 without its "/=", which is mended here.

Several settings with the same L run side by side, on the same batches and the same standard normal
draws: comparisons get sharper, and most of the time goes into fetching rows. Rows have length 1, as
the paper assumes.
"""

from __future__ import annotations

import numba
import numpy as np

from benchmarks.papers.damaskinos.steps import dual_step, slope

__all__ = ["dual_descent", "gradient_descent"]


@numba.njit(cache=True)
def _draw(generator, n, stamp, step, members):
    """Fill `members` with distinct rows; `stamp` holds the step that drew a row last."""
    for k in range(len(members)):
        i = int(generator.random() * n)
        while stamp[i] == step:
            i = int(generator.random() * n)
        stamp[i] = step
        members[k] = i


@numba.njit(cache=True)
def _deal(generator, order, start, members):
    """Fill `members` from a shuffled order; return where the next batch starts."""
    n, batch = len(order), len(members)
    if start == 0:
        for k in range(n - 1):
            other = k + int(generator.random() * (n - k))
            order[k], order[other] = order[other], order[k]
    members[:] = order[start : start + batch]
    return start + batch if start + 2 * batch <= n else 0


@numba.njit(cache=True, error_model="numpy", fastmath=True)
def _dot(row, v):
    total = v[0] * 0
    for j in range(len(v)):
        total += row[j] * v[j]
    return total


@numba.njit(cache=True, error_model="numpy", fastmath=True)
def _add(v, scale, row):
    for j in range(len(v)):
        v[j] += scale * row[j]


@numba.njit(cache=True, error_model="numpy")
def dual_descent(X, y, loss, weight, batch, clips, noises, sequential, shuffled, generator, at):
    """Algorithm 1, or Algorithm 3 when `sequential`.

    `weight` is lambda N, `noises` the deviations on the shared vector and on the alphas, one
    per setting as `clips`. Sequential steps see each other, so their subproblem is that of plain
    descent (L = 1). X is in single precision, sums in double.

    Returns theta after each of the steps `at`, the last of which is the end, for each setting, and
    the alphas.
    """
    (n, p), settings = X.shape, len(clips)
    order, stamp = np.arange(n), np.full(n, -1, dtype=np.int32)
    members, start = np.empty(batch, dtype=np.int64), 0
    alpha = np.zeros((n, settings), dtype=X.dtype)
    v, sums, seen = np.zeros((settings, p)), np.zeros((settings, p)), 0
    current = np.zeros((settings, p), dtype=X.dtype)  # of v
    trace = np.empty((len(at), settings, p))
    curvature = (1.0 if sequential else float(batch)) / weight
    for step in range(at[-1]):
        if shuffled:
            start = _deal(generator, order, start, members)
        else:
            _draw(generator, n, stamp, step, members)
        current[:] = v
        sums[:] = 0.0
        for i in members:
            row, own = X[i], alpha[i]
            normal = generator.standard_normal()
            for s in range(settings):
                margin = _dot(row, current[s]) / weight
                zeta = dual_step(loss, own[s], y[i], margin, curvature)
                zeta = min(max(zeta, -clips[s]), clips[s])
                own[s] += zeta + noises[s] * normal  # a row is once in a batch: noise may come now
                _add(sums[s], zeta, row)
                if sequential:
                    _add(current[s], zeta, row)
        for j in range(p):
            normal = generator.standard_normal()
            for s in range(settings):
                v[s, j] += sums[s, j] + noises[s] * normal
        while seen < len(at) and at[seen] == step + 1:
            trace[seen] = v / weight
            seen += 1
    return trace, alpha


@numba.njit(cache=True, error_model="numpy")
def gradient_descent(X, y, loss, penalty, batch, clips, noises, rates, shuffled, generator, at):
    """DP-SGD: clipped row gradients, Gaussian noise on their sum, mean over L; theta after `at`."""
    (n, p), settings = X.shape, len(clips)
    order, stamp = np.arange(n), np.full(n, -1, dtype=np.int32)
    members, start = np.empty(batch, dtype=np.int64), 0
    theta, sums, seen = np.zeros((settings, p)), np.zeros((settings, p)), 0
    current = np.zeros((settings, p), dtype=X.dtype)
    trace = np.empty((len(at), settings, p))
    for step in range(at[-1]):
        if shuffled:
            start = _deal(generator, order, start, members)
        else:
            _draw(generator, n, stamp, step, members)
        current[:] = theta
        sums[:] = 0.0
        for i in members:
            row = X[i]
            for s in range(settings):
                scale = slope(loss, _dot(row, current[s]), y[i])  # |x| = 1: the gradient's length
                _add(sums[s], min(max(scale, -clips[s]), clips[s]), row)
        for j in range(p):
            normal = generator.standard_normal()
            for s in range(settings):
                disturbed = sums[s, j] + noises[s] * normal
                theta[s, j] -= rates[s] * (disturbed / batch + penalty * theta[s, j])
        while seen < len(at) and at[seen] == step + 1:
            trace[seen] = theta
            seen += 1
    return trace
