"""Bounded rows that lie on a device, in the place of a table in memory.

Rows are finite and bounded by a box alone: others are copied and bounded by NumPy. Sums over them
are those of `solvers/_device`; whoever asks for blocks gets copies in NumPy's memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.numerics import BLOCK_ROWS
from privlearn._core.problem import Bounds, Problem
from privlearn._data.bounded import BoundedData, Rows, Table
from privlearn._data.device import Namespace, to_host

__all__ = ["DeviceData", "bound_on_device"]


@dataclass(frozen=True, eq=False)
class DeviceData(BoundedData):
    """Rows on a device that obey the declared bounds.

    Attributes
    ----------
    array, numbers : arrays on the device
        X, and y as numbers or as classes -1 and 1 in single bytes; not yet bounded.
    xp : Namespace
        Operations on them.
    """

    array: Any
    numbers: Any
    xp: Namespace

    on_device: ClassVar[bool] = True

    @property
    def n(self) -> int:
        """Number of rows, which is a secret under `add_remove`."""
        return int(self.array.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns, which is public."""
        return int(self.array.shape[1])

    @property
    def sparse(self) -> bool:
        """Rows are dense."""
        return False

    def present(self) -> NDArray[np.bool_]:
        """Which rows are not the empty row: all, for others were refused."""
        return np.full(self.n, True)

    def count_present(self) -> int:
        """How many rows are not the empty row; a secret."""
        return self.n

    @property
    def _in_a_box(self) -> bool:
        """Whether NumPy's loops could read numbers where they lie: they cannot."""
        return False

    def of_columns(self, chosen: NDArray[np.int64], bounds: Bounds) -> DeviceData:
        """The same rows with the chosen columns only, within bounds of theirs."""
        if len(chosen) == self.n_features and (chosen == np.arange(len(chosen))).all():
            return replace(self, bounds=bounds)
        columns = [self.array[:, int(j) : int(j) + 1] for j in chosen]
        return replace(self, bounds=bounds, array=self.xp.concat(columns, axis=1))

    def targets(self, first: int, last: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Bounded targets of some rows, copied, and that none of them is the empty row's."""
        y = to_host(self.numbers[first : min(last, self.n)]).astype(np.float64)
        ends = self.bounds.target
        return y if ends is None else np.clip(y, *ends), np.full(len(y), True)

    def take(self, rows: NDArray[np.int64]) -> BoundedData:
        """Some of the rows, in the order given, in NumPy's memory."""
        X, y = to_host(self.array), to_host(self.numbers)
        return BoundedData(Table(X[rows], y[rows], True), self.bounds, self.fit_intercept)

    def blocks(
        self, first: int = 0, last: int | None = None, at_once: int = BLOCK_ROWS
    ) -> Iterator[Rows]:
        """All rows in order, or some of them, in NumPy's memory."""
        own = slice(first, self.n if last is None else min(last, self.n))
        table = Table(to_host(self.array[own, ...]), to_host(self.numbers[own]), True)
        yield from _Copied(table, self.bounds, self.fit_intercept).blocks(at_once=at_once)


class _Copied(BoundedData):
    def __post_init__(self) -> None:
        """Audits are shown the rows on the device."""


def bound_on_device(array: Any, numbers: Any, xp: Namespace, problem: Problem) -> DeviceData:  # noqa: ANN401
    """Enforce the problem's declared bounds on every row."""
    shape = np.empty((0, int(array.shape[1])))
    table = Table(shape, np.empty(0), finite=True)
    return DeviceData(table, problem.bounds, problem.fit_intercept, array, numbers, xp)
