"""Models whose `fit` reads what it is given in batches, as from disk, for every audit."""

import numpy as np
import pytest

from privlearn import KernelRegressor, LinearRegression, LogisticRegression, Ridge
from privlearn.solvers import CoordinateDescent
from support import FACTS, accepted


class InBatches:
    """Any container of rows as three pairs (X, y), as often as anybody asks."""

    def __init__(self, X, y):
        self.X, self.y = X, y

    def __iter__(self):
        X, y = self.X, self.y
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        size = max(1, -(-n // 3))
        for first in range(0, n, size):
            own = slice(first, first + size)
            yield tuple(rows.iloc[own] if hasattr(rows, "iloc") else rows[own] for rows in (X, y))


class FromDisk:
    """Hands rows over in batches, and no other facts than those of the class it is mixed into."""

    def fit(self, X, y):
        if hasattr(X, "nnz"):  # what may be malformed is not cut into pieces here
            return super().fit(X, y)
        return super().fit(InBatches(X, y), None)


class LinearFromDisk(FromDisk, LinearRegression):
    pass


class RidgeFromDisk(FromDisk, Ridge):
    pass


class LogisticFromDisk(FromDisk, LogisticRegression):
    pass


def from_disk():
    """A few configurations by name: every relation, every kind of bounds, both solvers."""
    few = CoordinateDescent(passes=3, block="all")
    for model, solver, relation, facts, intercept in (
        (LinearFromDisk, few, "zero_out", "box", True),
        (LogisticFromDisk, few, "add_remove", "norm", True),
        (RidgeFromDisk, few, "replace_one", "box and norm", False),
        (LinearFromDisk, few, "add_remove", None, True),
        (RidgeFromDisk, "moments", "replace_one", "box", True),
    ):
        known = accepted(model, FACTS[facts] if facts else {})
        name = f"{model.__name__}-{relation}-{facts}"
        yield name, model(solver=solver, adjacency=relation, fit_intercept=intercept, **known)


def bits(model):
    """Of a fitted model."""
    return model.coef_.tobytes() + np.asarray(model.intercept_).tobytes()


class FromDask:
    """Hands dense rows over as arrays of dask in three chunks; tasks run one after another."""

    def fit(self, X, y):
        if not isinstance(X, np.ndarray) or X.dtype.kind != "f":
            return super().fit(X, y)
        import dask
        import dask.array as da

        size = max(1, -(-len(X) // 3))
        rows = da.from_array(X, chunks=(size, X.shape[1]), name=False)
        with dask.config.set(scheduler="synchronous"):
            return super().fit(rows, da.from_array(np.asarray(y), chunks=size, name=False))


class LinearFromDask(FromDask, LinearRegression):
    pass


class LogisticFromDask(FromDask, LogisticRegression):
    pass


def from_dask():
    """A few configurations by name."""
    few = CoordinateDescent(passes=3, block="all")
    for model, relation, facts in (
        (LinearFromDask, "zero_out", "box"),
        (LogisticFromDask, "add_remove", "norm"),
        (LinearFromDask, "add_remove", None),
    ):
        known = accepted(model, FACTS[facts] if facts else {})
        yield f"{model.__name__}-{relation}-{facts}", model(solver=few, adjacency=relation, **known)


def arrays_elsewhere():
    """The library of the array standard, which has a device of its own, or the test is skipped.

    NumPy 1 cannot read what it copies back: `numpy.asarray` has no `copy` there.
    """
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("array-api-strict needs NumPy 2", allow_module_level=True)
    return pytest.importorskip("array_api_strict", reason="needs array-api-strict")


class OnDevice:
    """Hands dense rows over as arrays of a device that NumPy cannot read (of the standard's own).

    What stays there has no empty rows. Where the number of rows is private an empty row is one that
    is not there, so audits, which ask for `on_invalid="drop"`, are of that relation.
    """

    def fit(self, X, y):
        if not isinstance(X, np.ndarray) or X.dtype.kind != "f" or np.asarray(y).dtype.kind == "O":
            return super().fit(X, y)
        import array_api_strict as xp

        numbers, device, asked = np.asarray(y), xp.Device("device1"), self.on_invalid
        if asked == "drop":
            there = np.isfinite(X).all(axis=1) & np.isfinite(numbers)
            X, numbers = X[there], numbers[there]
        rows, target = (xp.asarray(one, device=device) for one in (X, numbers))
        try:
            return super(OnDevice, self.set_params(on_invalid="raise")).fit(rows, target)
        finally:
            self.set_params(on_invalid=asked)


class LinearOnDevice(OnDevice, LinearRegression):
    pass


class LogisticOnDevice(OnDevice, LogisticRegression):
    pass


class KernelOnDevice(OnDevice, KernelRegressor):
    pass


def kernels_on_device():
    """The same of kernels, with ranks and without."""
    for facts, bandwidth, intercept in (
        ("box", 1.0, True),
        ("box", None, False),
        (None, None, True),
    ):
        known = accepted(KernelOnDevice, FACTS[facts] if facts else {})
        how = {"solver": "moments", "adjacency": "add_remove", "fit_intercept": intercept}
        size = {"bandwidth": bandwidth, "n_components": 18}
        yield f"KernelOnDevice-{facts}-{bandwidth}", KernelOnDevice(**{**known, **how, **size})


def on_device():
    """A few configurations by name; norms are none of a device's, and such rows are copied."""
    yield from kernels_on_device()
    few = CoordinateDescent(passes=3, block="all")
    for model, facts, intercept in (
        (LinearOnDevice, "box", True),
        (LogisticOnDevice, "box", False),
        (LinearOnDevice, None, True),
    ):
        known = accepted(model, FACTS[facts] if facts else {})
        how = {"solver": few, "adjacency": "add_remove", "fit_intercept": intercept}
        yield f"{model.__name__}-{facts}", model(**how, **known)
