"""Ids of people: different ones stay different in every container, or are refused."""

from decimal import Decimal
from fractions import Fraction
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privlearn._data.labels import plain_value
from privlearn._data.people import read_people

FLOATS = {
    "half": np.float16,
    "single": np.float32,
    "double": np.float64,
    "long": np.longdouble,
    "single complex": np.complex64,
    "whole": np.int64,
}
CONTAINERS = {
    name: lambda ids, kind=kind: np.array(ids, dtype=kind)
    for name, kind in FLOATS.items()
    if "complex" not in name  # refused as such
}
CONTAINERS |= {
    f"a list, {name}": lambda ids, kind=kind: [kind(one) for one in ids]
    for name, kind in FLOATS.items()
}
CONTAINERS |= {
    "a list": list,
    "Decimal": lambda ids: list(map(Decimal, ids)),
    "Fraction": lambda ids: list(map(Fraction, ids)),
    "text": lambda ids: list(map(str, ids)),
    "pandas": lambda ids: pd.Series(ids, dtype="float32"),
    "pandas with NA": lambda ids: pd.Series(ids, dtype="float64").astype("Float32"),
    "pandas of Arrow": lambda ids: pd.Series(np.float32(ids), dtype=pd.ArrowDtype(pa.float32())),
    "polars": lambda ids: pl.Series(np.float32(ids)),
    "Arrow": lambda ids: pa.array(np.float32(ids)),
    "Arrow chunks": lambda ids: pa.chunked_array([np.float32(ids)]),
}


def count(ids):
    """How many people, None where something is refused as no id."""
    try:
        return read_people(ids, len(ids), strict=True).count
    except ValueError as error:
        refused = str(error)
    if "no id" not in refused:
        raise AssertionError(refused)
    return None


@pytest.mark.parametrize("hold", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("bits", [5, 11, 24, 30, 53, 55])
def test_neighbouring_numbers_are_never_one_person(hold, bits):
    with np.errstate(all="ignore"):
        ids = hold([2**bits - 1, 2**bits, 2**bits + 1])
    found = count(ids)
    assert found in (3, None)
    assert found == 3 or bits > 5
    some = read_people(ids, 3, strict=False)
    assert some.count == len(set(some.of_row.tolist()) - {-1}) == np.sum(some.of_row >= 0)


def test_what_single_precision_rounds_is_refused_beside_a_null():
    for ids in (
        pl.Series([2.0**24, None], dtype=pl.Float32),
        pa.array([2.0**24, None], pa.float32()),
    ):
        assert read_people(ids, 2, strict=False).count == 0


def test_numbers_finer_than_double_precision():
    fine = [np.longdouble(1), np.longdouble(1) + np.longdouble(2) ** -60]
    assert count(fine) is count(np.array(fine)) is None
    assert count(np.array([0.1, 0.2, 0.1], dtype=np.longdouble)) == 2


def alike(base):
    """A subclass whose objects look, compare and convert alike."""
    said = {
        "__str__": lambda one: "***",
        "__repr__": lambda one: "***",
        "__eq__": lambda one, other: True,
        "__hash__": lambda one: 7,
        "__bytes__": lambda one: b"***",
        "__int__": lambda one: 7,
        "__float__": lambda one: 7.0,
        "__index__": lambda one: 7,
        "__abs__": lambda one: 7,
    }
    return type("Redacted", (base,), said)


@pytest.mark.parametrize(
    ("base", "one", "two"),
    [
        (str, "anna", "ben"),
        (bytes, b"anna", b"ben"),
        (int, 1, 2),
        (float, 1.5, 2.5),
        (UUID, str(UUID(int=1)), str(UUID(int=2))),
    ],
)
def test_what_looks_alike_is_not_one_person(base, one, two):
    kind = alike(base)
    assert count([kind(one), kind(two), base(one)]) == 2
    if base is not UUID:
        assert type(plain_value(kind(one))) is base


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_a_missing_id_beside_text_is_told_as_missing(missing):
    for ids in (["a", missing], pd.Series(["a", missing], dtype=object), [b"a", missing]):
        assert count(ids) is None
        people = read_people(ids, 2, strict=False)
        assert people.of_row.tolist() == [0, -1]


@pytest.mark.parametrize("ids", [["1", b"1"], ["1", 1], [b"1", 1.0], [UUID(int=1), 1]])
def test_two_spellings_are_refused(ids):
    with pytest.raises(ValueError, match="different people"):
        read_people(ids, 2, strict=True)
