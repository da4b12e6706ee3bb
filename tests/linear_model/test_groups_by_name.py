"""`groups="patient"`: ids in a column of X, which is no feature then."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privlearn import Ledger, LinearRegression
from support import regression

X, Y = regression(n=300, p=2)
IDS = np.arange(300) // 3
COLUMNS = {"age": X[:, 0], "patient": IDS, "dose": X[:, 1], "cost": Y}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame, "Arrow": pa.table}
pytestmark = pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")


def model(**given):
    facts = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "solver": "moments", "random_state": 0}
    return LinearRegression(max_rows_per_person=2, **facts | given)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_the_column_is_taken_out_and_its_name_is_known(frame, tmp_path):
    ledger = Ledger.create(tmp_path / "clinic.ledger", epsilon=2, delta=1e-6)
    found = model(ledger=ledger, dataset="d").fit(frame(COLUMNS), "cost", groups="patient")
    assert found.n_features_in_ == 2
    assert found.coef_.tobytes() == model().fit(X, Y, groups=IDS).coef_.tobytes()
    assert ledger.unit("d") == "person"


def test_a_name_that_no_column_has_is_refused():
    with pytest.raises(ValueError, match="names the column of ids, but X has no such column"):
        model().fit(pd.DataFrame(COLUMNS), "cost", groups="client")
    with pytest.raises(ValueError, match="groups"):
        model().fit(X, Y, groups="patient")
