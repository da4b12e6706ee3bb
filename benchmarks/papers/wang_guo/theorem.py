"""Wang and Guo 2024: Theorem 2 as printed and as proved, and the noise of its Algorithm 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = [
    "Setting",
    "gradient_bound",
    "printed_sensitivity",
    "proved_sensitivity",
    "published_noise",
    "visits_bound",
]


@dataclass(frozen=True)
class Setting:
    """What Theorem 2 depends on. Rows differ by replacement; |y| <= label, |phi(x)| <= kappa."""

    rows: int
    steps: int
    step_size: float
    epsilon: float = 1.0
    delta: float = 1e-5
    label: float = 1.0  # c of the paper
    kappa: float = 1.0

    @property
    def epochs(self) -> int:
        """Passes over the rows, where steps make whole ones."""
        if self.steps % self.rows:
            raise ValueError(f"{self.steps} steps are no whole number of passes")
        return self.steps // self.rows


def visits_bound(setting: Setting, failure: float) -> float:
    """(T/n) (1 + c_gamma): no row is visited more often, except with probability `failure`."""
    mean = setting.steps / setting.rows
    tail = 3.0 * np.log(setting.rows / failure) / mean
    return float(mean * (1.0 + max(np.sqrt(tail), tail)))


def gradient_bound(setting: Setting, steps: int | None = None) -> float:
    """The paper's bound on one gradient after that many steps: c kappa + c kappa^2 sqrt(eta t)."""
    t = setting.steps if steps is None else steps
    growth = np.sqrt(setting.step_size * t)
    return float(setting.label * setting.kappa * (1.0 + setting.kappa * growth))


def printed_sensitivity(setting: Setting, failure: float) -> float:
    """(17) as printed: what the proof shows to be the square, without c in the second term."""
    length = setting.label * setting.kappa
    length += setting.kappa**2 * np.sqrt(setting.step_size * setting.steps)
    return _squared(setting, failure, length)


def proved_sensitivity(setting: Setting, failure: float) -> float:
    """What the last display of the proof says; holds for eta kappa^2 <= 1."""
    if setting.step_size * setting.kappa**2 > 1:
        raise ValueError("the proof needs step_size * kappa**2 <= 1")
    return float(np.sqrt(_squared(setting, failure, gradient_bound(setting))))


def _squared(setting: Setting, failure: float, length: float) -> float:
    visits = visits_bound(setting, failure)
    return float(4.0 * np.e * setting.step_size**2 * length**2 * visits * (1.0 + visits))


def published_noise(setting: Setting, sensitivity) -> float:
    """sigma of Algorithm 1: half of delta for the visits, the textbook's Gaussian for the rest."""
    spread = np.sqrt(2.0 * np.log(2.5 / setting.delta)) / setting.epsilon
    return float(spread * sensitivity(setting, setting.delta / 2.0))
