"""The price of a secret number of tries, against exact laws of tiny mechanisms.

A try has two to four outputs, each with a score; scores may be equal. The law of the best of K
tries is computed exactly from the generating function of K, and its hockey-stick divergence
compared to the price. Mistakes must exceed it.
"""

import math

import numpy as np
import pytest

from privlearn._core.mechanisms import RandomTries, tries
from privlearn._core.norms import ONE_MODEL
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.releaser import Releaser
from privlearn.noise import NoiseSource

LAWS = [(1, 0.05), (1, 0.3), (2, 0.2), (3, 0.35), (8, 0.6)]


def stick(p, q, epsilon):
    """Hockey-stick divergence of two laws on the same outputs."""
    return float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())


def profile(p, q, epsilon):
    """Of a try: the worse of both directions."""
    return max(stick(p, q, epsilon), stick(q, p, epsilon))


def generating(x, eta, gamma):
    """E x^K."""
    return ((1.0 - (1.0 - gamma) * x) ** -eta - 1.0) / (gamma**-eta - 1.0)


def probabilities(eta, gamma, most):
    """P(K = 0), ..., P(K = most), by their definition."""
    found = [0.0]
    for k in range(1, most + 1):
        found.append(math.comb(k + eta - 1, k) * (1 - gamma) ** k / (gamma**-eta - 1))
    return np.array(found)


def best_law(p, scores, generating):
    """The law of the best output; which of equal ones it is follows the law of one try."""
    found = np.zeros_like(p)
    for score in set(scores.tolist()):
        here, below = scores == score, scores < score
        if p[here].sum() > 0:
            rise = generating(p[here | below].sum()) - generating(p[below].sum())
            found[here] = rise * p[here] / p[here].sum()
    return found


def smallest_pivot(p, q, gamma):
    """Where a try's profile crosses gamma (exp(e) - 1) / (1 - gamma)."""
    low, high = 0.0, 60.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        holds = (1 - gamma) * profile(p, q, middle) <= gamma * math.expm1(middle)
        low, high = (low, middle) if holds else (middle, high)
    return high


def pairs_of_laws(count, seed=0):
    """Random pairs of laws with two to four outputs, near ones and far ones, zeros among them."""
    rng = np.random.default_rng(seed)
    for k in range(count):
        size = int(rng.integers(2, 5))
        p = rng.dirichlet(np.full(size, 0.5))
        q = p * np.exp(rng.uniform(-1, 1, size) * rng.choice([0.1, 1.0, 3.0]))
        if k % 4 == 0:
            q[rng.integers(size)] = 0.0
        yield p, q / q.sum(), rng.integers(0, 3 if k % 2 else 9, size).astype(float)


def excess(best, count=100):
    """By how much the best of tries is easier to tell apart than its price says, at the worst."""
    worst = -math.inf
    for p, q, scores in pairs_of_laws(count):
        for eta, gamma in LAWS:
            pivot = smallest_pivot(p, q, gamma)
            for rest in (0.0, 0.05, 0.3, 1.0, 2.0):
                epsilon = rest + (eta + 1) * pivot
                price = tries.mean(eta, gamma) * profile(p, q, rest)
                for one, two in ((p, q), (q, p)):
                    worst = max(worst, best(one, two, scores, eta, gamma, epsilon) - price)
    return worst


def as_it_is(p, q, scores, eta, gamma, epsilon):
    def made(law):
        return best_law(law, scores, lambda x: generating(x, eta, gamma))

    return stick(made(p), made(q), epsilon)


def fixed_number(p, q, scores, eta, gamma, epsilon):
    """K is always its mean."""
    number = round(tries.mean(eta, gamma))
    made = [best_law(law, scores, lambda x: x**number) for law in (p, q)]
    return stick(*made, epsilon)


def told_number(p, q, scores, eta, gamma, epsilon):
    """K leaves with the best."""
    law = probabilities(eta, gamma, 60)
    return sum(
        law[k] * stick(*(best_law(one, scores, lambda x, k=k: x**k) for one in (p, q)), epsilon)
        for k in range(1, 61)
    )


def ties_by_data(p, q, scores, eta, gamma, epsilon):
    """Equal scores are put in an order that is another one in the neighbour."""
    places = np.arange(len(scores)) * 1e-3
    made = [
        best_law(law, scores + sign * places, lambda x: generating(x, eta, gamma))
        for law, sign in ((p, 1.0), (q, -1.0))
    ]
    return stick(*made, epsilon)


def test_the_price_holds_for_every_tiny_mechanism():
    assert excess(as_it_is) <= 1e-12


@pytest.mark.parametrize(
    ("mistake", "count"), [(fixed_number, 40), (told_number, 3), (ties_by_data, 40)]
)
def test_mistakes_cost_more(mistake, count):
    assert excess(mistake, count) > 1e-3


def test_half_of_the_pivot_is_not_enough():
    """The part of the price that hides the number of tries is needed."""
    found = -math.inf
    for p, q, scores in pairs_of_laws(60):
        for eta, gamma in LAWS:
            pivot = smallest_pivot(p, q, gamma)
            for rest in (0.0, 0.3, 1.0):
                told = as_it_is(p, q, scores, eta, gamma, rest + 0.5 * (eta + 1) * pivot)
                found = max(found, told - tries.mean(eta, gamma) * profile(p, q, rest))
    assert found > 1e-3


def test_it_is_never_more_than_the_published_bound():
    """Koskela, Redberg, Wang 2024: exp(e1) + (1 - gamma) / gamma delta(e1), for every e1."""
    for p, q, _ in pairs_of_laws(40):
        for _, gamma in LAWS:
            pivot = smallest_pivot(p, q, gamma)
            for e1 in np.linspace(0.0, 6.0, 25):
                theirs = math.exp(e1) + (1 - gamma) / gamma * profile(p, q, e1)
                assert math.exp(pivot) <= theirs * (1 + 1e-9)


@pytest.mark.parametrize(("eta", "gamma"), LAWS)
def test_the_number_has_its_law(eta, gamma):
    law = probabilities(eta, gamma, 4000)
    assert law.sum() == pytest.approx(1.0)
    assert (np.arange(4001) * law).sum() == pytest.approx(tries.mean(eta, gamma))
    assert (0.75 ** np.arange(4001) * law).sum() == pytest.approx(tries.missed(0.25, eta, gamma))


def chi_square(eta, gamma, other, draws=4000):
    """How far drawn numbers are from a law with a mean of its own, per degree of freedom."""
    source = NoiseSource(seed=5)
    found = [tries.count(source, eta, gamma) for _ in range(draws)]
    law = probabilities(*other, 400)
    bins = [k for k in range(1, 400) if draws * law[k] >= 10]
    expected = np.array([draws * law[k] for k in bins] + [draws * (1 - law[bins].sum())])
    counts = np.array([found.count(k) for k in bins])
    seen = np.append(counts, draws - counts.sum())
    return float(((seen - expected) ** 2 / expected).sum()) / len(bins)


@pytest.mark.parametrize(("eta", "gamma"), [(1, 0.3), (2, 0.2), (8, 0.6)])
def test_it_is_drawn_with_its_law(eta, gamma):
    assert chi_square(eta, gamma, (eta, gamma)) < 1.9
    assert chi_square(eta, gamma, (eta, 0.8 * gamma)) > 4.0
    assert chi_square(eta, gamma, (eta + 1, gamma)) > 4.0


def test_a_fixed_number_of_tries_is_found(monkeypatch):
    monkeypatch.setattr(tries, "count", lambda source, eta, gamma: 9)
    assert chi_square(2, 0.2, (2, 0.2)) > 4.0


def test_equal_scores_are_decided_by_lot():
    source, seen = NoiseSource(seed=3), []
    for _ in range(3000):
        given = iter([(1.0, "a"), (2.0, "b"), (math.nan, "x"), (2.0, "c"), (2.0, "d")])
        seen.append(tries.best_of(5, source, lambda given=given: next(given)))
    assert {one: round(seen.count(one) / 3000, 1) for one in "abcdx"} == {
        "a": 0.0,
        "b": 0.3,
        "c": 0.3,
        "d": 0.3,
        "x": 0.0,
    }


def released(law, p, scores, draws, seed):
    """How often each output is the best, by the real Releaser."""
    release = Release("best", (5,), 1.0, norm=ONE_MODEL, mechanism=law, count=draws)
    plan = Plan((release,), Adjacency.ZERO_OUT, 1.0)
    releaser, tried = Releaser(plan, Budget(1.0, 0.5), seed), np.random.default_rng(seed)

    def attempt(setting, seed):
        found = int(tried.choice(len(p), p=p))
        return scores[found], found

    best = [releaser.best_of_tries("best", attempt, clip=1.0) for _ in range(draws)]
    return np.bincount(best, minlength=len(p)) / draws


def test_what_is_released_has_the_enumerated_law(monkeypatch):
    """The real thing, against the law above; with a fixed number of tries it has another one."""
    law, draws = RandomTries(2, 0.3, 0.5, 1e-3, 0.5, 0.1), 3000
    p, scores = np.array([0.5, 0.2, 0.2, 0.1]), np.array([1.0, 2.0, 2.0, 3.0])
    exact = best_law(p, scores, lambda x: generating(x, 2, 0.3))
    error = 4.5 * np.sqrt(exact * (1 - exact) / draws)
    assert bool((np.abs(released(law, p, scores, draws, 1) - exact) < error).all())
    monkeypatch.setattr(tries, "count", lambda source, eta, gamma: round(tries.mean(eta, gamma)))
    assert bool((np.abs(released(law, p, scores, draws, 1) - exact) > error).any())


def test_a_law_beyond_the_proof_is_refused():
    with pytest.raises(ValueError, match="pivot_delta"):
        RandomTries(1, 0.1, 0.5, 1e-6, 0.1, 0.02)
    with pytest.raises(ValueError, match="range"):
        RandomTries(0, 0.1, 0.5, 1e-6, 0.1, 0.0)
