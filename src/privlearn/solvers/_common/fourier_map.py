"""Random Fourier features of blocks of rows, in single precision and never longer than 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn.solvers._common.loops import fourier_features as loops

__all__ = ["BELOW_ONE", "FourierMap", "Workspace"]

Array = NDArray[np.float64]
SingleArray = NDArray[np.float32]
BELOW_ONE = 1.0 - 2.0**-18  # fourier_features.py: far more than rounding can add to a length


class Workspace(NamedTuple):
    """Where `FourierMap.write` keeps what it needs on the way."""

    single: SingleArray  # rows in single precision
    lengths: Array  # of rows


@dataclass(frozen=True, eq=False)
class FourierMap:
    """Random Fourier features in single precision, block by block, for solvers.

    A row's features have a length of at most 1, whatever the row holds: NaN, infinity and 1e308
    included (proof in fourier_features.py). A feature times sqrt(M / 2) is off by 2^-21, and by the
    error of its phase: with L the row's length times the frequency's, in turns, that is at most
    16 (n_features + 3) 2^-24 turns in the worst case for L <= 16, and (n_features + 3) 2^-53 L
    beyond, where the phase is computed in double precision.

    Parameters
    ----------
    frequencies : ndarray of shape (n_features, M / 2)
        In radians per unit of X, as in `RandomFourierFeatures.frequencies_`.
    by_row : bool, default=False
        False multiplies by BLAS: a row's last bits may depend on its place in the block and on the
        block's size, which is harmless as long as no neighbouring data set moves a row to another
        place. True multiplies row by row, so that features are a function of the row alone, as is
        needed where the number of rows is private. That takes 1.2 times as long for 20 features
        and 4 times as long for 800.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn.solvers._common.fourier_map import FourierMap
    >>> to_features = FourierMap(np.array([[0.5, 3.0]]))
    >>> X, out = np.array([[0.0], [1.0]]), np.empty((2, 4), dtype=np.float32)
    >>> to_features.write(X, out, to_features.workspace(2))
    >>> cosines, sines = np.sqrt(2) * out[1, :2], np.sqrt(2) * out[1, 2:]
    >>> np.allclose(cosines, np.cos([0.5, 3.0])), np.allclose(sines, np.sin([0.5, 3.0]))
    (True, True)
    """

    frequencies: NDArray[np.floating]
    by_row: bool = False

    turns: SingleArray = field(init=False, repr=False)  # turns, (n_features, M / 2)
    turns_by_wave: Array = field(init=False, repr=False)  # turns, (M / 2, n_features)
    order: NDArray[np.int64] = field(init=False, repr=False)
    longest_first: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        turns = np.asarray(self.frequencies, dtype=np.float64) / (2.0 * math.pi)
        lengths = np.linalg.norm(turns, axis=0)
        order = np.argsort(-lengths, kind="stable").astype(np.int64)
        put = object.__setattr__  # the class is frozen
        put(self, "turns", np.ascontiguousarray(turns, dtype=np.float32))
        put(self, "turns_by_wave", np.ascontiguousarray(turns.T))
        put(self, "order", order)
        put(self, "longest_first", lengths[order])

    @property
    def n_components(self) -> int:
        """Number M of features."""
        return 2 * self.order.size

    def workspace(self, rows: int) -> Workspace:
        """Memory for blocks of up to `rows` rows."""
        return Workspace(np.empty((rows, len(self.turns)), dtype=np.float32), np.empty(rows))

    def write(
        self,
        X: NDArray[np.floating],
        out: SingleArray,
        workspace: Workspace,
        length: float = 1.0,
    ) -> None:
        """Write features of a block of rows to `out`; nothing is allocated but in `workspace`.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Float32 or float64.
        out : ndarray of shape (n_rows, n_components or more), float32, C-contiguous
            Cosines, then sines; columns beyond them are left alone.
        workspace : Workspace
            From `workspace(rows)` with rows >= n_rows.
        length : float, default=1.0
            No row is longer than it. With (1 - 2^-18) `length` in the place of 1 - 2^-18, the proof
            is that of fourier_features.py.
        """
        half = self.order.size
        single, lengths = workspace.single[: len(X)], workspace.lengths[: len(X)]
        loops.narrow_rows(X, single, lengths)
        if self.by_row:
            loops.multiply_rows(single, self.turns, out)
        else:
            np.matmul(single, self.turns, out=out[:, :half])
        amplitude = np.float32(BELOW_ONE * length / math.sqrt(half))
        loops.write_waves(
            X, lengths, self.turns_by_wave, self.order, self.longest_first, amplitude, out
        )
