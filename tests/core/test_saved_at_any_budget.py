"""A model that was paid for can be saved, whatever the budget was."""

import numpy as np
import pandas as pd
import pytest

from privlearn import Ridge
from privlearn.schema import Category, Flag, Number

N = 50
X = pd.DataFrame({"a": np.linspace(0, 1, N), "c": ["x"] * N, "d": [1] * N})
SEVERAL = {
    "a": Number(0, 1, missing="fill"),
    "c": Category(["x"], other=True, missing="fill"),
    "d": Flag(missing="flag"),
}
BUDGETS = (1e-9, 3e-9, 1e-8, 3e-8, 1e-7, 1.0, 1e6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", BUDGETS)
def test_a_model_of_any_budget_is_saved(epsilon, adjacency):
    known = {"epsilon": epsilon, "delta": 1e-6, "adjacency": adjacency, "on_invalid": "drop"}
    for schema in (SEVERAL, {"a": SEVERAL["a"]}):
        model = Ridge(bounds_y=(0, 1), schema=schema, **known).fit(X[[*schema]], X["a"])
        assert model.to_dict()["certificate"]["epsilon"] == epsilon
