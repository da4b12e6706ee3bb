"""Kinds of columns: what they refuse on construction, and what they read in a cell."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pytest

from privlearn.schema import Category, Date, Flag, Ignore, Number
from privlearn.schema.encoding import Column, Encoding
from privlearn.schema.parsing import notation
from privlearn.schema.plain import kind_from, plain_kind

NAN = float("nan")


def cells(*values):
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def read(kind, *values):
    return kind.read(cells(*values))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Number(1), "one end only"),
        (lambda: Number(9, 1), "low < high"),
        (lambda: Number(0, float("inf")), "finite"),
        (lambda: Number(0, 1, "mean"), "missing='mean'"),
        (lambda: Number(decimal=";"), "decimal=';'"),
        (lambda: Number(decimal=",", thousands=","), "two marks"),
        (lambda: Number(currency="5"), "currency='5'"),
        (lambda: Number(currency=" $"), "currency=' \\$'"),
        (lambda: Number(percent="yes"), "percent='yes'"),
        (lambda: Flag("keep"), "missing='keep'"),
        (lambda: Category("north"), "different texts"),
        (lambda: Category(["a", " a"]), "different texts"),
        (lambda: Category(["a", None]), "different texts"),
        (lambda: Category([1, "1"]), "two of these are the same"),
        (lambda: Category(["1", "01"]), "two of these are the same"),
        (lambda: Category(["1", True]), "two of these are the same"),
        (lambda: Category(["true", "True"]), "two of these are the same"),
        (lambda: Category(["a", "nan"]), "below 2\\^53"),
        (lambda: Category(["1", str(2**53 + 1)]), "below 2\\^53"),
        (lambda: Category(["a"]), "one value tells nothing"),
        (lambda: Date("2020-01-01"), "one end only"),
        (lambda: Date("2020-01-02", "2020-01-01"), "the earlier one first"),
        (lambda: Date("then", "now"), "the earlier one first"),
    ],
)
def test_nonsense_is_refused_on_construction(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_kinds_are_values():
    assert Number(17, 90) == Number(17.0, 90.0)
    assert hash(Category(["a", "b"])) == hash(Category(("a", "b")))
    for kind in (Number(0, 1, "flag"), Flag(), Category([1, 2]), Date(), Ignore()):
        assert pickle.loads(pickle.dumps(kind)) == kind
        with pytest.raises(AttributeError):
            kind.missing = "drop"


def test_numbers_in_python_s_notation():
    found = read(Number(), 3, "4.5", True, None, "x", "1,5", "$5", "5%", Decimal("0.5"), " 7 ")
    np.testing.assert_array_equal(found, [3, 4.5, 1, NAN, NAN, NAN, NAN, NAN, 0.5, 7])


@pytest.mark.parametrize(
    ("options", "text", "value"),
    [
        ({"decimal": ","}, "1,5", 1.5),
        ({"decimal": ","}, "1.5", NAN),
        ({"decimal": ","}, "-,5e1", -5.0),
        ({"thousands": ","}, "1,234,567.5", 1234567.5),
        ({"thousands": ","}, "1,23", NAN),
        ({"thousands": ","}, "1234", 1234.0),
        ({"thousands": " "}, "12 345", 12345.0),
        ({"decimal": ",", "thousands": "."}, "1.234,5", 1234.5),
        ({"currency": "$"}, "$ 5", 5.0),
        ({"currency": "$"}, "-$5", -5.0),
        ({"currency": "EUR"}, "5 EUR", 5.0),
        ({"currency": "$"}, "5 EUR", NAN),
        ({"currency": "."}, "5", ValueError),
        ({"percent": True}, "45%", 0.45),
        ({"percent": True}, "0.45", 0.45),
        ({"percent": True}, "%", NAN),
        ({"percent": True}, "1%%", NAN),
        ({"currency": "$"}, "", NAN),
        ({"currency": "$"}, "$", NAN),
    ],
)
def test_other_notations_are_options(options, text, value):
    if value is ValueError:
        with pytest.raises(ValueError, match="currency"):
            Number(**options)
        return
    np.testing.assert_array_equal(read(Number(**options), text), [value])


@pytest.mark.parametrize("options", [{"thousands": ","}, {"currency": "$"}, {"percent": True}])
def test_long_cells_are_refused_in_one_pass(options):
    """An expression in which blanks are repeated beside blanks would not end here."""
    blanks = " " * 100_000
    for cell in ("-" + blanks + "x", "1" + blanks + "x", "+" + blanks + "$" + blanks + "x"):
        assert np.isnan(read(Number(**options), cell)).all()
    assert "\\s" not in notation(".", ",", "$", True)._pattern.pattern
    digits = "1" * 100_000
    assert np.isnan(read(Number(**options), digits + "x", digits + "." + digits + "x")).all()


class Rude(str):
    """A text whose own methods raise errors that quote it."""

    def _raise(self, *_):
        raise ValueError(f"secret {len(self)}")

    strip = casefold = __str__ = __hash__ = __eq__ = lower = _raise


@pytest.mark.parametrize(
    "kind", [Number(), Number(thousands=","), Flag(), Category([1, "b"]), Date()], ids=repr
)
def test_texts_of_any_class_are_read_as_texts(kind):
    cell = "2020-01-01" if isinstance(kind, Date) else "1"
    assert np.array_equal(read(kind, Rude(cell)), read(kind, cell))
    assert np.isnan(read(kind, Rude("secret"))).all()


def test_a_notation_is_for_text_and_numbers_stay_numbers():
    np.testing.assert_array_equal(
        read(Number(decimal=","), 1.5, np.float32(2), None), [1.5, 2, NAN]
    )
    plain = Number(decimal=",").read(np.array([1.5, np.nan]))
    np.testing.assert_array_equal(plain, [1.5, np.nan])


def test_flags_in_words():
    found = read(Flag(), "Yes", "no", "TRUE", "f", 1, 0.0, True, np.bool_(False), "2", 2, None, "")
    np.testing.assert_array_equal(found, [1, 0, 1, 0, 1, 0, 1, 0, NAN, NAN, NAN, NAN])


def test_categories_are_texts_without_blanks():
    kind = Category(["F", 1, "x y"])
    found = read(kind, " F", "f", 1, 1.0, "1", "1.0", "x y ", None, NAN, b"F", 2**60)
    np.testing.assert_array_equal(found, [0, NAN, 1, 1, 1, 1, 2, NAN, NAN, 0, NAN])
    np.testing.assert_array_equal(kind.read(np.array([1.0, np.nan, 3.0])), [1, NAN, NAN])


def test_decimals_are_what_they_are_worth():
    kind = Category(["0.1", "2"])
    found = read(kind, Decimal("0.10"), Decimal("2.00"), 0.1, 2, Decimal("NaN"), Decimal(2**53))
    np.testing.assert_array_equal(found, [0, 1, 0, 1, NAN, NAN])


def test_whole_numbers_that_containers_round_are_no_category():
    """A pandas column of them turns into floats where one cell is missing: 2^53 + 1 is lost."""
    kind = Category([str(2**53 - 1), "1"])
    found = read(kind, 2**53 + 1, float(2**53), str(2**53), 2**53 - 1, 1)
    np.testing.assert_array_equal(found, [NAN, NAN, NAN, 0, 1])


def test_days():
    first = datetime.date(2020, 1, 1)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    found = read(
        Date(first, "2020-12-31"),
        "2020-01-11",
        first,
        datetime.datetime(2020, 1, 1, 12),
        np.datetime64("2020-01-03"),
        datetime.datetime(2020, 1, 1, 2, tzinfo=zone),
        np.datetime64("NaT"),
        20200101,
        "soon",
        None,
    )
    np.testing.assert_array_equal(found, [10, 0, 0.5, 2, 0, NAN, NAN, NAN, NAN])
    np.testing.assert_array_equal(read(Date(), "1970-01-02"), [1])


@pytest.mark.parametrize(
    "kind",
    [
        Number(),
        Number(17, 90, "flag", outside="missing"),
        Number(17, 90, "fill", thousands=",", currency="$", percent=True),
        Flag("drop"),
        Category(["a", "b"], "flag"),
        Date(datetime.date(2020, 1, 1), "2021-01-01"),
        Date(np.datetime64("2020-01-01"), np.datetime64("2021-01-01T00:00:00.5", "ns")),
        Ignore(),
    ],
)
def test_kinds_as_plain_values_and_back(kind):
    import json

    again = kind_from(json.loads(json.dumps(plain_kind(kind))))
    assert plain_kind(again) == plain_kind(kind)
    assert getattr(again, "ends", None) == getattr(kind, "ends", None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "there are: number, flag, category, date, estimate, ignore"),
        ({"kind": "numeric"}, "kind is not known"),
        ({"kind": "flag", "low": 0}, "has no 'low'; there are: missing"),
        ({"kind": "category", "hashed": 1}, "hashed=1, but a whole number from 2"),
        ({"kind": "number", "low": 0}, "one end only"),
    ],
)
def test_plain_values_that_are_no_kind(content, said):
    with pytest.raises(ValueError, match=said):
        kind_from(content)


MISSING = {
    Number(2, 10, "fill"): [[6.0]],
    Number(0, 10, "fill"): [[0.0]],
    Number(missing="fill"): [[0.0]],
    Number(2, 10, "flag"): [[6.0, 1.0]],
    Number(0, 10, "flag", fill=4): [[4.0, 1.0]],
    Number(0, 10): [[NAN]],
    Number(0, 10, "drop"): [[NAN]],
    Flag("fill"): [[0.5]],
    Flag("flag"): [[0.5, 1.0]],
    Category(["a", "b"], "fill"): [[0.5, 0.5]],
    Category(["a", "b"], "flag"): [[0.0, 0.0, 1.0]],
    Category(["a", "b"]): [[NAN, NAN]],
    Date("2020-01-01", "2020-01-11", "fill"): [[5.0]],
}


@pytest.mark.parametrize("kind", MISSING, ids=repr)
def test_what_a_missing_cell_becomes(kind):
    column = Column("x", kind)
    found = column.encode(cells(None))
    np.testing.assert_array_equal(found, MISSING[kind])
    assert found.shape == (1, len(column.features)) == (1, len(column.indicators))


@pytest.mark.parametrize("shifted", [True, False])
def test_scaled_rows_are_in_the_box_and_below_the_norm(shifted):
    kinds = [
        *MISSING,
        Number(-3, 9, "flag"),
        Number(-3, 2, "flag", outside="missing"),
        Number(5, 9, "flag"),
        Number(-9, -5),
    ]
    bounded = [kind for kind in kinds if kind.ends is not None]
    encoding = Encoding(tuple(Column(f"c{k}", v) for k, v in enumerate(bounded)), shifted)
    pool = [None, -1e300, 1e300, 0, 1, 7, "a", "b", "yes", "2020-01-05", "9999-01-01", 4.5, -6]
    rng = np.random.default_rng(0)
    drawn = {name: cells(*rng.choice(cells(*pool), 500)) for name in encoding.names}
    rows = encoding.scaled(encoding.encode(drawn, 500))
    rows = rows[np.isfinite(rows).all(axis=1)]
    (low, high), norm = encoding.box(), encoding.row_norm(None)
    assert len(rows) > 5
    assert (rows >= low - 1e-12).all()
    assert (rows <= high + 1e-12).all()
    assert np.abs([low, high]).max() <= 1.0
    lengths = np.sqrt(shifted + (rows**2).sum(axis=1))
    assert lengths.max() <= norm * (1 + 1e-12)
    for column, part in encoding.parts():
        most = (rows[:, part] ** 2).sum(axis=1).max()
        assert most <= column.squared_norm(shifted=shifted) + 1e-12, column
    known = encoding.indicators
    assert ((low[known] == 0) & (high[known] == 1)).all()


def test_models_go_back_to_the_columns_own_units():
    encoding = Encoding(
        (
            Column("age", Number(20, 70)),
            Column("sex", Category(["m", "f"])),
            Column("free", Number()),
        )
    )
    rng = np.random.default_rng(1)
    values = np.column_stack(
        [rng.uniform(20, 70, 9), np.eye(2)[rng.integers(0, 2, 9)], rng.normal(size=9)]
    )
    coef, intercept = rng.normal(size=(3, 4)), rng.normal(size=3)
    expected = encoding.scaled(values) @ coef.T + intercept
    own, shift = encoding.in_own_units(coef, intercept)
    np.testing.assert_allclose(values @ own.T + shift, expected)
    centred, moved, _ = encoding.centred(own, shift, None)
    np.testing.assert_allclose(values @ centred.T + moved, expected)
    np.testing.assert_allclose(centred[:, 1:3].sum(axis=1), 0, atol=1e-12)
    back = encoding.values_in_own_units(encoding.in_fit_units(values))
    np.testing.assert_allclose(back, values)


def test_dates_in_stated_formats():
    kind = Date("2020-01-01", "2020-12-31", missing="fill", format="%d/%m/%Y")
    cells = np.array([" 31/01/2020", "2020-01-31", "1/2/2020", "31.01.2020", None], dtype=object)
    assert kind.read(cells).tolist()[::2] == pytest.approx([30.0, 31.0, np.nan], nan_ok=True)
    assert np.isnan(kind.read(cells)[[1, 3]]).all()  # one way, whatever other cells hold
    dates = np.array([datetime.date(2020, 1, 31), np.datetime64("2020-02-01")], dtype=object)
    assert kind.read(dates).tolist() == [30.0, 31.0]
    times = Date(format="%m-%d-%y %H:%M").read(np.array(["01-02-70 12:00"], dtype=object))
    assert times.tolist() == [1.5]
    assert kind_from(plain_kind(kind)) == kind
    assert Date("2020-01-01", "2020-12-31").told(30.0, str) == "2020-01-31"
    assert Date().told(1e12, "{:g}".format) == "1e+12"
    assert Number(0, 1).told(0.5, str) == "0.5"


@pytest.mark.parametrize("format", ["dd/mm/yyyy", "%d %b %Y", "%d/%m", "%Y", 5, "", "%d/%m/%Y %"])
def test_formats_that_differ_from_computer_to_computer_are_none(format):
    with pytest.raises(ValueError, match=r"format=.*such as '%d/%m/%Y'"):
        Date(format=format)
