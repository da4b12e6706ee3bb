"""Settings of "boosted": units, rounds and shares from public facts, clips from counts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds, Problem, refuse_disjoint
from privlearn.solvers._common.histograms import MIDDLE, best_clip, significance
from privlearn.solvers._common.row_count import COUNT
from privlearn.solvers._common.scaling import Scaling

__all__ = ["BINS", "SHARES", "Settings", "damping", "residual_clip", "rounds"]

Array = NDArray[np.float64]
TOP = 4  # powers of two of residuals, from 16 times half the range of y down
BINS = 28
ALIGNED = 0.4  # part of what is cut from residuals that counts as bias
DAMPING = 0.2
INTERCEPT_STEPS = 2
ROUNDS = (20, 100)
AFFORDABLE = 2e8  # numbers that all rounds may read together
TYPICAL_CLIP = 0.5  # of residuals, relative to the range of y: only forecasts use it
# In mu^2, of what is released together; derived by benchmarks/derive/boosted.py on generated data.
SHARES = {
    "Gram matrix": 0.1,
    "clipped residuals times rows": 0.6,
    "residual magnitudes": 0.07,
    "clipped residuals": 0.03,
    COUNT: 0.02,
}


@dataclass(frozen=True, eq=False)
class Settings:
    """Everything public about a boosted fit.

    Rows are (1, (x - center) / scale), at most `norm` long; residuals are in units of half the
    range of y.
    """

    rounds: int
    counts: bool  # whether a private number of rows is released, for a penalty per row
    scaling: Scaling
    limits: Bounds | None  # beyond the declared ones: what predictions clip, too
    estimates_residuals: bool
    first_clip: float

    @classmethod
    def of(cls, problem: Problem, rounds: int, clip: float | None) -> Settings:
        """From the declared bounds and a given clip."""
        bounds, p, intercept = problem.bounds, problem.n_features, problem.fit_intercept
        limits = None
        if clip is not None:
            bounds = _tightened(bounds, clip, intercept)
            refuse_disjoint(bounds, intercept, f"clip={clip:g} of solver='boosted'")
            limits = replace(bounds, target=None)
        scaling = Scaling.for_moments(bounds, p, intercept)
        return cls(
            rounds=rounds,
            counts=problem.n is None and problem.penalty.per_row,
            scaling=scaling,
            limits=limits,
            estimates_residuals=clip is None,
            first_clip=1.0 if clip is None else clip / scaling.target_scale,
        )

    @property
    def squared_norm(self) -> float:
        """Largest squared length of a row (1, x); the scaling's counts y, too."""
        return self.scaling.squared_norm - 1.0

    @property
    def norm(self) -> float:
        """Largest length of a row, rounded up."""
        return math.sqrt(self.squared_norm) * (1.0 + 2.0**-50)

    @property
    def width(self) -> int:
        """Entries of a row, the intercept's included."""
        return self.scaling.width

    @property
    def first_averaged(self) -> int:
        """The model is the mean of the weights from this round on."""
        return self.rounds // 2

    @property
    def last_rounds(self) -> int:
        """How many weights are averaged."""
        return self.rounds - self.first_averaged

    @property
    def looks(self) -> tuple[int, ...]:
        """Rounds before which the residuals' clip is estimated; empty where it is given."""
        return tuple(sorted({0, self.first_averaged})) if self.estimates_residuals else ()

    @property
    def intercept_steps(self) -> int:
        """Steps of the intercept alone, each with a clip of its own."""
        return INTERCEPT_STEPS if self.estimates_residuals and self.scaling.intercept_value else 0

    @property
    def typical_clip(self) -> float:
        """Of residuals, for forecasts: as given, or what the estimated one may be."""
        return TYPICAL_CLIP if self.estimates_residuals else self.first_clip


def _tightened(bounds: Bounds, clip: float, intercept: bool) -> Bounds:
    """The declared bounds with a norm of at most `clip` for the features of a row."""
    norm = math.hypot(clip, 1.0) if intercept else clip
    norm = norm if bounds.row_norm is None else min(norm, bounds.row_norm)
    return replace(bounds, row_norm=norm)


def rounds(n: int, p: int) -> int:
    """As published, and fewer where passes over the data take time: many rows need fewer."""
    return int(np.clip(AFFORDABLE / (n * p), *ROUNDS))


def damping(settings: Settings, noise: float) -> float:
    """A ridge at the level of the noise on all rounds together; none without noise.

    Rounds would otherwise walk far along directions in which there is no curvature to see.
    """
    return DAMPING * noise * math.sqrt(settings.width / settings.rounds)


def edges() -> Array:
    """Upper ends of the bins."""
    return np.asarray(2.0 ** (TOP - np.arange(BINS, dtype=np.float64)))


def residual_clip(counts: Array, noise: float, noise_std: float, otherwise: float) -> float:
    """Where to clip residuals: noise against what is cut off.

    Parameters
    ----------
    counts : array of shape (BINS,)
        Noisy, by power of two of the residual.
    noise : float
        Standard deviation of the noise on a count.
    noise_std : float
        Length of the noise on the summed gradient, per unit of clip.
    otherwise : float
        The clip where the counts say nothing.
    """
    kept = np.where(counts > noise * significance(counts.size), counts, 0.0)
    if float(kept.sum()) == 0.0:
        return otherwise
    return best_clip(edges(), edges() * MIDDLE, kept, noise_std, aligned=ALIGNED)
