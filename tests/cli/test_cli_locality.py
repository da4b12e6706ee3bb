"""What the command reads from one row is decided by that row alone.

One physical line (or one row of a Parquet file) is changed in any way, put in or taken out; every
other row that a fit would see must stay the same to the last bit, and nothing may be raised.
"""

import gzip
import math
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privlearn.cli import design as designs
from privlearn.cli.dialect import Dialect
from privlearn.cli.schema import Facts
from privlearn.cli.tables import open_source
from privlearn.cli.training import read_training

ANY = Dialect()
NAMES = ["age", "weight", "free", "sex", "label"]
LINES = [
    b"30,61.5,7,male,yes",
    b'41,1e1,"8",female,no',
    b'"52",0.1,  9,"male",yes',
    b"63,1_000,1e400,female,no",
    b"74,,x,other,",
    b"2,3,4,male,yes\r",
]
PIECES = [b'"', b",", b";", b"\r", b"\0", b"\xff", b"\xef\xbb\xbf", b"", b" ", b"'", b"\\", b"\t"]
PIECES += [b"1", b"nan", b"inf", b"-", b"9" * 400, b"x" * 140_000, "é\u2028\x85".encode(), b"male"]
PIECES += [b"yes", b"\x1a", b"\xe2\x80", b"0x10", b"1_0", b'""', b"\x0b", b"30,61.5,7,male,yes"]
nasty = st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)


def read(path, classifies, dialect=ANY):
    """What a fit under "drop" sees, and the declared columns that it sees it through."""
    target = "label" if classifies else "free"
    facts = Facts(
        bounds={"age": (17.0, 90.0), "weight": (0.0, 200.0)},
        categories={"sex": ("male", "female", "1", "2", "3", "False")},
        target=target,
        columns=("age", "weight", "sex"),
        classes=("no", "yes", "1", "2", "3", "True") if classifies else None,
    )
    source = open_source(path, dialect)
    chosen = designs.design(source.names, facts, where="here", classifies=classifies)
    return read_training(source, chosen, remedy=None, n_is_public=True)


def rows_of(path, classifies, dialect=ANY):
    """Each row as something that is equal only where every bit is."""
    X, y, _ = read(path, classifies, dialect)
    targets = y.tolist() if y.dtype == object else y.view(np.uint64).tolist()
    features = np.ascontiguousarray(X.values).view(np.uint64)
    return [(tuple(row), target) for row, target in zip(features.tolist(), targets, strict=True)]


def check_csv(folder, lines, k, changed, *, classifies, end=b"\n", dialect=ANY, pack=bytes):
    """Put `changed` in the place of line k; the others stay."""
    path = folder / "rows.csv"
    for_file = [",".join(NAMES).encode(), *lines]
    path.write_bytes(pack(b"\n".join(for_file) + end))
    before = rows_of(path, classifies, dialect)
    assert len(before) == len(lines)
    path.write_bytes(pack(b"\n".join([*for_file[: k + 1], *changed, *for_file[k + 2 :]]) + end))
    after = rows_of(path, classifies, dialect)
    tail = len(lines) - k - 1
    assert after[:k] == before[:k]
    assert after[len(after) - tail :] == before[k + 1 :]
    assert len(after) == len(lines) - 1 + len(changed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


def examples(count):
    return settings(max_examples=count, derandomize=True, deadline=None, database=None)


@examples(200)
@given(
    k=st.integers(0, len(LINES) - 1),
    changed=st.lists(nasty, max_size=2),
    classifies=st.booleans(),
)
@example(k=1, changed=[b'1,2,3,"male,yes'], classifies=True)
@example(k=0, changed=[b""], classifies=True)
@example(k=2, changed=[b"1,\xff,3,male,yes"], classifies=True)
@example(k=2, changed=[b"1,2\0,3,male,yes"], classifies=False)
@example(k=2, changed=[b"1," + b"9" * 200_000 + b",3,male,yes"], classifies=False)
@example(k=3, changed=[], classifies=False)
def test_one_line_changes_no_other(folder, k, changed, classifies):
    check_csv(folder, LINES, k, changed, classifies=classifies)


OTHERS = [Dialect(encoding=name) for name in ("cp1252", "shift_jis", "gb18030")]


@examples(120)
@given(
    k=st.integers(0, len(LINES) - 1),
    changed=st.lists(nasty, max_size=2),
    dialect=st.sampled_from([ANY, *OTHERS]),
    pack=st.sampled_from([bytes, gzip.compress]),
)
@example(k=1, changed=[b"1,2,3,male,\x81"], dialect=OTHERS[1], pack=bytes)
def test_nor_in_other_encodings_and_packed_files(folder, k, changed, dialect, pack):
    check_csv(folder, LINES, k, changed, classifies=True, dialect=dialect, pack=pack)


def quoted(cells):
    return ",".join(f'"{cell.replace(chr(34), 2 * chr(34))}"' for cell in cells).encode()


odd = st.lists(st.sampled_from(["\n", '"', ",", "x", "1", "\n\n", '"\n"', " ", "male"]), max_size=5)


@examples(120)
@given(
    k=st.integers(0, len(LINES) - 1),
    changed=st.lists(odd.map("".join), min_size=5, max_size=5),
    breaks=st.lists(odd.map("".join), min_size=5, max_size=5),
)
def test_nor_where_quoted_cells_hold_line_breaks(folder, k, changed, breaks):
    """Whatever cells hold, as long as they are quoted as they should be."""
    lines = [*LINES[:3], quoted(breaks), *LINES[3:]]
    check_csv(
        folder, lines, k, [quoted(changed)], classifies=True, dialect=Dialect(line_breaks=True)
    )


def test_a_blank_line_is_a_row_and_the_end_of_the_last_line_is_not(folder):
    path = folder / "blank.csv"
    head = ",".join(NAMES).encode()
    rows = b"\n".join([head, LINES[0], b"", LINES[1]])
    for end in (b"", b"\n"):
        path.write_bytes(rows + end)
        first, blank, last = rows_of(path, classifies=True)
        assert np.isnan(np.array(blank[0], dtype=np.uint64).view(np.float64)).all()
        assert blank[1] == ""
        assert len({first, blank, last}) == 3


CELLS = {
    "age": [30, 41, 52, 63],
    "weight": [61.5, 1.0, 0.1, 7.0],
    "free": [7, 2**53 + 1, 9, 1],
    "sex": [1, 2, 3, 1],
    "label": [1, 2, 1, 3],
}
KINDS = [
    Decimal("2.500"),
    None,
    1,
    2,
    2.5,
    math.nan,
    math.inf,
    -0.0,
    2**53 + 3,
    True,
    "1",
    "male",
    "",
    "yes",
]


def as_column(cells):
    """A column as its writer would store it: of the narrowest type that holds all cells."""
    import pyarrow

    if any(isinstance(cell, str) for cell in cells):
        return pyarrow.array([None if cell is None else str(cell) for cell in cells])
    if any(isinstance(cell, Decimal) for cell in cells):
        return pyarrow.array([None if cell is None else Decimal(str(cell)) for cell in cells])
    if any(isinstance(cell, float) for cell in cells):
        return pyarrow.array([None if cell is None else float(cell) for cell in cells])
    if all(isinstance(cell, bool) or cell is None for cell in cells):
        return pyarrow.array(cells)
    return pyarrow.array([None if cell is None else int(cell) for cell in cells])


def test_the_scale_of_decimals_is_no_part_of_a_label(folder):
    for last in ("3", "3.25", "3.000"):
        write_parquet(folder / "d.parquet", {"x": [Decimal("1"), Decimal("2.5"), Decimal(last)]})
        table = open_source(folder / "d.parquet").read(["x"], remedy=None)
        assert table.labels("x")[:2] == ["1", "2.5"]


def write_parquet(path: Path, columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({name: as_column(cells) for name, cells in columns.items()})
    parquet.write_table(table, path)


@pytest.mark.parametrize("reader", ["polars", "pyarrow"])
@examples(60)
@given(
    name=st.sampled_from(NAMES),
    k=st.integers(0, 3),
    cell=st.sampled_from(KINDS),
    classifies=st.booleans(),
)
def test_one_cell_of_a_parquet_file_changes_no_other(folder, reader, name, k, cell, classifies):
    """Also where the cell makes its column one of text, of decimals, or of anything else."""
    pytest.importorskip(reader)
    from privlearn.cli import parquet

    path = folder / "rows.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parquet, "READERS", (getattr(parquet, f"_by_{reader}"),))
        # whole numbers beyond 2**53 are no floats: what else is in their column rounds them
        base = {**CELLS, "free": [7, 8, 9, 1]} if name == "free" else CELLS
        write_parquet(path, base)
        before = rows_of(path, classifies)
        changed = {**base, name: [*base[name][:k], cell, *base[name][k + 1 :]]}
        write_parquet(path, changed)
        after = rows_of(path, classifies)
    assert [*after[:k], *after[k + 1 :]] == [*before[:k], *before[k + 1 :]]
