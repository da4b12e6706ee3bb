"""Second moments of rows times a factor of their own, as integers: exact in any order.

With the root of the second derivative of a loss for a factor they are its curvature, with its slope
those of gradients. The proof is that of integer_rows.md, section 3: a row is shortened, rounded
towards zero on a grid, and sums of products of integers are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.integer_rows import MOMENT_BITS
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sgd import scored_blocks
from privlearn.solvers._common.objective import Objective

__all__ = ["squared_errors", "weighted_moments"]

Array = NDArray[np.float64]
Factor = Callable[[Array, Array, Array], Array]  # of targets, scores and lengths of rows
ERROR_BITS = 20  # of errors: sums of as many squares are exact, too
AT_ONCE = 2**11  # rows: sums of products of 40 bits are exact in float64, and far from 2^63


@np.errstate(all="ignore")  # what is not a number contributes nothing
def weighted_moments(
    rows: StoredRows, objective: Objective, weights: Array, factor: Factor, longest: float
) -> Array:
    """Sum of v v' / longest^2 over v = factor times row, shortened to that length; a secret.

    Parameters
    ----------
    rows : StoredRows
        Dense or sparse; empty ones have norm 0 and contribute nothing.
    objective : Objective
        Its loss has one score.
    weights : array of shape (width,)
        Where scores are taken.
    factor : callable
        From targets, scores and lengths to a number for each row.
    longest : float
        Length to which they are shortened.
    """
    width, grid = objective.scaling.width, MOMENT_BITS - math.ceil(math.log2(longest))
    total, limit = np.zeros((width, width)), longest * (1.0 - 2.0**-30)
    for own, targets, scores in _scored(rows, objective, weights):
        size = np.array(factor(targets, scores, rows.norms[own]), dtype=np.float64)
        length = np.abs(size) * rows.norms[own]
        size *= np.where(length > limit, limit / length, 1.0)
        usable = np.isfinite(size) & (rows.norms[own] > 0.0)
        v = _dense(rows, own, width, objective.scaling.intercept_value)
        v *= np.where(usable, size, 0.0)[:, None]
        np.trunc(np.ldexp(v, grid, out=v), out=v)
        total += v.T @ v
    return np.ldexp(total, -2 * grid) / longest**2


@np.errstate(all="ignore")  # what is not a number contributes nothing
def squared_errors(rows: StoredRows, objective: Objective, weights: Array, largest: float) -> float:
    """Sum of e^2 / largest^2 over the errors e of rows, cut at that size; a secret.

    A row adds at most 1, and an empty one nothing. Errors are rounded towards zero on a grid, so
    that the sum is exact in any order.
    """
    total = 0
    for own, targets, scores in _scored(rows, objective, weights):
        error = np.minimum(np.abs(objective.loss.derivative(targets, scores)) / largest, 1.0)
        usable = np.isfinite(error) & (rows.norms[own] > 0.0)
        whole = np.trunc(np.ldexp(np.where(usable, error, 0.0), ERROR_BITS))
        total += int(np.sum(whole**2))
    return total / 4**ERROR_BITS


def _scored(
    rows: StoredRows, objective: Objective, weights: Array
) -> Iterator[tuple[slice, Array, Array]]:
    """Rows in blocks that are small enough, with their targets and scores."""
    everyone = np.arange(len(rows.targets))
    for start in range(0, max(len(everyone), 1), AT_ONCE):
        batch, compiled = everyone[start : start + AT_ONCE], objective.compiled(clip=1.0)
        parts = list(scored_blocks(rows, batch, compiled, weights))
        scores = np.concatenate([part.scores[:, 0] for part in parts])
        yield slice(start, start + len(batch)), rows.targets[batch], scores


def _dense(rows: StoredRows, own: slice, width: int, intercept_value: float) -> Array:
    """Some rows in double precision with the intercept's entry."""
    found = np.zeros((own.stop - own.start, width))
    features = width - int(intercept_value > 0.0)
    if rows.columns.size:
        starts = rows.starts[own.start : own.stop + 1]
        owner = np.repeat(np.arange(len(found)), np.diff(starts))
        entries = slice(starts[0], starts[-1])
        found[owner, rows.columns[entries]] = rows.values[0, entries]
    else:
        found[:, :features] = rows.values[own]
    found[:, features:] = intercept_value
    return found
