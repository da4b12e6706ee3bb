"""Public facts: what is known before any data is touched.

Nothing here ever sees a row. `Problem` is all that a solver's `configure` and `plan` get, so a plan
cannot look at data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn._core.adjacency import Adjacency
from privlearn._core.budget import Budget, budget_of
from privlearn._data.cells import numbers_in
from privlearn._objective.losses import Loss
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import MissingFactError

if TYPE_CHECKING:
    from privlearn.private_bounds.steady import EndNoise

__all__ = [
    "Adjacency",
    "Bounds",
    "Budget",
    "Level",
    "Penalised",
    "Problem",
    "budget_of",
    "declared_numbers",
    "feature_norm",
    "interval",
    "nearest_to_zero",
    "refuse_disjoint",
    "refuse_pairs",
    "shape_of",
]


class Penalised(Enum):
    """The units of the features whose coefficients are penalised."""

    OWN_UNITS = "those of X"
    NOT_TOO_SMALL = "those of X, unless that flattens a feature because its numbers are small"
    STANDARDISED = "root mean squares, for nobody knows the units"


@dataclass(frozen=True, eq=False)
class Bounds:
    """Declared facts: limits that are *enforced* on every row, a box, then a norm; and scales.

    Attributes
    ----------
    low, high : arrays of shape (n_features,) or None
        The box of the features; infinite where nothing was declared, beside declared ends.
    target : pair of floats or None
        The range of y.
    row_norm : float or None
        Largest L2 norm of a row, the intercept's 1 included where there is one.
    scale : array of shape (n_features,) or None
        Root mean square of each feature. Nothing enforces it: a wrong one costs accuracy only.
    known : array of bool or None
        Columns whose declared ends are those of their values, as 0 and 1 of an indicator are:
        nothing is spent on looking inside. None knows that of no column.
    own_units : array of shape (n_features,) or None
        How many units of a column, of which penalties are, one of these is; None is 1 each.
    """

    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None
    target: tuple[float, float] | None
    row_norm: float | None
    scale: NDArray[np.float64] | None = None
    known: NDArray[np.bool_] | None = None
    own_units: NDArray[np.float64] | None = None
    rare: NDArray[np.bool_] | None = None  # columns of 0 and 1 that may have no 1 in any row
    center: NDArray[np.float64] | None = None  # of an estimated box: around what to centre columns
    penalised: Penalised = Penalised.OWN_UNITS
    estimated: bool = False  # whether the box is estimated: a plan must hold wherever it will lie
    end_noise: EndNoise | None = None  # of an estimated box, and of the target's estimated range
    target_noise: EndNoise | None = None

    @classmethod
    def declared(
        cls,
        n_features: int,
        *,
        bounds_X: object = None,
        bounds_y: object = None,
        data_norm: float | None = None,
        scale_X: ArrayLike | None = None,
        fit_intercept: bool = True,
    ) -> Bounds:
        """Check what the user declared and bring it to one shape."""
        low, high = (None, None) if bounds_X is None else _box(bounds_X, n_features)
        target = None if bounds_y is None else interval(bounds_y, "bounds_y")
        norm = None if data_norm is None else _norm(data_norm, fit_intercept)
        scale = None if scale_X is None else _scale(scale_X, n_features)
        bounds = cls(low, high, target, norm, scale)
        if norm is not None:
            refuse_disjoint(bounds, fit_intercept, f"data_norm={data_norm}")
        return bounds

    @property
    def limit_features(self) -> bool:
        """Whether a norm, or a box with an end on every side, says how large features can be."""
        return self.row_norm is not None or self.whole_box

    @property
    def whole_box(self) -> bool:
        """Whether every feature has declared or estimated ends."""
        return self.low is not None and bool(np.isfinite(self.low).all())

    def same_as(self, other: Bounds) -> bool:
        """Whether the same was declared."""
        names = [field.name for field in fields(self)]
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)

    def need_features(self, solver: str) -> None:
        """Refuse when neither a box nor a norm of the features is known."""
        if not self.limit_features:
            lacking = "are both missing" if self.low is None else "leave out some columns"
            raise MissingFactError(
                f"bounds_X and data_norm {lacking}, but solver={solver!r} needs to know how "
                "large a row can be; pass bounds_X=(low, high) or data_norm from public knowledge, "
                "never from the data itself. They are estimated privately only by fit with "
                "delta > 0, and without sample_epsilon"
            )

    def need_target(self, solver: str) -> tuple[float, float]:
        """Return the range of y, or refuse when it is missing."""
        if self.target is None:
            raise MissingFactError(
                f"bounds_y is missing, but solver={solver!r} needs the range of the target; pass "
                "bounds_y=(low, high) from public knowledge, never from the data itself. It is "
                "estimated privately only by fit with delta > 0, and without sample_epsilon"
            )
        return self.target


def feature_norm(row_norm: float, fit_intercept: bool) -> float:
    """What a row's norm leaves to its features; the intercept's 1 is part of the row."""
    return math.sqrt(row_norm**2 - 1.0) if fit_intercept else row_norm


def nearest_to_zero(bounds: Bounds) -> NDArray[np.float64] | None:
    """The point of the box that is nearest to zero; None where that is zero itself.

    Then entries of sparse rows that are not stored stay zero.
    """
    if bounds.low is None or bounds.high is None:
        return None
    nearest = np.clip(0.0, bounds.low, bounds.high)
    return nearest if nearest.any() else None


def short_rows_exist(bounds: Bounds, fit_intercept: bool) -> bool:
    """Whether rows within the box may be as short as the norm says, if there are both."""
    nearest = nearest_to_zero(bounds)
    if bounds.row_norm is None or nearest is None:
        return True
    room = _ROOM * feature_norm(bounds.row_norm, fit_intercept)
    return float(np.linalg.norm(nearest)) <= room


def refuse_disjoint(bounds: Bounds, fit_intercept: bool, given: str) -> None:
    """Refuse a norm that no row within the box has, or hardly any."""
    nearest = nearest_to_zero(bounds)
    if not short_rows_exist(bounds, fit_intercept) and nearest is not None:
        shortest = float(np.linalg.norm(nearest))
        least = math.hypot(shortest / _ROOM, 1.0) if fit_intercept else shortest / _ROOM
        least *= 1.0005  # which four digits may round off
        raise ValueError(
            f"{given}, but bounds_X excludes zero so far that no row within it is that short; "
            f"give at least {least:.4g}, or leave one of the two out (subtract a public constant "
            "from columns that are far from zero)"
        )


BY_NAME = "names"  # among what was declared: facts are about columns by their names
_ROOM = 0.999  # of the norm that the shortest row of a box may have, or rounding would matter


SMALLEST, LARGEST = 1e-100, 1e100  # sizes of declared numbers: squares and cubes stay finite
NARROWEST = 2.0**-40  # of a width, relative to the larger end: rounding keeps it apart

UNORDERED = (set, frozenset, dict, str, bytes)  # two of something, but no low and high end


def _pair(value: object, name: str) -> tuple[ArrayLike, ArrayLike]:
    with suppress(TypeError, ValueError):
        if not isinstance(value, UNORDERED):
            low, high = cast("Iterable[ArrayLike]", value)
            return low, high
    raise ValueError(
        f"{name} must be a pair (low, high), not {type(value).__name__}; for example {name}=(0, 1)"
    )


def refuse_pairs(value: object, name: str) -> None:
    """Refuse one pair per feature: of two features these would pass for low and high ends."""
    shape = shape_of(value)
    tuples = isinstance(value, list) and all(isinstance(one, tuple) for one in value)
    if len(shape) == 2 and shape[1] == 2 and (tuples or shape[0] != 2):
        raise ValueError(
            f"{name} is a list of {shape[0]} pairs, but one pair of arrays is needed, the low "
            f"ends and the high ends; write {name}=([low of every feature], [high of every "
            f"feature]), for example {name}=tuple(zip(*pairs))"
        )


def shape_of(value: object) -> tuple[int, ...]:
    """The shape of nested lists or of an array; empty where it has none."""
    try:
        return tuple(np.shape(cast("ArrayLike", value)))
    except ValueError:
        return ()


def declared_numbers(value: ArrayLike, name: str) -> NDArray[np.float64]:
    """Numbers that somebody declared, each 0 or of a size that can be computed with."""
    found = numbers_in(value)
    if not np.isfinite(found).all():
        raise ValueError(
            f"{name} must be finite numbers, but it holds something else; leave it out where it is "
            "not public knowledge"
        )
    size = np.abs(found)
    wrong = found[(size > LARGEST) | ((size > 0) & (size < SMALLEST))]
    if len(wrong):
        raise ValueError(
            f"{name} holds {wrong[0]:g}, but numbers that are 0 or between {SMALLEST:g} and "
            f"{LARGEST:g} in size are needed; give the data in other units"
        )
    return found


def _check_width(
    name: str, low: NDArray[np.float64], high: NDArray[np.float64], zero: bool
) -> None:
    """Ends must be the same, where that makes sense, or clearly apart."""
    width, size = high - low, np.maximum(np.abs(low), np.abs(high))
    lost = (width < SMALLEST) | (width < NARROWEST * size)
    wrong = np.flatnonzero(lost & (width != 0) if zero else lost)
    if len(wrong):
        k = wrong[0]
        raise ValueError(
            f"{name} has the ends {float(low[k])!r} and {float(high[k])!r}, too near to each other "
            f"to compute with; give ends at least {SMALLEST:g}, and 1e-12 of their size, apart"
        )


def _per_feature(
    value: ArrayLike, name: str, n_features: int, found: str, needed: str
) -> NDArray[np.float64]:
    """One declared number for every feature."""
    array = declared_numbers(value, name)
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (n_features,)):
        raise ValueError(
            f"{name} {found} {array.shape}, but X has {n_features} features; give {needed} of "
            f"shape ({n_features},)"
        )
    return np.array(np.broadcast_to(array, (n_features,)))


def _box(value: object, n_features: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    refuse_pairs(value, "bounds_X")
    words = ("holds a side of shape", "scalars or arrays")
    low, high = (
        _per_feature(side, "bounds_X", n_features, *words) for side in _pair(value, "bounds_X")
    )
    if not (low <= high).all():
        raise ValueError(
            "bounds_X must be finite with low <= high for every feature; check the order of the two"
        )
    if shape_of(value) == (2, 2) and n_features == 2 and (low == high).all() and low[0] < low[1]:
        raise ValueError(
            "bounds_X holds the same two numbers twice, so that no feature could vary; it is a "
            "pair of arrays, the low ends and the high ends: write bounds_X=([low, low], [high, "
            "high])"
        )
    _check_width("bounds_X", low, high, zero=True)
    low.flags.writeable = high.flags.writeable = False
    return low, high


def _scale(value: ArrayLike, n_features: int) -> NDArray[np.float64]:
    array = _per_feature(value, "scale_X", n_features, "has shape", "a number or an array")
    if not (array > 0).all():
        raise ValueError(
            "scale_X must be finite and above 0: it is the root mean square of each feature; leave "
            "it out where it is not public knowledge"
        )
    return array


def interval(value: object, name: str) -> tuple[float, float]:
    """Two declared numbers, the lower one first and clearly apart."""
    sides = [declared_numbers(side, name) for side in _pair(value, name)]
    if any(side.ndim for side in sides):
        raise ValueError(f"{name} must be a pair of two numbers; it is about one column")
    low, high = (float(side) for side in sides)
    if not low < high:
        raise ValueError(
            f"{name}=({low}, {high}), but two finite numbers with low < high are needed"
        )
    _check_width(name, np.array([low]), np.array([high]), zero=False)
    return low, high


def _norm(data_norm: float, fit_intercept: bool) -> float:
    array = declared_numbers(data_norm, "data_norm")
    floor = 1.0 if fit_intercept else 0.0
    if array.ndim or not array > floor:
        reason = "the intercept's 1 is part of the row" if fit_intercept else "it is a length"
        raise ValueError(
            f"data_norm={data_norm}, but it must be finite and above {floor:g}: {reason}; "
            "give a larger data_norm or scale the features"
        )
    return float(array)


@dataclass(frozen=True)
class Level:
    """People who were promised the same epsilon, and how many they are where that is public."""

    epsilon: float
    people: int | None


def assumed_of_people(public: bool) -> list[str]:
    ids = "groups tells who is who: all rows of a person have one id, which nobody else has"
    most = "max_rows_per_person was chosen without looking at the data"
    return [
        most,
        ids,
        *(["the number of people with at least one row is public"] if public else []),
    ]


@dataclass(frozen=True, eq=False)
class Problem:
    """Everything public about a fit. It holds no data, and `n` is None when n is private."""

    n: int | None
    n_features: int
    bounds: Bounds
    loss: Loss
    penalty: Penalty
    adjacency: Adjacency
    fit_intercept: bool = True
    rows_may_be_empty: bool = False
    assumed: tuple[str, ...] = ()
    levels: tuple[Level, ...] = ()  # increasing; empty when everybody is promised the same
    declared: tuple[str, ...] | None = None  # names of the facts, where bounds come from a schema
    rows_per_person: int | None = None  # of people with several rows: the most that count
    people: int | None = None  # their number, if public
    intervals: bool = False  # whether standard errors are wanted, with releases of their own
    fewest: int | None = None  # features there may be, where what is released first tells
    from_source: bool = False  # whether rows stay where they are, and are read in every pass

    @property
    def most_rows(self) -> int:
        """How many rows of one person count at most."""
        return self.rows_per_person or 1

    def same_as(self, other: Problem) -> bool:
        """Whether all public facts are the same."""
        names = [field.name for field in fields(self) if field.name != "bounds"]
        equal = all(getattr(self, name) == getattr(other, name) for name in names)
        return equal and self.bounds.same_as(other.bounds)

    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee takes for granted, for plans and certificates."""
        own = self.bounds
        facts: dict[str, object] = {"bounds_X": own.low, "data_norm": own.row_norm}
        facts |= {"bounds_y": own.target, "scale_X": own.scale}
        given = [name for name, fact in facts.items() if fact is not None]
        given = given if self.declared is None else list(self.declared)
        found = ["the names of the columns are public"] if BY_NAME in given else []
        given = [name for name in given if name != BY_NAME]
        if given:
            *some, last = given
            subject = f"{', '.join(some)} and {last} were" if some else f"{last} was"
            found.append(f"{subject} chosen without looking at the data")
        if self.rows_per_person is not None:
            found += assumed_of_people(self.people is not None)
        elif self.n is not None:
            found.append("the number of rows is public")
        if self.levels:
            how = "every person's sample_epsilon was chosen without looking at the data"
            found += [f"{how}, and the list of personal epsilons is public"]
        return (*found, *self.assumed)
