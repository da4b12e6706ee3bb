"""Rows that are not in memory: on disk, or on a GPU. Fits of those have files of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["learned_elsewhere"]


def learned_elsewhere(
    estimator: PrivateEstimator,
    X: Any,  # noqa: ANN401
    y: Any,  # noqa: ANN401
    sample_epsilon: object,
    groups: Any,  # noqa: ANN401
) -> tuple[Any, Any, Any] | None:
    """None where rows stay where they are, and the model was learned; else X, y, groups to read."""
    from privlearn._data.device import is_on_device
    from privlearn._data.sources import is_source

    if is_source(X):
        from privlearn.linear_model.from_source import learn_from_source, rows_stay

        if rows_stay(estimator, X):
            learn_from_source(estimator, X, y, sample_epsilon, groups)
            return None
    if is_on_device(X) or is_on_device(y):
        from privlearn.linear_model.from_device import learned_on_device, on_host

        if learned_on_device(estimator, X, y, sample_epsilon, groups):
            return None
        return on_host(X), on_host(y), on_host(groups)
    return X, y, groups
