"""Generated data whose facts are known because they were chosen."""

from __future__ import annotations

import numpy as np

__all__ = ["logistic", "members"]


def logistic(n: int, p: int, *, condition: float = 1.0, seed: int = 0) -> tuple:
    """Rows of norm about 1 and labels of a logistic model whose log odds have deviation 2.

    Parameters
    ----------
    n, p : int
        Rows and columns.
    condition : float
        Largest over smallest standard deviation of the (randomly rotated) directions of X.
    seed : int
        Of the generator.

    Returns
    -------
    X, y : arrays of shape (n, p) and (n,)
    """
    generator = np.random.default_rng(seed)
    deviations = np.logspace(0.0, -np.log10(condition), p)
    deviations /= np.linalg.norm(deviations)
    rotation = np.linalg.qr(generator.normal(size=(p, p)))[0]
    independent = generator.normal(size=(n, p))
    weights = generator.normal(size=p)  # in directions of deviation 1: weak ones matter as much
    log_odds = 2.0 * (independent @ weights) / np.linalg.norm(weights)
    y = (generator.random(n) < 1.0 / (1.0 + np.exp(-log_odds))).astype(int)
    return (independent * deviations) @ rotation.T, y


def members(rng: np.random.Generator, n: int, size: int, evenness: float) -> np.ndarray:
    """Indicators of `size` groups, of which every row belongs to one; few large ones if below 1."""
    return np.eye(size)[rng.choice(size, n, p=rng.dirichlet(np.full(size, evenness)))]
