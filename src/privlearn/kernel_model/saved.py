"""Feature maps as plain values, and back: what predictions of a kernel model need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.kernel_model.feature_map import FeatureMap

__all__ = ["map_from", "plain_map"]

Array = NDArray[np.float64]


def plain_map(features: FeatureMap) -> dict[str, Any]:
    """Frequencies, and edges and ranks where they were estimated; all of it was released.

    Examples
    --------
    >>> plain_map(FeatureMap(np.array([[0.5, 2.0]])))["frequencies"]
    [[0.5, 2.0]]
    """
    return {
        "frequencies": features.frequencies.tolist(),
        "edges": None if features.edges is None else features.edges.tolist(),
        "ranks": None if features.ranks is None else features.ranks.tolist(),
        "by_row": bool(features.by_row),
        "inputs": features.frequencies.shape[0],  # an empty list does not tell it
    }


def map_from(content: Mapping[str, Any]) -> FeatureMap:
    """What `plain_map` told, to the last bit; a part that does not fit is refused."""
    inputs = int(content["inputs"])
    frequencies = np.array(content["frequencies"], dtype=np.float64).reshape(inputs, -1)
    edges, ranks = (_table(content.get(key), inputs) for key in ("edges", "ranks"))
    if (edges is None) != (ranks is None):
        raise ValueError("a feature map has edges and ranks, or neither")
    if edges is not None and ranks is not None and edges.shape != ranks.shape:
        raise ValueError("a feature map has a rank for each edge")
    if not np.isfinite(frequencies).all():
        raise ValueError("frequencies are finite numbers")
    return FeatureMap(frequencies, edges, ranks, bool(content["by_row"]))


def _table(values: object, inputs: int) -> Array | None:
    if values is None:
        return None
    found = np.array(values, dtype=np.float64)
    if found.ndim != 2 or len(found) != inputs or not np.isfinite(found).all():
        raise ValueError("edges and ranks are finite numbers, one row for each column")
    return found
