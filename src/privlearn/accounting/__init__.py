"""Privacy accounting: what a plan of releases costs, and how much noise a promise needs.

Dominating pairs are frozen values; `compose` puts them together, and the composition tells its
delta at an epsilon and the other way round, always rounded to the private side. The proofs and all
error bounds are in `accounting.md` beside this file.

Examples
--------
>>> from privlearn.accounting import Gaussian, compose, smallest_scale
>>> mu = 1 / smallest_scale(lambda z: [(Gaussian(1 / z), 1)], epsilon=1.0, delta=1e-6)
>>> compose([(Gaussian(mu), 1)]).epsilon(1e-6) <= 1.000001
True
"""

from privlearn.accounting.calibration import smallest_scale
from privlearn.accounting.composition import Composition, ErrorBounds, compose
from privlearn.accounting.pairs import (
    ApproximateLoss,
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
    TwoBounds,
)

__all__ = [
    "ApproximateLoss",
    "BoundedRange",
    "Composition",
    "ErrorBounds",
    "Gaussian",
    "GaussianMixture",
    "Laplace",
    "Pair",
    "PureLoss",
    "SampledGaussian",
    "TwoBounds",
    "compose",
    "smallest_scale",
]
