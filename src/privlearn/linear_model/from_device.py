"""Fits of rows that lie on a GPU, and stay there: the same plan, charge and sums.

Whatever has no form for a device is copied, and fitted as if it had been NumPy's from the start.
Which of the two it is follows from parameters, types and shapes, and no row decides.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from privlearn._core.problem import Problem
from privlearn._core.releaser import charge_and_open
from privlearn._data.bounded import Table
from privlearn._data.device import Namespace, as_tensor, is_on_device, namespace_of, to_host
from privlearn._data.device_data import DeviceData, bound_on_device
from privlearn._data.tables import DROP
from privlearn.linear_model.classifier import PrivateLinearClassifier
from privlearn.solvers._common.integer_rows import has_integer_slopes
from privlearn.solvers._common.rehearsal import rehearse

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator
    from privlearn.linear_model.job import Job

__all__ = ["learned_on_device", "on_host"]

FLOATS = ("float32", "float64")
MOST_LABELS = 2**16  # that may be found in y; more are no classes


def on_host(values: Any) -> Any:  # noqa: ANN401
    """A copy where NumPy reads it, of an array on a device; all else as it is."""
    return to_host(values) if is_on_device(values) else values


def learned_on_device(
    estimator: PrivateEstimator, X: object, y: object, sample_epsilon: object, groups: object
) -> bool:
    """Fit an object that nobody else has yet; False, and nothing spent, where rows must be here."""
    special = sample_epsilon is not None or groups is not None
    if special or not _is_plain(estimator) or not (is_on_device(X) and is_on_device(y)):
        return False
    array, labels = as_tensor(X), as_tensor(y)
    if not _has_form(array, labels):
        return False
    xp = namespace_of(array)
    job, numbers = _looked_at(estimator, array, labels, xp)
    if job is None or not _has_sums(estimator, job):
        return False
    _refuse_too_large(xp, job, array)
    if isinstance(estimator, PrivateLinearClassifier):
        estimator._warn_of_order(estimator.classes)
    if job.problem.adjacency.n_is_public:
        from privlearn.solvers._common.forecast import warn_of_few_rows

        warn_of_few_rows(job, array.shape[0])
    _rehearse(job, array, numbers, xp)
    charge = {
        "ledger": estimator.ledger,
        "dataset": estimator.dataset,
        "random_state": estimator.random_state,
    }
    with charge_and_open(job.plan, job.budget, **charge) as release:
        rows = bound_on_device(array, numbers, xp, job.problem)
        solution = job.solver.solve(job.problem, job.settings, rows, release)
    estimator._publish_model(solution)
    estimator.privacy_ = release.certificate()
    return True


def _is_plain(estimator: PrivateEstimator) -> bool:
    """Whether parameters ask for nothing but declared bounds of rows that are people."""
    others = estimator.data_norm, estimator.max_rows_per_person, estimator.schema
    declared = not isinstance(estimator.bounds_X, dict)
    plain = all(one is None for one in others) and estimator.on_invalid == "raise"
    told = getattr(estimator, "intervals", False)
    return declared and plain and not told


def _has_form(array: Any, labels: Any) -> bool:  # noqa: ANN401
    """Whether there are rows and columns of floating point numbers, and a target for each."""
    kind = str(array.dtype).rsplit(".", 1)[-1]
    shape = tuple(array.shape)
    whole = len(shape) == 2 and min(shape) > 0 and tuple(labels.shape) == shape[:1]
    return whole and kind in FLOATS and "complex" not in str(labels.dtype)


def _looked_at(
    estimator: PrivateEstimator,
    array: Any,  # noqa: ANN401
    labels: Any,  # noqa: ANN401
    xp: Namespace,
) -> tuple[Job | None, Any]:
    """All that is fixed before the charge, and the target as numbers; bad rows are refused."""
    from sklearn.utils.validation import validate_data

    n, n_features = (int(size) for size in array.shape)
    validate_data(estimator, np.empty((0, n_features)), reset=True, skip_check_array=True)
    _refuse_not_finite("X", array, xp)
    if not isinstance(estimator, PrivateLinearClassifier):
        _refuse_not_finite("y", labels, xp)
        return estimator._prepare(n, n_features, 0, None, sparse=False), labels
    numbers = _encoded(estimator, labels, xp)
    classes = len(estimator.classes_)
    if classes != 2:
        return None, numbers
    return estimator._prepare(n, n_features, classes, None, sparse=False), numbers


def _encoded(estimator: PrivateLinearClassifier, labels: Any, xp: Namespace) -> Any:  # noqa: ANN401
    """Classes -1 and 1 in single bytes: distinct labels are read as any others are."""
    found = xp.distinct(labels)
    if len(found) > MOST_LABELS:
        raise ValueError(
            f"y holds more than {MOST_LABELS} labels; declare them with classes=[...], or use a "
            "regressor"
        )
    codes = estimator._encode(estimator.classes, found)
    second = [label for label, code in zip(found, codes, strict=True) if code > 0]
    is_second = labels == (second[0].item() if second else found[0].item())
    numbers = xp.astype(is_second, "int8") * 2 - 1
    return xp.astype(numbers if second else -xp.abs(numbers), "int8")


def _refuse_not_finite(name: str, array: Any, xp: Namespace) -> None:  # noqa: ANN401
    """Raise where NaN or infinity is; which row it is stays unsaid."""
    if "float" not in str(array.dtype):
        return
    if np.isfinite(float(xp.sum(array, name="float64"))):  # one pass, in the common case
        return
    if int(xp.count(xp.isfinite(array))) != int(np.prod(array.shape)):
        raise ValueError(f"Input {name} contains NaN or infinity. Clean those rows, {DROP}")


def _has_sums(estimator: PrivateEstimator, job: Job) -> bool:
    """Whether the solver takes sums over rows that stay on a device."""
    plain = job.discovery is None and job.usable is None
    if hasattr(estimator, "n_components"):
        return plain and _of_features(job) is not None
    settings = getattr(job.settings, "inner", job.settings)  # of a solver that finds bounds first
    whole = job.solver.name == "cd" and getattr(settings, "mode", "") == "all"
    return whole and plain and has_integer_slopes(job.problem.loss)


def _of_features(job: Job) -> Any:  # noqa: ANN401
    """The solver on features whose sums a device can take, or None; bounds may come first."""
    both = job.solver, getattr(job.solver, "inner", None)
    return next((one for one in both if getattr(one, "takes_devices", False)), None)


def _refuse_too_large(xp: Namespace, job: Job, array: Any) -> None:  # noqa: ANN401
    """Ask the device for what integers of all rows take, at most; before the charge."""
    if not xp.triton:
        return
    features = _of_features(job)
    if features is not None:
        from privlearn.solvers._device.wave_launch import refuse_too_many_waves

        refuse_too_many_waves(array, features.spec.n_components)
        return
    from privlearn.solvers._device.launch import refuse_too_large

    refuse_too_large(array)


def _rehearse(job: Job, array: Any, numbers: Any, xp: Namespace) -> None:  # noqa: ANN401
    """Run through a small problem on the device, and compile kernels for that many columns."""
    kinds = str(array.dtype), str(numbers.dtype)
    like = Table(np.empty((0, array.shape[1])), np.empty(0), True)
    facts = job.solver, job.problem, job.settings, job.solver_plan, job.budget, like
    kind = ("on a device", xp.module.__name__, str(xp.device), *kinds)
    rehearse(*facts, held=partial(_made_up, kinds, xp), kind=kind)
    if xp.triton and _of_features(job) is None:  # whose kernel is one for all, and has run
        from privlearn.solvers._device.launch import prepare

        prepare(int(array.shape[1]), kinds, job.problem.loss.code, str(xp.device))


def _made_up(kinds: tuple[str, str], xp: Namespace, table: Table, small: Problem) -> DeviceData:
    """Made-up rows on the device, of the kinds of numbers that there are."""
    of_X, of_y = (kind.rsplit(".", 1)[-1] for kind in kinds)
    array, numbers = xp.put(np.asarray(table.X)), xp.put(table.y)
    return bound_on_device(xp.astype(array, of_X), xp.astype(numbers, of_y), xp, small)
