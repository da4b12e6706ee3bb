"""A quadratic with weighted absolute values in a box, minimised to the last digits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["minimise_quadratic"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
AT_LOW, AT_HIGH, AT_ZERO, FREE = -2, 2, 0, 3  # 1 and -1: away from 0, with that sign
SINGULAR = 1e-14  # a pivot this small beside its diagonal entry is rounding
PATIENCE = 8  # sweeps with moving faces before one is solved nevertheless
GUESSES = 12  # faces that are tried before the sure way


def minimise_quadratic(
    A: Array, b: Array, l1: Array, low: Array, high: Array, w: Array, sweeps: int, tolerance: float
) -> Array:
    """Minimise w'Aw / 2 - b'w + sum l1 |w| over low <= w <= high, from `w` on and in place.

    The face on which `w` lies is mostly that of the minimum, or near it, so that is tried first.
    The sure way: cyclic coordinate descent finds a face, Newton steps minimise over it, smaller
    faces where they meet its border, and the next sweep looks further.

    Parameters
    ----------
    A : array of shape (n, n)
        Symmetric and positive semidefinite; where A_jj = 0, w_j stays as it is, within its limits.
    b, l1, low, high, w : arrays of shape (n,)
        As above.
    sweeps : int
        The most that are made.
    tolerance : float
        Of a sweep after a face is solved, relative to the largest |w|: the end.
    """
    np.clip(w, low, high, out=w)
    if not _guess_face(A, b, l1, low, high, w):
        _descend(A, b, l1, low, high, w, sweeps, tolerance)
    return w


def _guess_face(A: Array, b: Array, l1: Array, low: Array, high: Array, w: Array) -> bool:
    """Solve on faces that follow from one another, until one holds the minimum; whether one did."""
    movable = np.diag(A) > 0.0
    if not movable.all():
        return False
    signs = np.where(l1 > 0.0, np.sign(w), 0.0)
    free = (w > low) & (w < high) & ((w != 0.0) | (l1 == 0.0))
    for _ in range(GUESSES):
        solved = _solved_on(A, b - l1 * signs, w, free)
        if solved is None:
            return False
        crossed = free & (solved * signs < 0.0)
        bounded = np.clip(np.where(crossed, 0.0, solved), low, high)
        w[:] = bounded + 0.0  # never -0.0
        left = crossed | (free & ((solved <= low) | (solved >= high)))
        if left.any():
            free &= ~left
            continue
        wrong, signs = _could_fall(A @ w - b, l1, low, high, w, signs, free, A)
        if not wrong.any():
            return True
        free |= wrong
    return False


def _solved_on(A: Array, pull: Array, w: Array, free: Flags) -> Array | None:
    """Where the gradient along free coordinates is 0, the others as they are; None if flat."""
    from scipy.linalg import LinAlgError, cho_solve

    found, own = w.copy(), np.flatnonzero(free)
    if not len(own):
        return found
    block = A[np.ix_(own, own)]
    try:
        factor = np.linalg.cholesky(block)
    except LinAlgError:
        return None
    if (np.diag(factor) ** 2 <= SINGULAR * np.diag(block)).any():
        return None
    held = np.where(free, 0.0, w)
    found[own] = cho_solve((factor, True), pull[own] - A[own] @ held, check_finite=False)
    return found if np.isfinite(found).all() else None


def _could_fall(
    slope: Array,
    l1: Array,
    low: Array,
    high: Array,
    w: Array,
    signs: Array,
    free: Flags,
    A: Array,
) -> tuple[Flags, Array]:
    """Held coordinates along which the objective falls, and the signs that they would have."""
    rounding = 8.0 * np.finfo(np.float64).eps * np.diag(A) * np.abs(w).max(initial=0.0)
    upwards = slope + np.where(w >= 0.0, l1, -l1) + rounding < 0.0
    downwards = -slope + np.where(w <= 0.0, l1, -l1) + rounding < 0.0
    up, down = ~free & upwards & (w < high), ~free & downwards & (w > low)
    moved = np.where(w != 0.0, np.sign(w), up.astype(float) - down)
    return up | down, np.where((up | down) & (l1 > 0.0), moved, signs)


def _descend(
    A: Array, b: Array, l1: Array, low: Array, high: Array, w: Array, sweeps: int, tolerance: float
) -> None:
    """The sure way."""
    gradient = A @ w - b
    face = np.full(w.size, -9)
    solved, waited = False, 0
    for _ in range(sweeps):
        change = _sweep(A, l1, low, high, w, gradient)
        now = _face_of(l1, low, high, w)
        differs, face = (now != face).any(), now
        if solved and not differs and change <= tolerance * np.max(np.abs(w)):
            break
        waited += 1
        solved = not differs or waited == PATIENCE
        if solved:
            face = _minimise_on_face(A, b, l1, low, high, w, gradient, face)
            waited = 0


def _sweep(A: Array, l1: Array, low: Array, high: Array, w: Array, gradient: Array) -> float:
    """Minimise along each coordinate in turn; the largest change."""
    largest = 0.0
    for j in range(w.size):
        curvature = A[j, j]
        if not curvature > 0.0:
            continue
        target = w[j] * curvature - gradient[j]
        shrunk = math.copysign(max(abs(target) - l1[j], 0.0), target) / curvature + 0.0
        moved = min(max(shrunk, low[j]), high[j])
        change = moved - w[j]
        if change != 0.0:
            w[j] = moved
            gradient += change * A[j]
            largest = max(largest, abs(change))
    return largest


def _face_of(l1: Array, low: Array, high: Array, w: Array) -> NDArray[np.int64]:
    """On which smooth piece each coordinate lies."""
    within = np.where(l1 == 0.0, FREE, np.sign(w).astype(np.int64))  # a sign of 0 is AT_ZERO
    return np.where(w <= low, AT_LOW, np.where(w >= high, AT_HIGH, within))


def _solve_positive(matrix: Array, x: Array) -> None:
    """Overwrite x with the solution, by Cholesky in place; directions without curvature get 0."""
    n = x.size
    for j in range(n):
        before = matrix[j, :j]
        pivot = matrix[j, j] - before @ before
        singular = not pivot > SINGULAR * matrix[j, j]
        matrix[j, j] = math.inf if singular else math.sqrt(pivot)
        below = matrix[j + 1 :]
        below[:, j] = (below[:, j] - below[:, :j] @ before) / matrix[j, j]
        x[j] = (x[j] - before @ x[:j]) / matrix[j, j]
    for j in range(n - 1, -1, -1):
        x[j] /= matrix[j, j]
        x[:j] -= matrix[j, :j] * x[j]


def _advance(start: Array, step: Array, bottom: Array, top: Array) -> tuple[Array, bool]:
    """Where the step meets its first limit, or its end; whether it met none."""
    room = np.where(step < 0.0, bottom, top) - start
    share = np.ones(step.size)
    beyond = np.abs(step) > np.abs(room)
    share[beyond] = room[beyond] / step[beyond]
    if not beyond.any():
        return np.clip(start + step, bottom, top), True
    first = int(np.argmin(share))
    end = np.clip(start + share[first] * step, bottom, top)
    end[first] = bottom[first] if step[first] < 0.0 else top[first]
    return end, False


def _step_on_face(
    A: Array,
    l1: Array,
    low: Array,
    high: Array,
    w: Array,
    gradient: Array,
    face: NDArray[np.int64],
) -> bool:
    """Newton step on the face, up to its border; whether it got there unhindered.

    The objective is quadratic on the face, so it falls all along the step. Cutting each coordinate
    at its own limit goes further, and is done where the objective falls more.
    """
    free = np.flatnonzero((face != AT_LOW) & (face != AT_HIGH) & (face != AT_ZERO))
    block, start, signs = A[np.ix_(free, free)], w[free], np.where(face == FREE, 0, face)[free]
    slope = gradient[free] + l1[free] * signs
    step = -slope
    _solve_positive(block.copy(), step)
    bottom = np.where(signs == 1, np.maximum(low[free], 0.0), low[free])
    top = np.where(signs == -1, np.minimum(high[free], 0.0), high[free])
    end, unhindered = _advance(start, step, bottom, top)
    if not unhindered:
        cut = np.clip(start + step, bottom, top)
        if _rise(block, slope, cut - start) < _rise(block, slope, end - start):
            end = cut
    w[free] = end
    return unhindered


def _rise(block: Array, slope: Array, step: Array) -> float:
    return float(slope @ step + 0.5 * (step @ (block @ step)))


def _minimise_on_face(
    A: Array,
    b: Array,
    l1: Array,
    low: Array,
    high: Array,
    w: Array,
    gradient: Array,
    face: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Newton steps on ever smaller faces, until one meets no border; the face at the end."""
    for _ in range(w.size + 1):
        unhindered = _step_on_face(A, l1, low, high, w, gradient, face)
        face = _face_of(l1, low, high, w)
        gradient[:] = A @ w - b
        if unhindered:
            break
    return face
