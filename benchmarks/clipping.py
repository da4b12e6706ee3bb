"""Rows clipped as a private fit clips them, for baselines that see the same data."""

from __future__ import annotations

import numpy as np

__all__ = ["clipped"]


def clipped(X: np.ndarray, data_norm: float) -> np.ndarray:
    """Rows of X scaled down until each, together with the intercept's 1, has this norm or less."""
    room = np.sqrt(data_norm**2 - 1.0)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X * np.minimum(1.0, room / np.maximum(norms, room))
