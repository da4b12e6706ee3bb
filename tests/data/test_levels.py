"""A promise per person: levels are merged downwards, kept, listed, booked, and worth having."""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import binomtest

from privlearn import Ledger, LinearRegression, LogisticRegression
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn._data.personal_budgets import MOST_LEVELS, read_levels
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.audit.tape import record
from privlearn.exceptions import InvalidBudgetError, UnsupportedCombinationError
from privlearn.solvers import OnePassSGD
from support import regression

KNOWN = {"bounds_X": (-1, 1), "classes": [0, 1]}


def labelled(n=2_000, seed=0):
    X, y = regression(n, seed=seed)
    return X, (y > 0.1).astype(int)


def halves(n=2_000, low=0.1, high=1.0):
    return np.where(np.arange(n) % 2, low, high)


# Reading them


@pytest.mark.parametrize("distinct", [1, 2, 7, 8, 9, 20, 500])
@pytest.mark.parametrize("seed", range(3))
def test_nobody_is_treated_at_more_than_the_own_level(distinct, seed):
    rng = np.random.default_rng(seed)
    values = np.exp(rng.uniform(-5, 0, distinct))
    own = rng.choice(values, 3 * distinct + 10)
    levels = read_levels(own, 1.0)
    treated = np.array(levels.epsilons)[levels.of_row]
    assert (treated <= own).all()
    assert len(levels.epsilons) <= MOST_LEVELS == 8
    assert (np.diff(levels.epsilons) > 0).all()
    assert set(levels.epsilons) <= set(own.tolist())
    if len(np.unique(own)) <= 8:
        np.testing.assert_array_equal(treated, own)
    # of two levels in one range, the larger is at most an eighth of the whole ratio above
    assert (own / treated).max() <= (own.max() / own.min()) ** (1 / 8) * (1 + 1e-9)


def test_merging_keeps_the_order_and_every_level_has_people():
    own = np.linspace(0.01, 1.0, 300)
    levels = read_levels(own, 1.0)
    assert (np.diff(levels.of_row) >= 0).all()
    assert (np.bincount(levels.of_row, minlength=len(levels.epsilons)) > 0).all()
    public, private = levels.public(True), levels.public(False)
    assert sum(level.people for level in public) == 300
    assert [level.people for level in private] == [None] * len(private)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ([0.5, 1.5, 0.5], InvalidBudgetError, "more than epsilon=1, the most"),
        ([0.5, 0.0, 0.5], InvalidBudgetError, "above 0 for everyone"),
        ([0.5, -1.0, 0.5], InvalidBudgetError, "above 0"),
        ([0.5, math.nan, 0.5], InvalidBudgetError, "finite"),
        ([0.5, math.inf, 0.5], InvalidBudgetError, "finite"),
        ([0.5, 0.5], ValueError, r"shape \(2,\), but \(3,\) is needed"),
        ([[0.5], [0.5], [0.5]], ValueError, "finite and above 0 for everyone"),
        (0.5, ValueError, "give one per row of X"),
    ],
)
def test_levels_that_cannot_be_kept_are_refused_in_words(wrong, error, words):
    with pytest.raises(error, match=words):
        read_levels(wrong, 1.0, 3)


def test_other_solvers_say_who_can():
    X, y = labelled(100)
    for solver in ("sgd", "cd", "scd", "output"):
        with pytest.raises(
            UnsupportedCombinationError, match=r"sample_epsilon .use solver='one-pass'"
        ):
            LogisticRegression(solver=solver, **KNOWN).fit(X, y, sample_epsilon=halves(100))


def test_where_n_is_private_an_error_does_not_name_it():
    X, y = labelled(2_311)
    with pytest.raises(ValueError, match="give one number per row") as caught:
        LogisticRegression(adjacency="add_remove", **KNOWN).fit(X, y, sample_epsilon=[[0.1]])
    assert "2311" not in str(caught.value)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
@pytest.mark.parametrize("size", [1_999, 2_001])
def test_levels_for_other_people_are_refused(relation, size, tmp_path):
    """Before anything is charged, and without a number where it is private."""
    X, y = labelled()
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=3, delta=1e-6)
    known = {"adjacency": relation, "ledger": ledger, "dataset": "people", **KNOWN}
    with pytest.raises(ValueError, match="sample_epsilon") as caught:
        LogisticRegression(**known).fit(X, y, sample_epsilon=halves(size))
    assert ledger.datasets() == []
    if relation == "add_remove":
        assert not any(letter.isdigit() for letter in str(caught.value))


# What is promised


@pytest.mark.parametrize("relation", list(Adjacency))
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_every_level_gets_what_it_was_promised(relation, delta):
    X, y = labelled()
    own = np.resize([0.05, 0.2, 1.0], 2_000)
    model = LogisticRegression(epsilon=2.0, delta=delta, adjacency=relation.value, **KNOWN)
    privacy = model.fit(X, y, sample_epsilon=own).privacy_
    assert list(privacy.levels) == [0.05, 0.2, 1.0]
    for promised, spent in privacy.levels.items():
        assert spent == pytest.approx(promised, rel=1e-4)
        assert spent <= promised * (1 + 1e-6)
    assert privacy.epsilon == 1.0  # nobody was promised the 2 that the model may promise
    assert privacy.spent() == privacy.levels[1.0]
    assert privacy.spent() <= 1 + 1e-6


@pytest.mark.parametrize("low", [1e-3, 0.05])
def test_no_level_spends_more_than_it_was_promised(low):
    model = LogisticRegression(delta=0.0, **KNOWN)
    plan = model.plan(n=1_000, n_features=400, sample_epsilon=halves(1_000, low=low))
    assert plan.epsilon_at_level(low, 0.0) <= low


def test_certificates_list_the_levels():
    X, y = labelled()
    model = LogisticRegression(delta=0.0, **KNOWN)
    privacy = model.fit(X, y, sample_epsilon=halves()).privacy_
    listed = privacy.to_dict()["levels"]
    assert [level["promised"] for level in listed] == [0.1, 1.0]
    assert [level["spent_epsilon"] for level in listed] == list(privacy.levels.values())
    assert "people promised 0.1: epsilon = 0.1" in str(privacy)
    assert any("sample_epsilon was chosen without looking" in line for line in privacy.assumptions)
    assert any("list of personal epsilons is public" in line for line in privacy.assumptions)
    assert pickle.loads(pickle.dumps(privacy)).levels == privacy.levels
    assert model.fit(X, y).privacy_.levels == {}
    assert model.privacy_.to_dict()["levels"] == []


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_noise_of_each_level_is_what_its_promise_needs(delta):
    noise = OnePassSGD(clip=0.5, noise=None if delta == 0 else "gaussian")
    model = LogisticRegression(delta=delta, solver=noise, **KNOWN)
    plan = model.plan(n=2_000, n_features=3, sample_epsilon=halves())
    for release, epsilon in zip(plan.releases, (0.1, 1.0), strict=True):
        cost = epsilon if delta == 0 else equivalent_mu(epsilon, delta)
        assert plan.noise_scale(release) == pytest.approx(0.5 / cost, rel=1e-5)
        assert release.level == epsilon
        assert f"people at epsilon {epsilon:g}" in release.name


def test_a_plan_with_less_noise_for_less_epsilon_is_refused():
    def planned(*weights):
        names = enumerate(weights, 1)
        return Plan(
            tuple(Release(f"{k}", (3,), 1.0, weight=w, level=k / 10) for k, w in names),
            Adjacency.ZERO_OUT,
            scale=1.0,
        )

    assert planned(5.0, 1.0).levels == (0.1, 0.2)
    with pytest.raises(ValueError, match="differ in noise alone, less for more"):
        planned(1.0, 5.0)


def test_ledgers_book_the_largest_level(tmp_path):
    X, y = labelled()
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=3, delta=1e-6)
    model = LogisticRegression(epsilon=2.0, delta=0.0, ledger=ledger, dataset="people", **KNOWN)
    model.fit(X, y, sample_epsilon=halves(low=0.05, high=0.7))
    assert len(ledger.history("people")) == 1
    assert ledger.spent("people") == pytest.approx(0.7, rel=1e-4)
    assert ledger.spent("people") == pytest.approx(model.privacy_.spent(), rel=1e-4)


def test_one_level_for_all_is_the_model_that_promises_it():
    X, y = labelled()
    with_level = LogisticRegression(epsilon=1.0, delta=0.0, random_state=3, **KNOWN)
    with_level.fit(X, y, sample_epsilon=np.full(2_000, 0.3))
    plain = LogisticRegression(epsilon=0.3, delta=0.0, random_state=3, **KNOWN).fit(X, y)
    np.testing.assert_allclose(with_level.coef_, plain.coef_, rtol=1e-9)
    assert with_level.privacy_.epsilon == 0.3


# Who is where


@pytest.mark.parametrize("relation", list(Adjacency))
def test_everybody_is_in_one_sum_of_the_own_level(relation):
    """Each row is made to count once, by an entry of its own that no clip can hide."""
    n = 40
    X, y = np.eye(n), np.zeros(n)
    own = np.resize([0.1, 0.1, 0.4, 1.0], n)
    given = {"data_norm": 1.0, "fit_intercept": False, "delta": 0.0, "bounds_y": (-1, 1)}
    model = LinearRegression(adjacency=relation.value, random_state=0, **given)
    y[:] = 1.0
    tape = record(model, X, y, sample_epsilon=own)
    for level in (0.1, 0.4, 1.0):
        sums = [
            e.statistic for e in tape.entries if e.release.level == level and e.statistic.size > 1
        ]
        met = np.count_nonzero(sums, axis=0)
        np.testing.assert_array_equal(met, (own == level).astype(int))


def test_private_counts_are_released_per_level_and_n_is_nowhere():
    X, y = labelled(2_311)
    model = LogisticRegression(adjacency="add_remove", delta=0.0, **KNOWN)
    privacy = model.fit(X, y, sample_epsilon=halves(2_311)).privacy_
    names = [release["name"] for release in privacy.releases]
    assert [name for name in names if name.startswith("number of rows")] == [
        "number of rows, people at epsilon 0.1",
        "number of rows, people at epsilon 1",
    ]
    text = privacy.to_json() + str(privacy) + repr(privacy)
    for secret in ("2311", "1155", "1156"):
        assert secret not in text
    fewer = model.plan(n=77, n_features=4, sample_epsilon=halves(77))
    assert fewer == privacy.plan


# What it is worth


def opposed(n, seed):
    """Half of the people have one relation between x and y, the other half the opposite one."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 1))
    return X, X[:, 0] * np.where(np.arange(n) % 2, -1.0, 1.0)


def test_people_with_more_epsilon_count_more():
    """Those at 1 want a slope of 1, those at 0.1 a slope of -1."""
    X, y = opposed(20_000, 0)
    given = {"delta": 0.0, "bounds_X": (-1, 1), "bounds_y": (-1, 1), "fit_intercept": False}

    def slope(levels):
        model = LinearRegression(**given)
        fits = [model.set_params(random_state=k).fit(X, y, sample_epsilon=levels) for k in range(5)]
        return np.mean([fit.coef_[0] for fit in fits])

    assert slope(halves(20_000)) > 0.1
    assert slope(halves(20_000)[::-1].copy()) < -0.1
    assert abs(slope(np.full(20_000, 1.0))) < 0.05


@pytest.mark.parametrize(("relation", "n"), [("zero_out", 1_000), ("add_remove", 3_000)])
def test_mixed_levels_beat_everybody_at_the_lowest(relation, n):
    """Paired seeds, sign test: half the people at 1 is worth more than all at 0.1."""
    X, y = labelled(n)
    given = {"delta": 0.0, "adjacency": relation, **KNOWN}
    wins = 0
    for seed in range(20):
        model = LogisticRegression(random_state=seed, **given)
        mixed = model.fit(X, y, sample_epsilon=halves(n)).score(X, y)
        lowest = model.fit(X, y, sample_epsilon=np.full(n, 0.1)).score(X, y)
        wins += mixed > lowest
    assert binomtest(wins, 20, alternative="greater").pvalue < 0.01
