"""Names of files, paths and datasets in place of rows: refused with what to do, before a charge."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest

from privlearn import KernelRegressor, LinearRegression, LogisticRegression, Ridge
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.feature_selection import KendallSelector
from privlearn.metrics import evaluate
from privlearn.model_selection import PrivateSearchCV, cross_fit

BOX = {"bounds_X": (0, 1), "bounds_y": (0, 1)}
NAMES = ["a", "b", "y"]


class Never:
    """A ledger that must not be charged."""

    def charge(self, plan, dataset):
        raise AssertionError("charged")

    def __deepcopy__(self, memo):
        return self


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (1_000, 3)), columns=NAMES)


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("files")
    frame.to_parquet(place / "p.parquet")
    frame.to_csv(place / "p.csv", index=False)
    (place / "nothing").mkdir()
    return place


@pytest.fixture(scope="module")
def models(frame):
    by_name = LinearRegression(bounds_X={"a": (0, 1)}, bounds_y=(0, 1), schema={})
    return LinearRegression(**BOX).fit(frame, "y"), by_name.fit(frame, "y")


def refused(ask, *words):
    with pytest.raises((ValueError, UnsupportedCombinationError)) as told:
        ask()
    for word in words:
        assert word in str(told.value)
    error = told.value
    assert error.__cause__ is None
    assert error.__context__ is None  # no text of a library comes along


FITS = {
    "linear": LinearRegression(),
    "estimated": LinearRegression(schema="estimate"),
    "classes": LogisticRegression(classes=[0, 1]),
    "kernel": KernelRegressor(),
    "search": PrivateSearchCV(Ridge(**BOX), {"alpha": [1, 2]}),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_a_file_s_name_is_no_rows(name, ending, folder):
    model = FITS[name].set_params(ledger=Never(), dataset="d")
    file = str(folder / f"p.{ending}")
    read = f"pandas.read_{ending}(path)"
    refused(lambda: model.fit(file, "y"), "X is a str", read, "pathlib.Path(name)")


@pytest.mark.parametrize("make", [Path, str, ds.dataset], ids=["path", "name", "dataset"])
def test_only_fits_read_files(make, folder, models):
    X, word = make(folder / "p.parquet"), "pandas.read_parquet(path)"
    word = "X = X.to_table()" if make is ds.dataset else word
    for model in models:
        refused(lambda model=model: model.predict(X), word)
        refused(lambda model=model: model.score(X, "y"), word)
        refused(lambda model=model: evaluate(model, X, "y", epsilon=1, delta=1e-6), word)
    refused(lambda: KendallSelector(1).fit(X, "y"), word)
    chosen = KendallSelector(1).fit(np.eye(40)[:, :2], np.eye(40)[:, 0])
    refused(lambda: chosen.transform(X), word)
    refused(lambda: cross_fit(Ridge(**BOX), X, "y", epsilon=1, delta=1e-6), word)
    refused(lambda: FITS["search"].fit(X, "y"), word)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("p.csv", ("cannot be read as Parquet", "pandas.read_csv(path)")),
        ("absent.parquet", ("a path at which there is no file",)),
        ("nothing", ("a folder without files",)),
    ],
)
def test_paths_that_no_fit_can_read(name, words, folder):
    model = LinearRegression(**BOX, ledger=Never(), dataset="d")
    refused(lambda: model.fit(folder / name, "y"), *words, "nothing was charged")


NEEDS_ALL = {
    "groups": (LinearRegression(max_rows_per_person=1), {"groups": "a"}, "nobody has several rows"),
    "intervals": (LinearRegression(intervals=True), {}, "leave intervals out"),
    "of classes": (LogisticRegression(intervals=True, classes=[0, 1]), {}, "leave intervals out"),
    "estimate": (LinearRegression(schema="estimate"), {}, "declare them in the schema"),
    "kernels": (KernelRegressor(), {}, "use a linear model"),
    "a solver": (LinearRegression(solver="sgd"), {}, "solver='auto'"),
}


@pytest.mark.parametrize("name", NEEDS_ALL)
def test_what_needs_all_rows_says_how_they_are_read(name, folder):
    model, more, otherwise = NEEDS_ALL[name]
    model.set_params(ledger=Never(), dataset="d", **(BOX if name == "a solver" else {}))
    words = "X = pandas.read_parquet(path)", "if they fit", otherwise
    refused(lambda: model.fit(folder / "p.parquet", "y", **more), *words)


def test_frames_of_dask_say_how_predictions_are_made(frame, models):
    dd = pytest.importorskip("dask.dataframe")
    rows = dd.from_pandas(frame, npartitions=2)
    refused(lambda: models[1].predict(rows), "X.map_partitions(model.predict)", "X.compute()")
