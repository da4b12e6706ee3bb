"""Passes over integer rows: which form of the kernels runs, and how a pass is asked for again."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from privlearn._objective.losses import logistic
from privlearn.solvers._common.loops.integer_rows import LIMB

if TYPE_CHECKING:
    from privlearn.solvers._device.rows import DeviceRows

__all__ = [
    "EXACTLY",
    "arrays",
    "facts_and_weights",
    "gradient_pass",
    "padded_width",
    "plainly",
    "prepared",
    "sizes",
]

Array = NDArray[np.float64]
EXACTLY = {"enable_fp_fusion": False}  # each operation has its own rounding, as in NumPy
CHUNKS = 8  # of 32 rows, of a block
LANES = 4  # of a warp that share a chunk of a column
ROWS_OF_A_LANE = 8  # of a chunk
FACTS = 6  # before the weights
BIAS = 4  # the place of what scores have too much
MOST_ITEMS = 2**14  # of a program: 2^5 rows of 2^43 for each lane stay within int64
FIRST = 8  # generation of NVIDIA's processors that has the instructions of matrix units


@dataclass(frozen=True)
class Pass:
    """How a pass runs: how many rows of a block a warp takes at once, and how many warps there are.

    Measured on an H200 (benchmarks/speed/gpu.py): more warps at once are no faster, since all of
    them read 64 bytes of each column.
    """

    chunks: int  # of 32 rows
    warps: int  # on a multiprocessor
    stages: int = 3  # the chunks that are counted, and those that are read ahead
    registers: int | None = None  # of a lane


PASSES = {16: Pass(4, 16, 3, 128), 32: Pass(2, 12, 3, 168), 64: Pass(1, 12, 3, 168),
          128: Pass(1, 8)}  # fmt: skip
_plain: set[int] = set()  # widths for which instructions of warps did not give the same integers


def padded_width(columns: int) -> int:
    """How many columns a kernel is made for: a power of two."""
    return max(16, 1 << (columns - 1).bit_length())


def plainly(columns: int) -> None:
    """From now on, run the plain form of the kernels for so many columns."""
    _plain.add(padded_width(columns))


def _device(rows: DeviceRows) -> Any:  # noqa: ANN401
    return rows.values.device


@cache
def _processors(index: int) -> tuple[int, bool]:
    """How many a device has, and whether they have the instructions that kernels are made of."""
    import torch

    found = torch.cuda.get_device_properties(index)
    return found.multi_processor_count, found.major >= FIRST and torch.version.hip is None


def prepared(rows: DeviceRows, columns: int, loss: int) -> tuple[Any, dict[str, Any], int]:
    """The module of kernels, the options of a pass, and how many programs there are."""
    from privlearn.solvers._device import pass_kernels

    width, device = padded_width(columns), _device(rows)
    one = PASSES[width]
    items = int(rows.values.shape[0]) * (CHUNKS // one.chunks)
    processors, fast = _processors(device.index) if device.type == "cuda" else (0, False)
    programs = min(max(one.warps * processors, 3), items)
    options = {
        "PADDED": width, "CHUNKS": one.chunks, "LOGISTIC": loss == logistic.LOGISTIC,
        "STAGES": one.stages, "ASM": fast and width not in _plain, "num_warps": 1, **EXACTLY,
    }  # fmt: skip
    return pass_kernels, options, max(programs, -(-items // MOST_ITEMS))


def facts_and_weights(columns: int, weights: Array, *facts: float) -> Array:
    """What a pass is asked for, in one array that is copied to the device at once."""
    buffer = np.zeros(FACTS + padded_width(columns) // 2)
    _write(buffer, weights, facts)
    return buffer


def _write(buffer: Array, weights: Array, facts: tuple[float, ...]) -> None:
    buffer[: len(facts)] = facts
    buffer[BIAS] = 2.0**15 * float(weights.sum())  # exact: at most 2^46
    buffer[FACTS:].view(np.int32)[: len(weights)] = weights


def arrays(rows: DeviceRows, there: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """What every kernel of a pass reads: words of two rows, and what `facts_and_weights` made."""
    import torch

    words = rows.values.view(torch.int32)
    return words, rows.targets, rows.norms, there[FACTS:].view(torch.int32), there


def sizes(rows: DeviceRows, options: dict[str, Any]) -> tuple[int, int]:
    """How many columns and items there are."""
    return len(rows.exponents), int(rows.values.shape[0]) * (CHUNKS // options["CHUNKS"])


class _GradientPass:
    """One pass over rows, as often as it is asked for.

    From the second time on a GPU runs it as one recorded piece, copies included: to ask for each
    kernel alone takes longer than to read a few hundred megabytes.
    """

    def __init__(self, rows: DeviceRows, columns: int, loss: int) -> None:
        import torch

        device = _device(rows)
        self.loss, self.columns = loss, columns
        self.kernels, self.options, self.programs = prepared(rows, columns, loss)
        self.lanes = LANES * self.options["CHUNKS"]
        width = self.options["PADDED"] + ROWS_OF_A_LANE  # then sums of slopes of a lane's rows
        pinned = device.type == "cuda"
        asked = torch.zeros(FACTS + self.options["PADDED"] // 2, dtype=torch.float64)
        self.asked = asked.pin_memory() if pinned else asked
        self.there = torch.empty_like(asked, device=device)
        shape = self.programs, width, self.lanes
        self.sums = torch.empty(shape, dtype=torch.int64, device=device)
        self.limbs = torch.empty((2, width), dtype=torch.int64, device=device)
        self.found = torch.empty((2, width), dtype=torch.int64, pin_memory=pinned)
        self.arrays, self.sizes = arrays(rows, self.there), sizes(rows, self.options)
        self.times, self.recorded = 0, None

    def __call__(self, weights: Array, *facts: float) -> list[int]:
        """Exact sums of each column times the slopes, then of the slopes."""
        _write(self.asked.numpy(), weights, facts)
        self._run()
        found = [(high << LIMB) + low for high, low in zip(*self.found.tolist(), strict=True)]
        slopes = sum(found[self.options["PADDED"] :])
        return [*(one - (slopes << 15) for one in found[: self.columns]), slopes]

    def _run(self) -> None:
        import torch

        device = self.there.device
        self.times += 1
        if self.times == 2 and device.type == "cuda":  # kernels were loaded the first time
            self.recorded = self._record()
        if self.recorded is None:
            self._launch()
        else:
            self.recorded.replay()
        if device.type == "cuda":
            torch.cuda.current_stream(device).synchronize()

    def _launch(self) -> None:
        """Ask for copies and kernels, and wait for nothing."""
        self.there.copy_(self.asked, non_blocking=True)
        options = dict(self.options)
        if options["ASM"]:
            options["maxnreg"] = PASSES[options["PADDED"]].registers
        self.kernels.gradient_kernel[(self.programs,)](
            *self.arrays, self.sums, *self.sizes, **options
        )
        width = int(self.sums.shape[1])
        self.kernels.finish_kernel[(width,)](
            self.sums, self.limbs, self.programs, columns=width, LANES=self.lanes, LIMB=LIMB,
            AT_ONCE=256, num_warps=4,
        )  # fmt: skip
        self.found.copy_(self.limbs, non_blocking=True)

    def _record(self) -> Any:  # noqa: ANN401
        """The same as a graph of the device's, or None where that cannot be recorded."""
        import torch

        graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream(self.there.device)
        stream.wait_stream(torch.cuda.current_stream(self.there.device))
        try:
            with torch.cuda.stream(stream):
                graph.capture_begin(capture_error_mode="thread_local")
                try:
                    self._launch()
                finally:
                    graph.capture_end()
        except RuntimeError:
            return None
        return graph


_passes: WeakKeyDictionary[DeviceRows, _GradientPass] = WeakKeyDictionary()


def gradient_pass(rows: DeviceRows, columns: int, loss: int) -> _GradientPass:
    """The pass over these rows, made when it is asked for the first time."""
    found = _passes.get(rows)
    if found is None or (found.columns, found.loss) != (columns, loss):
        found = _passes[rows] = _GradientPass(rows, columns, loss)
    return found
