"""Where memory runs out, the error tells no number of rows, and before the charge if it can."""

import traceback

import numpy as np
import pytest
from scipy.sparse import csr_array

from privlearn import LinearRegression, LogisticRegression
from privlearn._core.out_of_memory import AFTER, BEFORE
from privlearn._core.releaser import Releaser, use_releaser
from privlearn._data.bounded import Table
from privlearn._data.people import People, read_people
from privlearn.solvers import SGD, SOLVERS, Tukey
from privlearn.solvers.base import stored_rows
from support import regression

ROWS = 123_456_789
X, Y = regression(n=400, p=3)
IDS = np.arange(400) % 150
FACTS = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
pytestmark = pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")


def too_large(*_, **__):
    return np.empty((ROWS, 10**9))


class Full(Releaser):
    """Has no memory left when the first release is made."""

    _take = too_large


class Book:
    charges = 0

    def charge(self, plan, dataset):
        self.charges += 1


def told(fit):
    """What an error about memory says, with all that it holds on to."""
    with pytest.raises(MemoryError) as raised:
        fit()
    assert raised.value.__context__ is raised.value.__cause__ is None
    assert str(ROWS) not in "".join(traceback.format_exception(raised.value))
    return str(raised.value)


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_after_the_charge_no_size_is_told(solver):
    facts = FACTS | {"solver": solver}
    if solver == "tukey":
        facts = {"bounds_X": (-1, 1), "solver": Tukey(models=79), "epsilon": 50.0}
    book = Book()
    with use_releaser(Full):
        model = LinearRegression(ledger=book, **facts)
        assert told(lambda: model.fit(X, Y)) == AFTER
    assert book.charges == 1


def test_nor_where_batches_come_one_by_one():
    model = LogisticRegression(bounds_X=(-1, 1), classes=[0, 1])
    with use_releaser(Full):
        assert told(lambda: model.partial_fit(X, (Y > 0).astype(int))) == AFTER


def test_memory_for_rows_that_count_is_asked_for_before_the_charge(monkeypatch):
    monkeypatch.setattr(People, "room", too_large)
    book = Book()
    model = LinearRegression(max_rows_per_person=2, ledger=book, **FACTS)
    assert told(lambda: model.fit(X, Y, groups=IDS)) == BEFORE
    assert book.charges == 0


@pytest.mark.parametrize("hold", [np.array, np.asfortranarray, np.float32, csr_array])
def test_rows_that_count_fill_that_memory(hold):
    table, people = Table(hold(X), Y), read_people(IDS, 400, strict=True)
    room = people.room(table)
    found = people.limited(table, 2, 7, room)
    assert np.shares_memory(found.y, room.y)
    assert hold is csr_array or np.shares_memory(found.X, room.X)
    chosen = np.flatnonzero(np.isin(Y, found.y))
    assert len(chosen) == len(found.y) == 300
    order = chosen[np.argsort(IDS[chosen], kind="stable")]
    assert found.y.tolist() == Y[order].tolist()
    assert found.X.dtype == table.X.dtype
    dense = [one.toarray() if hold is csr_array else one for one in (found.X, table.X[order])]
    assert np.array_equal(*dense)


def test_memory_is_counted_for_all_rows_that_may_count():
    weighed = []
    for most in (1, 2, 100):
        model = LinearRegression(max_rows_per_person=most, solver=SGD(), **FACTS)
        problem = model._prepare(1_000, 3, 0, None).problem
        weighed.append(stored_rows(problem, sparse=False))
        assert stored_rows(problem, sparse=True) < weighed[-1]
    assert weighed == [weighed[0], 2 * weighed[0], 100 * weighed[0]]
