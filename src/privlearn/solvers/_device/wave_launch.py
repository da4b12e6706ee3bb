"""The fused kernel of cosines and sines launched on rows of tensors, and what a fit asks before."""

from __future__ import annotations

from functools import cache
from typing import Any

from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._device.waves import BLOCK, TILE, longest, width_of

__all__ = ["refuse_too_many_waves", "usable", "write_waves"]

WAVES, ROWS, WARPS = 8, 256, 4  # of a program
SQUARES = 12.0  # matrices in double precision that a fit holds at once, a factorisation's included
EXACTLY = {"enable_fp_fusion": False}  # each operation has its own rounding, as in NumPy


@cache
def _kernels() -> Any:  # noqa: ANN401
    """The module of kernels, or None without Triton: then library functions do it."""
    try:
        from privlearn.solvers._device import wave_kernels
    except ImportError:
        return None
    return wave_kernels


def usable() -> bool:
    """Whether there is a kernel."""
    return _kernels() is not None


def write_waves(xp: Any, X: Any, turns: Any, block: Any) -> None:  # noqa: ANN401
    """Write cosines and sines of rows, given by columns in double precision."""
    import torch

    (columns, rows), half, X = X.shape, turns.shape[1], X.contiguous()
    grid = -(-rows // ROWS), -(-half // WAVES)
    squares = torch.empty((grid[1], rows), dtype=torch.int32, device=X.device)
    too_long = torch.zeros(rows, dtype=torch.int8, device=X.device)
    for cut in (False, True):
        if cut:
            too_long.copy_(squares.sum(dim=0, dtype=torch.int64) > longest(half))
        _kernels().wave_kernel[grid](
            X, turns, block, squares, too_long, columns, half, rows, block.shape[1],
            WAVES=WAVES, ROWS=ROWS, CUT=cut, num_warps=WARPS, **EXACTLY,
        )  # fmt: skip


def refuse_too_many_waves(array: Any, features: int) -> None:  # noqa: ANN401
    """Refuse a fit whose matrices do not fit on the device beside X; nothing was charged."""
    import torch

    n, columns = array.shape
    rows, width = min(int(n), BLOCK), width_of(features)
    in_blocks = rows * (1.5 * width + 32.0 * columns + 64.0) + 8.0 * width * TILE
    needed = SQUARES * 8.0 * width**2 + in_blocks + 8.0 * features * columns
    free, _ = torch.cuda.mem_get_info(array.device)
    free += torch.cuda.memory_reserved(array.device) - torch.cuda.memory_allocated(array.device)
    if needed > free:
        raise UnsupportedCombinationError(
            f"the fit needs about {needed / 2**30:.1f} GiB of the device's memory beside X, but "
            f"{free / 2**30:.1f} GiB are free; nothing was charged. Free some, take fewer "
            "n_components, or copy X to NumPy"
        )
