"""Rows by public knowledge: limits as arrays, 0/1 columns of documented words, a norm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["bounds_of", "clipped", "indicator_names", "indicators", "matrix"]


def bounds_of(boxes: Mapping[str, tuple[float, float]]) -> tuple[np.ndarray, np.ndarray]:
    """Boxes by name as the two arrays that estimators take."""
    low, high = np.array(list(boxes.values())).T
    return low, high


def indicators(frame: pd.DataFrame, categories: Mapping[str, tuple[str, ...]]) -> list[np.ndarray]:
    """One column per word; a word that is not documented gets no 1 at all."""
    return [frame[name].to_numpy() == word for name, words in categories.items() for word in words]


def indicator_names(categories: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Names of the columns of `indicators`."""
    return [f"{name}={word}" for name, words in categories.items() for word in words]


def matrix(columns: list) -> np.ndarray:
    """Columns side by side, as numbers."""
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def clipped(X: np.ndarray, data_norm: float) -> np.ndarray:
    """Rows scaled down until each, together with the intercept's 1, has this norm or less."""
    room = np.sqrt(data_norm**2 - 1.0)
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X * np.minimum(1.0, room / np.maximum(norms, room))
