"""Batches of Arrow by a schema: the numbers that single cells become, bit by bit."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from privlearn import LinearRegression
from privlearn.schema import Category, Date, Flag, Number
from privlearn.schema.arrow import encoded_columns
from privlearn.schema.reading import encoding_of, read_by

N = 300
RNG = np.random.default_rng(0)


def drawn(values, size=N):
    return [values[k] for k in RNG.integers(0, len(values), size)]


def damaged():
    """Texts of which one is in no known code."""
    good = pa.array(drawn(["a", "b", None]), pa.string())
    bad = pa.array([b"a", b"\xff", b"b"], pa.binary())
    return pa.concat_arrays([good, pa.Array.from_buffers(pa.string(), 3, bad.buffers())])


WORDS = [" a", "a", "A", "b ", "", "c", None, "1", "01", "true", "?", "1e5", "nan", "\u00e9"]
TEXTS = pa.array(drawn(WORDS))
DAYS = ["2001-02-03", "1999-12-31", "31/12/1999", "", None, "0001-01-01"]
DATES = pa.array(drawn([datetime.date(2001, 2, 3), datetime.date(1960, 1, 1), None]))
TIMES = drawn([datetime.datetime(2001, 2, 3, 4, 5, 6, 7), None])
CELLS = {
    "texts": TEXTS,
    "large texts": TEXTS.cast(pa.large_string()),
    "bytes": TEXTS.cast(pa.binary()),
    "texts as views": pa.array(TEXTS.to_pylist(), pa.string_view()),  # no cast before pyarrow 18
    "a dictionary": TEXTS.dictionary_encode(),
    "a dictionary of large texts": TEXTS.cast(pa.large_string()).dictionary_encode(),
    "a dictionary with small places": TEXTS.cast(pa.dictionary(pa.int8(), pa.string())),
    "a dictionary that is larger than a batch": pa.DictionaryArray.from_arrays(
        pa.array(drawn([0, 1, 2, 700, None]), pa.uint16()),
        pa.array(["a", None, "b", *map(str, range(900))]),
    ),
    "a dictionary that says something twice": pa.DictionaryArray.from_arrays(
        pa.array(drawn([0, 1, 2, 3, None]), pa.int32()), pa.array(["a", "b", "a", None])
    ),
    "a dictionary of numbers": pa.array(drawn([1, 2, None])).dictionary_encode(),
    "many texts": pa.array([f"value {k}" if k % 3 else "a" for k in range(N)]),
    "damaged texts": damaged(),
    "no text at all": pa.nulls(N, pa.string()),
    "nothing": pa.nulls(N),
    "single precision": pa.array(
        np.array(drawn([1.5, -0.0, np.nan, np.inf, 1e38, 0.1]), np.float32)
    ),
    "double precision": pa.array(drawn([1.5, float("nan"), None, 1e308, -float("inf"), 1.0])),
    "half precision": pa.array(np.array(drawn([1.5, np.nan, 1.0]), np.float16)),
    "whole numbers": pa.array(drawn([0, 1, 2, -3, 2**53 + 1, None])),
    "small whole numbers": pa.array(drawn([0, 1, 200]), pa.uint8()),
    "the largest whole numbers": pa.array(drawn([0, 2**64 - 1, 2**63, None]), pa.uint64()),
    "truth values": pa.array(drawn([True, False, None])),
    "decimals": pa.array(drawn([Decimal("1.50"), Decimal("1.00"), None])),
    "dates": DATES,
    "dates in milliseconds": DATES.cast(pa.date64()),
    "times": pa.array(TIMES, pa.timestamp("us")),
    "times in a zone": pa.array(TIMES, pa.timestamp("ns", tz="Europe/Berlin")),
    "times beyond Python's": pa.array(drawn([0, 2**62, None]), pa.timestamp("s")),
    "days in text": pa.array(drawn(DAYS)),
    "lists": pa.array(drawn([[1], [], None])),
}
KINDS = {
    "a list": Category(["a", "b", "1"], missing="flag"),
    "a list, filled": Category(["a", "b", "1"], missing="fill"),
    "a list, dropped": Category(["a", "b", "1"], missing="drop"),
    "a list with others": Category(["a", "1"], other=True, missing="flag"),
    "bins": Category(hashed=5, missing="flag"),
    "numbers": Number(missing="flag"),
    "numbers in a range": Number(-3, 5, missing="flag"),
    "numbers in a range, others missing": Number(-3, 0.1, missing="flag", outside="missing"),
    "numbers in a range, others dropped": Number(-3, 0.1, missing="drop", outside="missing"),
    "numbers, filled": Number(1, 2, missing="fill"),
    "numbers, dropped": Number(missing="drop"),
    "numbers with marks": Number(missing="flag", decimal=",", percent=True),
    "flags": Flag(missing="flag"),
    "days": Date(missing="flag"),
    "days in a range": Date("1990-01-01", "2010-01-01", missing="fill"),
    "days by a format": Date(missing="drop", format="%d/%m/%Y"),
}


@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_what_single_cells_become(kind, shifted):
    encoding = encoding_of(["c"], {"c": KINDS[kind]}, shifted=shifted)
    parts = [(name, own) for name, c in CELLS.items() for own in (c, c[7:40], c[:1], c[:0])]
    for name, own in parts:
        batch = pa.record_batch([own], names=["c"])
        table = pa.Table.from_batches([batch])
        values = read_by(encoding, table, strict=False, predicts=False)
        found = np.column_stack(encoded_columns(encoding, batch, strict=False))
        expected, found = encoding.scaled(values), found.astype(np.float64)
        # What is infinite, or no number, is left for whoever looks which rows are there.
        there = np.isfinite(expected)
        np.testing.assert_array_equal(np.isfinite(found), there, err_msg=name)
        assert found[there].tobytes() == expected[there].tobytes(), name


@pytest.mark.parametrize("kind", KINDS)
def test_the_types_of_numbers_follow_from_schema_and_type_alone(kind):
    encoding = encoding_of(["c"], {"c": KINDS[kind]}, shifted=True)
    for cells in CELLS.values():
        types = {
            tuple(one.dtype for one in encoded_columns(encoding, batch, strict=False))
            for first in range(0, N, 10)
            for batch in [pa.record_batch([cells[first : first + 10]], names=["c"])]
        }
        assert len(types) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_cell_becomes_the_same_whatever_is_beside_it(kind):
    encoding = encoding_of(["c"], {"c": KINDS[kind]}, shifted=True)

    def of(own):
        return encoded_columns(encoding, pa.record_batch([own], names=["c"]), strict=False)

    for name, cells in CELLS.items():
        together = np.column_stack(of(cells))
        alone = [np.column_stack(of(cells[k : k + 1])) for k in range(0, N, 23)]
        np.testing.assert_array_equal(np.vstack(alone), together[:N:23], err_msg=name)


def raw(n=4_000):
    rng = np.random.default_rng(1)
    found = {
        "x": np.where(rng.random(n) < 0.1, np.float32("nan"), rng.normal(size=n)),
        "group": rng.choice(np.array(["a", "b", "c", "d", None], dtype=object), n),
        "place": [f"street {k}" for k in rng.integers(0, n, n)],
        "whole": rng.integers(0, 9, n),
    }
    y = np.nan_to_num(found["x"]) + (found["group"] == "a") + rng.normal(size=n)
    return pd.DataFrame({**found, "y": y})


class Changing:
    """Batches whose dictionaries and types of text differ from one to the next."""

    def __init__(self, frame):
        self.table = pa.Table.from_pandas(frame, preserve_index=False)

    def __iter__(self):
        for k, first in enumerate(range(0, len(self.table), 900)):
            some = self.table[first : first + 900].combine_chunks()
            group = some["group"].combine_chunks()
            place = some.schema.get_field_index("group")
            if k % 3 == 1:
                group = group.dictionary_encode()
            if k % 3 == 2:
                group = group.cast(pa.large_string())
            yield some.set_column(place, "group", group).to_batches()[0]


@pytest.mark.parametrize("missing", ["flag", "fill", "drop"])
@pytest.mark.parametrize("invalid", ["raise", "drop"])
def test_fits_have_the_bits_of_fits_in_memory(missing, invalid):
    frame = raw()
    known = {
        "x": Number(missing=missing),
        "group": Category(["a", "b", "c"], missing=missing),
        "place": Category(hashed=4),
        "whole": Category([1, 2, 3], other=True),
    }
    model = LinearRegression(schema=known, on_invalid=invalid, random_state=2)
    expected = model.fit(frame.drop(columns="y"), frame["y"]).coef_.tobytes()
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for source in (ds.dataset(table), Changing(frame)):
        assert model.fit(source, y="y").coef_.tobytes() == expected


def test_what_is_missing_is_refused_by_its_column_before_the_charge():
    table = pa.Table.from_pandas(raw(), preserve_index=False).select(["whole", "group", "y"])
    for known in (
        {"group": Category(["a", "b", "c", "d"])},
        {"group": Category(["a"], other=True)},
    ):
        with pytest.raises(ValueError, match="column 'group' of X holds"):
            LinearRegression(schema=known).fit(ds.dataset(table), y="y")
