"""A promise per person: `sample_epsilon` as a few public levels, and who belongs to which.

Levels belong to people, not to their data: they are public, and chosen without looking at any row.
A level stands for everybody whose own epsilon is at least as large, so nobody gets less privacy
than was promised.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Level
from privlearn._data.cells import as_numbers, objects
from privlearn._data.targets import one_column
from privlearn.exceptions import InvalidBudgetError, UnsupportedCombinationError

__all__ = ["MOST_LEVELS", "Levels", "read_levels"]

MOST_LEVELS = 8  # every level more splits the rows of a batch once more


@dataclass(frozen=True, eq=False)
class Levels:
    """Public levels, increasing, and the place of each person's among them."""

    epsilons: tuple[float, ...]
    of_row: NDArray[np.int64]

    def public(self, n_is_public: bool) -> tuple[Level, ...]:
        """What a problem may know of them."""
        people = np.bincount(self.of_row, minlength=len(self.epsilons)).tolist()
        return tuple(
            Level(epsilon, count if n_is_public else None)
            for epsilon, count in zip(self.epsilons, people, strict=True)
        )


def read_levels(
    sample_epsilon: object, epsilon: float, n: int | None = None, *, n_is_public: bool = True
) -> Levels:
    """Check everybody's epsilon and bring them to at most `MOST_LEVELS` levels.

    Parameters
    ----------
    sample_epsilon : array-like of shape (n_samples,)
        What each person was promised.
    epsilon : float
        The largest promise that the model may make.
    n : int or None, default=None
        The number of rows that it must be for.
    n_is_public : bool, default=True
        Whether an error may name that number.

    Examples
    --------
    >>> read_levels([1.0, 0.1, 0.1], epsilon=1.0).epsilons
    (0.1, 1.0)
    """
    values = _one_each(sample_epsilon)
    if values.ndim != 1 or (n is not None and len(values) != n):
        wrong = f" {values.shape}, but ({n},) is needed" if n_is_public and n is not None else ""
        raise ValueError(f"sample_epsilon has a wrong shape{wrong}; give one number per row of X")
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InvalidBudgetError(
            "sample_epsilon must be finite and above 0 for everyone; leave out people who want to "
            "take no part"
        )
    if not len(values):
        raise InvalidBudgetError(
            "sample_epsilon is empty, but the list of personal epsilons is public and needs one "
            "at least; leave it out where there are no rows"
        )
    if float(values.max(initial=0.0)) > epsilon:
        raise InvalidBudgetError(
            f"sample_epsilon holds more than epsilon={epsilon:g}, the most that this model may "
            "promise to anyone; raise epsilon, or lower those of these people"
        )
    floors = _floors(np.unique(values))
    return Levels(tuple(floors.tolist()), np.searchsorted(floors, values, side="right") - 1)


def _one_each(sample_epsilon: object) -> NDArray[np.float64]:
    """Everybody's number in the shape given; what is none is NaN, and refused as not finite."""
    cells = None
    if isinstance(sample_epsilon, np.ndarray) and not isinstance(sample_epsilon, np.ma.MaskedArray):
        cells = sample_epsilon
    elif isinstance(sample_epsilon, list | tuple):
        cells = objects(sample_epsilon)
    else:
        with suppress(ValueError, TypeError, UnsupportedCombinationError):
            cells = one_column(sample_epsilon, strict=False)
    if cells is None or cells.dtype.kind not in "biufO":
        kind = type(sample_epsilon).__name__
        raise ValueError(f"sample_epsilon is a {kind} of no numbers; give one per row of X")
    return np.array(as_numbers(cells), dtype=np.float64)


def _floors(distinct: NDArray[np.float64]) -> NDArray[np.float64]:
    """The levels themselves, or, of many, the smallest of each of a few ranges of equal ratio."""
    if len(distinct) <= MOST_LEVELS:
        return distinct
    edges = np.geomspace(distinct[0], distinct[-1], MOST_LEVELS + 1)[:-1]
    edges[0] = distinct[0]
    return np.unique(distinct[np.searchsorted(distinct, edges)])
