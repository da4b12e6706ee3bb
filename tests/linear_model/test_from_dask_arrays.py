"""Fits of dask's arrays and frames: the bits of a fit in memory, and what stops them."""

import pickle

import numpy as np
import pandas as pd
import pytest

from privlearn import LinearRegression, LogisticRegression, Ridge, schema
from privlearn._data import dask_source
from privlearn.exceptions import SourceChangedError, UnsupportedCombinationError

dask = pytest.importorskip("dask", reason="needs dask: pip install 'privlearn[dask]'")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N, P = 1_201, 3
NAMES = ["a", "b", "c"]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, P)).astype(np.float32)
Y = X.astype(float) @ [1.0, -0.5, 3.0] + RNG.normal(size=N)
FRAME = pd.DataFrame(X, columns=NAMES).assign(y=Y)


@pytest.fixture(autouse=True)
def one_task_after_another():
    with dask.config.set(scheduler="synchronous"):
        yield


class Counting:
    """A ledger that counts its charges."""

    charges = 0

    def charge(self, plan, dataset):
        self.charges += 1

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise pickle.PicklingError("a ledger does not travel")


def bits(model):
    return model.coef_.tobytes() + np.asarray(model.intercept_).tobytes()


def arrays(rows=X, y=Y, size=500):
    return da.from_array(rows, chunks=(size, 2)), da.from_array(y, chunks=size // 2)


MODELS = {
    "nothing declared": LinearRegression(),
    "a box, n private": LinearRegression(
        bounds_X=(-5, 5), bounds_y=(-9, 9), adjacency="add_remove"
    ),
    "a norm": Ridge(alpha=0.1, data_norm=6.0, bounds_y=(-9, 9), solver="cd"),
    "rows may be dropped": LinearRegression(on_invalid="drop", adjacency="replace_one"),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_by_tasks_has_the_bits_of_a_fit_in_memory(name):
    model = MODELS[name].set_params(random_state=3)
    expected = bits(model.fit(X, Y))
    assert bits(model.fit(*arrays())) == expected
    frame = dd.from_pandas(FRAME, npartitions=3)
    expected = bits(model.fit(FRAME[NAMES], Y))
    assert bits(model.fit(frame, y="y")) == expected
    assert list(model.feature_names_in_) == NAMES
    assert bits(model.fit(frame[NAMES], frame["y"])) == expected


def test_rows_that_do_not_fit_into_memory_are_read_in_each_pass(monkeypatch):
    from privlearn._data import dask_stream

    model = LinearRegression(random_state=3)
    expected = bits(model.fit(X, Y))
    monkeypatch.setattr(dask_stream, "PART_OF_MEMORY", 0.0)
    assert bits(model.fit(*arrays())) == expected


def test_labels_are_found_and_a_schema_read_by_tasks():
    labels = np.array(["no", "yes"], dtype=object)[(Y > 0).astype(int)]
    model = LogisticRegression(random_state=2)
    expected = bits(model.fit(X, labels))
    assert bits(model.fit(*arrays(y=labels))) == expected
    assert model.classes_.tolist() == ["no", "yes"]
    raw = FRAME.assign(sex=RNG.choice(["F", "M", None], N))
    raw.loc[7, "a"] = np.nan
    known = {
        "a": schema.Number(-4, 4, missing="flag"),
        "sex": schema.Category(["F", "M"], missing="flag"),
    }
    model = LinearRegression(schema=known, random_state=4)
    expected = bits(model.fit(raw.drop(columns="y"), raw["y"]))
    assert bits(model.fit(dd.from_pandas(raw, npartitions=4), y="y")) == expected


def _with_a_gap():
    wrong = X.copy()
    wrong[1_100, 1] = np.nan
    return arrays(wrong)


REFUSED = {
    "moments": (LinearRegression(solver="moments"), arrays, "X.compute"),
    "SGD": (LinearRegression(solver="sgd", bounds_X=(0, 1), bounds_y=(0, 1)), arrays, "in memory"),
    "a gap": (LinearRegression(), _with_a_gap, "X contains"),
    "a name beside an array": (LinearRegression(), lambda: (arrays()[0], "y"), "no names"),
    "three dimensions": (LinearRegression(), lambda: (da.zeros((4, 3, 2)), da.zeros(4)), "reshape"),
    "other partitions": (LinearRegression(), lambda: (arrays()[0], da.zeros(9)), "partition"),
    "a list as y": (LinearRegression(), lambda: (arrays()[0], list(Y)), "of dask"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_used_is_refused_before_the_charge(name):
    model, made, words = REFUSED[name]
    ledger = Counting()
    model.set_params(ledger=ledger, dataset="d")
    with pytest.raises((ValueError, UnsupportedCombinationError), match=words):
        model.fit(*made())
    assert ledger.charges == 0


def changing(passes, change):
    """Arrays whose second chunk is another one after it was computed so often."""
    computed = []

    def rows(block, block_info=None):
        if block_info[0]["chunk-location"][0] == 1:
            computed.append(1)
            if len(computed) > passes:
                return change(block)
        return block

    whole = da.from_array(X, chunks=(500, P), name=False)
    return whole.map_blocks(rows, dtype=X.dtype, meta=X[:0]), da.from_array(Y, chunks=500)


def _secret(block):
    raise RuntimeError("secret")


@pytest.mark.parametrize("passes", [1, 3, 5])
@pytest.mark.parametrize(
    "change",
    [lambda b: np.nextafter(b, np.float32(9)), lambda b: b[::-1], lambda b: b[1:], _secret],
    ids=["last bits", "another order", "a row less", "an error"],
)
def test_partitions_that_change_stop_the_fit_and_the_charge_stays(passes, change, monkeypatch):
    from privlearn._data import dask_stream

    monkeypatch.setattr(dask_stream, "PART_OF_MEMORY", 0.0)
    ledger = Counting()
    model = LinearRegression(ledger=ledger, dataset="d")
    with pytest.raises(SourceChangedError, match="charged stays spent") as error:
        model.fit(*changing(passes, change))
    assert ledger.charges == 1
    assert "secret" not in str(error.value)
    assert error.value.__context__ is None
    assert not hasattr(model, "coef_")


def test_damage_on_the_way_stops_the_fit(monkeypatch):
    own, calls = dask_source.compute, []

    def damaged(there):
        calls.append(1)
        (found, *others) = own(there)
        if len(calls) == 9:
            found = found[:40] + bytes([found[40] ^ 1]) + found[41:]
        return (found, *others)

    monkeypatch.setattr(dask_source, "compute", damaged)
    with pytest.raises(SourceChangedError, match="DamagedError"):
        LinearRegression().fit(*arrays())


def test_neither_results_nor_names_of_tasks_tell_anything(monkeypatch):
    """Of two fits of the same rows with the same noise, nothing that travels is the same."""
    own, seen = dask_source.compute, []

    def watched(there):
        found = own(there)
        seen.append([*(str(one.key) for one in there), *found])
        return found

    monkeypatch.setattr(dask_source, "compute", watched)
    model = LinearRegression(random_state=1)
    model.fit(*arrays())
    first, _ = seen.copy(), seen.clear()
    model.fit(*arrays())
    told = {thing for found in first for thing in found}
    assert told.isdisjoint(thing for found in seen for thing in found)
    assert all(isinstance(thing, str | bytes) for thing in told)
    assert all(thing.startswith("privlearn-") for thing in told if isinstance(thing, str))


def test_a_fitted_model_predicts_partition_by_partition():
    rows, y = arrays()
    model = LinearRegression(random_state=1).fit(rows, y)
    whole = rows.rechunk({1: -1})
    found = whole.map_blocks(model.predict, drop_axis=1, dtype=float, meta=Y[:0]).compute()
    assert np.allclose(found, model.predict(X))
