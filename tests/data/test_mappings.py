"""A dictionary is no table, and the error says how to make one."""

import numpy as np
import pandas as pd
import pytest

from privlearn import LinearRegression
from privlearn.schema import Number

X = np.random.default_rng(0).random((500, 2))
PLAIN = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), intervals=True)
NAMED = LinearRegression(
    schema={"a": Number(0, 1), "b": Number(0, 1)}, bounds_y=(0, 1), intervals=True
)


@pytest.mark.parametrize("method", ["predict", "predict_interval"])
@pytest.mark.parametrize("given", [{"a": 0.3, "b": 0.4}, {"a": [0.3], "b": [0.4]}])
def test_predictions_for_a_dictionary_say_what_to_do(method, given):
    PLAIN.fit(X, X[:, 0])
    NAMED.fit(pd.DataFrame(X, columns=["a", "b"]), X[:, 0])
    for model in (PLAIN, NAMED):
        with pytest.raises(ValueError, match=r"is a dict, .*pandas\.DataFrame\(\[X\]\)") as error:
            getattr(model, method)(given)
        assert "0.3" not in str(error.value)


def test_so_do_lists_of_them_and_fits():
    for act in (lambda: PLAIN.fit([{"a": 0.3}], [0.1]), lambda: NAMED.fit([{"a": 0.3}], [0.1])):
        with pytest.raises(ValueError, match=r"pandas\.DataFrame\(X\)"):
            act()
    with pytest.raises(ValueError, match="is a dict, "):
        PLAIN.fit({"a": [0.3]}, [0.1])
