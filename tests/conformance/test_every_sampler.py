"""Every sampler draws rows as it declares: how often they come, and that nothing else decides."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import binom, kstest

from privlearn._core.sampling import SAMPLERS, Disjoint, Permuted, Poisson, WithReplacement
from privlearn.audit.sampling import drawn_as_declared
from privlearn.noise import NoiseSource

N, DRAWS = 40, 3_000


@pytest.fixture(params=SAMPLERS, ids=lambda sampler: f"{type(sampler).__name__} {sampler.name}")
def sampler(request):
    return request.param


def steps_of(sampler):
    return sampler.batches if isinstance(sampler, Disjoint) else 1


def drawn(sampler, seed, draws=DRAWS, n=N):
    """How often each row is in the first batch, and in all of them, (draws, n) each."""
    source = NoiseSource(seed)
    first, whole = np.zeros((draws, n), dtype=int), np.zeros((draws, n), dtype=int)
    for k in range(draws):
        rows, starts = sampler.draw_many(source, n, steps_of(sampler))
        assert starts[0] == 0
        assert starts[-1] == len(rows)
        assert (np.diff(starts) >= 0).all()
        first[k] = np.bincount(rows[: starts[1]], minlength=n)
        whole[k] = np.bincount(rows, minlength=n)
    return first, whole


def _agrees(members, rate):
    """Counts per row as coins of this rate would give."""
    singles = members.sum(axis=0)
    tails = [min(binom.cdf(k, DRAWS, rate), binom.sf(k - 1, DRAWS, rate)) for k in singles]
    return min(tails) > 1e-7


def test_rows_visit_as_often_as_the_law_says(sampler):
    _, whole = drawn(sampler, seed=3)
    if sampler.visits is None:
        assert _agrees(whole, sampler.rate)
        assert not _agrees(whole, sampler.rate * 2 / 3)
        assert not _agrees(whole, sampler.rate * 3 / 2)
        return
    expected = np.zeros(int(whole.max()) + 1)
    for visits, weight in sampler.visits:
        if visits < len(expected):
            expected[visits] = weight
    found = np.bincount(whole.ravel()) / whole.size
    np.testing.assert_allclose(found, expected, atol=5 * 0.5 / np.sqrt(whole.size / 3))
    assert sum(weight for _, weight in sampler.visits) == pytest.approx(1.0, abs=1e-12)


def test_every_row_is_as_likely_in_the_first_batch(sampler):
    first, _ = drawn(sampler, seed=4)
    if isinstance(sampler, Disjoint):
        assert _agrees(first, 1 / sampler.batches)
    elif isinstance(sampler, Permuted):
        assert _agrees(first, 1 / sampler.blocks)


@pytest.mark.parametrize("dealt", [Disjoint(4, dealt=True), Permuted(1, blocks=4, dealt=True)])
def test_dealt_rows_are_dealt_alone(dealt):
    """Two rows meet in a batch as often as independent deals let them, and sizes vary so."""
    first, _ = drawn(dealt, seed=5)
    both = (first[:, 1:] * first[:, :-1]).sum(axis=0)
    tails = [min(binom.cdf(k, DRAWS, 1 / 16), binom.sf(k - 1, DRAWS, 1 / 16)) for k in both]
    assert min(tails) > 1e-7
    assert first.sum(axis=1).std() == pytest.approx(np.sqrt(N * 3 / 16), rel=0.1)


@pytest.mark.parametrize("even", [Disjoint(7), Permuted(1, blocks=7)])
def test_even_batches_differ_by_one(even):
    _, starts = even.draw_many(NoiseSource(1), N, steps_of(even))
    assert set(np.diff(starts)) <= {N // 7, N // 7 + 1}


def test_orders_are_uniform():
    source = NoiseSource(2)
    places = [
        np.flatnonzero(Permuted(1, blocks=1).draw_many(source, N, 1).rows == 0)[0]
        for _ in range(DRAWS)
    ]
    jittered = (np.array(places) + np.random.default_rng(0).random(DRAWS)) / N
    assert kstest(jittered, "uniform").pvalue > 1e-6


def test_epochs_are_shuffled_afresh():
    rows, _ = Permuted(2, blocks=1).draw_many(NoiseSource(3), N, 1)
    assert not np.array_equal(rows[:N], rows[N:])


def _members(sampler, n=N, seed=6):
    rows, starts = sampler.draw_many(NoiseSource(seed), n, steps_of(sampler))
    batches = [rows[a:b] for a, b in pairwise(starts)]
    return np.array([np.bincount(batch, minlength=n) for batch in batches])


@pytest.mark.parametrize(
    "sampler", [s for s in SAMPLERS if isinstance(s, Disjoint | Permuted | WithReplacement)]
)
def test_the_audit_accepts_them_and_nothing_else(sampler):
    members = _members(sampler)
    assert drawn_as_declared(members, sampler)
    twice = members.copy()
    twice[-1] += members[0]
    assert not drawn_as_declared(twice, sampler)


def test_the_audit_tells_draws_from_epochs():
    draws = WithReplacement(2, population=4_000, blocks=4)
    assert drawn_as_declared(_members(draws, n=4_000), draws)
    epochs = Permuted(2, blocks=4)
    assert not drawn_as_declared(_members(epochs, n=4_000), draws)
    assert not drawn_as_declared(_members(draws, n=4_000), epochs)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="shared by 4"):
        Disjoint(4).draw_many(NoiseSource(1), N, 3)
    with pytest.raises(ValueError, match="planned from 40"):
        WithReplacement(1, population=40, blocks=2).draw_many(NoiseSource(1), 39, 1)
    for wrong in (lambda: Disjoint(0), lambda: Permuted(0, 1), lambda: Permuted(1, 0)):
        with pytest.raises(ValueError, match="at least 1"):
            wrong()
    with pytest.raises(ValueError, match="rate=0"):
        Poisson(0)
