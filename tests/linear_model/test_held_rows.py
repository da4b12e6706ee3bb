"""Rows of files that are held as integers: which they are, and what no longer matters then."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from privlearn import LinearRegression
from privlearn._data import held, sources
from privlearn.exceptions import SourceChangedError
from privlearn.solvers._common import source_sums
from source_models import bits

N, P = 1_200, 3
NAMES = [f"x{j}" for j in range(P)]
EACH = 2.0 * P + 8.0  # bytes of a row


@pytest.fixture
def frame():
    X = np.random.default_rng(0).normal(size=(N, P))
    return pd.DataFrame({**dict(zip(NAMES, X.T, strict=True)), "y": X.sum(axis=1)})


@pytest.fixture
def folder(frame, tmp_path):
    """Five files, one of them without rows."""
    for k, (first, last) in enumerate([(0, 400), (400, 400), (400, 500), (500, 900), (900, N)]):
        table = pa.Table.from_pandas(frame[first:last], preserve_index=False)
        pq.write_table(table, tmp_path / f"{k}.parquet")
    return tmp_path


def read_rows(monkeypatch):
    """How many rows each pass reads, from now on."""
    found, own = [], sources._Arrow.batches

    def counted(self, columns):
        found.append(0)
        for batch in own(self, columns):
            found[-1] += batch.rows
            yield batch

    monkeypatch.setattr(sources._Arrow, "batches", counted)
    return found


@pytest.mark.parametrize(("most", "rest"), [(0, N), (399, N), (400, 800), (899, 700), (N, None)])
def test_later_passes_read_what_is_not_held(most, rest, frame, folder, monkeypatch):
    model = LinearRegression(random_state=1)
    expected = bits(model.fit(frame[NAMES], frame["y"]))
    monkeypatch.setattr(source_sums, "HELD", most * EACH)
    monkeypatch.setattr(source_sums, "PART_OF_FREE", 1.0)
    read = read_rows(monkeypatch)
    assert bits(model.fit(ds.dataset(folder), y="y")) == expected
    assert read[-1] == N if rest is None else set(read[-30:]) == {rest}
    assert (len(read) < 20) == (rest is None)


def test_what_is_held_has_no_use_for_its_files(frame, folder, monkeypatch):
    own, model = held.held_here, LinearRegression(random_state=1)
    expected = bits(model.fit(ds.dataset(folder), y="y"))

    def then_lost(*facts):
        found = own(*facts)
        (folder / "0.parquet").unlink()
        return found

    monkeypatch.setattr(source_sums, "HELD", 500 * EACH)
    monkeypatch.setattr(held, "held_here", then_lost)
    assert bits(model.fit(ds.dataset(folder), y="y")) == expected
    assert not (folder / "0.parquet").exists()


@pytest.mark.parametrize("file", [0, 3])
def test_files_that_change_before_they_are_held_or_without_being_held_stop_the_fit(
    file, frame, folder, monkeypatch
):
    own = held.held_here

    def after_a_change(*facts):
        table = pa.Table.from_pandas(frame[: 400 if file == 0 else 399], preserve_index=False)
        table = table.set_column(0, "x0", pa.array(np.zeros(len(table))))
        pq.write_table(table, folder / f"{file}.parquet")
        return own(*facts)

    monkeypatch.setattr(source_sums, "HELD", 500 * EACH)
    monkeypatch.setattr(held, "held_here", after_a_change)
    with pytest.raises(SourceChangedError):
        LinearRegression().fit(ds.dataset(folder), y="y")


OTHERS = {
    "a filter": lambda folder: ds.dataset(folder).filter(ds.field("x0") > -9.0),
    "a table": lambda folder: ds.dataset(ds.dataset(folder).to_table()),
    "two datasets": lambda folder: ds.dataset(
        [ds.dataset(folder / f"{k}.parquet") for k in (0, 3)]
    ),
    "a file twice": lambda folder: ds.dataset([str(folder / f"{k}.parquet") for k in (0, 3, 0)]),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("most", [450, 2 * N])
def test_other_datasets_are_read_whole_or_held_whole(name, most, folder, monkeypatch):
    source, model = OTHERS[name](folder), LinearRegression(random_state=1)
    table = source.to_table().to_pandas()
    expected = bits(model.fit(table[NAMES], table["y"]))
    monkeypatch.setattr(source_sums, "HELD", most * EACH)
    read = read_rows(monkeypatch)
    assert bits(model.fit(source, y="y")) == expected
    assert set(read[1:]) <= {len(table)} | set(read[:3])


def test_rows_are_read_where_memory_for_them_cannot_be_had(frame, folder, monkeypatch):
    model = LinearRegression(random_state=1)
    expected = bits(model.fit(frame[NAMES], frame["y"]))

    def none_left(self, piece):
        raise MemoryError

    monkeypatch.setattr(source_sums.SourceIntegers, "_stored", none_left)
    read = read_rows(monkeypatch)
    assert bits(model.fit(ds.dataset(folder), y="y")) == expected
    assert read.count(N) > 30
