"""Generated tables of two or several classes: scores that rise with columns, or clusters."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.tables import features

__all__ = ["clusters", "scored"]


def scored(
    n: int,
    p: int,
    n_classes: int,
    *,
    seed: int,
    strength: float = 3.0,
    minority: float | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Raw columns of all kinds, and labels of a (multinomial) logistic model, partly curved.

    Parameters
    ----------
    n, p, n_classes : int
        Rows, columns and classes.
    seed : int
        Of the generator.
    strength : float
        Deviation of the scores: from 1 (hard to tell) to 10 (nearly separable).
    minority : float or None
        Share of the rarer of two classes; None lets classes be about as large.
    """
    rng = np.random.default_rng([seed, n, p, n_classes])
    raw, latent = features(n, p, rng)
    inner = np.clip(raw, *np.quantile(raw, [0.01, 0.99], axis=0))
    deviation = inner.std(axis=0)
    usual = (inner - inner.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    weights = rng.standard_normal((p, n_classes)) * (rng.random((p, 1)) < rng.uniform(0.2, 1.0))
    weights[rng.integers(p)] += rng.standard_normal(n_classes)
    linear = usual @ weights
    curved = np.tanh(latent @ rng.standard_normal((p, n_classes)) / np.sqrt(p))
    scores = strength * (_unit(linear) + rng.uniform(0.0, 0.3) * _unit(curved))
    scores += rng.gumbel(size=scores.shape)
    if minority is not None:
        difference = scores[:, 1] - scores[:, 0]
        y = (difference > np.quantile(difference, 1.0 - minority)).astype(int)
    else:
        y = scores.argmax(axis=1)
    return raw * 10.0 ** rng.uniform(-3.0, 4.0, p), y


def clusters(
    n: int, p: int, n_classes: int, *, seed: int, apart: float = 3.0
) -> tuple[np.ndarray, np.ndarray]:
    """Classes that are one to three clusters each, in columns of small whole numbers or reals.

    Parameters
    ----------
    n, p, n_classes : int
        Rows, columns and classes.
    seed : int
        Of the generator.
    apart : float
        Distance of the clusters' centres, in deviations within a cluster.
    """
    rng = np.random.default_rng([seed, n, p, n_classes, 1])
    owner = np.repeat(np.arange(n_classes), rng.integers(1, 4, n_classes))
    centres = rng.standard_normal((len(owner), p)) * apart / np.sqrt(2.0)
    centres *= rng.uniform(0.2, 1.0, p)
    which = rng.integers(len(owner), size=n)
    mix = np.eye(p) + 0.5 * rng.standard_normal((p, p)) / np.sqrt(p)
    X = (centres[which] + rng.standard_normal((n, p))) @ mix
    if rng.random() < 0.5:
        low, high = np.quantile(X, [0.005, 0.995], axis=0)
        X = np.round(np.clip((X - low) / (high - low), 0.0, 1.0) * rng.choice([15, 100, 255]))
    return X, owner[which]


def _unit(parts: np.ndarray) -> np.ndarray:
    return parts / np.maximum(parts.std(axis=0), 1e-9)
