"""Every sampler follows its stated law: the right scale is accepted, wrong scales are rejected."""

import itertools

import numpy as np
import pytest
from scipy import stats

from privlearn.noise import NoiseSource

ACCEPT = 1e-4  # p-values of the right law stay above this (seeds are fixed)
REJECT = 1e-9  # p-values of a wrong law fall below this

CONTINUOUS = {"gaussian": stats.norm, "laplace": stats.laplace, "gumbel": stats.gumbel_r}
WRONG_FACTORS = (2 / 3, 3 / 2, 1.02)


def cell_p_value(draws, law, scale):
    """Chi-square p-value of integer draws against the exact masses of the rounded law."""
    # cells from the tail quantiles; each expects at least some 20 draws, the outer ones are open
    lowest, highest = np.rint(law.ppf([20 / draws.size, 1 - 20 / draws.size]) * scale)
    edges = np.arange(lowest, highest) + 0.5
    masses = np.diff(np.concatenate([[0], law.cdf(edges / scale), [1]]))
    counts = np.bincount(np.searchsorted(edges, draws), minlength=masses.size)
    return stats.chisquare(counts, masses * draws.size).pvalue


def ks_p_value(draws, law, scale):
    """Two-sided Kolmogorov-Smirnov p-value (asymptotic); fastest on sorted draws."""
    mass = law.cdf(np.sort(draws, kind="stable") / scale)
    place = np.arange(draws.size + 1) / draws.size
    distance = max(np.max(place[1:] - mass), np.max(mass - place[:-1]))
    return stats.kstwobign.sf(distance * np.sqrt(draws.size))


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_cells_of_small_scales(name, scale):
    draws = getattr(NoiseSource(seed=11), name)(scale, 1_000_000)
    assert cell_p_value(draws, CONTINUOUS[name], scale) > ACCEPT
    for factor in WRONG_FACTORS:
        assert cell_p_value(draws, CONTINUOUS[name], scale * factor) < REJECT


@pytest.mark.parametrize("scale", [2.0**20, 2.0**30 / 3])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution_at_large_scales(name, scale):
    draws = np.sort(getattr(NoiseSource(seed=12), name)(scale, 1_000_000))
    assert ks_p_value(draws, CONTINUOUS[name], scale) > ACCEPT
    for factor in WRONG_FACTORS:
        assert ks_p_value(draws, CONTINUOUS[name], scale * factor) < REJECT


@pytest.mark.parametrize("name", CONTINUOUS)
def test_far_tail(name):
    """Counts beyond quantiles down to 1e-6: the part that a coarse uniform would get wrong."""
    law, scale, size = CONTINUOUS[name], 2.0**20, 4_000_000
    draws = getattr(NoiseSource(seed=13), name)(scale, size)
    for mass in (1e-3, 1e-4, 1e-5, 1e-6):
        count = int(np.sum(draws > law.isf(mass) * scale))
        assert stats.binomtest(count, size, mass).pvalue > ACCEPT
    if name != "gumbel":
        assert stats.binomtest(int(np.sum(draws < law.ppf(1e-5) * scale)), size, 1e-5).pvalue > 1e-4
    wrong = int(np.sum(draws > law.isf(1e-3) * scale * 1.02))
    assert stats.binomtest(wrong, size, 1e-3).pvalue < REJECT


def test_low_bits_are_uniform():
    """At a large scale the last bits of the noise carry no pattern."""
    draws = NoiseSource(seed=14).gaussian(2.0**26, 1_000_000)
    assert stats.chisquare(np.bincount(draws & 63)).pvalue > ACCEPT
    assert stats.chisquare(np.bincount((2 * (draws // 2)) & 63, minlength=64)).pvalue < REJECT


def test_neighbouring_draws_are_independent():
    draws = NoiseSource(seed=15).gaussian(2.0**20, 1_000_000)
    signs = (draws[:-1] > 0) * 2 + (draws[1:] > 0)
    assert stats.chisquare(np.bincount(signs[::2])).pvalue > ACCEPT
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 4 / np.sqrt(draws.size)


def spherical_draws(scale, dimension, count, seed=16):
    source = NoiseSource(seed=seed)
    return np.array([source.spherical(scale, dimension) for _ in range(count)])


@pytest.mark.parametrize(("dimension", "wrong"), [(1, 1.3), (2, 1.2), (5, 1.12), (100, 1.02)])
def test_spherical_length(dimension, wrong):
    scale = 2.0**20
    lengths = np.linalg.norm(spherical_draws(scale, dimension, 6_000).astype(float), axis=1)
    law = stats.gamma(dimension)
    assert ks_p_value(lengths, law, scale) > ACCEPT
    for factor in (2 / 3, 3 / 2, wrong, 1 / wrong):
        assert ks_p_value(lengths, law, scale * factor) < REJECT
    # a direction with one degree of freedom more or less would be off by one here
    assert dimension > 5 or ks_p_value(lengths, stats.gamma(dimension + 1), scale) < REJECT


def test_spherical_direction():
    """In three dimensions each coordinate of a uniform direction is uniform (Archimedes)."""
    draws = spherical_draws(2.0**20, 3, 6_000, seed=17).astype(float)
    lengths = np.linalg.norm(draws, axis=1)
    directions = draws / lengths[:, np.newaxis]
    for axis in range(3):
        assert stats.kstest(directions[:, axis], stats.uniform(-1, 2).cdf).pvalue > ACCEPT
    octants = (directions > 0) @ [1, 2, 4]
    assert stats.chisquare(np.bincount(octants)).pvalue > ACCEPT
    for axis in range(3):
        assert abs(stats.spearmanr(lengths, abs(directions[:, axis]))[0]) < 4 / np.sqrt(6_000)
    tilted = directions * [1, 1, 1.3]
    tilted /= np.linalg.norm(tilted, axis=1, keepdims=True)
    assert stats.kstest(tilted[:, 2], stats.uniform(-1, 2).cdf).pvalue < REJECT


@pytest.mark.parametrize("scale", [0.5, 2.0])
def test_spherical_cells_in_one_dimension(scale):
    """In one dimension the law is Laplace: the rounding of small scales matters."""
    draws = spherical_draws(scale, 1, 6_000, seed=18)[:, 0]
    assert cell_p_value(draws, stats.laplace, scale) > ACCEPT
    for factor in (2 / 3, 3 / 2):
        assert cell_p_value(draws, stats.laplace, scale * factor) < REJECT


@pytest.mark.parametrize("bound", [1, 2, 6, 1000, 3 * 2**61])
def test_integers(bound):
    draws = NoiseSource(seed=19).integers(bound, 600_000)
    assert draws.min() >= 0
    assert draws.max() < bound
    if bound == 1:
        return
    cells = min(bound, 500)
    counts = np.bincount((draws.astype(object) * cells // bound).astype(int), minlength=cells)
    assert stats.chisquare(counts).pvalue > ACCEPT
    tilted = np.full(cells, 1.0)
    tilted[: cells // 2] = 1.1
    assert stats.chisquare(counts, tilted / tilted.sum() * counts.sum()).pvalue < REJECT


@pytest.mark.parametrize("rate", [0.5, 0.3, 1e-3, 2e-5, 1 - 1e-3])
def test_bernoulli(rate):
    """Rates of 2e-5 need the second comparison: 16 bits do not resolve them."""
    size = 8_000_000
    count = int(NoiseSource(seed=20).bernoulli(rate, size).sum())
    assert stats.binomtest(count, size, rate).pvalue > ACCEPT
    rare = min(rate, 1 - rate)
    rare_count = count if rate <= 0.5 else size - count
    for factor in (2 / 3, 3 / 2) if rare < 1e-2 else (2 / 3, 1.02):
        assert stats.binomtest(rare_count, size, rare * factor).pvalue < 1e-6


@pytest.mark.parametrize("rate", [0.3, 0.05, 0.003])
def test_poisson_batch(rate):
    """Sizes are binomial, all rows are equally likely, gaps are geometric."""
    n, rounds = 400, 4000
    source = NoiseSource(seed=21)
    batches = [source.poisson_batch(rate, n) for _ in range(rounds)]
    assert all(np.all(np.diff(batch) > 0) for batch in batches)
    sizes = np.array([batch.size for batch in batches])
    rows = np.bincount(np.concatenate(batches), minlength=n)
    for law_rate, accepted in [(rate, True), (rate * 2 / 3, False), (rate * 3 / 2, False)]:
        total = stats.binomtest(int(sizes.sum()), n * rounds, law_rate).pvalue
        assert total > ACCEPT if accepted else total < REJECT
    variance = sizes.var() / (n * rate * (1 - rate))
    assert abs(variance - 1) < 5 * np.sqrt((2 + 1 / (n * rate)) / rounds)
    expected = rounds * rate
    spread = np.sum((rows - expected) ** 2) / (expected * (1 - rate))
    assert ACCEPT < stats.chi2(n).sf(spread) < 1 - ACCEPT
    gaps = np.concatenate([np.diff(np.append(-1, batch)) for batch in batches])
    gaps = gaps[gaps <= 3] if rate > 0.1 else gaps[gaps <= 20]
    law = (1 - rate) ** np.arange(gaps.max())
    counts = np.bincount(gaps)[1:]
    # gaps up to 20 of 400 rows: those cut off by the end of the rows are too few to see
    assert stats.chisquare(counts, law / law.sum() * counts.sum()).pvalue > ACCEPT


def test_poisson_batch_of_many_rows():
    source = NoiseSource(seed=22)
    sizes = np.array([source.poisson_batch(1e-4, 1_000_000).size for _ in range(500)])
    assert stats.binomtest(int(sizes.sum()), 500_000_000, 1e-4).pvalue > ACCEPT
    assert stats.binomtest(int(sizes.sum()), 500_000_000, 1.05e-4).pvalue < REJECT


def test_permutation():
    source = NoiseSource(seed=23)
    orders = {order: 0 for order in itertools.permutations(range(4))}
    for _ in range(12_000):
        orders[tuple(source.permutation(4).tolist())] += 1
    counts = np.array(list(orders.values()))
    assert stats.chisquare(counts).pvalue > ACCEPT
    tilted = np.r_[np.full(12, 1.3), np.ones(12)]
    assert stats.chisquare(counts, tilted / tilted.sum() * counts.sum()).pvalue < REJECT


def test_bits():
    words = NoiseSource(seed=24).bits(200_000)
    assert stats.chisquare(np.bincount(words.view(np.uint8))).pvalue > ACCEPT
    ones = [int(np.sum((words >> np.uint64(place)) & np.uint64(1))) for place in range(64)]
    assert min(stats.binomtest(count, words.size).pvalue for count in ones) > ACCEPT
    assert stats.binomtest(int(np.sum(words < 2**63 * 1.02)), words.size).pvalue < REJECT


def test_every_sampler_is_tested_here():
    public = {name for name in vars(NoiseSource) if not name.startswith("_")}
    public -= {"private", "pass_over"}  # which draw nothing that is used
    tested = {
        *CONTINUOUS,
        *("spherical", "integers", "uniform_below", "bernoulli", "poisson_batch"),
        *("permutation", "bits"),
    }
    assert public == tested
    assert NoiseSource.uniform_below is NoiseSource.integers
