"""One row moves no other row: in every container, by every change, wherever the row is."""

from dataclasses import replace

import numpy as np
import pytest

from privlearn import LinearRegression, LogisticRegression, audit
from privlearn._data.cells import as_numbers, number, numbers
from privlearn._data.sparse_check import checked_csr
from privlearn.audit.containers import Row, containers, malformed

BOX = {"bounds_X": (0.0, 1.0), "bounds_y": (0.0, 1.0)}


def test_containers_are_many_and_take_odd_rows():
    names = [container.name for container in containers(classifies=True)]
    assert len(names) == len(set(names)) >= 21
    rows = [Row((0.25, 0.5, 1.0), 1.0)] * 4
    for container in containers(classifies=False):
        assert container.build(rows) is not None, container.name
        taken = [container.build([*rows, odd]) for _, odd in container.odd_rows(rows[0])]
        assert sum(built is not None for built in taken) >= 2, container.name


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_malformed_matrices_pass_the_constructor_of_scipy_and_not_ours(n_features):
    made = list(malformed(n_features))
    assert len(made) == 5
    for story, (X, _) in made:
        with pytest.raises(ValueError, match="malformed"):
            pytest.fail(f"{story} was taken: {checked_csr(X)}")


def test_a_fit_that_refuses_everything_is_no_proof():
    class Shy(LinearRegression):
        def fit(self, X, y):
            raise ValueError("not today")

    with pytest.raises(audit.AuditFailure, match="no container"):
        audit.check_row_locality(Shy(**BOX), n_features=2)


def test_a_fit_that_counts_rows_before_reading_is_found():
    """Centring by the mean of X: every row moves every other one."""

    class Centred(LinearRegression):
        def _read(self, X, y, labels=None):
            table = super()._read(X, y, labels)
            if not isinstance(table.X, np.ndarray):
                return table
            return replace(table, X=table.X - np.nanmean(table.X, axis=0))

    with pytest.raises(audit.AuditFailure, match="another row contributes something else"):
        audit.check_row_locality(Centred(**BOX), n_features=2)


def test_a_fit_that_sees_the_place_of_a_row_is_found():
    """Only rows behind the changed one move, so a change of the last row would not show it."""

    class Placed(LinearRegression):
        def _read(self, X, y, labels=None):
            table = super()._read(X, y, labels)
            return replace(table, y=np.where(np.arange(len(table.y)) % 2, table.y, 0.0))

    with pytest.raises(audit.AuditFailure, match=r"(put in|taken out)"):
        audit.check_row_locality(Placed(**BOX), n_features=2)


@pytest.mark.parametrize("adjacency", ["zero_out", "add_remove", "replace_one"])
def test_labels_of_text(adjacency):
    """The classes of the other audits are numbers."""
    X = np.linspace(0, 1, 12)[:, None].tolist()
    y = ["a", "b"] * 6
    model = LogisticRegression(
        bounds_X=([0], [1]), classes=["a", "b"], on_invalid="drop", adjacency=adjacency
    )
    table = model._read(X, y)
    for odd in (None, 1, 1.5, b"a", float("nan"), "c", ["a", "b"], object()):
        again = model._read(X, [odd, *y[1:]])
        np.testing.assert_array_equal(again.y[1:], table.y[1:])
        assert np.isnan(again.y[0])


CELLS = [
    (True, 1.0),
    (np.True_, 1.0),
    (2**53 + 1, 2.0**53),
    (2**63, 2.0**63),
    (np.float32(0.1), float(np.float32(0.1))),
    (np.array(2.5), 2.5),
    ("1.5", 1.5),
    (" 2 ", 2.0),
    (b"3", 3.0),
    ("True", 1.0),
    (1 + 0j, 1.0),
    (10**400, np.inf),
]
NO_NUMBERS = [None, "text", "", 1 + 2j, [1.0], (1.0,), {}, np.ma.masked, np.array([1.0]), object()]
NO_NUMBERS += [np.datetime64("2000-01-01"), np.timedelta64(3, "s"), np.datetime64("NaT"), "0x10"]


@pytest.mark.parametrize(("cell", "value"), CELLS, ids=lambda cell: str(cell)[:12])
def test_what_a_number_is(cell, value):
    assert number(cell) == value
    assert numbers([cell, None])[0] == value
    assert numbers([cell, 1.0])[0] == value


@pytest.mark.parametrize("cell", NO_NUMBERS, ids=lambda cell: type(cell).__name__)
def test_what_no_number_is(cell):
    assert np.isnan(number(cell))
    np.testing.assert_array_equal(numbers([cell, 1.0]), [np.nan, 1.0])


@pytest.mark.parametrize(
    "kind", [np.float16, np.float32, np.float64, np.longdouble, np.int8, np.int64, np.uint64, bool]
)
def test_arrays_are_read_like_their_cells(kind):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 256, 4_000 * np.dtype(kind).itemsize, dtype=np.uint8)
    array = (bits[:4_000] % 2).astype(bool) if kind is bool else bits.view(kind)
    if kind is np.longdouble:  # arbitrary bits are no valid numbers there
        array = rng.standard_normal(4_000).astype(kind) ** 501 / np.longdouble(3)
    by_cell = np.array([number(cell) for cell in array])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(as_numbers(array).astype(np.float64), by_cell)
    np.testing.assert_array_equal(numbers(list(array)), by_cell)
