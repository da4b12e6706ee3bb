"""Arguments that `fit` does not take: a remedy for each, and names that are none of anybody's."""

import numpy as np
import pytest

from privlearn import LinearRegression, LogisticRegression, PoissonRegressor
from privlearn.exceptions import UnsupportedCombinationError

X, y, ONES = np.zeros((10, 1)), np.ones(10), np.ones(10)


@pytest.mark.parametrize(
    ("cls", "name", "said"),
    [
        (PoissonRegressor, "exposure", r"logarithm of the exposure as a column.*small alpha"),
        (PoissonRegressor, "offset", r"logarithm of the exposure as a column.*small alpha"),
        (LinearRegression, "offset", "subtract it from y"),
        (LinearRegression, "exposure", "PoissonRegressor"),
        (LinearRegression, "sample_weight", r"rows as they are.*what the weights were made of"),
        (LogisticRegression, "class_weight", "another limit than 1/2 for predict_proba"),
    ],
)
def test_what_has_no_proof_is_refused_with_a_remedy(cls, name, said):
    with pytest.raises(UnsupportedCombinationError, match=f"^{name} is not supported.*{said}"):
        cls().fit(X, y, **{name: ONES})


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("foo", "unexpected keyword argument 'foo'; it takes X, y, sample_epsilon, groups$"),
        ("group", r"unexpected keyword argument 'group'; did you mean 'groups'\?$"),
        ("epsilom", r"'epsilom'; did you mean 'epsilon', a parameter of LinearRegression\?$"),
        ("epsilon", r"^epsilon is no argument of fit but a parameter of LinearRegression"),
    ],
)
@pytest.mark.parametrize("value", [1, None])
def test_unknown_names_are_errors_as_in_python(name, said, value):
    """Whatever is given for them: a misspelled name would otherwise do nothing, silently."""
    with pytest.raises(TypeError, match=said):
        LinearRegression().fit(X, y, **{name: value})


@pytest.mark.parametrize("name", ["sample_weight", "exposure", "offset", "class_weight"])
def test_nothing_given_is_nothing_refused(name):
    known = {"epsilon": 1.0, "bounds_X": (0, 1), "bounds_y": (0, 1), "random_state": 0}
    rows = np.linspace(0, 1, 2_000)[:, None]
    LinearRegression(**known).fit(rows, rows[:, 0], **{name: None})
