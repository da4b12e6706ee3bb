"""One SELECT that predicts where the rows are: clip, lists, gaps and dates included.

What is written is understood by DuckDB, PostgreSQL and SQLite alike, but for dates, of which SQLite
has none. Numbers are written so that they come back to the last bit; names and texts are quoted.
Long sums are bracketed in halves, for databases limit how deep an expression may be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn.exceptions import UnsupportedCombinationError
from privlearn.export.formula import (
    NO_VALUES,
    Formula,
    Lookup,
    Slope,
    formula_of,
    in_notation,
    spelled_states,
    without_bins,
)

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["DIALECTS", "to_sql"]

Array = NDArray[np.float64]
LARGEST = 1.7976931348623157e308
FAR = 700.0  # scores beyond it are sure to 1e-300, and exp would leave the range of numbers
FIRST = '"s0"'  # score
ROWS, SCORES = "privlearn_rows", "privlearn_scores"
# Days since 1970-01-01 of a column of dates or times.
DIALECTS = {
    "standard": "(EXTRACT(EPOCH FROM CAST({} AS TIMESTAMP)) / 86400.0e0)",
    "sqlite": "(julianday({}) - 2440587.5e0)",
}


def to_sql(
    model: PrivateEstimator,
    table: str | Sequence[str],
    key: str | Sequence[str],
    dialect: str,
    plain: str | Sequence[str] = (),
) -> str:
    """The statement."""
    if dialect not in DIALECTS:
        raise ValueError(f"dialect={dialect!r}, but there are: {', '.join(map(repr, DIALECTS))}")
    formula = formula_of(model, to="to_sql")
    if formula.features is not None:
        raise UnsupportedCombinationError(
            "to_sql is for linear models, and a kernel's features would make a statement of many "
            "pages; use to_onnx or to_sklearn"
        )
    if not formula.named:
        raise UnsupportedCombinationError(
            "to_sql needs names of columns, and the model was fitted to an array without; fit it "
            "to a data frame"
        )
    terms = without_bins(formula, "to_sql", "has no database that computes its hash (blake2b)")
    keys = [key] if isinstance(key, str) else list(key)
    _refuse_notations(formula, [plain] if isinstance(plain, str) else list(plain))
    _refuse_alike([str(term.name) for term in terms])
    places = ".".join(map(_name, [table] if isinstance(table, str) else table))
    cells = [f'{_cell(term, dialect)} AS "x{k}"' for k, term in enumerate(terms)]
    kept = [f'{_name(name)} AS "k{k}"' for k, name in enumerate(keys)]
    rows = f"SELECT {_lines([*kept, *cells])}\n  FROM {places}"
    constants = enumerate(formula.intercept)
    scores = [f'{_score(terms, constant, k)} AS "s{k}"' for k, constant in constants]
    carried = [f'"k{k}"' for k in range(len(keys))]
    inner = f"SELECT {_lines([*carried, *scores])}\n  FROM ({rows}) AS {ROWS}"
    shown = [f'"k{k}" AS {_name(name)}' for k, name in enumerate(keys)]
    return f"SELECT {_lines([*shown, *_answers(formula)])}\nFROM ({inner}) AS {SCORES}"


def _lines(parts: list[str]) -> str:
    return ",\n  ".join(parts)


def _refuse_notations(formula: Formula, plain: list[str]) -> None:
    """A database reads texts in its own way, or as 0 without a word, and not as the schema does."""
    names, found = [str(term.name) for term in formula.terms], in_notation(formula)
    for name in plain:
        if name not in names:
            raise ValueError(
                f"plain has {name!r}, but the model has no such column; check its name"
            )
    left = [name for name in found if name not in plain]
    if left:
        raise UnsupportedCombinationError(
            f"the schema reads texts of column {left[0]!r} in a notation of its own, which SQL "
            "does not, so that predictions would be wrong; where the table, or a view of it, holds "
            f"{found[left[0]]} there, say so with to_sql(..., plain={left})"
        )


def _refuse_alike(names: list[str]) -> None:
    """Databases that ignore capitals would take one column for another."""
    folded = [name.casefold() for name in names]
    for name in names:
        if folded.count(name.casefold()) > 1:
            raise UnsupportedCombinationError(
                f"column {name!r} differs from another one by capitals only, which many databases "
                "ignore; rename one of them before the fit"
            )


# Names, texts and numbers


def _name(name: str) -> str:
    """An identifier in quotes."""
    return _quoted(name, '"', "a name of a column or table")


def _text(text: str) -> str:
    return _quoted(text, "'", "a value of a list or a label")


def _quoted(text: str, mark: str, what: str) -> str:
    if "\0" in text or (mark == '"' and not text):
        raise UnsupportedCombinationError(
            f"{what} is empty or holds the character NUL, which SQL cannot write; rename it"
        )
    return mark + text.replace(mark, mark + mark) + mark


def _number(value: float) -> str:
    """In a form that is a double wherever there are others, and comes back to the last bit."""
    found = repr(float(value) + 0.0)
    written = found if "e" in found else f"{found}e0"
    return f"({written})" if found.startswith("-") else written


# Terms


def _cell(term: Slope | Lookup, dialect: str) -> str:
    """A column as a number, or as text without blanks; NULL where there is a gap."""
    name = _name(str(term.name))
    if isinstance(term, Lookup):
        return f"TRIM(CAST({name} AS VARCHAR(1000000)))"
    if term.first_day is not None:
        days = DIALECTS[dialect].format(name)
        return f"{days} - {_number(term.first_day)}"
    number = f"CAST({name} AS DOUBLE PRECISION)"  # NaN is above all numbers, if there is one
    if term.inside is not None:
        low, high = map(_number, term.inside)
        return f"CASE WHEN {number} >= {low} AND {number} <= {high} THEN {number} END"
    return f"CASE WHEN ABS({number}) <= {_number(LARGEST)} THEN {number} END"


def _score(terms: Sequence[Slope | Lookup], constant: float, output: int) -> str:
    parts = [_term(f'"x{k}"', term, output) for k, term in enumerate(terms)]
    return _sum([_number(constant), *parts])


def _sum(terms: list[str]) -> str:
    """A sum in halves of halves."""
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return f"({_sum(terms[:middle])}\n    + {_sum(terms[middle:])})"


def _term(cell: str, term: Slope | Lookup, output: int) -> str:
    if isinstance(term, Lookup):
        return _lookup(cell, term, output)
    value, slope = cell, _number(term.slope[output])
    ends = [
        f"WHEN {cell} {sign} {_number(end)} THEN {_number(end)}"
        for sign, end in (("<", term.low), (">", term.high))
        if math.isfinite(end)
    ]
    if ends:
        value = f"CASE {' '.join(ends)} ELSE {cell} END"
    found = f"{slope} * {value}"
    if term.missing is None:
        return found
    return f"CASE WHEN {cell} IS NULL THEN {_number(term.missing[output])} ELSE {found} END"


def _lookup(cell: str, term: Lookup, output: int) -> str:
    states = [
        f"WHEN {cell} IN ({', '.join(map(_text, texts))}) THEN {_number(adds[output])}"
        for texts, adds in zip(spelled_states(term), term.adds, strict=True)
    ]
    gap = "NULL" if term.missing is None else _number(term.missing[output])
    if term.other is None:
        return f"CASE {' '.join(states)} ELSE {gap} END"
    nothing = f"{cell} IS NULL OR LOWER({cell}) IN ({', '.join(map(_text, ('', *NO_VALUES)))})"
    rest = f"WHEN {nothing} THEN {gap} ELSE {_number(term.other[output])}"
    return f"CASE {' '.join([*states, rest])} END"


# Answers


def _answers(formula: Formula) -> list[str]:
    """Columns of the result: the prediction, and what stands beside it."""
    if formula.classes is None:
        return [f'{_prediction(formula)} AS "prediction"']
    labels = [_label(label) for label in formula.classes.tolist()]
    several = len(formula.intercept) > 1
    label = _best(labels) if several else _sign(labels)
    beside = formula.link == "probability"
    word = "probability" if beside else "score"
    if not several and not beside:
        return [f'{label} AS "prediction"', '"s0" AS "score"']
    numbers = [f'"s{k}"' for k in range(len(labels))]
    if beside:
        numbers = _probabilities(len(labels))
    named = zip(numbers, formula.classes.tolist(), strict=True)
    return [f'{label} AS "prediction"', *(f"{x} AS {_name(f'{word}_{c}')}" for x, c in named)]


def _prediction(formula: Formula) -> str:
    if formula.link == "mean":
        assert formula.ends is not None
        low, high = (math.log(end) for end in formula.ends)
        return f"EXP({_within(FIRST, low, high)})"
    return FIRST if formula.ends is None else _within(FIRST, *formula.ends)


def _within(value: str, low: float, high: float) -> str:
    return (
        f"CASE WHEN {value} < {_number(low)} THEN {_number(low)} "
        f"WHEN {value} > {_number(high)} THEN {_number(high)} ELSE {value} END"
    )


def _label(label: object) -> str:
    if isinstance(label, bool):
        return "TRUE" if label else "FALSE"
    if isinstance(label, int):
        return str(label)
    if isinstance(label, bytes):
        raise UnsupportedCombinationError("to_sql writes labels that are text or numbers, no bytes")
    return _number(label) if isinstance(label, float) else _text(str(label))


def _sign(labels: list[str]) -> str:
    """Of two classes, the second where the score is above 0; NULL where there is none."""
    return f'CASE WHEN "s0" > 0 THEN {labels[1]} WHEN "s0" <= 0 THEN {labels[0]} END'


def _best(labels: list[str]) -> str:
    """The first class whose score is not below another one's; NULL where there are none."""
    cases = []
    for k, label in enumerate(labels):
        others = [f'"s{k}" >= "s{j}"' for j in range(len(labels)) if j != k]
        cases.append(f"WHEN {' AND '.join(others)} THEN {label}")
    return f"CASE {' '.join(cases)} END"


def _probabilities(n_classes: int) -> list[str]:
    if n_classes == 2:
        score = _within(FIRST, -FAR, FAR)
        return [f"1.0e0 / (1.0e0 + EXP({score}))", f"1.0e0 / (1.0e0 + EXP(-({score})))"]
    return [f"1.0e0 / ({_sum(_odds(k, n_classes))})" for k in range(n_classes)]


def _odds(k: int, n_classes: int) -> list[str]:
    """How much likelier each class is than class `k`."""
    differences = [f'("s{j}" - "s{k}")' for j in range(n_classes)]
    return [f"EXP({_within(difference, -FAR, FAR)})" for difference in differences]
