"""How many rows of a person should count: its sensitivity, its noise, its rule and its charge."""

import itertools

import numpy as np
import pytest
from scipy import stats

from privlearn import Ledger, LinearRegression
from privlearn._core.adjacency import Adjacency
from privlearn._core.budget import Budget
from privlearn._core.releaser import Releaser
from privlearn.exceptions import BudgetExceededError, InvalidBudgetError
from privlearn.schema import estimate_max_rows, max_rows

BUDGET = Budget(1.0, 1e-6)
SIZES = (0, 1, 2, 3, 4, 5, 9)  # rows of a person; 0 is the empty record
LIMIT, BINS = 4, 3


def histogram(sizes):
    of_row = np.repeat(np.arange(len(sizes)), sizes)
    return max_rows.people_in_bins(of_row, len(sizes), BINS)


def neighbours(relation):
    """All tables of up to three people, and one person changed."""
    for people in (1, 2, 3):
        for sizes in itertools.product(SIZES, repeat=people):
            others = [0] if relation != "replace_one" else SIZES
            for other in others:
                yield sizes, (other, *sizes[1:])


def furthest(relation):
    return max(float(np.linalg.norm(histogram(a) - histogram(b))) for a, b in neighbours(relation))


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
def test_no_person_moves_the_histogram_by_more_than_is_declared(relation):
    plan = max_rows.plan_of(BUDGET, Adjacency(relation), BINS, 3)
    declared = plan.sensitivity(plan.releases[0])
    assert furthest(relation) <= declared
    assert furthest(relation) == pytest.approx(declared, rel=1e-6)  # and no less will do
    assert plan.epsilon(1e-6) <= 1.0
    assert plan.unit == "person"


def test_counting_rows_in_the_place_of_people_is_found(monkeypatch):
    def rows_in_bins(of_row, people, bins):
        sizes = np.bincount(of_row, minlength=people)
        places = np.searchsorted(2 ** np.arange(bins - 1), sizes[sizes > 0])
        return np.bincount(places, weights=sizes[sizes > 0], minlength=bins)

    monkeypatch.setattr(max_rows, "people_in_bins", rows_in_bins)
    plan = max_rows.plan_of(BUDGET, Adjacency.ZERO_OUT, BINS, 3)
    assert furthest("zero_out") > plan.sensitivity(plan.releases[0])


def test_bins():
    assert histogram((1, 2, 3, 4, 5, 100, 0)).tolist() == [1.0, 1.0, 4.0]
    nobody = np.array([-1, 0, 0, -1])
    assert max_rows.people_in_bins(nobody, 1, BINS).tolist() == [0.0, 1.0, 0.0]


def noise_of(times=300):
    ids = np.repeat(np.arange(300), 2)
    found = []
    for _ in range(times):
        one = estimate_max_rows(ids, epsilon=1.0)
        found += list((np.array([*one.people.values()]) - [0, 300, 0, 0, 0, 0, 0]) / one.noise)
    return np.array(found)


def test_its_noise_has_the_declared_law():
    drawn = noise_of()
    assert stats.kstest(drawn, "norm").pvalue > 1e-4
    assert stats.kstest(1.5 * drawn, "norm").pvalue < 1e-4
    assert stats.kstest(drawn / 1.5, "norm").pvalue < 1e-4


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [(np.ones(3000), 1), (np.full(3000, 4), 4), (np.full(3000, 5), 8), (np.full(3000, 999), 64)],
)
def test_the_rule(sizes, wanted):
    ids = np.repeat(np.arange(len(sizes)), sizes.astype(int))
    assert estimate_max_rows(ids, epsilon=0.1).value == wanted


def test_few_people_get_some_answer():
    answers = {estimate_max_rows([1, 1, 2], epsilon=0.01, limit=8).value for _ in range(30)}
    assert answers <= {1, 2, 4, 8}


def test_the_number_of_people_stays_out_where_it_is_private():
    known = {"epsilon": 1.0, "adjacency": "add_remove", "random_state": 0}
    one = estimate_max_rows([1, 2, 3], **known)
    more = estimate_max_rows(list(range(1000)), **known)
    assert one.privacy.plan == more.privacy.plan
    assert one.noise == more.noise


def test_it_is_charged_first_as_a_promise_about_people(tmp_path):
    pd = pytest.importorskip("pandas")
    ledger = Ledger.create(tmp_path / "ledger", epsilon=1, delta=1e-6)
    rng = np.random.default_rng(0)
    ids = pd.Series(np.repeat(np.arange(500), 3), name="patient")
    found = estimate_max_rows(ids, epsilon=0.1, ledger=ledger, dataset="d")
    assert ledger.unit("d") == "person"
    assert ledger.spent("d") == pytest.approx(0.1, rel=1e-3)
    X, y = rng.uniform(0, 1, (1500, 2)), rng.uniform(0, 1, 1500)
    known = {"bounds_X": (0, 1), "bounds_y": (0, 1), "ledger": ledger, "dataset": "d"}
    model = LinearRegression(epsilon=0.8, max_rows_per_person=found.value, **known)
    model.fit(X, y, groups=ids)
    spent = ledger.spent("d")
    assert 0.8 < spent < 0.9
    assert ledger.check(certificates=[found.privacy, model.privacy_]) == 2
    with pytest.raises(BudgetExceededError):
        estimate_max_rows(ids, epsilon=0.9, ledger=ledger, dataset="d")
    assert ledger.spent("d") == spent


def test_what_is_refused_draws_nothing(monkeypatch):
    def drawn(*known):
        raise AssertionError("a Releaser was opened")

    monkeypatch.setattr(Releaser, "__init__", drawn)
    with pytest.raises(InvalidBudgetError, match="delta=0"):
        estimate_max_rows([1, 2], epsilon=1.0, delta=0.0)
    with pytest.raises(ValueError, match="power of two"):
        estimate_max_rows([1, 2], epsilon=1.0, limit=48)
    with pytest.raises(ValueError, match="adjacency"):
        estimate_max_rows([1, 2], epsilon=1.0, adjacency="none")
    with pytest.raises(ValueError, match="no id"):
        estimate_max_rows([1, None], epsilon=1.0)
    with pytest.raises(ValueError, match="nobody"):
        estimate_max_rows([], epsilon=1.0)
    with pytest.raises(TypeError, match="one id per row"):
        estimate_max_rows(3, epsilon=1.0)


def test_the_certificate_and_the_words():
    found = estimate_max_rows(np.repeat(np.arange(1000), 2), epsilon=1.0, random_state=1)
    assert str(found).startswith("max_rows_per_person = 2\n")
    assert not found.privacy.private
    assert "each person counts once" in str(found.privacy)
    assert found.privacy.epsilon == 1.0


def test_bins_are_told_as_what_they_hold():
    """Each person is in one of them, so none may be called 'up to'."""
    sizes = np.repeat([1, 2, 3, 4, 9, 40], 50)
    told = str(estimate_max_rows(np.repeat(np.arange(300), sizes), epsilon=1e6, limit=8))
    lines = told.splitlines()[1:]
    expected = {"1 row": 50, "2 rows": 50, "3 to 4 rows": 100, "5 or more rows": 100}
    assert [line.split(" people")[0].strip() for line in lines] == [
        f"{bin}: about {count}" for bin, count in expected.items()
    ]
