"""Feature maps as plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from privlearn.kernel_model.feature_map import FeatureMap

__all__ = ["features_from", "plain_features"]


def plain_features(features: FeatureMap) -> dict[str, Any]:
    """Frequencies, and ranks where values are replaced by them: public or released, all of it.

    Examples
    --------
    >>> plain_features(FeatureMap(np.array([[0.5, 3.0]])))["frequencies"]
    [[0.5, 3.0]]
    """
    ranked = features.edges is not None and features.ranks is not None
    return {
        "frequencies": features.frequencies.tolist(),
        "edges": np.asarray(features.edges).tolist() if ranked else None,
        "ranks": np.asarray(features.ranks).tolist() if ranked else None,
        "by_row": features.by_row,
    }


def features_from(content: Mapping[str, Any] | None, n_coefficients: int) -> FeatureMap:
    """What `plain_features` told, if it belongs to so many coefficients."""
    if content is None:
        raise ValueError("'features' is missing; give what to_dict of a kernel model returned")
    frequencies = np.array(content["frequencies"], dtype=np.float64)
    if frequencies.ndim != 2 or not (len(frequencies) and np.isfinite(frequencies).all()):
        raise ValueError("frequencies are a row of finite numbers for each column")
    edges, ranks = (
        None if content[name] is None else np.array(content[name], dtype=np.float64)
        for name in ("edges", "ranks")
    )
    if (edges is None) != (ranks is None):
        raise ValueError("edges and ranks go together")
    if edges is not None and ranks is not None:
        whole = edges.shape == ranks.shape and edges.shape[:1] == frequencies.shape[:1]
        if not (whole and edges.ndim == 2 and np.isfinite([edges, ranks]).all()):
            raise ValueError("edges and ranks are as many finite numbers for each column")
        if not (np.diff(edges, axis=1) >= 0.0).all():
            raise ValueError("edges are in order")
    found = FeatureMap(frequencies, edges, ranks, content["by_row"] is True)
    if n_coefficients - found.n_features_out not in (0, len(frequencies)):
        raise ValueError("a kernel model has one coefficient for each feature, then columns")
    return found
