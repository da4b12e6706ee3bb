"""Moments as tensors: matrices of thousands of columns never pass through the processor.

What is released does, as one vector: the Releaser is there. All that follows it is post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.prox import WeightPenalty
from privlearn.solvers._common.moment_equations import Ridge, Spectrum, means_of, solve_spectrum
from privlearn.solvers._device.waves import WaveMoments

if TYPE_CHECKING:
    import torch

__all__ = ["TensorMoments"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TensorMoments(WaveMoments):
    """The same sums where they were made."""

    def there(self, values: Array) -> torch.Tensor:
        """Numbers where the sums are."""
        import torch

        return torch.from_numpy(values).to(self.sums.device)

    def zeros(self, size: int) -> torch.Tensor:
        """A matrix where the sums are."""
        import torch

        return torch.zeros((size, size), dtype=torch.float64, device=self.sums.device)

    def stacked(self) -> Array:
        """What is released, without noise; it waits for the device."""
        matrix = self.matrix()
        rows, columns = _upper(matrix)
        return _to_host(_off_diagonal(matrix, math.sqrt(2.0))[rows, columns])

    def solved(self, noisy: Array, **facts: Any) -> tuple[Array, float, Array | None]:  # noqa: ANN401
        """Coefficients, the intercept, and noise, from what was released."""
        matrix = self.zeros(self.scaling.width + 1)
        rows, columns = _upper(matrix)
        matrix[rows, columns] = self.there(noisy)
        _off_diagonal(matrix, 1.0 / math.sqrt(2.0))
        matrix += matrix.triu(1).T
        return _solve(matrix, **facts)


def _upper(matrix: torch.Tensor) -> torch.Tensor:
    """Rows and columns of the upper triangle, in the order of `stack`."""
    import torch

    return torch.triu_indices(*matrix.shape, device=matrix.device)


def _off_diagonal(matrix: torch.Tensor, factor: float) -> torch.Tensor:
    """Multiply all entries but those on the diagonal, in place."""
    diagonal = matrix.diagonal().clone()
    matrix *= factor
    matrix.diagonal().copy_(diagonal)
    return matrix


def _to_host(vector: torch.Tensor) -> Array:
    """A copy in memory that the device writes to directly, where there is such."""
    if vector.device.type != "cuda":
        return np.asarray(vector.numpy())
    import torch

    held = torch.empty(vector.shape, dtype=vector.dtype, pin_memory=True)
    return np.asarray(held.copy_(vector).numpy())


def _solve(
    moments: torch.Tensor,
    *,
    intercept: bool,
    penalty: WeightPenalty,
    noise: float,
    ridge: Ridge,
    count: float | None,
) -> tuple[Array, float, Array | None]:
    """As `solve_moments`, with the matrix where it is."""
    import torch

    first, cross = moments[0].cpu().numpy(), moments[:-1, -1].cpu().numpy()
    means, gram = np.zeros(len(first)), moments[:-1, :-1]
    if intercept:
        rows = max(float(first[0]), 1.0) if count is None else float(count)
        means = means_of(first, rows)
        there = torch.from_numpy(means[:-1]).to(moments.device)
        gram = gram[1:, 1:] - rows * torch.outer(there, there)
        cross = cross[1:] - rows * (means[:-1] * means[-1])
    gram = gram + torch.diag(torch.from_numpy(penalty.curvature).to(moments.device))
    values, vectors = torch.linalg.eigh(gram)
    spectrum = TensorSpectrum(values.cpu().numpy(), vectors)
    public = (count is not None) if intercept else None
    return solve_spectrum(spectrum, cross, means, penalty, noise, ridge, public)


class TensorSpectrum(Spectrum):
    """With eigenvectors that stay where they were computed."""

    def along(self, x: Array) -> Array:
        """Entries of a vector along the eigenvectors."""
        return self._product(self.vectors.T, x)

    def back(self, along: Array) -> Array:
        """The vector that has such entries."""
        return self._product(self.vectors, along)

    def responses(self, gain: Array, *to: Array) -> tuple[Array, ...]:
        """Of the matrix of such eigenvalues: squared lengths of rows, and products with vectors."""
        squares = self._product(self.vectors**2, gain**2)
        return squares, *(self.back(gain * self.along(one)) for one in to)

    def _product(self, matrix: torch.Tensor, x: Array) -> Array:
        import torch

        there = torch.from_numpy(np.ascontiguousarray(x)).to(matrix.device)
        return np.asarray((matrix @ there).cpu().numpy())
