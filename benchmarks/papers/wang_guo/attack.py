"""Algorithm 1 of Wang and Guo 2024 on data where one row is all there is to see.

The features are those of the linear kernel on [-1, 1]: psi(x, nu) = nu x with random signs nu, so
that |psi| <= 1 = kappa and phi(x) = x nu / sqrt(M) has length |x| for every draw of the signs. One
row, the canary, is at x = 1; all others are at 0 and move nothing. In one world the canary's label
is c, in the other -c. An attacker who knows the signs reads the released weights along them.
"""

from __future__ import annotations

import numba
import numpy as np
from scipy import stats

from benchmarks.papers.wang_guo.theorem import Setting

__all__ = ["data", "literal", "moves", "permuted", "shortcut", "true_epsilon", "worlds"]

FEATURES = 2
CANARY = 0


def data(setting: Setting, generator) -> tuple[np.ndarray, np.ndarray]:
    """The two kinds of mapped rows, all others and the canary, and labels in the first world."""
    signs = generator.choice([-1.0, 1.0], size=FEATURES)
    phi = np.array([np.zeros(FEATURES), setting.kappa * signs / np.sqrt(FEATURES)])
    return phi, np.array([0.0, setting.label])


@numba.njit(cache=True)
def _last_iterate(rows, phi, y, step_size, steps, generator):
    """The loop of Algorithm 1 for two features, from w = 0."""
    w0 = w1 = 0.0
    for _ in range(steps):
        kind = 1 if int(generator.random() * rows) == CANARY else 0
        move = step_size * (w0 * phi[kind, 0] + w1 * phi[kind, 1] - y[kind])
        w0 -= move * phi[kind, 0]
        w1 -= move * phi[kind, 1]
    return w0, w1


def literal(setting: Setting, noise: float, runs: int, sign: float, generator) -> np.ndarray:
    """Algorithm 1 step by step; released weights along the canary, one number per run."""
    phi, y = data(setting, generator)
    facts = setting.rows, phi, sign * y, setting.step_size, setting.steps
    iterates = [_last_iterate(*facts, generator) for _ in range(runs)]
    released = np.array(iterates) + noise * generator.standard_normal((runs, FEATURES))
    return released @ phi[1] / setting.kappa


def moves(setting: Setting, counts: np.ndarray) -> np.ndarray:
    """Where the canary's visits bring w along its direction: c (1 - (1 - eta)^K), kappa = 1."""
    return -setting.label * np.expm1(counts * np.log1p(-setting.step_size))


def shortcut(setting: Setting, noise: float, runs: int, sign: float, generator) -> np.ndarray:
    """The law of `literal` without its steps: only the binomial number of visits matters."""
    counts = generator.binomial(setting.steps, 1.0 / setting.rows, size=runs)
    return sign * moves(setting, counts) + noise * generator.standard_normal(runs)


def permuted(setting: Setting, noise: float, runs: int, sign: float, generator) -> np.ndarray:
    """One permuted pass instead: the canary is visited once, with a residual of size c."""
    moved = setting.step_size * setting.label * setting.kappa
    return sign * moved + noise * generator.standard_normal(runs)


def worlds(mechanism, setting: Setting, noise: float, runs: int, seed: int):
    """What the attacker sees in `runs` runs of each world."""
    generator = np.random.default_rng(seed)
    return tuple(mechanism(setting, noise, runs, sign, generator) for sign in (1.0, -1.0))


def true_epsilon(weights: np.ndarray, shifts: np.ndarray, noise: float, delta: float) -> float:
    """Epsilon of sum_k weights_k N(shifts_k, noise^2) against its mirror image.

    All shifts are >= 0, so the likelihood ratio is increasing and thresholds are the best tests;
    each threshold of the grid gives a valid lower bound, and the best of them nearly the truth.
    """
    thresholds = np.linspace(-4.0 * noise, float(np.max(shifts)) + 8.0 * noise, 40_001)[:, None]
    hits = stats.norm.sf((thresholds - shifts) / noise) @ weights
    alarms = stats.norm.sf((thresholds + shifts) / noise) @ weights
    proven = (hits > delta) & (alarms > 0)
    ratio = (hits[proven] - delta) / alarms[proven]
    return float(np.log(np.max(ratio, initial=1.0)))
