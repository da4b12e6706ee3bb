"""Fits from disk: the same bits as from memory, and what is refused or stops them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from privlearn import (
    HuberRegressor,
    KernelRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
    schema,
)
from privlearn._data import sources
from privlearn.exceptions import (
    MissingFactError,
    SourceChangedError,
    UnsupportedCombinationError,
)
from privlearn.linear_model import from_source
from privlearn.solvers._common import source_sums

N, P = 3_001, 4
NAMES = [f"x{j}" for j in range(P)]


class Batches:
    """Rows in memory as batches that can be gone through again."""

    def __init__(self, frame, size, kind=lambda batch: batch):
        self.frame, self.size, self.kind, self.begun = frame, size, kind, 0

    def __iter__(self):
        self.begun += 1
        for first in range(0, len(self.frame), self.size):
            yield self.kind(self.frame[first : first + self.size])


class Counting:
    """A ledger that counts its charges."""

    charges = 0

    def charge(self, plan, dataset):
        self.charges += 1

    def __deepcopy__(self, memo):
        return self


@pytest.fixture
def nothing_is_held(monkeypatch):
    """Every pass reads all rows, as where they are too many to be held."""
    monkeypatch.setattr(source_sums, "HELD", 0.0)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, P)).astype(np.float32) * np.float32([1, 3, 0.1, 40])
    y = X.astype(float) @ [1.0, -0.5, 3.0, 0.02] + rng.normal(size=N)
    return pd.DataFrame({**{name: X[:, j] for j, name in enumerate(NAMES)}, "y": y})


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    """The same rows in three files of different lengths, in row groups of odd sizes."""
    place = tmp_path_factory.mktemp("parts")
    for k, (first, last) in enumerate([(0, 1_000), (1_000, 1_007), (1_007, N)]):
        table = pa.Table.from_pandas(frame[first:last], preserve_index=False)
        pq.write_table(table, place / f"{k}.parquet", row_group_size=100 + k)
    return place


def every_source(frame, folder):
    arrow = pa.Table.from_pandas(frame, preserve_index=False)
    return {
        "a dataset of files": ds.dataset(folder),
        "a path": folder,
        "a table as a dataset": ds.dataset(arrow),
        "pandas batches": Batches(frame, 700),
        "single rows": Batches(frame, 250, pa.RecordBatch.from_pandas),
        "polars batches": Batches(frame, N, pl.from_pandas),
    }


def bits(model):
    return model.coef_.tobytes() + np.asarray(model.intercept_).tobytes()


MODELS = {
    "nothing declared": LinearRegression(),
    "a box, n private": LinearRegression(
        bounds_X=(-50, 50), bounds_y=(-9, 9), adjacency="add_remove"
    ),
    "a norm": Ridge(alpha=0.1, data_norm=60.0, bounds_y=(-9, 9), solver="cd"),
    "rows may be dropped": LinearRegression(on_invalid="drop", adjacency="replace_one"),
    "moments": LinearRegression(solver="moments"),
    "moments in a norm": LinearRegression(solver="moments", data_norm=60.0, bounds_y=(-9, 9)),
}


BYTES = 2 * P + 8  # of a row that is held
HELD = {"nothing": 0.0, "one file": 1_000 * BYTES, "two files": 1_010 * BYTES, "all": N * BYTES}


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("name", MODELS)
def test_a_fit_from_disk_has_the_bits_of_a_fit_in_memory(name, held, frame, folder, monkeypatch):
    monkeypatch.setattr(sources, "AT_ONCE", 512)
    monkeypatch.setattr(source_sums, "HELD", HELD[held])
    model = MODELS[name].set_params(random_state=3)
    if model.on_invalid == "drop":
        frame = frame.copy()
        frame.loc[[0, 5, 2_000], "x1"] = np.nan
        given = {"batches": Batches(frame, 700)}
    else:
        given = every_source(frame, folder)
    expected = bits(model.fit(frame[NAMES], frame["y"]))
    for story, source in given.items():
        assert bits(model.fit(source, y="y")) == expected, story
        assert list(model.feature_names_in_) == NAMES


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]])
def test_two_classes_have_the_same_bits(labels, frame, folder):
    own = frame.assign(y=np.array(labels, dtype=object)[(frame["y"] > 0).astype(int)])
    model = LogisticRegression(random_state=2)
    expected = model.fit(own[NAMES], own["y"].to_numpy())
    before, classes = bits(expected), expected.classes_.tolist()
    arrow = ds.dataset(pa.Table.from_pandas(own, preserve_index=False))
    for source in (arrow, Batches(own, 900)):
        assert bits(model.fit(source, y="y")) == before
        assert model.classes_.tolist() == classes


def test_a_schema_makes_the_same_of_raw_columns(frame):
    rng = np.random.default_rng(1)
    raw = frame.assign(
        sex=rng.choice(["F", "M", None], N),
        born=rng.choice(np.array(["2001-02-03", "1990-01-01"], dtype="datetime64[s]"), N),
    )
    raw.loc[7, "x0"] = np.nan
    known = {
        "x0": schema.Number(-4, 4, missing="flag"),
        "sex": schema.Category(["F", "M"], missing="flag"),
        "born": schema.Date("1980-01-01", "2010-01-01", missing="drop"),
    }
    model = LinearRegression(schema=known, random_state=4)
    expected = bits(model.fit(raw.drop(columns="y"), raw["y"]))
    for source in (
        ds.dataset(pa.Table.from_pandas(raw, preserve_index=False)),
        Batches(raw, 1_234, pl.from_pandas),
    ):
        assert bits(model.fit(source, y="y")) == expected


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
def test_memory_maps_and_lazy_frames(relation, frame, tmp_path, monkeypatch):
    monkeypatch.setattr(from_source, "IN_MEMORY", 0)
    X = np.lib.format.open_memmap(tmp_path / "X.npy", "w+", np.float64, (N, P))
    X[:] = frame[NAMES]
    model = LinearRegression(random_state=1, adjacency=relation)
    expected = bits(model.fit(np.array(X), frame["y"]))
    assert bits(model.fit(X, frame["y"])) == expected
    assert bits(model.fit(pl.from_pandas(frame).lazy(), y="y")) == expected


def test_lazy_frames_are_read_where_a_solver_needs_rows_in_memory(frame):
    model = LinearRegression(random_state=1, solver="sgd", bounds_X=(-50, 50), bounds_y=(-9, 9))
    expected = bits(model.fit(frame[NAMES].astype(float), frame["y"]))
    assert bits(model.fit(pl.from_pandas(frame).lazy(), y="y")) == expected


def test_blocks_and_threads_change_nothing(frame, folder, monkeypatch):
    model, found = LinearRegression(random_state=8), set()
    for size, threads, held in ((64, "1", "all"), (2**16, "3", "nothing"), (777, "4", "one file")):
        monkeypatch.setattr(sources, "AT_ONCE", size)
        monkeypatch.setattr(source_sums, "HELD", HELD[held])
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        found.add(bits(model.fit(folder, y="y")))
    assert len(found) == 1


REFUSED = {
    "a generator": (LinearRegression(), lambda frame: (b for b in Batches(frame, 99)), "once"),
    "an iterator": (LinearRegression(), lambda frame: iter(Batches(frame, 99)), "once"),
    "SGD": (LinearRegression(solver="sgd", bounds_X=(0, 1), bounds_y=(0, 1)), None, "in memory"),
    "Huber's loss": (HuberRegressor(), None, "in memory"),
    "hinges": (LinearSVC(classes=[0, 1]), None, "in memory"),
    "kernels": (KernelRegressor(), None, "kernel"),
    "intervals": (LinearRegression(intervals=True), None, "in memory"),
    "people": (LinearRegression(max_rows_per_person=2), None, "groups"),
    "estimated kinds": (LinearRegression(schema="estimate"), None, "declare them"),
    "labels beside dropped rows": (LogisticRegression(on_invalid="drop"), None, "classes is"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_in_passes_is_refused_before_the_charge(name, frame):
    model, made, words = REFUSED[name]
    ledger = Counting()
    model.set_params(ledger=ledger, dataset="d")
    labelled = frame.assign(y=(frame["y"] > 0).astype(int))
    source = Batches(labelled, 500) if made is None else made(labelled)
    with pytest.raises((ValueError, UnsupportedCombinationError, MissingFactError), match=words):
        model.fit(source, y="y")
    assert ledger.charges == 0


def test_an_iterable_that_is_empty_the_second_time_is_refused_before_the_charge(frame):
    class Once(Batches):
        def __iter__(self):
            return super().__iter__() if self.begun < 2 else iter([])

    ledger = Counting()
    with pytest.raises(ValueError, match="none when it was read again"):
        LinearRegression(ledger=ledger, dataset="d").fit(Once(frame, 500), y="y")
    assert ledger.charges == 0


@pytest.mark.parametrize("cell", [np.nan, np.inf])
def test_invalid_rows_are_refused_before_the_charge(cell, frame):
    ledger, wrong = Counting(), frame.copy()
    wrong.loc[2_500, "x2"] = cell
    for source in (ds.dataset(pa.Table.from_pandas(wrong)), Batches(wrong, 512)):
        with pytest.raises(ValueError, match="X contains"):
            LinearRegression(ledger=ledger, dataset="d").fit(source, y="y")
    assert ledger.charges == 0


def _with_row_changed(frame):
    changed = frame.copy()
    changed.loc[17, "x3"] = np.nextafter(np.float32(changed.loc[17, "x3"]), np.float32(np.inf))
    return changed


CHANGES = {
    "the last bit of a number": _with_row_changed,
    "two rows in another order": lambda frame: frame.iloc[[1, 0, *range(2, N)]],
    "a row less": lambda frame: frame[:-1],
    "a row more": lambda frame: pd.concat([frame, frame[:1]]),
    "a batch twice": lambda frame: pd.concat([frame, frame[:500]]),
    "a batch lost": lambda frame: frame[500:],
    "a column less": lambda frame: frame.drop(columns="x0"),
    "the target": lambda frame: frame.assign(y=frame["y"] * 2),
    "a target that is no number": lambda frame: frame.assign(y="secret"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("passes", [3, 9, 20])
def test_a_source_that_changes_stops_the_fit_and_the_charge_stays(
    name, passes, frame, nothing_is_held
):
    class Changing(Batches):
        def __iter__(self):
            if self.begun == passes:
                self.frame = CHANGES[name](self.frame)
            return super().__iter__()

    ledger = Counting()
    model = LinearRegression(ledger=ledger, dataset="d")
    with pytest.raises(SourceChangedError, match="charged stays spent") as error:
        model.fit(Changing(frame, 500), y="y")
    assert ledger.charges == 1
    assert "secret" not in str(error.value)
    assert error.value.__context__ is None
    assert not hasattr(model, "coef_")


def test_rows_that_move_between_batches_of_one_partition_are_the_same_rows(frame, folder):
    """A lazy frame's engine may cut its rows otherwise in each pass."""
    model = LinearRegression(random_state=5)
    expected = bits(model.fit(frame[NAMES], frame["y"]))

    class Cut:
        sizes = iter(range(300, 3_000, 7))

        def collect_schema(self):
            return pl.from_pandas(frame).schema

        def select(self, columns):
            return self

        def collect_batches(self, **_):
            return iter(Batches(frame, next(self.sizes), pl.from_pandas))

    stream = sources._Lazy(Cut())
    given, from_source.source_of = from_source.source_of, lambda X, y: stream
    try:
        assert bits(model.fit(Batches(frame, 9), y="y")) == expected
    finally:
        from_source.source_of = given


@pytest.mark.parametrize("solver", ["auto", "moments"])
@pytest.mark.parametrize("known", [{}, {"bounds_X": (-50, 50), "bounds_y": (-9, 9)}])
def test_solvers_say_how_often_they_read_rows(solver, known, frame, nothing_is_held, monkeypatch):
    read = {"rows": 0, "target": 0}

    class Counted(sources._Arrow):
        def batches(self, columns):
            read["target" if columns == ["y"] else "rows"] += 1
            yield from super().batches(columns)

    arrow = ds.dataset(pa.Table.from_pandas(frame, preserve_index=False))
    monkeypatch.setattr(from_source, "source_of", lambda X, y: Counted(X))
    model = LinearRegression(solver=solver, random_state=0, **known).fit(arrow, y="y")
    job = model._prepare(N, P, 0, None)
    most = job.solver.row_passes(job.problem, job.settings)
    first_looks = 3  # at the first batch, at all rows, and whether they can be read again
    # Histograms of narrow columns are left out where nobody looks at them.
    assert most - 2 <= read["rows"] - first_looks <= most
    assert read["target"] <= 5


def test_solvers_that_need_rows_in_memory_say_so():
    from privlearn.solvers import SOLVERS

    assert {name for name, solver in SOLVERS.items() if solver.support.sources} == {"cd", "moments"}
