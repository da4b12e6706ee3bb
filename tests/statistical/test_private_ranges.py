"""Estimated ranges as an attacker sees them: only what `fit` publishes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import beta

from privlearn import LinearRegression
from privlearn._core.mechanisms import GaussianNoise

RUNS, CONFIDENCE, DELTA = 500, 0.995, 0.01
FAR = 6  # people of 60 whose target is a million: about what stands out half of the time
PARAMETERS = {
    "epsilon": 12.0,
    "delta": DELTA,
    "solver": "moments",
    "data_norm": 2.0,
    "on_invalid": "drop",
}


def seen(last, first_seed):
    """How often the published range reaches the far ones, the last of whom has target `last`."""
    X, y = np.zeros((60, 1)), np.where(np.arange(60) < FAR, 1e6, 1.0)
    y[FAR - 1] = last
    fits = (LinearRegression(random_state=first_seed + k, **PARAMETERS) for k in range(RUNS))
    return sum(model.fit(X, y).bounds_y_[1] > 1e5 for model in fits)


def proven_epsilon():
    """What the two frequencies prove; in the second run the last of the far ones is empty."""
    more, fewer = seen(1e6, 0), seen(np.nan, RUNS)
    least = beta.ppf(1 - CONFIDENCE, more, RUNS - more + 1)
    most = beta.ppf(CONFIDENCE, fewer + 1, RUNS - fewer)
    return math.log(max(least - DELTA, 1e-12) / most)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::privlearn.exceptions.DeltaWarning")
def test_frequencies_prove_no_more_than_the_histogram_costs(monkeypatch):
    """A third of the noise is found out; the law of the noise is tested more sharply elsewhere."""
    plan = LinearRegression(**PARAMETERS).plan(60, n_features=1)
    name = "histogram in powers of two of the target"
    (release,) = (one for one in plan.releases if one.name == name)
    histogram = replace(plan, releases=(release,))
    promised = histogram.epsilon(DELTA)
    assert proven_epsilon() <= promised
    draw = GaussianNoise.draw
    monkeypatch.setattr(
        GaussianNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, scale / 3.0, shape),
    )
    assert proven_epsilon() > promised
