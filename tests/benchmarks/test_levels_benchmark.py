"""peers/adult_levels and speed/random_features: that pages say what was measured."""

import json

import numpy as np
import pytest
from benchmarks.harness import report
from benchmarks.harness.needs import Options
from benchmarks.peers import adult_levels
from benchmarks.speed.random_features import component as random_features
from benchmarks.speed.random_features.bound import PARTS, Bound

from privlearn.solvers._common.fourier_map import FourierMap


def scores(**by_promise):
    names = dict(zip(("low", "mixed", "high", "some"), adult_levels.PROMISES, strict=True))
    return {names[key]: values for key, values in by_promise.items()}


def results():
    own = scores(low=[0.70, 0.72, 0.71], mixed=[0.75, 0.71, 0.80], high=[0.9] * 3, some=[0.74] * 3)
    references = {"scikit-learn, no privacy": 0.95, "always the larger class": 0.5}
    return {"scores": {"0": own, "1e-05": own}, "references": references}


# Personal levels


def test_half_of_the_people_allow_more_whatever_the_data_are():
    levels = adult_levels.levels_of(1_001, seed=3)
    assert (levels == adult_levels.HIGH).sum() == 500
    assert (levels == adult_levels.LOW).sum() == 501
    np.testing.assert_array_equal(levels, adult_levels.levels_of(1_001, seed=3))
    assert (levels != adult_levels.levels_of(1_001, seed=4)).sum() > 300


def test_differences_are_paired_and_in_points():
    own = results()["scores"]["0"]
    found = adult_levels.differences(own, adult_levels.MIXED, adult_levels.CAUTIOUS)
    np.testing.assert_allclose(found, [5.0, -1.0, 9.0])


@pytest.mark.parametrize(
    ("values", "expected"),
    [([1.0] * 20, 2.0**-19), ([1.0, -1.0], 1.0), ([0.0, 0.0], 1.0), ([2.0, 3.0, 0.0], 0.5)],
)
def test_the_sign_test_counts_signs_and_leaves_ties_out(values, expected):
    assert adult_levels.sign_test(np.array(values)) == pytest.approx(expected)


def test_the_page_of_levels_holds_medians_and_paired_differences():
    text = adult_levels.tables(results())
    assert "| half at 0.1, half at 1 | 0.7500 (0.7300 to 0.7750; 0.7100) |" in text
    wanted = (
        "| half at 0.1, half at 1, minus all at 0.1 | 0 | 5.00 (2.00 to 7.00; -1.00) | 2 of 3 | 1 |"
    )
    assert wanted in text


def test_people_get_what_they_were_promised(monkeypatch):
    seen = []

    class Fake:
        def __init__(self, epsilon, delta, seed):
            self.epsilon = epsilon

        def fit(self, X, y, sample_epsilon):
            seen.append((self.epsilon, len(y), sample_epsilon))

        def score(self, X, y):
            return 0.0

    monkeypatch.setattr(adult_levels, "_model", Fake)
    train = (np.zeros((10, 2)), np.arange(10))
    for promise in adult_levels.PROMISES:
        adult_levels._score(promise, 0.0, 1, train, train)
    low, mixed, high, some = seen
    assert low == (0.1, 10, None)
    assert high == (1.0, 10, None)
    assert some == (1.0, 5, None)
    assert mixed[:2] == (1.0, 10)
    np.testing.assert_array_equal(np.sort(mixed[2]), [0.1] * 5 + [1.0] * 5)


def kept(name):
    return json.loads((report.RESULTS / f"{name}.json").read_text(encoding="utf-8"))["results"]


@pytest.mark.parametrize("delta", ["0", "1e-05"])
def test_kept_runs_gain_a_point_by_those_who_allow_more(delta):
    own = kept("peers/adult_levels")["scores"][delta]
    gains = adult_levels.differences(own, adult_levels.MIXED, adult_levels.CAUTIOUS)
    assert len(gains) == 20
    assert np.median(gains) >= 1.0
    assert adult_levels.sign_test(gains) < 0.01


# Random features


def test_every_way_of_the_bound_does_its_part(monkeypatch):
    rng = np.random.default_rng(0)
    X, frequencies = rng.uniform(-1.0, 1.0, (70, 3)), rng.normal(size=(3, 4))
    bound, seen = Bound(X, frequencies), []
    monkeypatch.setattr(bound, "_by_vectors", lambda features, r: seen.append(features.copy()))
    bound._all_own(70, 32)
    found = np.concatenate(seen)
    expected = np.empty((70, 8), np.float32)
    to_features = FourierMap(frequencies)
    to_features.write(X, expected, to_features.workspace(70))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    seen.clear()
    bound._all_numpy(70, 32)
    assert [len(features) for features in seen] == [32, 32, 6]


@pytest.mark.slow
def test_a_short_run_of_random_features_has_all_it_shows():
    found = random_features.measure(Options(quick=True))
    names = {*PARTS, *(getattr(random_features, n) for n in ("FIT", "SOLVE", "SGD", "BOUND"))}
    assert set(found["seconds"]) == names
    assert random_features.BOUND in random_features.tables(found)
    assert {len(values) for values in found["seconds"].values()} == {2}
    fit, solve = (found["seconds"][n] for n in (random_features.FIT, random_features.SOLVE))
    assert all(0.0 < part < whole for part, whole in zip(solve, fit, strict=True))


def test_the_kept_epoch_takes_at_most_twice_the_bound():
    seconds = kept("speed/random_features")["seconds"]
    pairs = zip(seconds[random_features.FIT], seconds[random_features.BOUND], strict=True)
    assert np.median([fit / bound for fit, bound in pairs]) <= 2.0
