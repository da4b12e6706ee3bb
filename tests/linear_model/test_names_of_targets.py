"""What a target is called is public where somebody called it so, and nowhere else."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privlearn import LinearRegression

N = 60
RNG = np.random.default_rng(0)
X, Y = RNG.uniform(size=(N, 2)), RNG.uniform(size=N)
IDS = np.arange(N) // 2
BOX = {"bounds_X": (0, 1), "bounds_y": (0, 1), "random_state": 0}


class Named:
    """An array of some library, whose name is made of its content."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.name = f"array-{values.sum()}"

    def __array__(self, *_, **__):
        return self.values

    def __len__(self):
        return len(self.values)


def lazily(values):
    da = pytest.importorskip("dask.array")
    return da.from_array(values, chunks=N)  # whose name is a hash of all values


@pytest.mark.parametrize("kind", [Named, lazily])
def test_the_name_of_an_array_is_made_of_its_content_and_not_published(kind, tmp_path):
    model = LinearRegression(**BOX).fit(X, kind(Y))
    assert not hasattr(model, "_target_name")
    model.save(tmp_path / "model.json")
    assert str(kind(Y).name) not in (tmp_path / "model.json").read_text()
    several = LinearRegression(max_rows_per_person=2, **BOX).fit(X, Y, groups=kind(IDS))
    assert several.privacy_.plan.person == ""


def test_nor_where_rows_are_dasks():
    model = LinearRegression(**BOX).fit(lazily(X), lazily(Y))
    assert not hasattr(model, "_target_name")


def test_the_name_of_a_column_is():
    dd = pytest.importorskip("dask.dataframe")
    held = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "pay": Y})
    parts = dd.from_pandas(held, npartitions=2)
    for rows, y in (
        (X, held["pay"]),
        (X, held[["pay"]]),
        (X, pl.Series("pay", Y)),
        (held, "pay"),
        (parts[["a", "b"]], parts["pay"]),
        (parts, "pay"),
    ):
        assert LinearRegression(**BOX).fit(rows, y)._target_name == "pay"
    for ids in (pd.Series(IDS, name="who"), pl.Series("who", IDS), pd.DataFrame({"who": IDS})):
        several = LinearRegression(max_rows_per_person=2, **BOX).fit(X, Y, groups=ids)
        assert several.privacy_.plan.person == "who"
