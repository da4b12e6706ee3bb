"""Arrays on a device: which they are, the few operations that fits need of them, and copies here.

CuPy arrays, torch tensors and arrays of any library that follows the array API standard have the
same operations under different names. Each of them is rounded once, as in NumPy, so that what is
computed from them has the same bits everywhere. CuPy arrays become torch tensors, without a copy,
where torch is there: its compiled kernels then serve both.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Namespace", "as_tensor", "is_on_device", "namespace_of", "to_host"]

HERE = ("cpu", "cpu_device")  # what devices are called whose memory NumPy reads


def is_on_device(values: object) -> bool:
    """Whether an array lies where NumPy cannot read it: on a GPU, say.

    Examples
    --------
    >>> is_on_device(np.zeros(3)), is_on_device([1, 2])
    (False, False)
    """
    if isinstance(values, np.ndarray | list | tuple | str) or values is None:
        return False
    if _library(values) == "torch":
        return bool(values.device.type != "cpu")  # type: ignore[attr-defined]
    if _library(values) == "cupy":
        return True
    if not hasattr(values, "__array_namespace__"):
        return False
    name = str(getattr(values, "device", "cpu")).lower()
    return not any(name.startswith(here) or f"'{here}'" in name for here in HERE)


def _library(values: object) -> str:
    """The library that an array is of, where it is one of two that is loaded."""
    for name, kind in (("torch", "Tensor"), ("cupy", "ndarray")):
        module = sys.modules.get(name)
        if module is not None and isinstance(values, getattr(module, kind, ())):
            return name
    return ""


def as_tensor(values: Any) -> Any:  # noqa: ANN401
    """A CuPy array as a tensor of the same memory, where torch is there; others as they are."""
    if _library(values) == "torch":
        return values.detach()
    if _library(values) == "cupy":
        with suppress(Exception):  # no torch, or one that knows no such device
            import torch

            return torch.from_dlpack(values)
    return values


def to_host(values: Any) -> NDArray[Any]:  # noqa: ANN401
    """A copy in NumPy's memory; arrays that are there already come as they are."""
    if _library(values) == "torch":
        return np.asarray(values.detach().cpu().numpy())
    if _library(values) == "cupy":
        return np.asarray(values.get())
    if not isinstance(values, np.ndarray) and hasattr(values, "__array_namespace__"):
        return _from_standard(values)
    return np.asarray(values)


def _from_standard(values: Any) -> NDArray[Any]:  # noqa: ANN401
    """By way of the library's own device of the processor, where it has one."""
    module = values.__array_namespace__()
    for device in (getattr(module, "Device", lambda: None), lambda: "cpu"):
        with suppress(Exception):
            return np.asarray(values.to_device(device()))
    return np.asarray(values)


@dataclass(frozen=True, eq=False)
class Namespace:
    """Operations on arrays of one library and one device, under NumPy's names.

    Attributes
    ----------
    module : module
        torch, CuPy, NumPy, or a library of the standard.
    device : object
        Where new arrays are made.
    kind : {"torch", "numpy", "standard"}
        Whose names operations have: CuPy has those of NumPy.
    """

    module: ModuleType
    device: Any
    kind: str

    @property
    def triton(self) -> bool:
        """Whether compiled kernels may be asked for."""
        return self.kind == "torch" and self.device.type == "cuda"

    def dtype(self, name: str) -> Any:  # noqa: ANN401
        """The type of numbers of that name, such as "float64"."""
        return getattr(self.module, name)

    def put(self, values: NDArray[Any]) -> Any:  # noqa: ANN401
        """A small array of NumPy's on the device."""
        values = np.ascontiguousarray(values)
        if self.kind == "torch":
            return self.module.as_tensor(values).to(self.device)
        if self.kind == "numpy":
            return self.module.asarray(values)
        return self.module.asarray(values, device=self.device)

    def astype(self, x: Any, name: str) -> Any:  # noqa: ANN401
        """Numbers of another type."""
        if self.kind == "torch":
            return x.to(self.dtype(name))
        if self.kind == "numpy":
            return x.astype(self.dtype(name), copy=False)
        return self.module.astype(x, self.dtype(name), copy=False)

    def full(self, shape: tuple[int, ...], value: float, name: str) -> Any:  # noqa: ANN401
        """Memory filled with one number."""
        if self.kind == "numpy":
            return self.module.full(shape, value, dtype=self.dtype(name))
        return self.module.full(shape, value, dtype=self.dtype(name), device=self.device)

    def _pair(self, name: str, x: Any, y: Any) -> Any:  # noqa: ANN401
        """An operation on two arrays, one of which may be a number."""
        if self.kind != "numpy":
            arrays = [one for one in (x, y) if not isinstance(one, int | float)]
            like = arrays[0]
            x, y = (
                self.full((), one, str(like.dtype).rsplit(".", 1)[-1])
                if isinstance(one, int | float)
                else one
                for one in (x, y)
            )
        return getattr(self.module, name)(x, y)

    def minimum(self, x: Any, y: Any) -> Any:  # noqa: ANN401
        """The smaller of two."""
        return self._pair("minimum", x, y)

    def maximum(self, x: Any, y: Any) -> Any:  # noqa: ANN401
        """The larger of two."""
        return self._pair("maximum", x, y)

    def copysign(self, x: Any, y: Any) -> Any:  # noqa: ANN401
        """The size of one with the sign of the other."""
        return self._pair("copysign", x, y)

    def abs(self, x: Any) -> Any:  # noqa: ANN401
        """Sizes."""
        return self.module.abs(x)

    def floor(self, x: Any) -> Any:  # noqa: ANN401
        """The next whole number below."""
        return self.module.floor(x)

    def trunc(self, x: Any) -> Any:  # noqa: ANN401
        """The next whole number towards zero."""
        return self.module.trunc(x)

    def rint(self, x: Any) -> Any:  # noqa: ANN401
        """The nearest whole number, the even one of two."""
        return self.module.rint(x) if self.kind == "numpy" else self.module.round(x)

    def sqrt(self, x: Any) -> Any:  # noqa: ANN401
        """Roots."""
        return self.module.sqrt(x)

    def where(self, yes: Any, x: Any, y: Any) -> Any:  # noqa: ANN401
        """One or the other."""
        return self.module.where(yes, x, y)

    def isfinite(self, x: Any) -> Any:  # noqa: ANN401
        """Which are neither NaN nor infinity."""
        return self.module.isfinite(x)

    def matmul(self, x: Any, y: Any) -> Any:  # noqa: ANN401
        """Products of matrices."""
        return self.module.matmul(x, y)

    def sum(self, x: Any, axis: int | None = None, name: str | None = None) -> Any:  # noqa: ANN401
        """Sums, in another type where one is named."""
        kind = {} if name is None else {"dtype": self.dtype(name)}
        if axis is None:
            return self.module.sum(x, **kind)
        along = {"dim": axis} if self.kind == "torch" else {"axis": axis}
        return self.module.sum(x, **along, **kind)

    def count(self, yes: Any, axis: int | None = None) -> Any:  # noqa: ANN401
        """How many are true."""
        if self.kind == "standard":  # whose sums are of numbers
            yes = self.astype(yes, "int64")
        return self.sum(yes, axis, "int64")

    def take(self, table: Any, places: Any) -> Any:  # noqa: ANN401
        """Entries of a table, counted row by row."""
        flat = self.module.reshape(table, (-1,))
        if self.kind != "standard":
            return flat[places]
        found = self.module.take(flat, self.module.reshape(places, (-1,)))
        return self.module.reshape(found, places.shape)

    def bincount(self, places: Any, bins: int) -> Any:  # noqa: ANN401
        """How often each whole number below `bins` is there."""
        flat = self.module.reshape(places, (-1,))
        if self.kind == "standard":
            return np.bincount(to_host(flat), minlength=bins)
        return self.module.bincount(flat, minlength=bins)

    def concat(self, arrays: list[Any], axis: int) -> Any:  # noqa: ANN401
        """Side by side."""
        if self.kind == "torch":
            return self.module.cat(arrays, dim=axis)
        if self.kind == "numpy":
            return self.module.concatenate(arrays, axis=axis)
        return self.module.concat(arrays, axis=axis)

    def turned(self, x: Any) -> Any:  # noqa: ANN401
        """Matrices with the last two of three axes exchanged."""
        if self.kind == "torch":
            return x.transpose(1, 2)
        if self.kind == "numpy":
            return x.transpose(0, 2, 1)
        return self.module.permute_dims(x, (0, 2, 1))

    def distinct(self, x: Any) -> NDArray[Any]:  # noqa: ANN401
        """Sorted values, each once, in NumPy's memory."""
        if self.kind == "standard":
            return np.sort(to_host(self.module.unique_values(x)))
        least, most = x.min(), x.max()
        two = (x == least) | (x == most)  # without sorting, where two are all that there are
        if bool(two.all()):
            return np.unique([to_host(least)[()], to_host(most)[()]])
        return to_host(self.module.unique(x))


def namespace_of(values: Any) -> Namespace:  # noqa: ANN401
    """Operations for an array that `as_tensor` returned, where it lies."""
    library = _library(values)
    if library:
        kind = "torch" if library == "torch" else "numpy"
        return Namespace(sys.modules[library], getattr(values, "device", None), kind)
    if isinstance(values, np.ndarray):
        return Namespace(np, None, "numpy")
    return Namespace(values.__array_namespace__(), values.device, "standard")
