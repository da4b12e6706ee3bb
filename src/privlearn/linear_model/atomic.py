"""Fit on the side, then publish everything at once: a fit that fails changes nothing."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from privlearn.exceptions import PrivacyError

__all__ = ["blank", "demand_finite", "publish"]

T = TypeVar("T")
HIDDEN = frozenset({"_clip_bounds", "_stream"})  # what a fit sets, besides names that end in "_"


def _fitted(name: str) -> bool:
    """Whether an attribute is the result of a fit."""
    return name in HIDDEN or (name.endswith("_") and not name.startswith("__"))


def blank(estimator: T) -> T:
    """A twin with the same parameters, the very objects, and nothing fitted: to work on.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> blank(Ridge(alpha=2.0)).alpha
    2.0
    """
    twin = object.__new__(type(estimator))
    twin.__dict__.update({k: v for k, v in vars(estimator).items() if not _fitted(k)})
    return twin


def publish(estimator: Any, twin: Any) -> None:  # noqa: ANN401
    """Give the estimator all that the twin has learned, in place of all that it had.

    One assignment: an interrupt comes before it or after it.
    """
    kept = {k: v for k, v in vars(estimator).items() if not _fitted(k)}
    learned = {k: v for k, v in vars(twin).items() if _fitted(k)}
    estimator.__dict__ = {**kept, **learned}


def demand_finite(**published: Any) -> None:  # noqa: ANN401
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
