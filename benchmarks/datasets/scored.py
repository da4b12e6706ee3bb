"""Generated predictions with targets, for scores of models: what a model says is in the table."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import expit
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

__all__ = ["Probabilities", "Values", "log_odds", "middle_for", "two_normals"]


class Answers(BaseEstimator):
    """A fixed, public model: it predicts what stands in the first column."""

    def __init__(self):
        self.n_features_in_ = 1

    def fit(self, X, y):
        return self


class Probabilities(ClassifierMixin, Answers):
    """Probabilities of the second class."""

    def __init__(self):
        super().__init__()
        self.classes_ = np.array([0, 1])

    def predict_proba(self, X):
        return np.column_stack([1.0 - X[:, 0], X[:, 0]])


class Values(RegressorMixin, Answers):
    """Numbers."""

    def predict(self, X):
        return X[:, 0]


@cache
def middle_for(share, spread):
    """The mean of normal log-odds of that spread for which the second class has the share."""
    places = np.linspace(-15, 5, 4_001)
    nodes = np.linspace(-8, 8, 801)
    shares = expit(spread * nodes + places[:, None]) @ norm.pdf(nodes) * (nodes[1] - nodes[0])
    return float(np.interp(share, shares, places))


def log_odds(rng, n, share, spread):
    """Log-odds, and labels that come with the probabilities that they are."""
    odds = middle_for(share, spread) + spread * rng.standard_normal(n)
    return odds, (rng.random(n) < expit(odds)).astype(int)


def two_normals(rng, n, correlation):
    """Predictions and targets of variance 1 for which the predictions are the best there are."""
    x = rng.standard_normal(n)
    return correlation * x, correlation * x + np.sqrt(1 - correlation**2) * rng.standard_normal(n)
