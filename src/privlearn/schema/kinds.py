"""Kinds of columns. All that is said here is public: declared, and never read off the data."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import interval
from privlearn._data.cells import as_numbers
from privlearn.schema.parsing import (
    Notation,
    as_date,
    as_days,
    as_flag,
    check_date_format,
    notation,
)

__all__ = ["Date", "Flag", "Ignore", "Kind", "Number", "check_missing", "usual_decimal"]

Array = NDArray[np.float64]
Ends = tuple[float, float]
MISSING = ("raise", "drop", "fill", "flag")
OUTSIDE = ("clip", "missing")
# A range tells where its numbers lie where its larger end is at most so many times the smaller one;
# most of a wider one, or of one that begins at 0, may be empty, and its middle far from all rows.
TELLING = 10.0
MARKS, GROUPS = (".", ","), (None, ",", ".", " ", "'", "_", "\u00a0", "\u202f")


def check_missing(missing: object) -> None:
    """Refuse what is no way to deal with missing cells."""
    if missing not in MISSING:
        raise ValueError(
            f"missing={missing!r}, but one of {', '.join(map(repr, MISSING))} is needed: refuse, "
            "make the row an empty one, fill in a public value, or that and a column that tells so"
        )


def usual_decimal(thousands: object) -> str:
    """The decimal mark where nobody says it: a point, unless that parts groups of digits.

    Examples
    --------
    >>> usual_decimal(None), usual_decimal(","), usual_decimal(".")
    ('.', '.', ',')
    """
    return MARKS[1] if thousands == MARKS[0] else MARKS[0]


def check_fill(told: object, fill: float, kind: Kind) -> None:
    """Refuse what cannot stand in the place of missing cells of a kind."""
    if kind.missing not in ("fill", "flag"):
        raise ValueError(
            f"fill={told!r} is what missing cells become, but with missing={kind.missing!r} none "
            "is filled; add missing='fill' or 'flag', or leave fill out"
        )
    low, high = kind.ends or (-math.inf, math.inf)
    if not (math.isfinite(fill) and low <= fill <= high):
        raise ValueError(
            f"fill={told!r}, but a {kind.word} within the declared range is needed: a typical one, "
            "from public knowledge"
        )


def _finite(value: object) -> float:
    """A number as it is; NaN for anything else, truth values and numbers beyond all as well."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    small = number and abs(value) < 1e300  # type: ignore[arg-type]
    return float(value) if small else math.nan  # type: ignore[arg-type]


class Kind:
    """What all kinds of columns share; cells become numbers one by one.

    Attributes
    ----------
    missing : {"raise", "drop", "fill", "flag"}
        What happens to cells that are empty or not of this kind.
    ends : pair or None
        The declared range of its numbers; None where there is none.
    """

    missing: str
    word: ClassVar[str]
    pending: ClassVar[bool] = False  # whether something about it is estimated before it is known

    @property
    def ends(self) -> Ends | None:
        """The declared range of the numbers that cells become."""
        return None

    @property
    def middle(self) -> float:
        """Of the declared range; 0 without one."""
        return 0.0 if self.ends is None else self.ends[0] / 2 + self.ends[1] / 2

    @property
    def filling(self) -> float:
        """The public number for a cell that is missing."""
        return self.middle

    def read(self, cells: NDArray[np.generic]) -> Array:
        """One number per cell; NaN or infinity where a cell is not of this kind."""
        raise NotImplementedError

    def told(self, value: float, write: Callable[[float], str]) -> str:
        """A number that cells become as people know it; `write` spells plain numbers."""
        return write(value)

    def told_beyond(self, write: Callable[[float], str]) -> str:
        """Words that follow a range where numbers beyond the declared one are missing."""
        return ""


@dataclass(frozen=True)
class Number(Kind):
    """A column of numbers.

    Parameters
    ----------
    low, high : float or None, default=None
        Range that values are clipped to, from public knowledge and never from the data. Without it
        the range is estimated privately.
    missing : {"raise", "drop", "fill", "flag"}, default="raise"
        What happens where a cell is empty or no number. "raise" leaves it to the estimator's
        `on_invalid`: an error before anything is spent, or an empty row. "drop" makes the row an
        empty row, which the guarantee covers. "fill" puts a public number there, see `fill`. "flag"
        does that, and adds a 0/1 column that tells where.
    fill : float or None, default=None
        The number in the place of missing cells, where `missing` is "fill" or "flag": a typical one
        by public knowledge, never by the data. None takes the middle of the range where its ends
        have one sign and the larger is at most 10 times the smaller; else 0, or the end of the
        range that is nearest to it, for the middle of a wide range may be far from all numbers.
    outside : {"clip", "missing"}, default="clip"
        What a number outside of the declared range is: the nearer end of it, or nothing, as an
        empty cell, where codes such as 999 or -1 stand for "unknown". The ends are inside.
    decimal : {".", ","} or None, default=None
        Decimal mark of numbers in text. None: a point, or a comma where `thousands` is a point.
    thousands : str or None, default=None
        Mark between groups of three digits: a comma, a point, a blank, ``"'"`` or ``"_"``.
    currency : str or None, default=None
        Sign that may stand before or after a number, such as ``"$"``.
    percent : bool, default=False
        Whether "%" may follow a number: "45%" is 0.45.

    Examples
    --------
    >>> from privlearn.schema import Number
    >>> Number(0, 5_000, missing="fill", thousands=",", currency="$").ends
    (0.0, 5000.0)
    >>> Number(17, 90).filling, Number(0, 1e6).filling, Number(0, 1e6, "fill", fill=900).filling
    (53.5, 0.0, 900.0)
    >>> Number(17, 90, missing="flag", outside="missing").read(np.array([17.0, 45.0, 999.0]))
    array([17., 45., nan])
    """

    low: float | None = None
    high: float | None = None
    missing: str = "raise"
    decimal: str = field(default=None, kw_only=True)  # type: ignore[assignment]  # told by thousands
    thousands: str | None = field(default=None, kw_only=True)
    currency: str | None = field(default=None, kw_only=True)
    percent: bool = field(default=False, kw_only=True)
    outside: str = field(default="clip", kw_only=True)
    fill: float | None = field(default=None, kw_only=True)

    word: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        check_missing(self.missing)
        if (self.low is None) != (self.high is None):
            raise ValueError(
                f"Number(low={self.low!r}, high={self.high!r}) has one end only; give both, or "
                "none: the range is then estimated privately"
            )
        if self.low is not None:
            interval((self.low, self.high), "the range of a Number")
        if self.decimal is None:
            object.__setattr__(self, "decimal", usual_decimal(self.thousands))
        if self.decimal not in MARKS or self.thousands not in GROUPS:
            raise ValueError(
                f"decimal={self.decimal!r}, thousands={self.thousands!r}, but a decimal mark is "
                "'.' or ',', and groups are parted by ',', '.', ' ', \"'\", '_' or None"
            )
        if self.decimal == self.thousands:
            raise ValueError(f"decimal and thousands are both {self.decimal!r}; give two marks")
        if not (self.currency is None or _is_sign(self.currency)):
            raise ValueError(
                f"currency={self.currency!r}, but a sign without digits, blanks around it and "
                "marks of numbers is needed, such as '$' or 'EUR'"
            )
        if not isinstance(self.percent, bool):
            raise ValueError(f"percent={self.percent!r}, but True or False is needed")
        self._check_outside()
        if self.fill is not None:
            check_fill(self.fill, _finite(self.fill), self)

    def _check_outside(self) -> None:
        if self.outside not in OUTSIDE:
            raise ValueError(
                f"outside={self.outside!r}, but 'clip' or 'missing' is needed: a number outside of "
                "the range is taken for its nearer end, or for an empty cell"
            )
        if self.outside == "missing" and self.low is None:
            raise ValueError(
                "outside='missing' says that numbers outside of the declared range are no numbers, "
                "but no range is declared; write for example Number(17, 90, outside='missing')"
            )

    @property
    def filling(self) -> float:
        """The declared number, or one that is not far from where numbers of a wide range lie."""
        if self.fill is not None:
            return float(self.fill)
        low, high = self.ends or (0.0, 0.0)
        smaller, larger = sorted((abs(low), abs(high)))
        one_sign = low > 0.0 or high < 0.0
        if one_sign and larger <= TELLING * smaller:
            return self.middle
        return min(max(low, 0.0), high) + 0.0

    @property
    def limits(self) -> Ends | None:
        """The range beyond which a number is no number; None where all are."""
        return self.ends if self.outside == "missing" else None

    @property
    def ends(self) -> Ends | None:
        """The declared range."""
        if self.low is None or self.high is None:
            return None
        return float(self.low), float(self.high)

    @property
    def rule(self) -> Notation | None:
        """How texts are read; None for the plain way, in which Python writes numbers."""
        return notation(self.decimal, self.thousands, self.currency, bool(self.percent))

    def read(self, cells: NDArray[np.generic]) -> Array:
        """One number per cell."""
        rule = self.rule
        if rule is None or cells.dtype.kind in "biuf":
            return self.inside(np.array(as_numbers(cells), dtype=np.float64))
        return self.inside(np.fromiter(map(rule, cells.tolist()), np.float64, len(cells)))

    def told_beyond(self, write: Callable[[float], str]) -> str:
        """Words that follow a range where numbers beyond the declared one are missing."""
        return "; missing beyond {} to {}".format(*map(write, self.limits)) if self.limits else ""

    def inside(self, found: Array) -> Array:
        """The numbers themselves, with NaN in the place of those that are none; not a copy."""
        if self.limits is not None:
            low, high = self.limits
            found[~((found >= low) & (found <= high))] = np.nan
        return found


def _is_sign(text: object) -> bool:
    signs = isinstance(text, str) and 0 < len(text.strip()) == len(text)
    return signs and not any(c.isdigit() or c in "+-.,%" for c in str(text))


@dataclass(frozen=True)
class Flag(Kind):
    """A column of truth values: True and False, 1 and 0, or words such as yes and no.

    Parameters
    ----------
    missing : {"raise", "drop", "fill", "flag"}, default="raise"
        What happens where a cell is neither: as in `Number`; "fill" puts 1/2.

    Examples
    --------
    >>> from privlearn.schema import Flag
    >>> Flag(missing="drop")
    Flag(missing='drop')
    """

    missing: str = "raise"

    word: ClassVar[str] = "flag"

    def __post_init__(self) -> None:
        check_missing(self.missing)

    @property
    def ends(self) -> Ends:
        """0 and 1."""
        return 0.0, 1.0

    def read(self, cells: NDArray[np.generic]) -> Array:
        """0 or 1 per cell."""
        return np.fromiter(map(as_flag, cells.tolist()), np.float64, len(cells))


@dataclass(frozen=True)
class Date(Kind):
    """A column of dates or times, as a number of days.

    Cells are dates, times, or texts as in ISO 8601, such as 2020-01-31; other ways to write a date
    are stated by `format`. A text that is written otherwise is a missing cell.

    Parameters
    ----------
    first, last : date, datetime, str or None, default=None
        Range that dates are clipped to, from public knowledge; days are then counted from `first`.
        Without it days are counted from 1970-01-01, and the range is estimated privately.
    missing : {"raise", "drop", "fill", "flag"}, default="raise"
        What happens where a cell is empty or no date: as in `Number`.
    format : str or None, default=None
        How dates are written in text, in the signs of `datetime.strptime` that are numbers:
        "%d/%m/%Y" for 31/12/2020, "%m/%d/%Y %H:%M" for 12/31/2020 13:05. None is ISO's way.
    fill : date, datetime, str or None, default=None
        The date in the place of missing cells, where `missing` is "fill" or "flag", as for
        `Number`. None takes the middle of the range, 1970-01-01 without one.

    Examples
    --------
    >>> from privlearn.schema import Date
    >>> Date("2020-01-01", "2020-12-31", format="%d/%m/%Y").ends
    (0.0, 365.0)
    """

    first: datetime.date | str | None = None
    last: datetime.date | str | None = None
    missing: str = "raise"
    format: str | None = field(default=None, kw_only=True)
    fill: datetime.date | str | None = field(default=None, kw_only=True)

    word: ClassVar[str] = "date"

    def __post_init__(self) -> None:
        check_missing(self.missing)
        check_date_format(self.format)
        for name in ("first", "last", "fill"):
            given = getattr(self, name)
            if isinstance(given, np.datetime64) and math.isfinite(as_days(given)):
                object.__setattr__(self, name, given.astype("datetime64[us]").item())
        if (self.first is None) != (self.last is None):
            raise ValueError("a Date has one end only; give first and last, or neither")
        if self.first is not None and not as_days(self.first) < as_days(self.last):
            raise ValueError(
                f"Date({self.first!r}, {self.last!r}) needs two dates, the earlier one first, in "
                "ISO's way whatever the format of cells, such as Date('2020-01-01', '2020-12-31')"
            )
        if self.fill is not None:
            check_fill(self.fill, self.filling, self)

    @property
    def filling(self) -> float:
        """Days to the declared date, or to the middle."""
        return self.middle if self.fill is None else as_days(self.fill) - self.start

    @property
    def ends(self) -> Ends | None:
        """0 and the number of days from the first to the last."""
        return None if self.first is None else (0.0, as_days(self.last) - as_days(self.first))

    @property
    def start(self) -> float:
        """The day from which days are counted, itself counted from 1970-01-01."""
        return 0.0 if self.first is None else as_days(self.first)

    @property
    def written(self) -> str:
        """How texts are read, for errors: other texts are no dates."""
        if self.format is not None:
            return f"texts are read in the format {self.format!r}"
        return "texts are read as 2020-01-31; for others state a format, such as '%d/%m/%Y'"

    def read(self, cells: NDArray[np.generic]) -> Array:
        """Days per cell."""
        days = (as_days(cell, self.format) for cell in cells.tolist())
        return np.fromiter(days, np.float64, len(cells)) - self.start

    def told(self, value: float, write: Callable[[float], str]) -> str:
        """The date of a number of days, where the calendar has it."""
        return as_date(self.start + value) or write(value)


@dataclass(frozen=True)
class Ignore:
    """A column that is left out, such as a name or a number of a file.

    Examples
    --------
    >>> from privlearn.schema import Ignore
    >>> Ignore()
    Ignore()
    """

    word: ClassVar[str] = "ignore"
