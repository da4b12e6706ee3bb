"""The black box: what outputs prove, for any object with fit."""

import math

import numpy as np
import pytest
from scipy import stats

from privlearn import Ridge, audit
from privlearn._core.mechanisms import GaussianNoise
from privlearn.audit.bounds import lower_bound

WORLDS = (([[1.0], [0.0]], [1.0, 0.0]), ([[0.0], [0.0]], [1.0, 0.0]))


class Sum:
    """Publishes a sum with Gaussian noise of a scale of its own."""

    def __init__(self, scale, seed=0):
        self.scale, self.rng = scale, np.random.default_rng(seed)

    def fit(self, X, y):
        self.coef_ = np.sum(X, axis=0) + self.rng.normal(scale=self.scale, size=1)
        return self


def gaussians(mu, runs, seed, numbers=1):
    rng = np.random.default_rng(seed)
    return rng.normal(mu / math.sqrt(numbers), 1, (runs, numbers)), rng.normal(
        0, 1, (runs, numbers)
    )


# Bounds


@pytest.mark.parametrize("numbers", [1, 4])
def test_bounds_are_below_the_truth_and_near_it(numbers):
    found = [
        audit.bound_from_outputs(*gaussians(1.0, 2_000, seed, numbers), delta=1e-5)
        for seed in range(12)
    ]
    assert sum(bound.mu > 1.0 for bound in found) <= 3  # 5 % each: 3 or fewer but for 1 in 400
    assert np.mean([bound.mu for bound in found]) > 0.75
    truth = 4.38  # epsilon of mu = 1 at 1e-5
    assert all(0.2 < bound.epsilon < truth for bound in found)


def test_worlds_that_are_the_same_prove_nothing():
    found = [
        audit.bound_from_outputs(*gaussians(0.0, 400, seed, 3), delta=0.0) for seed in range(25)
    ]
    assert sum(bound.mu > 0 for bound in found) <= 5
    assert sum(bound.epsilon > 0 for bound in found) <= 5


def test_rates_are_those_of_clopper_and_pearson():
    present, absent = np.repeat([1.0, 0.0], [90, 10]), np.repeat([1.0, 0.0], [20, 80])
    rng = np.random.default_rng(0)
    found = lower_bound(rng.permutation(present), rng.permutation(absent), 0.0, by="mu")
    hits, alarms, runs = found.hits, found.false_alarms, found.runs
    low = stats.beta.ppf(0.025, hits, runs - hits + 1)
    high = stats.beta.ppf(0.975, alarms + 1, runs - alarms)
    assert found.mu == pytest.approx(stats.norm.ppf(low) - stats.norm.ppf(high))
    assert found.epsilon == pytest.approx(math.log(low / high))


def test_the_first_half_has_no_say_in_the_rates():
    """A first half that is told apart perfectly chooses a threshold, and proves nothing itself."""
    rng = np.random.default_rng(1)
    present, absent = rng.normal(size=400), rng.normal(size=400)
    present[:200] += 10.0
    assert lower_bound(present, absent, 0.0, by="mu").mu < 0.3
    assert audit.bound_from_outputs(present, absent, delta=0.0).mu < 0.3


def test_few_or_unlike_outputs_are_refused():
    with pytest.raises(ValueError, match="at least 8 runs"):
        audit.bound_from_outputs(np.zeros(3), np.zeros(3), delta=0.0)
    with pytest.raises(ValueError, match="equally many numbers"):
        audit.bound_from_outputs(np.zeros((9, 2)), np.zeros((9, 1)), delta=0.0)


# Any object


def test_an_alarm_that_may_be_false_raises_nothing_and_is_said():
    promise = {"epsilon": 9.0, "delta": 1e-5, "mu": 0.75}
    found = audit.black_box(Sum(1.0, seed=4), data=WORLDS, fits=1_200, **promise)
    assert not found.kept
    with pytest.raises(audit.AuditFailure):
        audit.black_box(Sum(1.0, seed=4), data=WORLDS, fits=30_000, **promise)


def test_any_object_that_keeps_its_promise_passes():
    found = audit.black_box(Sum(1.0), data=WORLDS, fits=2_000, epsilon=4.4, delta=1e-5, mu=1.0)
    assert found.kept
    assert 0.5 < found.ratio < 1.0
    assert "2,000 fits on each side" in str(found)


def test_a_third_of_the_noise_is_found():
    promise = {"epsilon": 4.4, "delta": 1e-5, "mu": 1.0}
    with pytest.raises(audit.AuditFailure, match="more was proven"):
        audit.black_box(Sum(1 / 3), data=WORLDS, fits=400, **promise)
    found = audit.black_box(Sum(1 / 3), data=WORLDS, fits=400, raises=False, **promise)
    assert not found.kept
    assert found.bound.mu > 1.5


def test_what_is_looked_at_can_be_said():
    seen = []

    def norm(fitted):
        seen.append(fitted)
        return np.linalg.norm(fitted.coef_)

    audit.black_box(Sum(1.0), data=WORLDS, fits=20, epsilon=9.0, statistic=norm)
    assert len(seen) == 40


def test_what_is_missing_is_named():
    with pytest.raises(ValueError, match="n_features and data are both missing"):
        audit.black_box(Ridge())
    with pytest.raises(ValueError, match="epsilon is missing"):
        audit.black_box(Sum(1.0), data=WORLDS, fits=8)

    class Silent(Sum):
        def fit(self, X, y):
            return self

    with pytest.raises(ValueError, match="no coef_"):
        audit.black_box(Silent(1.0), data=WORLDS, fits=8, epsilon=1.0)


# Estimators of privlearn


def one_feature(**others):
    return Ridge(
        bounds_X=(-1, 1), bounds_y=(-1, 1), fit_intercept=False, epsilon=3, delta=1e-5, **others
    )


def test_a_seed_is_taken_out_and_nothing_is_charged():
    class Refusing:
        def charge(self, plan, dataset):
            raise AssertionError("charged")

    model = one_feature(solver="moments", random_state=1, ledger=Refusing())
    seen = []
    audit.black_box(model, n_features=1, fits=8, statistic=lambda m: seen.append(m.coef_[0]) or 0)
    some = [value for value in seen if value != 0.0]  # a penalty may bring one to 0
    assert len(set(some)) == len(some) > 50
    assert model.random_state == 1


def test_a_model_that_keeps_its_promise():
    found = audit.black_box(one_feature(solver="moments"), n_features=1, fits=60, confidence=0.9999)
    assert found.kept
    assert found.mu == pytest.approx(0.719, abs=0.01)


@pytest.mark.slow
def test_half_of_the_promise_is_seen_and_a_planted_third_of_the_noise_found(monkeypatch):
    found = audit.black_box(one_feature(solver="moments"), n_features=1, fits=3_000)
    assert 0.4 < found.ratio < 1.0
    draw = GaussianNoise.draw
    monkeypatch.setattr(
        GaussianNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, scale / 3, shape),
    )
    with pytest.raises(audit.AuditFailure):
        audit.black_box(one_feature(solver="moments"), n_features=1, fits=1_000)
