"""A cell that says nothing of itself but errors, which quote: it is a missing one, everywhere."""

import inspect

import numpy as np
import pandas as pd
import pytest

from privlearn import LinearRegression, LogisticRegression
from privlearn.schema import Category, Date, Estimate, Flag, Number, estimate_max_rows

SECRET, N = "Ms Grey", 90


def refuses(*_, **__):
    raise RuntimeError(SECRET)


class Nothing:
    """As a proxy of what is gone: even its class is an error."""

    __class__ = property(refuses)
    __float__ = __len__ = __iter__ = __hash__ = __eq__ = __repr__ = __str__ = refuses


class Several(list):
    """A list that is one, but answers nothing."""

    ndim = property(refuses)
    __len__ = __getitem__ = __iter__ = refuses


KINDS = {
    "plain number": Number(0, 1),
    "number": Number(0, 1, decimal=","),
    "number in a range": Number(0, 1, outside="missing"),
    "flag": Flag(),
    "date": Date("2020-01-01", "2021-01-01"),
    "format": Date("2020-01-01", "2021-01-01", format="%d.%m.%Y"),
    "list": Category(["a", "b"]),
    "bins": Category(hashed=4),
    "found list": Category(),
    "unknown": Estimate(),
    "number with marks": Number(0, 1, thousands=".", decimal=",", currency="$", missing="flag"),
    "list with others": Category(["a", "b"], other=True),
    "unknown with a notation": Estimate(decimal=","),
    "unknown with marks": Estimate(thousands=",", currency="$"),
}
CELLS = {"nothing": Nothing, "several": Several}


class Text(str):
    """A text whose class is an error."""

    __class__ = property(refuses)
    __eq__ = __hash__ = __repr__ = __str__ = __len__ = refuses


class Bytes(bytes):
    """The same of bytes."""

    __class__ = property(refuses)
    __eq__ = __hash__ = __repr__ = __str__ = __len__ = refuses


TEXTS = {"text": lambda: Text("0,5"), "bytes": lambda: Bytes(b"0,5"), "word": lambda: Text("c")}


def objects(cells):
    found = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        found[place] = cell
    return found


def spoiled(cells, cell):
    return [*cells[:7], cell, *cells[8:]]


Y = np.linspace(0, 1, N).tolist()
HOW_CELLS_ARE_READ = {"decimal", "thousands", "currency", "outside", "format", "hashed", "other"}


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_missing_cell_of_every_kind(kind, cell):
    def coef(cells):
        X = pd.DataFrame({"a": objects(cells), "b": Y})
        schema = {"a": KINDS[kind], "b": Number(0, 1)}
        known = {"on_invalid": "drop", "bounds_y": (0, 1), "epsilon": 50, "random_state": 0}
        return LinearRegression(schema=schema, **known).fit(X, Y).coef_.tobytes()

    plain = [("a", "b")[k % 2] for k in range(N)]
    assert coef(spoiled(plain, CELLS[cell]())) == coef(spoiled(plain, None))


@pytest.mark.parametrize("cell", TEXTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_of_any_class_ends_no_fit(kind, cell):
    X = pd.DataFrame({"a": objects(spoiled(["a"] * N, TEXTS[cell]())), "b": Y})
    schema = {"a": KINDS[kind], "b": Number(0, 1)}
    model = LinearRegression(schema=schema, on_invalid="drop", bounds_y=(0, 1), epsilon=50)
    assert len(model.fit(X, Y).can_predict(X)) == N


def parameters_of(kind):
    return {name for name in inspect.signature(kind).parameters if name in HOW_CELLS_ARE_READ}


def test_all_ways_to_read_a_cell_are_among_these():
    for kind in (Number, Flag, Date, Category, Estimate):
        own = [one for one in KINDS.values() if type(one) is kind]
        for name in parameters_of(kind):
            usual = inspect.signature(kind).parameters[name].default
            assert any(getattr(one, name) != usual for one in own), f"{kind.__name__}({name}=)"


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("kind", [list, objects, lambda cells: pd.Series(objects(cells))])
def test_it_is_nobody_and_no_target(kind, cell):
    X, odd = np.array(Y)[:, None], CELLS[cell]
    known = {"on_invalid": "drop", "bounds_X": (0, 1)}
    LinearRegression(bounds_y=(0, 1), **known).fit(X, kind(spoiled(Y, odd())))
    labels = [k % 2 for k in range(N)]
    LogisticRegression(classes=[0, 1], **known).fit(X, kind(spoiled(labels, odd())))
    LogisticRegression(**known).fit(X, kind(spoiled(labels, odd())))
    ids = [f"p{k // 2}" for k in range(N)]
    several = LinearRegression(bounds_y=(0, 1), max_rows_per_person=2, **known)
    several.fit(X, Y, groups=kind(spoiled(ids, odd())))
    estimate_max_rows(kind(spoiled(ids, odd())), epsilon=1, on_invalid="drop")


@pytest.mark.parametrize("cell", CELLS)
def test_beside_a_list_it_is_no_target_either(cell):
    y = spoiled([[value] for value in Y], CELLS[cell]())
    X, known = np.array(Y)[:, None], {"on_invalid": "drop", "bounds_X": (0, 1)}
    LinearRegression(bounds_y=(0, 1), **known).fit(X, y)
