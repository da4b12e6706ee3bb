"""Dick, Gillenwater and Joseph 2023: what the paper states of DPKendall and SubLasso."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from privlearn._core.mechanisms import GUMBEL, GumbelNoise
from privlearn._core.norms import LINF
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Bounds, Budget
from privlearn._core.releaser import charge_and_open
from privlearn._data.bounded import BoundedData, Table
from privlearn.audit.tape import record
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.solvers._common.noisy_top_k import FIRST, FURTHER, Correlations, select_by_kendall
from support import without_noise

NOTHING = Bounds(None, None, None, None)


def correlation(x, y, adjacency=Adjacency.ADD_REMOVE):
    table = Table(np.asarray(x, dtype=float)[:, None], np.asarray(y, dtype=float))
    data = BoundedData(table, NOTHING, True)
    return float(Correlations(data, adjacency).with_target()[0])


def test_definition_3_1():
    """n/2 - 2 d/(n - 1), d discordant pairs, without ties."""
    rng = np.random.default_rng(0)
    for n in (2, 5, 30):
        x, y = rng.standard_normal((2, n))
        discordant = sum((x[i] - x[j]) * (y[i] - y[j]) < 0 for i in range(n) for j in range(i))
        assert correlation(x, y) == pytest.approx(n / 2 - 2 * discordant / (n - 1))


@pytest.mark.parametrize("n", [2, 3, 10, 500])
def test_lemma_3_2_is_attained(n):
    """A row that is discordant with n rows in one order moves the correlation by 3/2."""
    x = np.arange(n)
    before = correlation(x, x)
    assert before - correlation([*x, n], [*x, -1]) == pytest.approx(1.5)


def test_lemma_3_5():
    """2/pi arctan of signal over noise, for normal features."""
    rng = np.random.default_rng(1)
    n, weights, spread, noise = 40_000, np.array([1.0, -0.5, 0.3]), np.array([1.0, 2.0, 0.1]), 0.7
    X = rng.standard_normal((n, 3)) * spread
    y = X @ weights + noise * rng.standard_normal(n)
    parts = (weights * spread) ** 2
    rest = np.sqrt(parts.sum() - parts + noise**2)
    expected = 2 / math.pi * np.arctan(weights * spread / rest)
    found = [correlation(X[:, j], y) / (n / 2) for j in range(3)]
    np.testing.assert_allclose(found, expected, atol=0.015)  # three deviations of 2/(3 sqrt n)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
def test_theorem_3_8(relation):
    """One of each set of copies, and none of the features without information."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((20_000, 4))
    y = base @ [1.0, -0.8, 0.9, 0.7] + 0.5 * rng.standard_normal(20_000)
    copies = [0, 1, 2, 3, 0, 0, 1, 3]  # of which feature each column is a copy
    X = np.column_stack([base[:, copies], rng.standard_normal((20_000, 6))])
    model = KendallSelector(4, epsilon=1, adjacency=relation, random_state=0).fit(X, y)
    assert sorted(copies[j] for j in model.selected_) == [0, 1, 2, 3]


def test_without_the_second_term_copies_win():
    """What the term is for: relevance alone takes the copies of the best feature."""
    rng = np.random.default_rng(2)
    base = rng.standard_normal((2_000, 2))
    y = base @ [1.0, 0.5]
    X = np.column_stack([base[:, 0], 3 * base[:, 0], base[:, 0] ** 3, base[:, 1]])
    with without_noise():
        tape = record(KendallSelector(2), X, y)
        assert KendallSelector(2).fit(X, y).selected_.tolist() == [0, 3]
    relevance = tape.entries[0].statistic
    assert relevance[0] == relevance[1] == relevance[2] > relevance[3]


@pytest.mark.parametrize("k", [1, 5, 10])
def test_noise_of_algorithm_1(k):
    """Peel with 1 selection, sensitivity 3/2 and then 3, and epsilon/k: Gumbel(2 Delta k/eps)."""
    plan = KendallSelector(k, epsilon=1.1, adjacency="add_remove").plan(n_features=20)
    scales = {release.name: plan.noise_scale(release) for release in plan.releases}
    assert scales[FIRST] == pytest.approx(2 * 1.5 * k / 1.1, rel=1e-3)
    if k > 1:
        assert scales[FURTHER] == pytest.approx(2 * 3.0 * k / 1.1, rel=1e-3)


@pytest.mark.parametrize("k", [1, 5, 10])
def test_noise_of_algorithm_2(k):
    plan = SubLassoSelector(k, models=100, epsilon=1.1).plan(1_000, n_features=20)
    assert plan.noise_scale(plan.releases[0]) == pytest.approx(2 * k / 1.1, rel=1e-3)


def test_bounded_range_composes_better():
    """Ten rounds of 0.1 cost 0.69 at delta = 1e-6, and 1 at delta = 0."""
    plan = Plan((Release("rounds", (5,), 1.0, LINF, GUMBEL, count=10),), Adjacency.ZERO_OUT, 20.0)
    assert plan.epsilon(1e-6) == pytest.approx(0.69, abs=0.005)
    assert plan.epsilon(0.0) == pytest.approx(1.0, rel=1e-3)


def noisy_maximum(scores, step):
    """Law of the index of the largest of integers plus rounded Gumbel noise; the first of equals.

    `step` is that of the grid over the scale of the noise.
    """
    weights = np.exp(step * scores)
    places = np.arange(scores.min() - int(8 / step), scores.max() + int(45 / step))
    at_most = np.exp(-(places + 0.5) * step)
    below = at_most * math.exp(step)
    law = []
    for j, weight in enumerate(weights):
        before, behind = weights[:j].sum(), weights[j + 1 :].sum()
        here = np.exp(-weight * at_most) - np.exp(-weight * below)
        law.append(np.sum(here * np.exp(-before * below - behind * at_most)))
    return np.array(law)


@pytest.mark.parametrize("step", [0.1, 1.0, 2.0])
def test_on_the_grid_ties_cost_one_step(step):
    """noisy_top_k.md, 5: log P(i)/P(k) is within one step of the exponential mechanism's, i < k."""
    rng = np.random.default_rng(3)
    excess = []
    for _ in range(100):
        scores = rng.integers(0, 6, 4)
        law = noisy_maximum(scores, step)
        assert law.sum() == pytest.approx(1.0)
        for i in range(4):
            for k in range(i + 1, 4):
                excess.append(math.log(law[i] / law[k]) / step - (scores[i] - scores[k]))
    assert min(excess) >= -1e-9
    assert max(excess) <= 1 + 1e-9
    assert max(excess) > 0.5


# Black box: six rows in which the last decides, and the features are told apart by it.
OTHERS = np.arange(5.0)
WORST = np.column_stack([[3.0, 0.0, 4.0, 1.0, 2.0], OTHERS, OTHERS])  # x_0, x_1, y
PROMISED, RUNS = 3.0, 6_000


def how_often_first(row, seeds):
    """How often feature 0 is selected when the last row is `row`."""
    rows = np.vstack([WORST, row])
    data = BoundedData(Table(rows[:, :2], rows[:, 2]), NOTHING, True)
    plan = KendallSelector(1, epsilon=PROMISED).plan(6, n_features=2)
    budget = Budget(PROMISED, 0.0)
    found = 0
    for seed in seeds:
        with charge_and_open(plan, budget, random_state=seed) as release:
            found += select_by_kendall(data, 1, release) == [0]
    return found


def proven(confidence=0.999):
    """A lower bound of the privacy loss of selecting feature 0 (Clopper-Pearson)."""
    there = how_often_first([9.0, -9.0, 9.0], range(RUNS))
    empty = how_often_first(np.full(3, np.nan), range(RUNS, 2 * RUNS))
    tail = (1 - confidence) / 2
    least = beta.ppf(tail, there, RUNS - there + 1)
    most = beta.ppf(1 - tail, empty + 1, RUNS - empty)
    return math.log(least / most)


def test_the_pair_of_data_sets_is_the_worst():
    """Both scores move by all of the sensitivity, in opposite directions."""
    row = np.vstack([WORST, [9.0, -9.0, 9.0]])
    with_row = BoundedData(Table(row[:, :2], row[:, 2]), NOTHING, True)
    alone = BoundedData(Table(WORST[:, :2], WORST[:, 2]), NOTHING, True)
    first = np.abs(Correlations(with_row, Adjacency.ZERO_OUT).with_target())
    second = np.abs(Correlations(alone, Adjacency.ADD_REMOVE).with_target()) * 4 / 5  # n = 6
    np.testing.assert_allclose(first - second, [1.0, -1.0])
    assert first[0] == pytest.approx(first[1])


@pytest.mark.slow
def test_black_box_finds_no_more_than_was_promised():
    assert 0.5 * PROMISED < proven() <= PROMISED


@pytest.mark.slow
def test_black_box_convicts_two_thirds_of_the_noise(monkeypatch):
    draw = GumbelNoise.draw
    monkeypatch.setattr(
        GumbelNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, 2.0 * scale / 3.0, shape),
    )
    assert proven() > PROMISED


@pytest.mark.parametrize("pairs", [4096, 3])
@pytest.mark.parametrize("seed", range(6))
def test_sparse_columns_have_the_correlations_of_dense_ones(seed, pairs, monkeypatch):
    """Exactly: with ties, negative numbers, zeros that are stored, and an empty row."""
    from scipy.sparse import csr_array

    from privlearn.solvers._common import noisy_top_k

    monkeypatch.setattr(noisy_top_k, "PAIRS_AT_MOST", pairs)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 150))
    X = (rng.random((n, 6)) < rng.random(6)) * np.round(rng.standard_normal((n, 6)), 1)
    y = np.round(rng.standard_normal(n), 1)
    stored = csr_array(X + 7.0 * (X == 0.0))
    stored.data[stored.data == 7.0] = 0.0
    if n > 3:
        y[3] = np.nan
    none = Bounds(None, None, None, None)
    dense, *others = (
        Correlations(BoundedData(Table(table, y), none, True), Adjacency.ZERO_OUT)
        for table in (X, csr_array(X), stored)
    )
    for other in others:
        np.testing.assert_array_equal(dense.with_target(), other.with_target())
        np.testing.assert_array_equal(dense.with_column(2), other.with_column(2))
