"""Fit on the side, then publish everything at once: a fit that fails changes nothing."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from privlearn._data.named_cells import target_name
from privlearn.exceptions import PrivacyError

__all__ = ["blank", "demand_finite", "remember_target"]

T = TypeVar("T")
# What a fit sets, besides names that end in "_".
HIDDEN = frozenset(
    {"_clip_bounds", "_coef_noise", "_encoding", "_errors", "_stream", "_target_name"}
)


def blank(estimator: T) -> T:
    """A twin with the same parameters, the very objects, and nothing fitted: to work on.

    Its `__dict__` becomes the estimator's when all is done. That is one assignment: an interrupt
    comes before it or after it.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> blank(Ridge(alpha=2.0)).alpha
    2.0
    """
    twin = object.__new__(type(estimator))
    for name, value in vars(estimator).items():
        if name not in HIDDEN and (name.startswith("__") or not name.endswith("_")):
            twin.__dict__[name] = value
    return twin


def remember_target(estimator: object, y: object) -> None:
    """Keep what the target is called, where it has a name: reports and files tell it."""
    name = target_name(y)
    if name is not None:
        estimator.__dict__["_target_name"] = name


def demand_finite(**published: ArrayLike) -> None:
    """The last check before a model is published: its numbers are numbers.

    By then the budget is spent, so this may only ever find a bug.
    """
    for name, value in published.items():
        if not np.isfinite(np.asarray(value, dtype=np.float64)).all():
            raise PrivacyError(
                f"{name} came out as NaN or infinity, which is a bug of this library; the budget "
                "of this fit is spent and no model is published. Please report the parameters "
                "(never the data); declared bounds of ordinary size avoid it"
            )
