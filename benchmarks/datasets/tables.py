"""Generated tables that look like what people regress on: skewed, mixed, collinear, raw units."""

from __future__ import annotations

import numpy as np

KINDS = ("normal", "lognormal", "heavy", "counts", "flags", "codes", "offset", "sparse", "capped")
TARGETS = ("plain", "skewed", "whole", "piled", "capped", "flag")


def column(kind, latent, rng):
    """One raw column that rises with `latent`, a standard normal vector."""
    n = len(latent)
    if kind == "lognormal":
        return np.exp(rng.uniform(0.3, 1.5) * latent)
    if kind == "heavy":
        return latent * np.sqrt(rng.uniform(2.2, 5.0) / rng.gamma(1.5, 1.0, n))
    if kind == "counts":
        return np.floor(np.exp(rng.uniform(0.5, 1.0) * latent + rng.uniform(0, 3)))
    if kind == "flags":
        return (latent > rng.uniform(-1.0, 2.2)).astype(float)
    if kind == "codes":
        return np.floor(rng.integers(3, 30) / (1.0 + np.exp(-1.5 * latent)))
    if kind == "offset":
        return latent + 10.0 ** rng.uniform(1.0, 3.0) * rng.choice([-1.0, 1.0])
    if kind == "sparse":
        return np.where(
            latent > rng.uniform(0.0, 1.3), np.exp(latent + rng.standard_normal(n)), 0.0
        )
    if kind == "capped":
        return np.clip(latent, -rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0))
    return latent


def features(n, p, rng):
    """Columns of all kinds over a few common factors; some nearly repeat others; raw units."""
    factors = max(1, int(p * rng.uniform(0.15, 0.9)))
    latent = rng.standard_normal((n, factors)) @ rng.standard_normal((factors, p))
    own = rng.uniform(0.05, 1.5, p) * np.sqrt(factors)
    latent = latent + own * rng.standard_normal((n, p))
    latent /= latent.std(axis=0)
    kinds = rng.choice(KINDS, p, p=rng.dirichlet(np.full(len(KINDS), 0.5)))
    raw = np.column_stack([column(k, latent[:, j], rng) for j, k in enumerate(kinds)])
    return raw, latent


def target(raw, latent, rng):
    """A target partly linear in the columns, partly curved, partly noise, of some raw shape."""
    n, p = raw.shape
    inner = np.clip(raw, *np.quantile(raw, [0.01, 0.99], axis=0))
    usual = (inner - raw.mean(axis=0)) / np.where(raw.std(axis=0) > 0, raw.std(axis=0), 1.0)
    weights = rng.standard_normal(p) * (rng.random(p) < rng.uniform(0.15, 1.0))
    weights[rng.integers(p)] += 1.0
    linear = usual @ weights
    curved = np.tanh(latent @ rng.standard_normal(p) / np.sqrt(p)) * latent[:, rng.integers(p)]
    share = rng.dirichlet([3.0, 0.7, 1.5])
    signal = sum(
        np.sqrt(s) * part / (part.std() or 1.0)
        for s, part in zip(share, (linear, curved, rng.standard_normal(n)), strict=True)
    )
    shape = rng.choice(TARGETS)
    if shape == "skewed":
        signal = np.exp(rng.uniform(0.2, 0.8) * signal)
    elif shape == "whole":
        signal = np.floor(rng.uniform(1.0, 4.0) * signal)
    elif shape == "piled":
        signal = np.where(signal < -0.5, -0.5 - rng.uniform(0, 3), signal)
    elif shape == "capped":
        signal = np.minimum(signal, rng.uniform(0.5, 2.0))
    elif shape == "flag":
        signal = (signal > rng.uniform(-1, 1)).astype(float)
    return signal


def table(seed, n=None, p=None):
    """Raw X and y of a data set of random size and make."""
    rng = np.random.default_rng([seed, 7])
    n = n or int(10 ** rng.uniform(3.55, 4.8))
    p = p or int(10 ** rng.uniform(0.6, 1.95))
    raw, latent = features(n, p, rng)
    y = target(raw, latent, rng)
    unit = 10.0 ** rng.uniform(-3.0, 4.0, p)
    return raw * unit, y * 10.0 ** rng.uniform(-3, 5) + rng.choice([0.0, 0.0, 100.0])
