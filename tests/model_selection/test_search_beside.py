"""What a search costs beside other charges: exact laws of small tries against what is claimed.

Tries are Gaussian outputs in bins, with scores in any order of the bins. The law of the best of K
tries is exact, and so is its hockey-stick divergence, at every epsilon.
"""

import math

import numpy as np
import pytest
from scipy.stats import norm
from test_tries_enumerated import best_law, generating, stick

from privlearn import Ledger, LinearSVC, LogisticRegression, Ridge
from privlearn._core.budget import Budget
from privlearn._core.mechanisms import RandomTries, Shift
from privlearn._core.mechanisms.tries_beside import profile_bound, told_number_bound
from privlearn._core.sampling import FULL
from privlearn.accounting import ApproximateLoss, Gaussian, TwoBounds, compose
from privlearn.accounting.views import as_gaussian, as_promised
from privlearn.exceptions import BudgetExceededError
from privlearn.ledger.filter import GAUSSIAN, Filter, kind_of
from privlearn.ledger.serial import pair_from_text, pair_to_text
from privlearn.model_selection import PrivateSearchCV
from privlearn.model_selection.rules import tries_for

BUDGETS = [(Budget(1.0, 1e-5), 12), (Budget(3.0, 1e-4), 3), (Budget(0.3, 1e-6), 6)]
ONCE = Shift(1.0, 1.0, False, 1)


def pair_of(law):
    return law.pair(ONCE, 1.0, FULL)


def binned(mu, bins=60):
    """A Gaussian output in bins, with and without the shift."""
    edges = np.concatenate([[-math.inf], np.linspace(-5.0, 5.0 + mu, bins - 1), [math.inf]])
    return np.diff(norm.cdf(edges)), np.diff(norm.cdf(edges - mu))


def orders(count, seed=0):
    """Scores of bins: rising, falling, the extremes first, the middle first, and by chance."""
    rng, places = np.random.default_rng(seed), np.arange(count)
    yield places
    yield -places
    yield abs(places - count // 2)
    yield -abs(places - count // 2)
    for _ in range(20):
        yield rng.integers(0, rng.choice([3, 10, 1000]), count)


def losses_of(law):
    shift = (law.eta + 1) * law.pivot
    return np.array([0.0, 0.3, 0.7, 1.0, 1.1, 1.5, 2.0, 4.0]) * shift


def worst(law, bound):
    """By how much the best of tries is easier to tell apart than a bound says, at the worst."""
    found = -math.inf
    one, two = binned(law.mu)
    for scores in orders(len(one)):
        made = [
            best_law(p, scores.astype(float), lambda x: generating(x, law.eta, law.gamma))
            for p in (one, two)
        ]
        for loss, most in zip(losses_of(law), bound, strict=True):
            found = max(found, stick(*made, loss) - most, stick(*made[::-1], loss) - most)
    return found


def curve(terms, law):
    whole = compose(terms)
    return [whole.delta(loss) for loss in losses_of(law)]


@pytest.mark.parametrize(("budget", "settings"), BUDGETS)
def test_what_is_claimed_covers_every_order_of_scores(budget, settings):
    law = tries_for(budget, settings)
    pair, losses = pair_of(law), losses_of(law)
    known = law.eta, law.gamma, law.mu
    assert isinstance(pair, TwoBounds)
    assert worst(law, profile_bound(losses, *known, law.pivot)) <= 1e-12
    assert worst(law, told_number_bound(losses, *known)) <= 1e-12
    assert worst(law, curve(as_gaussian([(pair, 1)]), law)) <= 1e-12
    assert worst(law, curve(as_promised([(pair, 1)]), law)) <= 1e-12


@pytest.mark.parametrize(
    "charged",
    [
        lambda law, pair: (),  # nothing
        lambda law, pair: ((Gaussian(law.mu), 1),),  # a single try
        lambda law, pair: ((ApproximateLoss(0.1 * pair.epsilon, 0.0), 1),),  # what no try promises
        lambda law, pair: ((Gaussian(0.3 * pair.mu), 1),),
    ],
)
def test_too_little_is_found_out(charged):
    law = tries_for(*BUDGETS[0])
    assert worst(law, curve(charged(law, pair_of(law)), law)) > 1e-4


def lowest_chords(x, values):
    """The lower convex hull of points, at each of them, by trying all chords."""
    k = np.arange(len(x))
    share = (x[None, :, None] - x[:, None, None]) / np.maximum(
        x[None, None, :] - x[:, None, None], 1e-300
    )
    chord = values[:, None, None] * (1 - share) + values[None, None, :] * share
    inside = (k[:, None, None] <= k[None, :, None]) & (k[None, :, None] <= k[None, None, :])
    proper = k[:, None, None] < k[None, None, :]
    return np.where(inside & proper, chord, np.inf).min(axis=(0, 2))


@pytest.mark.parametrize(("budget", "settings"), BUDGETS)
def test_the_covering_gaussian_is_the_smallest_above_all_chords(budget, settings):
    law = tries_for(budget, settings)
    pair = pair_of(law)
    losses = np.linspace(0.0, 2 * budget.epsilon, 101)
    bound = profile_bound(losses, law.eta, law.gamma, law.mu, law.pivot)
    hull = lowest_chords(np.exp(losses), bound)

    def covers(mu):
        terms = as_gaussian([(TwoBounds(pair.epsilon, pair.delta, mu, pair.failure), 1)])
        return all(compose(terms).delta(e) >= 0.99 * v for e, v in zip(losses, hull, strict=True))

    assert covers(pair.mu)
    assert not covers(0.97 * pair.mu)


def test_a_mu_beyond_the_proof_is_refused():
    law = tries_for(*BUDGETS[0])
    with pytest.raises(ValueError, match="mu of random tries"):
        RandomTries(law.eta, law.gamma, law.epsilon, law.delta, law.pivot, law.pivot_delta, 0.5)


# In a ledger

rng = np.random.default_rng(3)
X = rng.uniform(-1.0, 1.0, (1200, 2))
Y = (X[:, 0] + 0.3 * rng.standard_normal(1200) > 0).astype(int)
Z = np.clip(X[:, 0] + 0.1 * rng.standard_normal(1200), -1.5, 1.5)


def fitted(ledger, epsilon=1.0):
    model = LogisticRegression(bounds_X=(-1, 1), epsilon=epsilon, ledger=ledger, dataset="d")
    return model.fit(X, Y)


def searched(ledger, epsilon=1.0):
    base = LogisticRegression(bounds_X=(-1, 1))
    known = {"epsilon": epsilon, "delta": 1e-6, "ledger": ledger, "dataset": "d"}
    return PrivateSearchCV(base, {"C": [0.01, 1.0]}, **known).fit(X, Y)


def on_path(ledger, epsilon=1.0):
    base = Ridge(bounds_X=(-1, 1), bounds_y=(-1.5, 1.5), solver="moments")
    known = {"epsilon": epsilon, "delta": 1e-6, "ledger": ledger, "dataset": "d"}
    return PrivateSearchCV(base, {"alpha": [0.1, 10.0]}, **known).fit(X, Z)


@pytest.mark.parametrize("search", [searched, on_path])
@pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")
def test_fit_search_fit(tmp_path, search):
    ledger = Ledger.create(tmp_path / "ledger", epsilon=3, delta=1e-6)
    fitted(ledger)
    found = search(ledger)
    fitted(ledger)
    spent = ledger.spent("d")
    assert found.privacy_.epsilon == 1.0
    assert 1.8 < spent < 3.0  # three fits: 1.8
    assert ledger.check(certificates=[found.privacy_]) == 1
    with pytest.raises(BudgetExceededError, match="would still fit") as refusal:
        search(ledger, 3.0)
    assert ledger.spent("d") == spent
    search(ledger, refusal.value.fits)
    assert ledger.spent("d") <= 3.0


@pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")
def test_a_search_comes_first_or_second_alike(tmp_path):
    spent = []
    for name, charges in (("a", (searched, fitted)), ("b", (fitted, searched))):
        ledger = Ledger.create(tmp_path / name, epsilon=3, delta=1e-6)
        for charge in charges:
            charge(ledger)
        spent.append(ledger.spent("d"))
        assert ledger.kind("d") == GAUSSIAN
    assert spent[0] == pytest.approx(spent[1], rel=2e-3)


@pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")
def test_tries_of_sampled_rows_claim_epsilon_and_delta_alone(tmp_path):
    base = LinearSVC(bounds_X=(-1, 1), solver="sgd")
    search = PrivateSearchCV(base, {"C": [0.1, 1.0]}, epsilon=1.0, delta=1e-6).fit(X, Y)
    (pair, _), *_ = search.privacy_.plan.pairs()
    assert isinstance(pair, ApproximateLoss)


def test_two_bounds_in_the_filter():
    pair, budget = TwoBounds(1.0, 1e-6, 0.4, 1e-15), Budget(3.0, 1e-6)
    assert pair_from_text(pair_to_text(pair)) == pair
    assert kind_of(((pair, 1),), budget) == GAUSSIAN
    cost = Filter(budget, GAUSSIAN).cost(((pair, 1),), 0, ((Gaussian(0.2), 1),))
    same = Filter(budget, GAUSSIAN).cost(((Gaussian(0.4), 1),), 0, ((Gaussian(0.2), 1),))
    assert cost.square == same.square
    assert 0 < cost.failure < 2**25
    assert Filter(budget, "pure").cost(((pair, 1),), 0, ()).loss >= 2**50 // 3


def test_composition_takes_the_better_bound():
    pair = TwoBounds(1.0, 1e-6, 0.4, 1e-15)
    assert compose([(pair, 1)]).epsilon(1e-6) == 1.0
    both = compose([(pair, 1), (Gaussian(0.2), 1)])
    gaussian = compose([(Gaussian(0.4), 1), (Gaussian(0.2), 1)])
    assert both.epsilon(1e-6) == pytest.approx(gaussian.epsilon(1e-6), rel=1e-6)
    assert both.delta(1.0) <= gaussian.delta(1.0) * (1 + 1e-6) + 1e-15
