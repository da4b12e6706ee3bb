"""`evaluate` with several rows per person: what counts, what a person moves, and what is said."""

import itertools

import numpy as np
import pandas as pd
import pytest

from privlearn._core.problem import Adjacency
from privlearn._data.people import read_people
from privlearn.exceptions import LedgerError, MissingFactError
from privlearn.ledger import Ledger
from privlearn.metrics import evaluate, plan
from privlearn.metrics.evaluation import added_up, prepare, read_rows
from privlearn.metrics.people import Everybody
from privlearn.metrics.predictions import predicted_blocks
from privlearn.metrics.task import Task
from scored_models import MODELS, Line, TwoClasses

ONE = {"epsilon": 1.0, "delta": 1e-6}
RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, size=(4000, 3))
Y = (X[:, 0] + 0.5 * RNG.standard_normal(4000) > 0).astype(int)


@pytest.mark.parametrize("relation", [*Adjacency])
def test_one_row_each_is_bit_equal_to_no_groups(relation):
    given = {"adjacency": relation.value, "random_state": 3, **ONE}
    one = evaluate(TwoClasses(), X, Y, groups=np.arange(4000), max_rows_per_person=1, **given)
    two = evaluate(TwoClasses(), X, Y, **given)
    assert [s.to_dict() for s in one.scores] == [s.to_dict() for s in two.scores]
    assert (one.privacy.unit, two.privacy.unit) == ("person", "row")


def test_noise_grows_with_the_rows_of_a_person():
    ids = np.arange(4000) // 4
    found = {
        most: evaluate(TwoClasses(), X, Y, groups=ids, max_rows_per_person=most, **ONE)
        for most in (1, 4)
    }
    plans = {most: one.privacy.plan for most, one in found.items()}
    for name in ("losses of probabilities",):
        scales = {
            most: next(p.noise_scale(r) for r in p.releases if r.name == name)
            for most, p in plans.items()
        }
        assert scales[4] == pytest.approx(4 * scales[1], rel=0.05)
    assert found[4].privacy.rows_per_person == 4
    assert found[4].privacy.plan.rows is None
    assert found[1].privacy.plan.rows == 1000
    assert 0.6 < found[4].auc.value < 1.0
    assert found[4].rows == pytest.approx(4000, rel=0.3)
    assert any("one person" in note for note in found[4].notes)


def sums_of(task, job, records, key):
    """Statistics without noise of people, each a list of rows (x, y)."""
    rows = [(who, *row) for who, record in enumerate(records) for row in record]
    ids = np.array([who for who, *_ in rows])
    table = np.array([x for _, x, _ in rows], dtype=float).reshape(len(rows), 3)
    truth = np.array([y for *_, y in rows], dtype=float)
    data = read_rows(task, table, truth, job.plan.adjacency.value, "drop", 2)
    people = read_people(ids, len(rows), strict=False)
    blocks = predicted_blocks(task, data, strict=False)
    return added_up(job, Everybody.of(people, blocks).who_count(2, key))


@pytest.mark.parametrize("relation", [*Adjacency])
@pytest.mark.parametrize("kind", ["two classes", "three classes", "line"])
def test_what_a_person_moves_is_enumerated(relation, kind):
    """Every record of up to three rows of a tiny domain against every other, release by release."""
    task = Task.of(MODELS[kind](), None, (-2.0, 3.0) if kind == "line" else None)
    job = prepare(task, 3, 1.0, 1e-6, relation.value, "drop", 2)
    truths = [-2.0, 3.0] if kind == "line" else [0, 1]
    domain = list(itertools.product([(-1.0, 1.0, -1.0), (1.0, -1.0, 1.0)], truths))
    records = [
        r for size in range(4) for r in itertools.combinations_with_replacement(domain, size)
    ]
    others = [[domain[0]], [domain[1], domain[2], domain[3]]]
    most = dict.fromkeys((r.name for r in job.plan.releases), 0.0)
    found = [sums_of(task, job, [*others, record], key=7) for record in records]
    without = sums_of(task, job, others, key=7)
    for one in found:
        for two in found if relation.replaces else [without]:
            for name in most:
                most[name] = max(most[name], float(np.linalg.norm(one[name] - two[name])))
    for release in job.plan.releases:
        allowed = job.plan.sensitivity(release)
        assert most[release.name] <= allowed
        if relation.replaces or kind != "line":
            assert most[release.name] >= 0.4 * allowed  # it is about this, not far below


def test_others_keep_what_counts_of_them():
    """Whatever somebody brings, the rows of all others that count are the same."""
    task = Task.of(Line(), ["mse"], (-2.0, 3.0))
    job = prepare(task, 3, 1.0, 1e-6, "zero_out", "drop", 2)
    domain = [((0.1 * k, 0.2, 0.3), 0.3 * k) for k in range(6)]
    base = sums_of(task, job, [domain[:5], domain[1:4], []], key=11)
    for extra in range(1, 4):
        alone = sums_of(task, job, [[], [], domain[:extra]], key=11)
        together = sums_of(task, job, [domain[:5], domain[1:4], domain[:extra]], key=11)
        if extra <= 2:  # all of them count, whatever the id
            for name, sums in together.items():
                np.testing.assert_allclose(sums, base[name] + alone[name], atol=1e-12)


def test_a_ledger_keeps_the_unit(tmp_path):
    ledger = Ledger.create(tmp_path / "l", epsilon=3, delta=1e-5)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(who=np.arange(4000) // 2, y=Y)

    known = {"ledger": ledger, "dataset": "d", **ONE}
    model = TwoClasses()
    evaluate(
        model,
        frame[["a", "b", "c"]].to_numpy(),
        Y,
        groups=frame["who"],
        max_rows_per_person=2,
        **known,
    )
    with pytest.raises(LedgerError):
        evaluate(model, X, Y, **known)


def test_refusals():
    with pytest.raises(MissingFactError, match="max_rows_per_person is missing"):
        evaluate(TwoClasses(), X, Y, groups=np.arange(4000), **ONE)
    with pytest.raises(MissingFactError, match="groups is missing"):
        evaluate(TwoClasses(), X, Y, max_rows_per_person=2, **ONE)
    for most in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match="whole number of rows"):
            evaluate(TwoClasses(), X, Y, groups=np.arange(4000), max_rows_per_person=most, **ONE)
    with pytest.raises(ValueError, match="one id per row"):
        evaluate(TwoClasses(), X, Y, groups=[1, 2], max_rows_per_person=2, **ONE)
    with pytest.raises(ValueError, match="inconsistent") as caught:
        evaluate(TwoClasses(), X, Y[:5], groups=np.arange(4000), max_rows_per_person=2, **ONE)
    assert "4000" not in str(caught.value)


def test_nobody_at_all_is_an_outcome_under_add_remove():
    from privlearn.exceptions import PrivacyTestFailedError

    with pytest.raises(PrivacyTestFailedError):
        evaluate(
            TwoClasses(),
            np.zeros((0, 3)),
            np.zeros(0),
            groups=[],
            max_rows_per_person=2,
            adjacency="add_remove",
            **ONE,
        )


def test_a_plan_of_people():
    found = plan(TwoClasses(), 500, max_rows_per_person=3, **ONE)
    assert found.unit == "person"
    assert found.epsilon(1e-6) <= 1.0 + 1e-9
