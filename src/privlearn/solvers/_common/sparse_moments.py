"""Second moments of sparse rows as integers: exact, and without making them dense.

The proof is section 3 of integer_rows.md. Which of the two products is taken, by what is quicker,
changes no bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.integer_rows import MOMENT_BITS
from privlearn.solvers._common.loops.row_products import StoredRows

__all__ = ["sparse_moments"]

Array = NDArray[np.float64]
AT_ONCE = 2**11  # rows: sums of products of 40 bits are exact in float64, and far from 2^63
TOGETHER = 2**22  # rows whose sums of products of 40 bits are within int64
DENSE = 0.05  # entries that are stored, above which a dense product is quicker


def sparse_moments(rows: StoredRows, width: int, intercept: float, longest: float) -> Array:
    """Sum of v v' / longest^2 over rows v, each shortened to that length; a secret.

    Parameters
    ----------
    rows : StoredRows
        Sparse.
    width : int
        Entries of a row, the intercept's last.
    intercept : float
        That entry; 0 without intercept.
    longest : float
        Length to which rows are shortened.
    """
    grid = MOMENT_BITS - math.ceil(math.log2(longest))
    n, total = len(rows.targets), np.zeros((width, width))
    with np.errstate(divide="ignore"):
        shorter = np.minimum(1.0, longest * (1.0 - 2.0**-30) / rows.norms)
    shorter[rows.norms == 0.0] = 0.0  # the empty row
    for start in range(0, n, TOGETHER):
        own = slice(start, min(start + TOGETHER, n))
        total += _sums(_integers(rows, own, width, intercept, shorter, 2.0**grid))
    return np.ldexp(total, -2 * grid) / longest**2


def _integers(
    rows: StoredRows, own: slice, width: int, intercept: float, shorter: Array, unit: float
) -> Any:  # noqa: ANN401
    """Some rows, shortened, in units of the grid, rounded towards zero; as a CSR array."""
    from scipy.sparse import csr_array

    starts = rows.starts[own.start : own.stop + 1]
    entries, factor = slice(starts[0], starts[-1]), shorter[own]
    owner = np.repeat(np.arange(len(factor)), np.diff(starts))
    values = np.trunc(rows.values[0, entries].astype(np.float64) * unit * factor[owner])
    columns = rows.columns[entries]
    if intercept:
        owner = np.concatenate([owner, np.arange(len(factor))])
        values = np.concatenate([values, np.trunc(intercept * unit * factor)])
        columns = np.concatenate([columns, np.full(len(factor), width - 1)])
    return csr_array(
        (values.astype(np.int64), (owner, columns)), shape=(len(factor), width), dtype=np.int64
    )


def _sums(v: Any) -> NDArray[np.int64]:  # noqa: ANN401
    """v'v, in integers or in exact float64."""
    n, width = v.shape
    if v.nnz <= DENSE * n * width:
        return np.asarray((v.T @ v).toarray(), dtype=np.int64)
    total = np.zeros((width, width), np.int64)
    for start in range(0, n, AT_ONCE):
        block = v[start : start + AT_ONCE].toarray().astype(np.float64)
        total += (block.T @ block).astype(np.int64)
    return total
