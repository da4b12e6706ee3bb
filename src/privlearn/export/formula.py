"""A fitted model as a sum of terms, one per column: what every export writes in its own language.

Without a norm to which whole rows are shortened, a linear model is a sum over columns: a number
that is clipped, times a slope; or what a value of a list adds. Clipped 0/1 features of a list, of a
truth value or of a gap are constants, so each state of such a column is one number per output.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import TRUTH
from privlearn._objective.losses.poisson import SPAN
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.schema.categories import Category
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.kinds import Date, Flag, Kind, Number
from privlearn.schema.parsing import FALSE, TRUE, as_value

if TYPE_CHECKING:
    from privlearn.kernel_model.feature_map import FeatureMap
    from privlearn.linear_model.base import PrivateEstimator

__all__ = [
    "NO_VALUES",
    "Bins",
    "Formula",
    "Lookup",
    "Slope",
    "Term",
    "formula_of",
    "in_notation",
    "spelled_states",
    "without_bins",
]

Array = NDArray[np.float64]
# Texts that are no value of any list, in small letters: numbers that are not finite.
NO_VALUES = tuple(sign + word for word in ("nan", "inf", "infinity") for sign in ("", "+", "-"))


@dataclass(frozen=True, eq=False)
class Slope:
    """What a column of numbers adds: `slope` times its clipped value.

    Attributes
    ----------
    name : str or None
        Of the column; None where columns have places only.
    slope : array of shape (n_outputs,)
        Per unit of the column; empty where a kernel's features are computed from the column.
    low, high : float
        Limits of the value; infinite where there are none.
    missing : array of shape (n_outputs,) or None
        What a gap adds; None where a row with one cannot be predicted.
    first_day : float or None
        Where cells are dates: the day from which days are counted, itself counted from 1970-01-01.
    in_notation : bool
        Whether the schema reads texts of the column in a notation or format of its own.
    inside : pair or None
        The declared range, where numbers outside of it are gaps.
    """

    name: str | None
    slope: Array
    low: float = -math.inf
    high: float = math.inf
    missing: Array | None = None
    first_day: float | None = None
    in_notation: bool = False
    inside: tuple[float, float] | None = None


@dataclass(frozen=True, eq=False)
class Lookup:
    """What a column of a list or of truth values adds.

    Attributes
    ----------
    name : str
        Of the column.
    values : tuple of str
        The values of the list; empty for truth values, whose states are 0 and 1.
    adds : array of shape (n_values, n_outputs)
        What each of them adds.
    missing : array of shape (n_outputs,) or None
        What a gap, or a value that is not in the list, adds; None where it cannot be predicted.
    other : array of shape (n_outputs,) or None
        What a value that is not in the list adds, where that is not what a gap adds.
    """

    name: str
    values: tuple[str, ...]
    adds: Array
    missing: Array | None
    other: Array | None = None


@dataclass(frozen=True, eq=False)
class Bins:
    """What a column adds whose values fall into bins by a public hash (`Category.place`).

    Attributes
    ----------
    name : str
        Of the column.
    adds : array of shape (n_bins, n_outputs)
        What each bin adds.
    missing : array of shape (n_outputs,) or None
        What a gap adds; None where it cannot be predicted.
    """

    name: str
    adds: Array
    missing: Array | None


Term = Slope | Lookup | Bins


@dataclass(frozen=True, eq=False)
class Formula:
    """How a model predicts.

    Attributes
    ----------
    terms : tuple of Slope, Lookup or Bins
        One per column.
    intercept : array of shape (n_outputs,)
        Beside the terms.
    link : {"number", "mean", "probability", "score"}
        What scores are: predictions, their logarithms, log-odds, or margins.
    ends : pair or None
        Limits of predictions.
    classes : array or None
        Labels; of two, the second where the score is above 0.
    features : FeatureMap or None
        A kernel's, with coefficients `coef` of its features and, behind them, of the columns.
    """

    terms: tuple[Term, ...]
    intercept: Array
    link: str
    ends: tuple[float, float] | None
    classes: NDArray[Any] | None
    features: FeatureMap | None = None
    coef: Array | None = None
    by_schema: bool = False  # whether cells may be other than numbers

    @property
    def named(self) -> bool:
        """Whether columns have names."""
        return all(term.name is not None for term in self.terms)

    @property
    def limits(self) -> tuple[Array, Array]:
        """Lowest and highest value of each column, where all are numbers."""
        slopes = [term for term in self.terms if isinstance(term, Slope)]
        return np.array([s.low for s in slopes]), np.array([s.high for s in slopes])


def formula_of(model: PrivateEstimator, *, to: str) -> Formula:
    """The formula of a fitted model, or a refusal that names what `to` is for."""
    clip = getattr(model, "_clip_bounds", None)
    if clip is not None and clip.row_norm is not None:
        raise UnsupportedCombinationError(
            f"{to} cannot shorten rows, as this model does: solver=BoostedStatistics(clip=...) "
            "learned on rows of that length; fit it without clip, or use save and load"
        )
    features, coef = getattr(model, "feature_map_", None), np.atleast_2d(model.coef_)
    if features is not None and hasattr(model, "_encoding"):
        raise UnsupportedCombinationError(
            f"{to} cannot encode the columns of a kernel model yet; use save and load, or fit the "
            "kernel to numbers that were encoded before"
        )
    width = coef.shape[1] if features is None else len(features.frequencies)
    low, high = np.full(width, -np.inf), np.full(width, np.inf)
    if clip is not None and clip.low is not None:
        low, high = np.asarray(clip.low), np.asarray(clip.high)
    classes = getattr(model, "classes_", None)
    encoding: Encoding | None = getattr(model, "_encoding", None)
    slopes = coef if features is None else np.zeros((len(coef), width))
    intercept = np.atleast_1d(np.array(model.intercept_, dtype=np.float64))
    names = getattr(model, "feature_names_in_", [None] * width)
    terms: list[Term] = []
    if encoding is None:
        for j, name in enumerate(names):
            terms.append(Slope(name, slopes[:, j], float(low[j]), float(high[j])))
    else:
        for column, part in encoding.parts():
            term, constant = _term(column, slopes[:, part], low[part], high[part])
            intercept += constant
            terms.append(term)
    return Formula(
        terms=tuple(terms),
        intercept=intercept,
        link=_link(model),
        ends=_ends(model),
        classes=classes,
        features=features,
        coef=None if features is None else coef,
        by_schema=encoding is not None,
    )


def without_bins(formula: Formula, to: str, why: str) -> tuple[Slope | Lookup, ...]:
    """The terms, or a refusal where one of them needs the hash."""
    for term in formula.terms:
        if isinstance(term, Bins):
            raise UnsupportedCombinationError(
                f"column {term.name!r} is hashed into bins, and {to} {why}; use to_sklearn, or "
                "save and load, or fit with a list: Category(values, other=True)"
            )
    return tuple(term for term in formula.terms if not isinstance(term, Bins))


def _link(model: PrivateEstimator) -> str:
    if hasattr(model, "classes_"):
        return "probability" if hasattr(model, "predict_proba") else "score"
    return "mean" if _is_poisson(model) else "number"


def _is_poisson(model: PrivateEstimator) -> bool:
    return model._loss(0).name == "poisson"


def _ends(model: PrivateEstimator) -> tuple[float, float] | None:
    """Limits of predictions: those of a mean are those of its logarithm, in training as well."""
    found: tuple[float, float] | None = getattr(model, "bounds_y_", None)
    if found is None or hasattr(model, "classes_"):
        return None
    return (found[1] * math.exp(-SPAN), found[1]) if _is_poisson(model) else found


def _term(column: Column, slopes: Array, low: Array, high: Array) -> tuple[Term, Array]:
    """What a column of a schema adds in each of its states, and what it adds to every row."""
    kind, nothing = column.kind, np.zeros(len(slopes))

    def adds(features: Array) -> Array:
        return np.asarray(slopes @ np.clip(features, low, high))

    gap = column.encode(np.array([None], dtype=object))[0]
    missing = adds(gap) if np.isfinite(gap).all() else None
    if isinstance(kind, Category):
        places = [adds(row) for row in np.eye(len(column.features))[: len(kind.words)]]
        if kind.hashed is not None:
            return Bins(column.name, np.array(places), missing), nothing
        values = kind.values or ()
        table = np.array(places[: len(values)]).reshape(len(values), len(slopes))
        other = places[len(values)] if kind.other else None
        return Lookup(column.name, values, table, missing, other), nothing
    if isinstance(kind, Flag):
        states = column.encode(np.array([False, True], dtype=object))
        return Lookup(column.name, (), np.array([adds(row) for row in states]), missing), nothing
    # The flag of what is missing, where there is one, is 0 in rows that have a number.
    constant = slopes[:, 1:] @ np.clip(0.0, low[1:], high[1:])
    missing = None if missing is None else missing - constant
    first = kind.start if isinstance(kind, Date) else None
    ends = float(low[0]), float(high[0])
    own, inside = _has_notation(kind), kind.limits if isinstance(kind, Number) else None
    return Slope(column.name, slopes[:, 0], *ends, missing, first, own, inside), constant


def _has_notation(kind: Kind) -> bool:
    """Whether texts such as 1.234,50 EUR or 31/12/2020 are read, which others read otherwise."""
    if isinstance(kind, Date):
        return kind.format is not None
    return isinstance(kind, Number) and kind.rule is not None


def in_notation(formula: Formula) -> dict[str, str]:
    """Columns whose texts no export reads, and what they are to hold in place of these."""
    return {
        str(term.name): "numbers" if term.first_day is None else "dates"
        for term in formula.terms
        if isinstance(term, Slope) and term.in_notation
    }


def spellings(value: str) -> list[str]:
    """How a table may spell a value of a list as text, without blanks around it.

    Examples
    --------
    >>> spellings("2")
    ['2', '2.0']
    """
    number = as_value(value)
    if isinstance(number, str):
        return [value]
    whole = [f"{number:.0f}"] if number is not None and number.is_integer() else []
    truth = [word for word, found in TRUTH.items() if found == number]
    return [*dict.fromkeys([value, *whole, repr(number), *truth])]


def flag_spellings(state: int) -> list[str]:
    """How a table may spell that something is not so, 0, or is so, 1."""
    words = sorted(word for word in (FALSE, TRUE)[state] if isinstance(word, str))
    cases = [case(word) for word in words for case in (str.lower, str.title, str.upper)]
    return [*dict.fromkeys([*cases, str(state), f"{state}.0"])]


def spelled_states(term: Lookup) -> list[list[str]]:
    """The texts by which each state of a column is known."""
    if term.values or not len(term.adds):
        return [spellings(value) for value in term.values]
    return [flag_spellings(0), flag_spellings(1)]
