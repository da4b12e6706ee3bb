"""Rows elsewhere: what reads them may quote a cell, and text files are refused as such."""

import traceback

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.dataset as ds
import pytest

from privlearn import LinearRegression, LogisticRegression
from privlearn._data import sources
from privlearn.exceptions import SourceChangedError

SECRET = "grey-diabetes"
FACTS = {"bounds_X": (0, 1), "adjacency": "add_remove"}


def csv(folder, cell="0.5", name="people.csv"):
    """A file of which one cell, far from the first, is given."""
    rng = np.random.default_rng(0)
    cells = [[f"{cell:.3f}" for cell in row] for row in rng.uniform(size=(70_000, 2))]
    for row in cells:
        row[1] = str(round(float(row[1])))
    cells[69_000][0] = cell
    path = folder / name
    path.write_text("a,y\n" + "".join(",".join(row) + "\n" for row in cells))
    return path


def lazy(folder):
    return pl.scan_csv(csv(folder, SECRET), schema={"a": pl.Float64, "y": pl.Float64})


def lazily_cast(folder):
    held = pl.DataFrame({"a": ["0.5"] * 99 + [SECRET], "y": [0, 1] * 50}).lazy()
    return held.filter(pl.col("a").cast(pl.Float64) > 0.0).cast(pl.Float64)


def dasks(folder):
    dd = pytest.importorskip("dask.dataframe")
    return dd.read_csv(csv(folder, SECRET), dtype=float)


class Batches:
    def __iter__(self):
        yield pa.table({"a": [0.5, 0.25], "y": [0, 1]}).to_batches()[0]
        raise KeyError(SECRET)


READ_BY_OTHERS = {
    "lazy frame": lazy,
    "lazy casts": lazily_cast,
    "dask": dasks,
    "batches": lambda folder: Batches(),
}


@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove"])
@pytest.mark.parametrize("source", READ_BY_OTHERS)
def test_what_another_library_says_about_a_cell_is_not_repeated(source, adjacency, tmp_path):
    X = READ_BY_OTHERS[source](tmp_path)
    known = FACTS | {"adjacency": adjacency}
    for model in (LinearRegression(bounds_y=(0, 1), **known), LogisticRegression(**known)):
        with pytest.raises(ValueError, match=r"could not be (read|computed)") as caught:
            model.fit(X, "y")
        told = "".join(traceback.format_exception(caught.value))
        assert SECRET not in told


def text_formats(folder):
    path = csv(folder)
    yield ds.dataset(path, format="csv")
    quoteless = pc.ParseOptions(quote_char=False)
    yield ds.dataset(path, format=ds.CsvFileFormat(parse_options=quoteless))
    yield ds.dataset([ds.dataset(path, format="csv")])
    (folder / "people.json").write_text('{"a": 0.5, "y": 0.5}\n' * 9)
    yield ds.dataset(folder / "people.json", format="json")


@pytest.mark.parametrize("on_invalid", ["raise", "drop"])
def test_text_files_are_no_datasets(on_invalid, tmp_path):
    """A quotation mark in one row would take in those behind it, without an error."""
    for X in text_formats(tmp_path):
        with pytest.raises(ValueError, match="Parquet"):
            LinearRegression(bounds_y=(0, 1), on_invalid=on_invalid, **FACTS).fit(X, "y")


class Panic(BaseException):
    """As those of polars, which are no Exception."""


class Later:
    """Batches whose third reading, which is after the charge, ends in a panic."""

    read = 0

    def __iter__(self):
        self.read += 1
        yield pa.table({"a": [0.5, 0.25] * 50, "y": [0, 1] * 50}).to_batches()[0]
        if self.read > 3:
            raise Panic(SECRET)


def test_a_panic_after_the_charge_is_told_by_its_kind():
    with pytest.raises(SourceChangedError, match="Panic") as caught:
        LinearRegression(bounds_y=(0, 1), **FACTS).fit(Later(), "y")
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_targets_beyond_the_rows_of_a_memory_map_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 10)  # of which there are whole batches
    rows = np.memmap(tmp_path / "rows", np.float64, "w+", shape=(20, 1))
    with pytest.raises(ValueError, match="inconsistent"):
        LinearRegression(bounds_y=(0, 1), **FACTS).fit(rows, np.zeros(21))
