"""Names of the features that a model has coefficients of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["NamedFeatures"]


class NamedFeatures:
    """Adds names to what was fitted on named columns."""

    @property
    def feature_names_out_(self) -> NDArray[np.object_]:
        """Names of the features that rows become; only where X has column names."""
        encoding = getattr(self, "_encoding", None)
        names = getattr(self, "feature_names_in_", None) if encoding is None else encoding.features
        if names is None:
            raise AttributeError("feature_names_out_ is only there after a fit of named columns")
        return np.array(names, dtype=object)
