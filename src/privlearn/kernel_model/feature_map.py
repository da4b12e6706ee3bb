"""Features of a row for a linear solver: random Fourier features, alone or of ranks beside them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn._core.jit import worth_compiling
from privlearn._core.numerics import BLOCK_ROWS
from privlearn.kernel_approximation import RandomFourierFeatures
from privlearn.kernel_model.ranks import ranks_of
from privlearn.solvers._common.fourier_map import FourierMap, Workspace
from privlearn.solvers._common.loops.sequential_sgd import Recipe

__all__ = ["FeatureMap", "KernelSpec"]

Array = NDArray[np.float64]
Single = NDArray[np.float32]
CACHED = 2**19  # numbers: two megabytes
PART = 64  # rows that a sum of gradients takes together
STRAIGHT = 0.3  # part of the kernel that is u'v / p
BELOW_ONE = 1.0 - 2.0**-18  # far more than single precision can add to a length


@dataclass(frozen=True)
class KernelSpec:
    """Which kernel, and by how many features; all of it public and independent of the data."""

    kernel: str
    n_components: int
    orthogonal: bool
    random_state: int

    def frequencies(self, n_features: int, bandwidth: ArrayLike) -> Array:
        """Random frequencies, (n_features, n_components / 2): the same for the same seed."""
        features = RandomFourierFeatures(**asdict(self), bandwidth=bandwidth)
        return np.asarray(features.fit(np.zeros((1, n_features))).frequencies_)


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """From rows to features of length at most 1.

    With `edges` and `ranks` a value is replaced by its rank first, and ranks themselves are among
    the features, so that linear effects need no detour: a part of the kernel is u'v / p. Without
    them, features are Fourier features of the rows as they are. `by_row` makes features independent
    of a row's place to the last bit, as in `FourierMap`.
    """

    frequencies: Array
    edges: Array | None = None
    ranks: Array | None = None
    by_row: bool = False

    @property
    def n_features_out(self) -> int:
        """How many features a row has."""
        return 2 * self.frequencies.shape[1] + (0 if self.ranks is None else len(self.ranks))

    @cached_property
    def _waves(self) -> FourierMap:
        return FourierMap(self.frequencies, by_row=self.by_row)

    def transform(self, X: NDArray[np.floating]) -> Array:
        """Features of rows, in double precision."""
        return np.asarray(self.single(X), dtype=np.float64)

    def single(self, X: NDArray[np.floating]) -> Single:
        """Features of rows, in single precision."""
        out = np.empty((len(X), self.n_features_out), dtype=np.float32)
        inputs, workspace = self.inputs(X), self.workspace()
        for start in range(0, len(X), self.rows_at_once):
            own = slice(start, start + self.rows_at_once)
            self.write(inputs[own], out[own], workspace)
        return out

    @cached_property
    def rows_at_once(self) -> int:
        """So many rows that their features stay in the cache between one step and the next.

        Whole parts of a sum, where there is one: what is left over is a step of its own.
        """
        rows = min(max(CACHED // self.n_features_out, 1), BLOCK_ROWS)
        return rows - rows % PART if rows > PART else rows

    def inputs(self, X: NDArray[np.floating], numbers: int | None = None) -> NDArray[np.floating]:
        """What features are computed from: ranks from -1 to 1, in single precision, or rows.

        `numbers` says how many there are in all, where X is a part of them.
        """
        if self.edges is None or self.ranks is None:
            return X
        compiled = worth_compiling(X.size if numbers is None else numbers)
        return ranks_of(X, self.edges, self.ranks, compiled=compiled)

    def workspace(self) -> Workspace:
        """Memory that `write` needs."""
        return self._waves.workspace(self.rows_at_once)

    def write(
        self,
        inputs: NDArray[np.floating],
        out: Single,
        workspace: Workspace,
        length: float = 1.0,
    ) -> None:
        """Write features of at most `rows_at_once` rows to `out`, from their `inputs`.

        No row is longer than `length`: of waves and ranks the squares of their parts add up to it.
        """
        if self.ranks is None:
            self._waves.write(inputs, out, workspace, length)
            return
        p = inputs.shape[1]
        self._waves.write(inputs, out, workspace, math.sqrt(1.0 - STRAIGHT) * length)
        straight = np.float32(math.sqrt(STRAIGHT) * BELOW_ONE * length / math.sqrt(p))
        np.multiply(inputs, straight, out=out[:, -p:], casting="same_kind")

    def recipe(self, scale: float) -> Recipe | None:
        """For loops that compute features times `scale` themselves; None for those of ranks.

        With (1 - 2^-18) scale in the place of 1 - 2^-18, the proof of fourier_features bounds the
        length of a row by `scale`.
        """
        if self.ranks is not None:
            return None
        waves = self._waves
        return Recipe(
            turns=waves.turns,
            double=waves.turns_by_wave,
            order=waves.order,
            longest_first=waves.longest_first,
            amplitude=np.float32(BELOW_ONE * scale / math.sqrt(waves.order.size)),
            by_row=self.by_row,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: vars(self)[name] for name in self.__dataclass_fields__}
