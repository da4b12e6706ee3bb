"""The settings of a search: what a grid holds, and what it must not."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import ParameterGrid

from privlearn.exceptions import MissingFactError, UnsupportedCombinationError
from privlearn.linear_model.base import PrivateEstimator

__all__ = ["OF_THE_SEARCH", "demand_estimator", "settings_of"]

# One value for all tries: the promise, who is protected, and what scores are compared within.
OF_THE_SEARCH = ("epsilon", "delta", "ledger", "dataset", "random_state")
FIXED = (
    *OF_THE_SEARCH,
    *("adjacency", "on_invalid", "max_rows_per_person", "classes", "schema", "bounds_y"),
)

Setting = dict[str, Any]


def demand_estimator(estimator: object) -> PrivateEstimator:
    """The estimator, if it is one of ours and leaves to the search what is the search's."""
    if isinstance(estimator, type) or not isinstance(estimator, PrivateEstimator):
        kind = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(
            f"estimator is a {kind}, but an estimator of privlearn is needed, such as "
            "LogisticRegression(); what other libraries fit, scalers in pipelines among them, "
            "looks at the data without noise (see privlearn.check_pipeline)"
        )
    for name in ("ledger", "dataset", "random_state"):
        if getattr(estimator, name) is not None:
            raise ValueError(
                f"{name} of the estimator is set, but a search is one release, which is charged "
                f"once; pass {name} to PrivateSearchCV"
            )
    if hasattr(estimator, "bounds_y") and estimator.bounds_y is None:
        raise MissingFactError(
            "bounds_y is missing: scores of all settings are compared within one range of the "
            "target; give the estimator bounds_y=(low, high) from public knowledge"
        )
    return estimator


def settings_of(estimator: PrivateEstimator, grid: object) -> list[Setting]:
    """All settings, in an order that the grid alone decides."""
    try:
        settings = list(ParameterGrid(grid))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"grid cannot be read ({error}); give a dictionary of lists, such as "
            "{'C': [0.1, 1.0, 10.0]}, or a list of such dictionaries"
        ) from None
    known = estimator.get_params()
    for name in {name for setting in settings for name in setting}:
        if name not in known:
            raise ValueError(
                f"grid holds {name!r}, which is no parameter of {type(estimator).__name__}; it has "
                f"{', '.join(sorted(set(known) - set(FIXED)))}"
            )
        if name in FIXED:
            raise UnsupportedCombinationError(
                f"grid holds {name!r}, which must be the same for all settings; give it to the "
                f"{'search' if name in OF_THE_SEARCH else 'estimator'}"
            )
    if len(settings) < 2:
        raise ValueError(
            f"grid has {len(settings)} setting, and at least 2 are needed to choose among; fit the "
            "estimator itself, which costs less"
        )
    return settings
