"""Intervals of private scores cover the population's value about as often as they say.

The page of benchmarks/peers/private_scores.py has more cells and more simulations.
"""

import numpy as np
import pytest
from benchmarks.datasets.scored import Probabilities, Values, log_odds, two_normals
from benchmarks.peers.private_scores import population_of_classes, population_of_numbers
from scipy.special import expit

from privlearn.metrics import evaluate

pytestmark = pytest.mark.slow
SIMULATIONS, ROWS = 600, 4_000
LEAST, MOST = 0.92, 0.98  # 600 coins of 95 % are outside in 1 of 1,000; 40 shares are compared


def covered(results, true, *, of_width=1.0):
    """Shares of intervals, or of narrower ones, that hold each true value."""
    found = {}
    for name, value in true.items():
        scores = [getattr(result, name) for result in results]
        middles = np.array([(score.high + score.low) / 2 for score in scores])
        halves = np.array([(score.high - score.low) / 2 for score in scores])
        found[name] = np.mean(np.abs(middles - value) <= of_width * halves)
    return found


def simulated(draw, model, **parameters):
    for seed in range(SIMULATIONS):
        answers, y = draw(np.random.default_rng([seed, 77]))
        given = {"delta": 1e-6, "random_state": seed} | parameters
        yield evaluate(model, answers[:, None], y, **given)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_classes(epsilon, relation):
    def draw(rng):
        odds, y = log_odds(rng, ROWS, 0.3, 1.2)
        return expit(odds), y

    results = list(simulated(draw, Probabilities(), epsilon=epsilon, adjacency=relation))
    true = population_of_classes(0.3)
    for name, share in covered(results, true).items():
        assert LEAST < share < MOST, (name, share)
    for name, share in covered(results, true, of_width=0.6).items():
        assert share < LEAST, (name, share)


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_numbers(epsilon, relation):
    given = {"bounds_y": (-4.0, 4.0), "epsilon": epsilon, "adjacency": relation}
    results = list(simulated(lambda rng: two_normals(rng, ROWS, 0.85), Values(), **given))
    true = population_of_numbers("line")
    for name, share in covered(results, true).items():
        assert LEAST < share < MOST, (name, share)
    for name, share in covered(results, true, of_width=0.6).items():
        assert share < LEAST, (name, share)
