"""Class labels: the declared set, and y as numbers for a loss.

The set of labels is the one fact that may come from the data, as an assumption that the certificate
names; with ``classes=[...]`` nothing does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.data import one_column

__all__ = ["declared_classes", "encode_labels", "refuse_continuous"]


def declared_classes(classes: object, y: Any) -> NDArray[Any]:  # noqa: ANN401
    """The sorted labels that ``classes`` declares, or those of y for ``"from_y"``."""
    if isinstance(classes, str):
        if classes != "from_y":
            raise ValueError(
                f"classes={classes!r}, but an array of labels or 'from_y' is needed; for two "
                "labels write classes=['no', 'yes']"
            )
        labels = one_column(y)
        refuse_continuous(labels)
        known = labels[~_missing(labels)]
        found = np.unique(known)
    else:
        found = np.unique(np.asarray(classes))
    if len(found) < 2:
        raise ValueError(
            f"a classifier needs at least two classes, but the number of classes is {len(found)} "
            "class; declare all labels that could occur with classes=[...]"
        )
    return found


def refuse_continuous(labels: NDArray[Any]) -> None:
    """Refuse numbers that are no labels; the message names the kind, never a value."""
    if labels.dtype.kind != "f":
        return
    whole = labels[np.isfinite(labels)]
    if np.any(whole != np.rint(whole)):
        raise ValueError(
            "Unknown label type: continuous. y holds fractions, but labels are needed; use a "
            "regressor, or turn y into labels with a fixed threshold"
        )


def encode_labels(y: Any, classes: NDArray[Any], on_invalid: str) -> NDArray[np.float64]:  # noqa: ANN401
    """The position of each label in `classes`, NaN for what is not in it."""
    labels = one_column(y)
    missing = _missing(labels)
    if labels.dtype.kind in "OUS" or classes.dtype.kind in "OUS":
        labels, known = labels.astype(str), classes.astype(str)
    else:
        known = classes
    order = np.argsort(known, kind="stable")
    place = np.clip(np.searchsorted(known[order], labels), 0, len(known) - 1)
    index = order[place]
    there = (known[index] == labels) & ~missing
    codes = np.where(there, index.astype(np.float64), np.nan)
    if on_invalid == "raise" and np.isnan(codes).any():
        raise ValueError(
            f"y holds NaN or labels that are not among the {len(classes)} declared classes; add "
            "them to classes=[...], clean those rows, or pass on_invalid='drop': they then are "
            "empty rows, and the guarantee covers them"
        )
    return codes


def _missing(labels: NDArray[Any]) -> NDArray[np.bool_]:
    if labels.dtype.kind == "f":
        return ~np.isfinite(labels)
    if labels.dtype.kind == "O":
        return np.array([label is None or label != label for label in labels], dtype=bool)
    return np.zeros(len(labels), dtype=bool)
