"""Sums of rows in floating point, with the error bound that the sensitivity pays for.

A statistic is the sum over rows of contributions of norm at most `clip`. It is computed in float64:
inside blocks of at most `BLOCK_ROWS` rows in any order (BLAS chooses), then over blocks with
compensation. With u = 2^-53 and gamma_k = k u / (1 - k u) (Higham 2002, section 3.1) every entry of
a block's sum is off by at most gamma_{B+2} times the sum of absolute terms (one rounding for a
product, one for a constant factor), and the compensated sum over blocks adds 2u + O(m^2 u^2)
(Higham 2002, section 4.3), less than 4u for up to 2^22 blocks. Norms of entrywise bounds add up, so

    |computed - exact| <= (gamma_{B+2} + 4u) * rows * clip,

and two neighbouring data sets differ by at most twice that beyond the exact sensitivity.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from privlearn._core.threads import in_parts
from privlearn.exceptions import PlanViolationError

__all__ = [
    "BLOCK_ROWS",
    "MAX_COLUMNS",
    "MAX_ROWS",
    "BlockSum",
    "noisy",
    "round_to_grid",
    "summation_error",
]

BLOCK_ROWS = 1024
MAX_COLUMNS = 2**31 - 1
MAX_ROWS = 2**30  # a public limit; it stands for n where n is private
UNIT_ROUNDOFF = 2.0**-53
WORTH_A_THREAD = 2**18  # numbers


def summation_error(rows: int) -> float:
    """Bound on |computed - exact| of a sum of `rows` contributions of norm 1.

    Examples
    --------
    >>> summation_error(10**6) < 2e-7
    True
    """
    in_block = (BLOCK_ROWS + 2) * UNIT_ROUNDOFF
    return rows * (in_block / (1.0 - in_block) + 4.0 * UNIT_ROUNDOFF)


class BlockSum:
    """Compensated sum of arrays of one shape (Neumaier's variant of Kahan's sum).

    Examples
    --------
    >>> total = BlockSum((1,))
    >>> for term in (1.0, 1e100, 1.0, -1e100):
    ...     total.add(np.array([term]))
    >>> float(total.value()[0])
    2.0
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._sum = np.zeros(shape)
        self._lost = np.zeros(shape)

    def add(self, block: NDArray[np.float64]) -> None:
        """Add one block's sum."""
        total = self._sum + block
        larger = np.abs(self._sum) >= np.abs(block)
        self._lost += np.where(larger, (self._sum - total) + block, (block - total) + self._sum)
        self._sum = total

    def value(self) -> NDArray[np.float64]:
        """The sum so far."""
        return self._sum + self._lost


def round_to_grid(statistic: NDArray[np.float64], grid: float) -> NDArray[np.int64]:
    """Nearest grid points, as integers.

    A sum of bounded rows is always finite and fits: anything else is a bug in a solver, and
    stopping is safer than releasing it.
    """
    units = np.rint(statistic / grid)
    if not (np.abs(units) < 2.0**52).all():
        raise PlanViolationError(
            "a statistic is not finite or larger than its plan allows: a solver bug"
        )
    return units.astype(np.int64)


def noisy(
    statistic: NDArray[np.float64], noise: NDArray[np.int64], grid: float
) -> NDArray[np.float64]:
    """The sum of a statistic on the grid and noise in its units; large ones are added in threads.

    Examples
    --------
    >>> noisy(np.array([0.3, 1.9]), np.array([1, 0]), 0.5)
    array([1., 2.])
    """
    found = np.empty(statistic.shape)
    flat, added, out = statistic.reshape(-1), noise.reshape(-1), found.reshape(-1)

    def add(first: int, last: int) -> None:
        units = round_to_grid(flat[first:last], grid)
        units += added[first:last]
        np.multiply(units, grid, out=out[first:last])

    in_parts(flat.size, add, at_least=WORTH_A_THREAD)
    return found


def check_size(n: object, n_features: object) -> tuple[int | None, int]:
    """Numbers of rows and columns as plain integers; those that no table has are refused."""
    rows = None if n is None else _whole("n", n, MAX_ROWS)
    return rows, _whole("n_features", n_features, MAX_COLUMNS)


def _whole(name: str, value: object, most: int) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= most:
        return int(value)
    given = str(value)[:20] if isinstance(value, Integral | float) else type(value).__name__
    raise ValueError(f"{name} is {given}, but a whole number from 1 to {most} is needed")
