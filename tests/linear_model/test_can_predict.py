"""Rows that can be predicted are told apart from those that cannot, one by one."""

import csv

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from privlearn import KernelRegressor, LinearRegression, LogisticRegression, load
from privlearn.cli import main
from privlearn.schema import Category, Date, Flag, Number

pd = pytest.importorskip("pandas")
N = 600
RNG = np.random.default_rng(0)
X = RNG.uniform(size=(N, 2))
FACTS = {"bounds_X": (0, 1), "bounds_y": (0, 2)}
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(17, 91, N).astype(object),
        "sex": RNG.choice(["F", "M"], N).astype(object),
        "town": RNG.choice(["A", "B", "C"], N).astype(object),
        "here": RNG.choice(["yes", "no"], N).astype(object),
        "since": pd.Series(["2001-05-17", "2015-02-28"] * (N // 2), dtype=object),
    }
)
SCHEMA = {
    "age": Number(17, 90, outside="missing"),
    "sex": Category(["F", "M"], missing="drop"),
    "town": Category(["A", "B"], other=True),
    "here": Flag(missing="fill"),
    "since": Date("2000-01-01", "2020-01-01", missing="flag"),
}
ODD = {
    "age": [None, "x", 999, np.inf, 18.5, "40"],
    "sex": ["", "X", " F ", None, np.nan],
    "town": ["elsewhere", None, "", "A"],
    "here": [None, "perhaps", 1],
    "since": [None, "17/05/2001", "2001-05-17"],
}


def agree(model, frame):
    """What is said of all rows at once is what each row alone does."""
    found = model.can_predict(frame)
    assert found.dtype == bool
    assert found.shape == (len(frame),)
    for k in range(len(frame)):
        row = frame[k : k + 1]
        assert model.can_predict(row).tolist() == [found[k]]
        if found[k]:
            model.predict(row)
        else:
            with pytest.raises(ValueError, match=r"holds NaN|contains .*can_predict"):
                model.predict(row)
    assert 0 < found.sum() < len(frame)
    kept = frame[found]
    assert len(model.predict(kept)) == found.sum()


@pytest.mark.parametrize("made", [LinearRegression, LogisticRegression])
def test_rows_by_a_schema(made, tmp_path):
    y = X.sum(axis=1) if made is LinearRegression else X[:, 0] > 0.5
    model = made(schema=SCHEMA, epsilon=5).fit(PEOPLE, y)
    rows = [PEOPLE[:3]]
    for name, cells in ODD.items():
        rows += [PEOPLE[:1].assign(**{name: pd.Series([cell], dtype=object)}) for cell in cells]
    new = pd.concat(rows, ignore_index=True)
    agree(model, new)
    found = model.can_predict(new)
    model.save(tmp_path / "m.json")
    np.testing.assert_array_equal(load(tmp_path / "m.json").can_predict(new), found)
    np.testing.assert_array_equal(model.can_predict(new[["since", *list(new)[:-1]]]), found)
    for other in ("polars", "pyarrow"):
        pytest.importorskip(other)
    import pyarrow as pa

    texts = new.map(lambda cell: None if cell is None or cell != cell else str(cell))
    np.testing.assert_array_equal(model.can_predict(pa.Table.from_pandas(texts)), found)


@pytest.mark.parametrize("made", [LinearRegression, KernelRegressor])
def test_rows_of_numbers(made):
    more = {"n_components": 8} if made is KernelRegressor else {}
    model = made(epsilon=5, **FACTS, **more).fit(X, X.sum(axis=1))
    new = np.array([[0.1, 0.2], [np.nan, 0.2], [0.3, np.inf], [0.5, 7.0]])
    agree(model, new)
    assert model.can_predict(new).tolist() == [True, False, False, True]
    assert model.can_predict([[0.1, "x"], [0.1, "0.2"], [None, 1]]).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="features"):
        model.can_predict(new[:, :1])


def test_rows_of_sparse_matrices():
    model = LinearRegression(epsilon=5, **FACTS).fit(sp.csr_array(X), X.sum(axis=1))
    new = np.array([[0.0, 0.2], [np.nan, 0.0], [0.0, 0.0], [0.5, -np.inf], [0.0, 1.0]])
    assert model.can_predict(sp.csr_array(new)).tolist() == [True, False, True, False, True]
    assert model.can_predict(sp.csc_matrix(new)).tolist() == [True, False, True, False, True]


def test_the_command_line_leaves_the_same_rows_blank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    LinearRegression(schema=SCHEMA, epsilon=5).fit(PEOPLE, X.sum(axis=1)).save("m.json")
    rows = [PEOPLE[:2]]
    for name, cells in ODD.items():
        rows += [PEOPLE[:1].assign(**{name: pd.Series([cell], dtype=object)}) for cell in cells]
    new = pd.concat(rows, ignore_index=True)
    new.to_csv("new.csv", index=False)
    assert main(["predict", "m.json", "new.csv", "-o", "out.csv", "--on-invalid", "blank"]) == 0
    with open("out.csv", newline="") as file:
        _, *found = csv.reader(file)
    there = load("m.json").can_predict(new)
    assert [cell != "" for (cell,) in found] == there.tolist()
    filled = np.full(len(new), np.nan)
    filled[there] = load("m.json").predict(new[there])
    np.testing.assert_allclose([float(cell or "nan") for (cell,) in found], filled, rtol=1e-9)


def test_only_fitted_models_can_say_it():
    with pytest.raises(NotFittedError):
        LinearRegression().can_predict(X)
