"""Warnings where noise hides errors: after a fit, and with intervals of predictions.

What they say follows from released numbers and from public facts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.users_line import users_line
from privlearn.exceptions import StandardErrorsWarning

if TYPE_CHECKING:
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = [
    "warn_of_hidden_residuals",
    "warn_of_unseen_values",
    "warn_of_untold_coefficients",
    "warn_of_untold_rows",
]

REPEATED = (
    "columns that nearly repeat others, or hardly vary, are the likely reason: leave some out, or "
    "use more rows or a larger epsilon"
)
MORE = "use more rows, a larger epsilon or fewer columns"
UNLISTED = (
    "hardly any row has a value that its column's list has not, so neither more rows nor a larger "
    "epsilon will tell about such values, and predictions for them are noise"
)
MANY = 0.25  # of the coefficients
SHRUNK = (
    ". Predictions of this fit may be worse than a constant: intervals are of coefficients that "
    "nothing shrinks, while a fit without intervals=True shrinks what noise hides, and predicts "
    "better"
)
# Values of a list that stand for nothing, in small letters without brackets and points around them.
GAPS = frozenset(
    {"", "-", "--", "?", "n/a", "n.a", "na", "nan", "none", "null", "nil", "missing", "unknown"}
    | {"not available", "not applicable", "k.a", "k. a", "keine angabe", "unbekannt"}
)
MOST_NAMED = 10  # columns in one warning
NOTATIONS = (
    "Date(first, last, format='%d/%m/%Y') or Number(low, high, decimal=',', thousands='.', "
    "currency='EUR')"
)


def warn_of_untold_coefficients(model: Any) -> None:  # noqa: ANN401
    """Say how many standard errors a fit could not tell, and what would do.

    Called by `fit`, which is done by then: a filter that makes errors of warnings loses no model.
    """
    errors: StandardErrors = model._errors
    told = errors.tells(np.eye(len(errors.noise)))
    if told.all():
        return
    from privlearn.linear_model.lines import coefficient_names
    from privlearn.schema.categories import OTHERS

    names = coefficient_names(model, len(told))
    untold = [name for name, known in zip(names, told, strict=True) if not known]
    unlisted = sum(name.endswith(OTHERS) for name in untold)
    remedy = UNLISTED if unlisted else ""
    if unlisted < len(untold):
        remedy = _remedy(model, len(told)) + (f"; {remedy}" if remedy else "")
    warnings.warn(
        f"{len(untold)} of {len(told)} standard errors are not told, because noise leaves too "
        f"little (nan in summary()), and these coefficients may be far off: {_listed(untold)}; "
        + remedy
        + (SHRUNK if len(untold) > MANY * len(told) else ""),
        StandardErrorsWarning,
        stacklevel=users_line(),
    )


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(map(repr, names[:MOST_NAMED])) + (f" and {more} more" if more > 0 else "")


def _remedy(model: Any, size: int) -> str:  # noqa: ANN401
    """Rows or epsilon with which all are to be expected, where the number of rows is public."""
    from privlearn.solvers._common.snr import epsilon_with_more
    from privlearn.solvers.coordinate_descent.errors_told import ALL, clearness

    plan = model.privacy_.plan
    if plan.rows is None:
        return _ways(model)
    clear = clearness(plan, size, plan.rows)
    if clear >= ALL:
        return REPEATED
    enough = epsilon_with_more(model.privacy_.epsilon, model.privacy_.delta, ALL / clear)
    needed = f"about {float(f'{plan.rows * ALL / clear:.2g}'):,.0f} rows"
    needed += f" or epsilon={float(f'{enough:.2g}'):g}" if math.isfinite(enough) else ""
    fewer = f"; or take {FEWER}" if _flags(model) else ""
    return f"with {needed} all are to be expected, but for columns that nearly repeat others{fewer}"


FEWER = "fewer columns, as with missing='fill' in place of 'flag' in the schema"


def _ways(model: Any) -> str:  # noqa: ANN401
    """What may be changed about this fit, where the number of rows is private."""
    most = model.privacy_.rows_per_person or 1
    ways = ["more rows", "a larger epsilon"]
    if most > 1:
        ways.append(f"a max_rows_per_person (--max-rows) below {most}")
    return f"use {', '.join(ways)} or {FEWER if _flags(model) else 'fewer columns'}"


def _flags(model: Any) -> bool:  # noqa: ANN401
    """Whether somebody declared columns that tell where cells are missing."""
    entries = model.schema.values() if isinstance(model.schema, Mapping) else ()
    return any(kind.word != "estimate" and _missing(kind) == "flag" for kind in entries)


def _missing(kind: object) -> object:
    return getattr(kind, "missing", None)


def warn_of_unseen_values(model: Any) -> None:  # noqa: ANN401
    """Say of which columns no value was published: what was released says it, as the model does."""
    declared = model.schema if isinstance(model.schema, Mapping) else {}
    found = {
        column.name: column.kind.values
        for column in getattr(getattr(model, "_encoding", None), "columns", ())
        if getattr(column.kind, "values", None) is not None
        and getattr(declared.get(column.name), "values", None) is None
    }
    for_gaps = [name for name, values in found.items() if values and {*map(_plain, values)} <= GAPS]
    if for_gaps:
        _warn_of_gaps(for_gaps)
    names = [name for name, values in found.items() if not values]
    if not names:
        return
    one, listed = len(names) == 1, _listed(names)
    warnings.warn(
        f"no value of {listed} was frequent enough to be published, so "
        f"{'the column contributes' if one else 'these columns contribute'} nothing, but for "
        f"gaps; if {'it holds' if one else 'they hold'} dates or money, declare "
        f"{'it' if one else 'them'} in a schema, as {NOTATIONS}; else leave "
        f"{'it' if one else 'them'} out",
        UserWarning,
        stacklevel=users_line(),
    )


def _plain(value: str) -> str:
    return value.casefold().strip("<>()[]#. ")


def _warn_of_gaps(names: Sequence[str]) -> None:
    """Say of which columns words for a gap alone were published: the rest may be in a notation."""
    one = len(names) == 1
    warnings.warn(
        f"of {_listed(names)} only words for a gap, such as n/a, were frequent enough to be "
        f"published, so {'it tells' if one else 'they tell'} little but where such words are; if "
        f"other cells hold numbers, dates or money, declare {'it' if one else 'them'} in a schema, "
        f"as {NOTATIONS} with missing='flag', for which such words are missing cells",
        UserWarning,
        stacklevel=users_line(),
    )


def warn_of_untold_rows(low: NDArray[np.float64]) -> None:
    """Say that intervals of some predictions are not told."""
    if np.isnan(low).any():
        warnings.warn(
            f"noise leaves too little to tell the interval of some predictions (nan); {MORE}",
            StandardErrorsWarning,
            stacklevel=users_line(),
        )


def warn_of_hidden_residuals() -> None:
    """Say that intervals of rows are those of the largest errors that noise may hide."""
    warnings.warn(
        "noise hides how large errors are, so intervals of rows are those of the largest errors "
        "that it may hide, and may be far too wide; use more rows or a larger epsilon",
        StandardErrorsWarning,
        stacklevel=users_line(),
    )
