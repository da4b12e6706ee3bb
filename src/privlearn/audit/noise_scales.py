"""How large can the scale of some noise be, given what was drawn?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["SURE", "largest_scale"]

Array = NDArray[np.float64]
SURE = 1e-6  # chance that noise is called too small although it is not


def largest_scale(noise: Array, kind: str) -> float:
    """The largest scale that draws of a mechanism's noise do not rule out.

    Parameters
    ----------
    noise : array of shape (draws, numbers)
        In units of the declared scale.
    kind : str
        Name of the mechanism.

    Examples
    --------
    >>> noise = np.random.default_rng(0).normal(size=(100, 30))
    >>> 1.0 < largest_scale(noise, "Gaussian") < 1.1
    True
    >>> largest_scale(noise / 3, "Gaussian") < 0.4
    True
    """
    if kind == "Gumbel":  # sd: pi / sqrt(6) scales, known to 1.05 / sqrt(size) (kurtosis 5.4)
        found = float(np.std(noise)) * math.sqrt(6.0) / math.pi
        return found * (1.0 + float(stats.norm.isf(SURE)) * 1.05 / math.sqrt(noise.size))
    if kind == "Gaussian":
        return math.sqrt(float(np.sum(noise**2)) / float(stats.chi2.ppf(SURE, noise.size)))
    lengths = np.abs(noise) if kind == "Laplace" else np.linalg.norm(noise, axis=1)  # spherical
    return float(np.sum(lengths)) / float(stats.gamma.ppf(SURE, noise.size))
