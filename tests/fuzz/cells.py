"""Cells and labels of every kind, with secrets in them."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd

SIZES = (0, 1, 2, 3, 6, 6, 20)
WIDTHS = (1, 2, 3, 3, 3, 4)


class Shouting:
    """An object that quotes itself wherever it is asked for anything."""

    def __init__(self, word):
        self.word = word

    def __repr__(self):
        return self.word

    def __float__(self):
        raise ValueError(f"could not convert {self.word}")


def _date(secrets):
    return secrets.spelled(
        f"18{secrets._random.randrange(10, 99)}-07-{secrets._random.randrange(10, 29)}"
    )


def _endless():
    nest = [1.0]
    nest.append(nest)
    return nest


def _fraction(secrets):
    number = secrets.whole()
    return Fraction(number, 1000)


ODD = {
    "NaN": lambda s: np.nan,
    "inf": lambda s: np.inf,
    "-inf": lambda s: -np.inf,
    "pd.NA": lambda s: pd.NA,
    "NaT": lambda s: pd.NaT,
    "None": lambda s: None,
    "10**400": lambda s: 10**400 + s.whole(),
    "2**64": lambda s: 2**64 + 1,
    "Fraction": _fraction,
    "huge Fraction": lambda s: Fraction(10**400, 3),
    "Decimal": lambda s: Decimal(str(s.large())),
    "Decimal sNaN": lambda s: Decimal("sNaN"),
    "complex": lambda s: complex(s.large(), 1.0),
    "bytes": lambda s: s.word().encode(),
    "text": lambda s: s.word(),
    "number as text": lambda s: str(s.large()),
    "blank": lambda s: " ",
    "surrogate": lambda s: "\udcff" + s.word(),
    "True": lambda s: True,
    "list": lambda s: [s.large(), s.large()],
    "tuple": lambda s: (s.word(),),
    "dictionary": lambda s: {s.word(): s.large()},
    "endless": lambda s: _endless(),
    "object": lambda s: Shouting(s.word()),
    "float32": lambda s: np.float32(s.large()),
    "longdouble": lambda s: np.longdouble(s.large()),
    "0-d array": lambda s: np.array(s.large()),
    "date": lambda s: datetime.date.fromisoformat(_date(s)),
    "datetime64": lambda s: np.datetime64(_date(s)),
    "timedelta": lambda s: datetime.timedelta(days=s.whole()),
    "masked": lambda s: np.ma.masked,
    "largest": lambda s: 1.7e308,
    "subnormal": lambda s: 5e-324,
    "minus zero": lambda s: -0.0,
    "large": lambda s: s.large(),
}

CELLS = {
    "small": lambda s: s.small(),
    "large": lambda s: s.large(),
    "whole": lambda s: s.whole(),
    "zero and one": lambda s: s._random.randrange(2),
    "booleans": lambda s: bool(s._random.randrange(2)),
    "mixed": lambda s: s.large() if s._random.random() < 0.5 else s.whole(),
}

LABELS = {
    "0 and 1": lambda s: s._random.randrange(2),
    "0, 1 and 2": lambda s: s._random.randrange(3),
    "booleans": lambda s: bool(s._random.randrange(2)),
    "small": lambda s: s.small(),
    "large": lambda s: s.large(),
    "floats": lambda s: float(s._random.randrange(2)),
    "texts": lambda s: ("no", "yes")[s._random.randrange(2)],
    "secret texts": lambda s: s.word(),
    "bytes": lambda s: (b"no", b"yes")[s._random.randrange(2)],
    "all the same": lambda s: 1,
}


def draw_matrix(pick, secrets, width=None):
    """Rows of cells of one kind, some of them odd; the number of columns."""
    n = pick("n", SIZES)
    p = pick("p", WIDTHS) if width is None or pick.chance(8) else width
    make = pick("cells", CELLS)
    rows = [[make(secrets) for _ in range(p)] for _ in range(n)]
    if n and pick.chance(55):
        odd = pick("odd", ODD)
        for _ in range(pick.between(1, 2)):
            rows[pick.between(0, n - 1)][pick.between(0, p - 1)] = odd(secrets)
    return rows, p


def draw_targets(pick, secrets, n, classifies):
    """One per row, mostly of a kind that suits; some odd."""
    suits = (
        ("0 and 1", "booleans", "texts", "floats") if classifies else ("small", "large", "0 and 1")
    )
    kind = pick("targets", suits) if pick.chance(75) else pick("targets", list(LABELS))
    values = [LABELS[kind](secrets) for _ in range(n)]
    if n and pick.chance(35):
        values[pick.between(0, n - 1)] = pick("odd target", ODD)(secrets)
    if pick.chance(4):
        values = values[:-1]
    return values
