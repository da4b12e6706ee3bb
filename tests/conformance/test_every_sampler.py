import numpy as np
import pytest
from scipy.stats import binom

from privlearn.noise import NoiseSource
from privlearn.sampling import SAMPLERS

N, DRAWS = 40, 3_000


@pytest.fixture(params=SAMPLERS, ids=lambda sampler: sampler.name)
def sampler(request):
    return request.param


def _members(sampler, seed):
    source = NoiseSource(seed)
    members = np.zeros((DRAWS, N), dtype=bool)
    for row in members:
        batch = sampler.draw(source, N)
        assert (np.diff(batch) > 0).all(), "rows come in increasing order, none twice"
        assert len(batch) == 0 or (batch[0] >= 0 and batch[-1] < N)
        row[batch] = True
    return members


def _agrees(members, rate):
    """Counts per row, and of neighbouring rows together, as independent coins would give."""
    singles = members.sum(axis=0)
    both = (members[:, 1:] & members[:, :-1]).sum(axis=0)
    tails = [
        min(binom.cdf(k, DRAWS, r), binom.sf(k - 1, DRAWS, r))
        for counts, r in ((singles, rate), (both, rate**2))
        for k in counts
    ]
    return min(tails) > 1e-7


def test_each_row_is_in_with_the_declared_probability_and_alone(sampler):
    members = _members(sampler, seed=3)
    assert _agrees(members, sampler.rate)
    if sampler.rate < 1:
        assert not _agrees(members, sampler.rate * 2 / 3)
        assert not _agrees(members, sampler.rate * 3 / 2)
        sizes = members.sum(axis=1)
        assert sizes.std() > 0.5 * np.sqrt(N * sampler.rate * (1 - sampler.rate)), "fixed size"
