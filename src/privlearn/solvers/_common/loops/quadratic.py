"""A quadratic with weighted absolute values in a box, minimised to the last digits."""

import math

import numpy as np

from privlearn._core.jit import jit
from privlearn._objective.prox import soft_threshold

__all__ = ["minimise_quadratic"]

AT_LOW, AT_HIGH, AT_ZERO, FREE = -2, 2, 0, 3  # 1 and -1: away from 0, with that sign
SINGULAR = 1e-14  # a pivot this small beside its diagonal entry is rounding
PATIENCE = 8  # sweeps with moving faces before one is solved nevertheless


@jit(error_model="numpy")
def _sweep(A, l1, low, high, w, gradient):
    """Minimise along each coordinate in turn; the largest change."""
    largest = 0.0
    for j in range(w.size):
        curvature = A[j, j]
        if not curvature > 0.0:
            continue
        target = w[j] * curvature - gradient[j]
        shrunk = soft_threshold(target, l1[j]) / curvature + 0.0  # never -0.0
        moved = min(max(shrunk, low[j]), high[j])
        change = moved - w[j]
        if change != 0.0:
            w[j] = moved
            for k in range(w.size):
                gradient[k] += change * A[j, k]
            largest = max(largest, abs(change))
    return largest


@jit()
def _write_face(l1, low, high, w, face):
    """On which smooth piece each coordinate lies; whether that differs from `face`."""
    differs = False
    for j in range(w.size):
        if w[j] <= low[j]:
            now = AT_LOW
        elif w[j] >= high[j]:
            now = AT_HIGH
        elif l1[j] == 0.0:
            now = FREE
        elif w[j] == 0.0:
            now = AT_ZERO
        else:
            now = 1 if w[j] > 0.0 else -1
        differs = differs or now != face[j]
        face[j] = now
    return differs


@jit(error_model="numpy")
def _solve_positive(matrix, x):
    """Overwrite x with the solution, by Cholesky in place; directions without curvature get 0."""
    n = x.size
    for j in range(n):
        before = matrix[j, :j]
        pivot = matrix[j, j] - np.dot(before, before)
        singular = not pivot > SINGULAR * matrix[j, j]
        matrix[j, j] = math.inf if singular else math.sqrt(pivot)
        for i in range(j + 1, n):
            matrix[i, j] = (matrix[i, j] - np.dot(matrix[i, :j], before)) / matrix[j, j]
        x[j] = (x[j] - np.dot(before, x[:j])) / matrix[j, j]
    for j in range(n - 1, -1, -1):
        x[j] /= matrix[j, j]
        for i in range(j):
            x[i] -= matrix[j, i] * x[j]


@jit(error_model="numpy")
def _limits(low, high, face, free):
    """Where the face ends along its free coordinates."""
    bottom, top = low[free], high[free]
    for a in range(free.size):
        if face[free[a]] == 1:
            bottom[a] = max(bottom[a], 0.0)
        elif face[free[a]] == -1:
            top[a] = min(top[a], 0.0)
    return bottom, top


@jit(error_model="numpy")
def _advance(start, step, bottom, top):
    """Where the step meets its first limit, or its end; whether it met none."""
    share, first = 1.0, -1
    for a in range(step.size):
        room = (bottom[a] if step[a] < 0.0 else top[a]) - start[a]
        if abs(step[a]) > abs(room) and room / step[a] < share:
            share, first = room / step[a], a
    end = np.minimum(np.maximum(start + share * step, bottom), top)
    if first >= 0:
        end[first] = bottom[first] if step[first] < 0.0 else top[first]
    return end, first < 0


@jit()
def _rise(block, slope, step):
    return np.dot(slope, step) + 0.5 * np.dot(step, np.dot(block, step))


@jit(error_model="numpy")
def _step_on_face(A, l1, low, high, w, gradient, face):
    """Newton step on the face, up to its border; whether it got there unhindered.

    The objective is quadratic on the face, so it falls all along the step. Cutting each coordinate
    at its own limit goes further, and is done where the objective falls more.
    """
    free = np.flatnonzero((face != AT_LOW) & (face != AT_HIGH) & (face != AT_ZERO))
    block, step, start = np.empty((free.size, free.size)), np.empty(free.size), w[free]
    for a in range(free.size):
        sign = 0.0 if face[free[a]] == FREE else float(face[free[a]])
        step[a] = -gradient[free[a]] - l1[free[a]] * sign
        for c in range(free.size):
            block[a, c] = A[free[a], free[c]]
    slope = -step
    _solve_positive(block.copy(), step)
    bottom, top = _limits(low, high, face, free)
    end, unhindered = _advance(start, step, bottom, top)
    if not unhindered:
        cut = np.minimum(np.maximum(start + step, bottom), top)
        if _rise(block, slope, cut - start) < _rise(block, slope, end - start):
            end = cut
    w[free] = end
    return unhindered


@jit(error_model="numpy")
def _minimise_on_face(A, b, l1, low, high, w, gradient, face):
    """Newton steps on ever smaller faces, until one meets no border."""
    for _ in range(w.size + 1):
        unhindered = _step_on_face(A, l1, low, high, w, gradient, face)
        _write_face(l1, low, high, w, face)
        gradient[:] = np.dot(A, w) - b
        if unhindered:
            break


@jit(error_model="numpy", nogil=True)
def minimise_quadratic(A, b, l1, low, high, w, sweeps, tolerance):
    """Minimise w'Aw / 2 - b'w + sum l1 |w| over low <= w <= high, from `w` on and in place.

    Cyclic coordinate descent finds a face, Newton steps minimise over it, smaller faces where they
    meet its border, and the next sweep looks further. It ends when a sweep after that changes
    nothing by more than `tolerance` times the largest |w|, or after `sweeps`. `A` is symmetric and
    positive semidefinite; where A_jj = 0, w_j stays as it is, within its limits.
    """
    for j in range(w.size):
        w[j] = min(max(w[j], low[j]), high[j])
    gradient = np.dot(A, w) - b
    face = np.full(w.size, -9)
    solved, waited = False, 0
    for _ in range(sweeps):
        change = _sweep(A, l1, low, high, w, gradient)
        differs = _write_face(l1, low, high, w, face)
        if solved and not differs and change <= tolerance * np.max(np.abs(w)):
            break
        waited += 1
        solved = not differs or waited == PATIENCE
        if solved:
            _minimise_on_face(A, b, l1, low, high, w, gradient, face)
            waited = 0
    return w
