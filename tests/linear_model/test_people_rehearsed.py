"""The form of loops that is rehearsed before the charge is the one that runs after it."""

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn._core import jit
from privlearn.solvers._common import counting, integer_rows, rehearsal

FACTS = {"bounds_X": (0, 1), "bounds_y": (0, 1)}


@pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")
def test_many_rows_of_one_person_change_no_form(monkeypatch):
    before, after, charged = set(), set(), []

    def watched(numbers):
        answer = jit.worth_compiling(numbers)
        (after if charged else before).add(answer)
        return answer

    class Book:
        def charge(self, plan, dataset):
            charged.append(plan)

    for module in (rehearsal, integer_rows, counting):
        monkeypatch.setattr(module, "worth_compiling", watched)
    monkeypatch.setattr(rehearsal, "_seen", set())
    ids = np.append(np.arange(300), np.full(100_000, 7_777))
    X = np.random.default_rng(0).uniform(0, 1, (len(ids), 3))
    LinearRegression(max_rows_per_person=3, ledger=Book(), **FACTS).fit(X, X[:, 0], groups=ids)
    assert len(charged) == 1
    assert after
    assert after <= before
