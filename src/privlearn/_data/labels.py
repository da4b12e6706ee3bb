"""Class labels: the declared set, and y as numbers for a loss.

The set of labels is the one fact that may come from the data, as an assumption that the certificate
names; with ``classes=[...]`` nothing does. Labels are matched by value, cell by cell: 1, 1.0 and
True are one label, "1" is another one. The type of a container says nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._data.cells import DATES, objects
from privlearn._data.reading import native
from privlearn._data.targets import called, one_column

__all__ = [
    "DECLARED",
    "EXACT",
    "OF_ALL",
    "OF_MODEL",
    "OF_Y",
    "codes_to_score",
    "declared_classes",
    "encode_labels",
    "encode_signs",
    "found_labels",
    "plain_value",
    "sorted_otherwise",
]

NUMBERS, TEXT, BYTES = "numbers", "text", "bytes"
EXACT = 2.0**53  # below it whole numbers and floats compare exactly
LARGEST = 2**1023  # of labels: what no float can hold is none
AT_ONCE = 2**14  # labels
# Where classes come from, for an error about labels that are none of them; and what to do.
DECLARED = "declared classes; add them to classes=[...], clean those rows"
OF_Y = (
    "labels that y itself holds, which classes='from_y' takes for the classes; clean those rows, "
    "declare the labels that are meant with classes=[...]"
)
OF_ALL = (
    "classes, which are the labels of all rows on disk, or those of the first partial_fit; clean "
    "those rows, declare the labels that are meant with classes=[...]"
)
OF_MODEL = "classes of the model (model.classes_); clean those rows"
KINDS: dict[type, str] = dict.fromkeys((bool, int, float), NUMBERS) | {str: TEXT, bytes: BYTES}


def declared_classes(classes: object, y: object, on_invalid: str = "raise") -> NDArray[Any]:
    """The sorted labels that ``classes`` declares, or those of y for ``"from_y"``."""
    if isinstance(classes, str):
        if classes != "from_y":
            raise ValueError(
                f"classes={classes!r}, but an array of labels or 'from_y' is needed; for two "
                "labels write classes=['no', 'yes']"
            )
        found = found_labels(y, on_invalid)
    else:
        found = _declared(classes)
    if len(found) < 2:
        raise ValueError(
            f"a classifier needs at least two classes, but the number of classes is {len(found)} "
            "class; declare all labels that could occur with classes=[...]"
        )
    return found


def sorted_otherwise(declared: object) -> tuple[Any, Any] | None:
    """Two declared classes in their order, where sorting exchanges them; else None.

    Examples
    --------
    >>> sorted_otherwise(["survived", "died"]), sorted_otherwise(["died", "survived"])
    (('survived', 'died'), None)
    """
    if isinstance(declared, str | Set | Iterator):  # without an order, or gone through but once
        return None
    given = tuple(dict.fromkeys(map(plain_value, one_column(declared, strict=False).tolist())))
    return given if len(given) == 2 and given[0] > given[1] else None


def found_labels(y: object, on_invalid: str) -> NDArray[Any]:
    """The sorted labels of y, however few."""
    cells = one_column(y, strict=on_invalid == "raise")
    found = _found_in(cells, on_invalid, by_value=not hasattr(y, "dtype"))
    return found if _is_declared(y) else _whole(_of_numbers(found))


def _is_declared(y: object) -> bool:
    """Whether no cell decides on the type: not that of lists, objects and pandas' columns."""
    if isinstance(y, list | tuple) or native("pandas", y, "Series", "Index", "DataFrame"):
        return False
    return not hasattr(y, "dtype") or str(y.dtype) != "object"


def _of_numbers(found: NDArray[Any]) -> NDArray[Any]:
    """Labels that are numbers as an array of such; others as they are."""
    plain = list(map(plain_value, found.tolist())) if found.dtype == object else [""]
    numbers = set(map(type, plain)) <= {bool, int, float}
    return np.array(plain, dtype=np.float64) if numbers else found


def _declared(classes: object) -> NDArray[Any]:
    """Public labels, which may be quoted; but there is no need to."""
    if isinstance(classes, Mapping) or not isinstance(classes, Iterable):
        raise ValueError(
            f"classes is a {type(classes).__name__}, but a list of labels or 'from_y' is needed"
        )
    held = list(classes) if isinstance(classes, Set | Iterator) else classes
    given = one_column(held, strict=False)
    kinds = set(_kinds(given))
    if None in kinds:
        raise ValueError(
            "classes holds something that is no label: a label is text, True, False or a number "
            "below 2^53 in size; give larger ones as text, and leave out None and NaN, for rows "
            "without a label are invalid rows"
        )
    _refuse_mixed("classes", kinds)
    return np.unique(given) if hasattr(classes, "dtype") else _by_value(given)


def _refuse_mixed(what: str, kinds: Collection[str | None]) -> None:
    if len(kinds) > 1:
        raise ValueError(
            f"{what} holds {_listed(kinds)}, but labels of one kind are needed: 1 and '1' are "
            "different labels; spell all of them alike"
        )


def _listed(kinds: Iterable[str | None]) -> str:
    return " and ".join(sorted(map(str, kinds)))


def _by_value(cells: NDArray[Any]) -> NDArray[Any]:
    """Distinct labels of one kind, sorted, in the type that numpy gives to them alone."""
    if cells.dtype != object:
        return np.unique(cells)
    distinct = sorted(set(map(plain_value, cells.tolist())))
    found = np.array(distinct)
    return found if found.dtype.kind in "biufUS" else objects(distinct)


def _found_in(cells: NDArray[Any], on_invalid: str, by_value: bool) -> NDArray[Any]:
    """Labels of y. Under "drop" invalid cells are passed over, and the type comes from values."""
    drop = on_invalid == "drop"
    if not drop:
        _refuse_continuous(cells)
    if cells.dtype.kind in "biuf":
        found = np.unique(cells[np.abs(cells.astype(np.float64)) < EXACT])
    else:
        known = _of_one_kind(cells, drop)
        found = _by_value(known) if drop or by_value else np.unique(known)
    return _whole(found) if drop else found


def _of_one_kind(cells: NDArray[Any], drop: bool) -> NDArray[Any]:
    """The labels among the cells; of several kinds the most frequent, or a refusal."""
    kinds = _kinds(cells)
    there = sorted({kind for kind in kinds if kind is not None}, key=kinds.count, reverse=True)
    if not drop:
        _refuse_mixed("y", there)
    return cells[np.array([bool(there) and kind == there[0] for kind in kinds], dtype=bool)]


def _whole(found: NDArray[Any]) -> NDArray[Any]:
    """Numbers that can be labels: whole ones, as integers where they fit, truth values as well.

    Any other type of them could be what one row brought about.
    """
    if found.dtype.kind not in "biuf":
        return found
    whole = found[found == np.rint(found)] if found.dtype.kind == "f" else found
    fits = not len(whole) or bool(np.abs(whole.astype(np.float64)).max() < EXACT)
    return whole.astype(np.int64) if fits else whole


def _refuse_continuous(labels: NDArray[Any]) -> None:
    """Refuse numbers that are no labels; the message names the kind, never a value."""
    if labels.dtype == object:
        labels = np.array([value for value in map(plain_value, labels) if type(value) is float])
    if labels.dtype.kind != "f":
        return
    finite = labels[np.isfinite(labels)]
    if np.any(finite != np.rint(finite)):
        raise ValueError(
            "Unknown label type: continuous. y holds fractions, but labels are needed; use a "
            "regressor, or turn y into labels with a fixed threshold"
        )


def encode_labels(
    y: object,
    classes: NDArray[Any],
    on_invalid: str,
    whence: str = DECLARED,
    name: str | None = None,
) -> NDArray[np.float64]:
    """The position of each label in `classes`, NaN for what is not in it.

    `whence` says where classes come from, and `name` what y is called if it has no name itself, for
    an error.

    Examples
    --------
    >>> encode_labels([True, 0.0, None, "1"], np.array([0, 1]), "drop")
    array([ 1.,  0., nan, nan])
    """
    cells = one_column(y, strict=on_invalid == "raise")
    found = np.empty(len(cells))
    told = (called(y, name), whence) if on_invalid == "raise" else None
    _write_codes(cells, classes, found, told)
    return found


def encode_signs(
    y: object, classes: NDArray[Any], whence: str = DECLARED, name: str | None = None
) -> NDArray[np.int8]:
    """-1 for the first and 1 for the second of two classes, in single bytes; others are refused.

    Examples
    --------
    >>> encode_signs(["a", "b"], np.array(["a", "b"]))
    array([-1,  1], dtype=int8)
    """
    cells = one_column(y)
    found = np.empty(len(cells), np.int8)
    _write_codes(cells, classes, found, (called(y, name), whence))
    found *= 2
    found -= 1
    return found


def _write_codes(
    cells: NDArray[Any], classes: NDArray[Any], found: NDArray[Any], told: tuple[str, str] | None
) -> None:
    """Some at a time, since to find them takes several times their size.

    With `told`, what an error calls y and where classes come from, other labels are refused.
    """
    for start in range(0, len(cells), AT_ONCE):
        own = slice(start, start + AT_ONCE)
        codes = _codes(cells[own], classes)
        if told is not None and np.isnan(codes).any():
            _refuse_unknown(cells, classes, *told)
        found[own] = codes


def codes_to_score(y: object, classes: NDArray[Any]) -> NDArray[np.float64]:
    """The position of each label in `classes`, -1 for another label; a missing one is refused."""
    cells = one_column(y)
    if cells.dtype.kind not in "biuUS" and None in _kinds(cells):
        raise ValueError("y holds NaN or something that is no label; a score needs every label")
    return np.nan_to_num(_codes(cells, classes), nan=-1.0)


def _codes(cells: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    if cells.dtype.kind in "biuf" and classes.dtype.kind in "biuf" and _small(classes):
        # The same for arrays of numbers: classes are small, so that comparing floats is exact.
        common = np.result_type(cells.dtype, np.float64)
        known, values = classes.astype(common), cells.astype(common)
        order = np.argsort(known, kind="stable")
        place = np.searchsorted(known[order], values)
        index = order[np.minimum(place, len(known) - 1)]
        return np.where(known[index] == values, index.astype(np.float64), np.nan)
    places = {plain_value(label): float(place) for place, label in enumerate(classes.tolist())}
    held = cells.tolist()
    if not set(map(type, held)) <= KINDS.keys():
        held = [plain_value(cell) for cell in held]
    return np.fromiter((places.get(cell, np.nan) for cell in held), np.float64, len(held))


def _small(classes: NDArray[Any]) -> bool:
    return bool(np.all(np.abs(classes.astype(np.float64)) < EXACT))


def _refuse_unknown(cells: NDArray[Any], classes: NDArray[Any], what: str, whence: str) -> None:
    of_y, own = set(_kinds(cells)) - {None}, set(_kinds(classes))
    if of_y and not of_y & own:
        raise ValueError(
            f"the labels of {what} are {_listed(of_y)}, but classes are {_listed(own)}, and 1 and "
            "'1' are different labels; declare classes as y spells them"
        )
    raise ValueError(
        f"{what} holds NaN or labels that are not among the {len(classes)} {whence}, or pass "
        "on_invalid='drop': they then are empty rows, and the guarantee covers them"
    )


def _kinds(cells: NDArray[Any]) -> list[str | None]:
    """What each cell is: numbers, text, bytes, or None where it is no label."""
    if cells.dtype.kind in "biu" and _small(cells):
        return [NUMBERS] * len(cells)
    return [KINDS.get(type(plain_value(cell))) for cell in cells.tolist()]


def plain_value(cell: Any) -> Any:  # noqa: ANN401
    """A label as a plain Python value that equals it; None where a cell is no label."""
    kind = type(cell)
    if kind is str or kind is bool:
        return cell
    try:
        if isinstance(cell, np.ndarray) and cell.ndim == 0:
            cell = cell[()]
        if isinstance(cell, complex | np.complexfloating) and cell.imag == 0:
            cell = cell.real
        if isinstance(cell, str):
            return str.__str__(cell)  # of itself: a subclass may spell different texts alike
        if isinstance(cell, bytes):
            return bytes.__getitem__(cell, slice(None))
        if isinstance(cell, np.bool_):
            return bool(cell)
        if isinstance(cell, Real | Decimal) and not isinstance(cell, DATES):
            return _plain_number(cell)
    except Exception:  # a cell may be of any class, and its error may quote it
        return None
    return None


def _plain_number(cell: Any) -> float | int | None:  # noqa: ANN401
    """A whole number exactly, another one in double precision where it is the same; or None."""
    if isinstance(cell, int | float):  # a subclass may compare as it likes
        cell = int.__int__(cell) if isinstance(cell, int) else float.__float__(cell)
    elif isinstance(cell, np.float16 | np.float32):
        cell = float(cell)  # exactly; half precision would warn of what it is compared to
    if not -EXACT < cell < EXACT:  # also NaN; beyond, containers round labels to one another
        return None
    whole = int(cell)
    if abs(whole) >= LARGEST:
        return None
    if whole == cell:
        return whole if not isinstance(cell, float | np.floating) else float(cell)
    value = float(cell)
    return value if value == cell else None
