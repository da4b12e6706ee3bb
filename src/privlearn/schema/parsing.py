"""Single cells as numbers, truth values, texts and days, by rules that see the cell alone."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np

from privlearn._data.cells import TRUTH, number
from privlearn._data.labels import EXACT, plain_value

__all__ = [
    "Notation",
    "as_date",
    "as_days",
    "as_flag",
    "as_text",
    "as_value",
    "check_date_format",
    "notation",
]

TRUE = frozenset({"true", "t", "yes", "y", "on", 1.0})
FALSE = frozenset({"false", "f", "no", "n", "off", 0.0})
EPOCH = datetime.datetime(1970, 1, 1)
ZERO = datetime.timedelta(0)
DAY = 86_400 * 10**6  # microseconds
DIRECTIVES = frozenset("dmjYyHMSf%")  # of formats, that mean the same on every computer
NAN = float("nan")


def as_text(cell: Any) -> str | None:  # noqa: ANN401
    """A cell as text without blanks around it; None where it is empty or neither text nor number.

    Whole numbers have no decimals, in whichever way a container holds them. Those of 2^53 and more
    are no text: containers round them to one another.

    Examples
    --------
    >>> [as_text(cell) for cell in (" F ", 2.0, 2, True, "", None, float("nan"))]
    ['F', '2', '2', 'True', None, None, None]
    """
    # How many zeros a decimal number ends with is its column's business, and 0.1 is no float.
    value = plain_value(number(cell) if issubclass(type(cell), Decimal) else cell)
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return None if value is None else str(value).strip() or None


def as_value(cell: Any) -> float | str | None:  # noqa: ANN401
    """What a cell is compared by: its number if it has one, or is True or False; else its text.

    One cell turns the others of a column into floats, whole numbers or text, so 1, 1.0, "1", "1.0",
    True and "true" are one value. None where a cell is empty, not finite, or of 2^53 and more.

    Examples
    --------
    >>> [as_value(cell) for cell in (True, "1.0", "01", "no ", "nan", 2**53)]
    [1.0, 1.0, 1.0, 'no', None, None]
    """
    text = as_text(cell)
    if text is None or text in TRUTH:
        return None if text is None else TRUTH[text]
    try:
        value = float(text)
    except ValueError:
        return text
    return value if abs(value) < EXACT else None


def as_flag(cell: Any) -> float:  # noqa: ANN401
    """1 or 0 for a truth value, in words or as a number; NaN for anything else.

    Examples
    --------
    >>> [as_flag(cell) for cell in (True, "No", " yes", 0.0, "1.0", "maybe", 2)]
    [1.0, 0.0, 1.0, 0.0, 1.0, nan, nan]
    """
    value = as_value(cell)
    word = value.casefold() if isinstance(value, str) else value
    return 1.0 if word in TRUE else 0.0 if word in FALSE else NAN


def as_days(cell: Any, written: str | None = None) -> float:  # noqa: ANN401
    """Days since 1970-01-01 of a date, a time or a text; NaN for anything else.

    Texts are ISO's, or those of a format. A time with a zone is brought to UTC. Days are whole
    microseconds, divided once: the same number comes out of every class and unit that a container
    may choose for all of its cells.

    Examples
    --------
    >>> [as_days(cell) for cell in ("1970-01-11", datetime.date(1970, 1, 2), "soon", 3)]
    [10.0, 1.0, nan, nan]
    >>> [as_days(cell, "%d/%m/%Y") for cell in ("11/01/1970", "1970-01-11")]
    [10.0, nan]
    """
    try:
        if isinstance(cell, str):
            text, read = str.__str__(cell).strip(), datetime.datetime
            cell = read.fromisoformat(text) if written is None else read.strptime(text, written)
        if isinstance(cell, np.datetime64):
            passed = _microseconds_of_numpy(cell)
        elif isinstance(cell, datetime.datetime):
            passed = _microseconds(cell)
        elif isinstance(cell, datetime.date):
            passed = (cell.toordinal() - EPOCH.toordinal()) * DAY
        else:
            return NAN
    except Exception:  # a cell may be of any class, and its error may quote it
        return NAN
    return NAN if passed is None else passed / DAY


def as_date(days: float) -> str | None:
    """The date so many days after 1970-01-01, in ISO's way; None beyond the years 1 to 9999.

    Examples
    --------
    >>> as_date(18_262.0), as_date(1e9)
    ('2020-01-01', None)
    """
    place = EPOCH.toordinal() + days
    if not datetime.date.min.toordinal() <= place <= datetime.date.max.toordinal():
        return None
    return datetime.date.fromordinal(round(place)).isoformat()


def check_date_format(written: object) -> None:
    """Refuse what is no format of dates, and what a computer's language decides."""
    if written is None:
        return
    known = isinstance(written, str)
    signs = re.findall("%(.?)", str(written))
    day = {"j"} <= {*signs} or {"d", "m"} <= {*signs}
    if not (known and {*signs} <= DIRECTIVES and day and {*signs} & {"Y", "y"}):
        raise ValueError(
            f"format={written!r}, but a text with %d, %m and %Y (or %y) is needed, for times also "
            "%H, %M, %S, %f, such as '%d/%m/%Y' for 31/12/2020; names of months and days differ "
            "from computer to computer and are not read"
        )


def _microseconds(time: datetime.datetime) -> int:
    """Since 1970, by the fields of a time: pandas rounds otherwise for each unit of a column."""
    fields = (time.year, time.month, time.day, time.hour, time.minute, time.second)
    plain = datetime.datetime(*fields, time.microsecond) - (time.utcoffset() or ZERO)
    return (plain - EPOCH) // datetime.timedelta(microseconds=1)


def _microseconds_of_numpy(time: np.datetime64) -> int | None:
    """The same of any unit, finer ones cut off; None beyond the years 1 to 9999, as in Python."""
    year = int(time.astype("datetime64[Y]").astype(np.int64)) + EPOCH.year
    if not datetime.MINYEAR <= year <= datetime.MAXYEAR:
        return None
    return int(time.astype("datetime64[us]").astype(np.int64))


class Notation:
    """How numbers are written in text: a decimal mark, perhaps groups, a currency, per cent.

    Examples
    --------
    >>> euros = Notation(",", ".", "EUR", percent=False)
    >>> [euros(cell) for cell in ("1.234,5 EUR", "-EUR 7", "1,234.5", 3)]
    [1234.5, -7.0, nan, 3.0]
    """

    def __init__(
        self, decimal: str, thousands: str | None, currency: str | None, *, percent: bool
    ) -> None:
        groups = rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})+|" if thousands else ""
        # What may be repeated is never beside itself, so that long cells take one pass.
        self._pattern = re.compile(
            rf"(?P<whole>{groups}\d*)(?:{re.escape(decimal)}(?P<part>\d*))?"
            r"(?P<power>[eE][+-]?\d+)?",
            flags=re.ASCII,
        )
        self._thousands, self._currency = thousands or "", currency or ""
        self._percent = "%" if percent else ""

    def __call__(self, cell: Any) -> float:  # noqa: ANN401
        """The number that a cell holds; NaN where it holds none in this notation."""
        kind = type(cell)  # which a cell cannot change; cell.__class__ may raise
        if not issubclass(kind, str | bytes):
            return number(cell)
        text = str.__str__(cell) if issubclass(kind, str) else bytes.decode(cell, "latin-1")
        if text in TRUTH:
            return TRUTH[text]
        minus, bare, share = self._bare(text.strip())
        found = self._pattern.fullmatch(bare)
        if found is None or not (found["whole"] or found["part"]):
            return NAN
        whole = found["whole"].replace(self._thousands, "") if self._thousands else found["whole"]
        plain = f"{minus}{whole or 0}.{found['part'] or 0}{found['power'] or ''}"
        return float(plain) / (100.0 if share else 1.0)

    def _bare(self, text: str) -> tuple[str, str, bool]:
        """Plus or minus, the digits and marks between signs of a currency, and whether per cent."""
        minus = text[:1] if text[:1] in ("+", "-") else ""
        text = text[len(minus) :].lstrip().removeprefix(self._currency)
        rest = text.removesuffix(self._percent)
        bare = rest.rstrip().removesuffix(self._currency).strip()
        return minus, bare, len(rest) < len(text)


@cache
def notation(
    decimal: str, thousands: str | None, currency: str | None, percent: bool
) -> Notation | None:
    """The rule for texts; None for the plain one, in which Python writes numbers."""
    if (decimal, thousands, currency, percent) == (".", None, None, False):
        return None
    return Notation(decimal, thousands, currency, percent=percent)
