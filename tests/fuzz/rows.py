"""Rows that people might have, and the containers that they come in, one cell at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

NAMES = "abcdefgh"
HUGE = 10**400
CENTRES = (0.0, 0.0, 0.5, -3.0, 2005.0, 1e6, -1e3)
WIDTHS = (0.0, 1e-6, 1.0, 1.0, 30.0, 1e5)
TARGETS = ((0.0, 1.0), (-2.0, 6.0), (100.0, 1e5), (5.0, 5.000001), (-1e6, 1e6))
LABELS = ([0, 1], [0, 1], [0, 1, 2], ["a", "b"], [False, True], [1.0, 2.0], ["0", "1"], [-1, 1])
LABELS += (list(range(40)),)


@dataclass(frozen=True, eq=False)
class Facts:
    """Where data are drawn: a box of the features, a range of the target, a length of rows."""

    low: np.ndarray
    high: np.ndarray
    target: tuple[float, float]
    norm: float | None = None

    @property
    def p(self):
        return len(self.low)


@dataclass(frozen=True, eq=False)
class Row:
    """Cells and target of one person, of any type."""

    cells: list
    target: object
    story: str = field(default="a row")


def _one(rng, options):
    return options[int(rng.integers(len(options)))]


def _as_is(label):
    return label


def draw_labels(rng):
    return list(_one(rng, LABELS))


def draw_facts(rng, p, intercept, bare):
    """A box with its norm as data are drawn, and the parameters that declare some of it."""
    centre = np.array([_one(rng, CENTRES) for _ in range(p)])
    width = np.array([_one(rng, WIDTHS) for _ in range(p)])
    low, high = centre - width / 2, centre + width / 2
    if rng.random() < 0.3:
        low, high = np.zeros(p), np.ones(p)
    target = _one(rng, TARGETS)
    if bare:
        return Facts(low, high, target), {}
    farthest = float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))))
    length = max(farthest, 1e-3) * float(_one(rng, (1e-3, 0.1, 0.5, 0.9, 1.0, 3.0)))
    norm = float(np.hypot(1.0, length)) * (1 + 1e-9) if intercept else length
    kind = _one(rng, ("box", "box and norm", "box and norm", "norm"))
    declared = {"bounds_y": target} if rng.random() < 0.9 else {}
    if kind != "norm":
        declared["bounds_X"] = (low.tolist(), high.tolist())
    if kind != "box":
        declared["data_norm"] = norm
    if rng.random() < 0.1:
        declared["scale_X"] = np.maximum(np.abs(high), 1e-3).tolist()
    return Facts(low, high, target, length if kind != "box" else None), declared


def _targets(rng, facts, classes, n):
    """Everybody's target; labels may all be spelled in another type than the declared ones."""
    if classes is not None:
        alike = set(classes) == {0, 1}
        spell = _one(rng, (bool, float, np.int8, int)) if alike and rng.random() < 0.5 else _as_is
        return [spell(_one(rng, classes)) for _ in range(n)]
    return rng.uniform(*facts.target, n).tolist()


def draw_rows(rng, facts, n, classes):
    """The others: inside, in one corner, twice the same, mostly zeros, or outside the box."""
    kind = _one(rng, ("inside", "inside", "corner", "duplicates", "zeros", "outside", "tails"))
    X = rng.uniform(facts.low, facts.high, (n, facts.p))
    if kind == "corner":
        X = np.tile(facts.high, (n, 1))
    elif kind == "duplicates" and n:
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif kind == "zeros":
        X *= rng.random((n, facts.p)) < 0.3
    elif kind == "outside":
        X = X + 3.0 * rng.standard_normal((n, facts.p)) * (1.0 + np.abs(facts.high))
    elif kind == "tails":
        X = X * np.exp(3.0 * rng.standard_normal((n, facts.p)))
    targets = _targets(rng, facts, classes, n)
    return kind, [Row(cells, y) for cells, y in zip(X.tolist(), targets, strict=True)]


def _directions(rng, facts):
    """What a row that wants to be seen holds."""
    p, far = facts.p, 10.0 * float(np.linalg.norm(np.maximum(abs(facts.low), abs(facts.high))))
    axis = np.zeros(p)
    axis[int(rng.integers(p))] = float(_one(rng, (1.0, -1.0))) * max(far, 1.0)
    on_sphere = rng.standard_normal(p)
    on_sphere *= (facts.norm or max(far, 1.0)) / max(float(np.linalg.norm(on_sphere)), 1e-300)
    return {
        "low corner": facts.low,
        "high corner": facts.high,
        "mixed corner": np.where(rng.random(p) < 0.5, facts.low, facts.high),
        "inside": rng.uniform(facts.low, facts.high),
        "zeros": np.zeros(p),
        "minus zeros": -np.zeros(p),
        "huge": np.full(p, 1e308),
        "huge and negative": np.full(p, -1e308),
        "huge of both signs": 1e308 * (-1.0) ** np.arange(p),
        "tiny": np.full(p, 5e-324),
        "1e154": np.full(p, 1e154),
        "float32 edge": np.full(p, 3.4028236e38),
        "axis": axis,
        "on the sphere": on_sphere,
        "large integers": np.full(p, 2.0**53 + 2.0),
    }


EMPTY = ("NaN row", "NaN cell", "infinite cell", "None cell", "text cell", "10**400 cell")
EMPTY += ("NA cell", "unknown label", "None label", "NaN label", "text label")


def _emptied(rng, row, kind):
    """The row with something in it that makes it the empty row."""
    import pandas as pd

    cells, target = list(row.cells), row.target
    place = int(rng.integers(len(cells)))
    odd = {"NaN": np.nan, "infinite": np.inf, "None": None, "text": "x", "10**400": HUGE}
    what = kind.split()[0]
    if kind == "NaN row":
        cells = [np.nan] * len(cells)
    elif kind.endswith("cell"):
        cells[place] = pd.NA if what == "NA" else odd[what]
    else:
        target = {"unknown": 77, "None": None, "NaN": np.nan, "text": "zzz"}[what]
    return Row(cells, target, kind)


def _spelled(rng, label):
    """The same label by value, in another type."""
    if isinstance(label, str) or label not in (0, 1):
        return label
    return _one(rng, (label, label, bool(label), float(label), np.int8(label)))


def targets_of(rng, facts, classes, may_be_empty=False, must=False):
    """A row that stretches the guarantee, or an empty one."""
    story, cells = _one(rng, list(_directions(rng, facts).items()))
    low, high = facts.target
    target = _one(rng, (low, high, (low + high) / 2, 1e308, -1e308, 0.0, 5e-324))
    if classes is not None:
        target = _spelled(rng, _one(rng, classes))
    row = Row(np.asarray(cells, dtype=float).tolist(), target, story)
    if must or (may_be_empty and rng.random() < 0.4):
        kinds = EMPTY if classes is not None else [k for k in EMPTY if k != "unknown label"]
        return _emptied(rng, row, _one(rng, kinds))
    return row


# Containers: what one odd cell makes of the others is part of the attack


def contained(rows, table, column):
    """X and y in a container of that kind; a cell that does not fit changes the dtype of all."""
    width = len(rows[0].cells) if rows else 1
    with np.errstate(over="ignore"):
        cells = [[_rounded(cell, table) for cell in row.cells] for row in rows]
    return _table(cells, width, table), _column(rows, column)


def _number(cell):
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return None


def _floats(cells, width, lenient=False):
    """A float array, or None where a cell is no number (lenient: NaN in its place)."""
    numbers = [[_number(cell) for cell in row] for row in cells]
    odd = any(number is None for row in numbers for number in row)
    if odd and not lenient:
        return None
    return np.array(numbers, dtype=np.float64).reshape(len(cells), width)


def _objects(cells, width):
    out = np.empty((len(cells), width), dtype=object)
    for i, row in enumerate(cells):
        for j, cell in enumerate(row):
            out[i, j] = cell
    return out


def _integers(array):
    with np.errstate(invalid="ignore"):
        whole = np.isfinite(array).all() and (np.abs(array) < 2**60).all()
    return array.astype(np.int64) if whole else array


def _rounded(cell, kind):
    """The cell in the precision of its container, which other rows' cells must not change."""
    if kind not in ("int", "float32") or not isinstance(cell, float):
        return cell
    return float(np.rint(cell)) if kind == "int" else float(np.float32(cell))


def _table(cells, width, kind):
    if kind == "list":
        return cells if cells else np.empty((0, width))
    if kind == "object":
        return _objects(cells, width)
    if kind.startswith("pandas"):
        return _pandas(cells, width, kind)
    array = _floats(cells, width, lenient=kind in ("polars", "csr", "arrow"))
    if array is None:
        return _objects(cells, width)
    return _array(array, width, kind)


def _array(array, width, kind):
    import scipy.sparse as sp

    if kind == "csr":
        return sp.csr_array(array)
    if kind in ("polars", "arrow"):
        return _with_nulls(array, width, kind)
    with np.errstate(over="ignore"):
        made = {"float64": np.array, "float32": np.float32, "int": _integers}
        return np.asfortranarray(array) if kind == "fortran" else made[kind](array)


def _with_nulls(array, width, kind):
    import polars as pl

    columns = {
        NAMES[j]: [None if x != x else x for x in array[:, j].tolist()] for j in range(width)
    }
    frame = pl.DataFrame(columns, schema=dict.fromkeys(NAMES[:width], pl.Float64))
    return frame if kind == "polars" else frame.to_arrow()


def _pandas(cells, width, kind):
    import pandas as pd

    objects = _objects(cells, width)
    columns = {}
    for j in range(width):
        column = objects[:, j]
        if kind == "pandas object":
            columns[NAMES[j]] = pd.Series(column, dtype=object)
            continue
        numbers = [np.nan if cell is None or cell is pd.NA else _number(cell) for cell in column]
        if any(number is None for number in numbers):
            columns[NAMES[j]] = pd.Series(column, dtype=object)
        elif kind == "pandas nullable":
            columns[NAMES[j]] = pd.Series(numbers, dtype="float64").astype("Float64")
        else:
            columns[NAMES[j]] = pd.Series(numbers, dtype="float64")
    return pd.DataFrame(columns, index=np.arange(len(cells)))


def _column(rows, kind):
    import pandas as pd

    values = [row.target for row in rows]
    if kind == "list":
        return values
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    if kind == "object":
        return objects
    if kind == "pandas":
        return pd.Series(values) if values else pd.Series(objects)
    if kind == "polars":
        return _polars_column(values)
    return _plain(values, objects)


def _plain(values, objects):
    """What numpy makes of them, but never text out of numbers: that is the caller's doing."""
    kinds = {type(value) for value in values}
    texts = str in kinds
    if any(value is None for value in values) or (texts and len(kinds) > 1):
        return objects
    return np.array(values)


def _polars_column(values):
    import polars as pl

    known = [value for value in values if value is not None and value == value]
    kind = type(known[0]) if known else float
    if any(type(value) is not kind for value in known):
        return np.array(values, dtype=object)
    # Without a name, as the array above has none: a user gives both neighbours the same.
    return pl.Series([value if value == value else None for value in values], dtype=None)
