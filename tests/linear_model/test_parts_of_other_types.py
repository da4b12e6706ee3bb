"""Files of one dataset, each with its own types: no cell refuses the fit, or changes others."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from privlearn import LinearRegression
from privlearn.schema import Category, Date, Number

N = 400
RNG = np.random.default_rng(0)
WHOLE = RNG.integers(0, 3, N).tolist()
TARGET = RNG.uniform(size=N).tolist()
DAYS = [datetime.date(2020, 1, 1 + k % 28) for k in range(N)]


def written(folder, columns):
    """Two files, as a program writes them that chooses types by cells."""
    for k, rows in enumerate((slice(0, N // 2), slice(N // 2, N))):
        held = {name: pa.array(cells[rows]) for name, cells in columns.items()}
        pq.write_table(pa.table(held), folder / f"part{k}.parquet")
    return folder


def with_cell(cells, place, cell):
    return [*cells[:place], cell, *cells[place + 1 :]]


def model(**more):
    known = {"bounds_X": (0, 2), "bounds_y": (0, 1), "on_invalid": "drop"} | more
    return LinearRegression(solver="moments", random_state=0, **known)


def coef(found):
    return found.coef_.tobytes(), found.intercept_


@pytest.mark.parametrize("place", [5, N - 5])
@pytest.mark.parametrize("cell", [1.5, 1e300, 2**53 + 1, 0.0, None])
def test_a_file_of_fractions_beside_one_of_whole_numbers(cell, place, tmp_path):
    """pyarrow casts all files to the types of the first, and one fraction stopped that."""
    cells = [float(v) for v in WHOLE] if isinstance(cell, float) else WHOLE
    own = slice(0, N // 2) if place < N // 2 else slice(N // 2, N)
    cells = [v if own.start <= k < own.stop else int(v) for k, v in enumerate(cells)]
    cells = with_cell(cells, place, cell)
    held = pd.DataFrame({"a": pd.Series(cells, dtype=object), "y": TARGET})
    for folder in (tmp_path, ds.dataset(written(tmp_path, {"a": cells, "y": TARGET}))):
        assert coef(model().fit(folder, "y")) == coef(model().fit(held, "y"))


def test_a_file_without_a_number_beside_one_of_numbers(tmp_path):
    """A column of nothing but missing cells has no type of its own."""
    cells = [None] * (N // 2) + WHOLE[N // 2 :]
    held = pd.DataFrame({"a": pd.Series(cells, dtype=object), "y": TARGET})
    found = model().fit(written(tmp_path, {"a": cells, "y": TARGET}), "y")
    assert coef(found) == coef(model().fit(held, "y"))


def test_whole_numbers_behind_truth_values_stay_numbers(tmp_path):
    """Cast to truth values, 2 became 1."""
    cells = [bool(v) for v in WHOLE[: N // 2]] + WHOLE[N // 2 :]
    held = pd.DataFrame({"a": pd.Series(cells, dtype=object), "y": TARGET})
    found = model().fit(written(tmp_path, {"a": cells, "y": TARGET}), "y")
    assert coef(found) == coef(model().fit(held, "y"))


def test_targets_and_columns_of_a_schema(tmp_path):
    days = [
        *DAYS[: N // 2],
        *(datetime.datetime(d.year, d.month, d.day, 12) for d in DAYS[N // 2 :]),
    ]
    texts = [*("012"[v] for v in WHOLE[: N // 2]), *WHOLE[N // 2 :]]
    y = [*(round(v) for v in TARGET[: N // 2]), *TARGET[N // 2 :]]
    columns = {"c": texts, "d": days, "a": [*WHOLE[: N // 2], *TARGET[N // 2 :]], "y": y}
    schema = {
        "c": Category(["0", "1", "2"]),
        "d": Date("2020-01-01", "2021-01-01"),
        "a": Number(0, 2),
    }
    known = {"bounds_X": None, "schema": schema}
    held = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    found = model(**known).fit(written(tmp_path, columns), "y")
    assert coef(found) == coef(model(**known).fit(held, "y"))


def test_folders_that_name_a_column(tmp_path):
    for k, part in enumerate(("left", "right")):
        (tmp_path / f"side={part}").mkdir()
        cells = WHOLE if k == 0 else TARGET
        table = pa.table({"a": cells, "y": TARGET})
        pq.write_table(table, tmp_path / f"side={part}" / "part.parquet")
    X = ds.dataset(tmp_path, partitioning="hive")
    schema = {"side": Category(["left", "right"]), "a": Number(0, 2)}
    held = pd.DataFrame(
        {"a": [*WHOLE, *TARGET], "side": ["left"] * N + ["right"] * N, "y": TARGET * 2}
    )
    known = {"bounds_X": None, "schema": schema}
    found = model(**known).fit(X, "y")
    order = list(found.feature_names_in_)
    assert coef(found) == coef(model(**known).fit(held[[*order, "y"]], "y"))


def test_a_filter_of_files_of_different_types_is_refused(tmp_path):
    columns = {"a": [*WHOLE[: N // 2], *TARGET[N // 2 :]], "y": TARGET}
    whole = ds.dataset(written(tmp_path, columns))
    for X in (whole.filter(pc.field("y") > 0.5), ds.dataset([whole])):
        with pytest.raises(ValueError, match=r"column 'a' in different types \(double, int64\)"):
            model().fit(X, "y")
    same = {"a": TARGET, "y": TARGET}
    model().fit(ds.dataset(written(tmp_path, same)).filter(pc.field("y") > 0.5), "y")
