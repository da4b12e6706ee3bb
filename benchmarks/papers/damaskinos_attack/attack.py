"""Algorithm 1 of Damaskinos et al. 2021 as printed, ours, and an attacker who watches each.

Two worlds differ in one row, the canary: there, or missing. The attacker sees what a mechanism puts
out after every step and nothing else; all other rows, the settings and the code are known. Arrays
hold many runs side by side, the first axis.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

__all__ = ["Setting", "attack_ours", "attack_published", "mixture_evidence"]

CANARY = 0
AT_ONCE = 2000  # runs side by side: few enough for a cache, many enough for numpy


class Setting(NamedTuple):
    """Ridge regression on rows of length 1; the canary's label is so large that it always clips."""

    rows: int = 150
    batch: int = 2
    steps: int = 750
    clip: float = 0.5
    penalty: float = 1.0  # lambda
    delta: float = 1e-3

    @property
    def rate(self) -> float:
        return self.batch / self.rows

    @property
    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """The canary has a direction of its own, so that no other row blurs the evidence."""
        X = np.zeros((self.rows, 2))
        X[:, 1] = 1.0
        X[CANARY] = 1.0, 0.0
        y = np.sin(np.arange(self.rows))
        y[CANARY] = 1e6
        return X, y


# The mechanisms: each yields what it puts out before the first and after every step


def published(setting: Setting, sigma: float, runs: int, present: bool, generator):
    """Algorithm 1, step 8 read as "/="; yields (alpha, v), the output that section 3.1 names.

    A missing example makes no update (Lemma 1). Its coordinate still gets noise when it is drawn:
    step 13 adds it to all of the batch.
    """
    X, y = setting.data
    lengths, scale = np.sum(X**2, axis=1), setting.penalty * setting.rows
    deviation = np.sqrt(2.0) * setting.clip * sigma
    alpha, v = np.zeros((runs, setting.rows)), np.zeros((runs, X.shape[1]))
    every = np.arange(runs)[:, None]
    yield alpha, v
    for _ in range(setting.steps):
        batch = draw_batches(setting, runs, generator)  # step 5
        x = X[batch]
        residual = y[batch] - alpha[every, batch] - (x @ v[:, :, None])[:, :, 0] / scale
        zeta = residual / (1.0 + setting.batch * lengths[batch] / scale)  # step 7
        zeta /= np.maximum(1.0, np.abs(zeta) / setting.clip)  # step 8
        if not present:
            zeta[batch == CANARY] = 0.0
        alpha[every, batch] += zeta + deviation * generator.standard_normal(batch.shape)
        v += (zeta[:, None, :] @ x)[:, 0] + deviation * generator.standard_normal(v.shape)
        yield alpha, v


def draw_batches(setting: Setting, runs: int, generator) -> np.ndarray:
    """One batch of fixed size per run: each draw is among the rows that are not yet in it."""
    batch = np.empty((runs, setting.batch), dtype=np.int64)
    for k in range(setting.batch):
        batch[:, k] = generator.integers(setting.rows - k, size=runs)
        for earlier in np.sort(batch[:, :k], axis=1).T:
            batch[:, k] += batch[:, k] >= earlier
    return batch


def ours(setting: Setting, multiplier: float, runs: int, present: bool, generator):
    """Hidden alpha: each row joins by a coin of its own, and only v is put out.

    Every update is as large as the clip allows, in which case alpha does not matter. There is one
    row besides the canary: others are told from it by their direction, however many there are.
    """
    X = setting.data[0][:2]
    v = np.zeros((runs, X.shape[1]))
    yield v
    for _ in range(setting.steps):
        joins = (generator.random((runs, len(X))) < setting.rate).astype(float)
        if not present:
            joins[:, CANARY] = 0.0
        noise = multiplier * generator.standard_normal(v.shape)
        v = v + setting.clip * (joins @ X + noise)
        yield v


# The attackers: each reads outputs, and returns the log-likelihood ratio of the two worlds


def watch_published(setting: Setting, sigma: float, outputs) -> np.ndarray:
    """Noise reaches the drawn coordinates only: alpha_k moves exactly when the canary is drawn."""
    evidence, before = 0.0, None
    for alpha, v in outputs:
        seen = np.column_stack([alpha[:, CANARY], v @ setting.data[0][CANARY]])
        if before is not None:
            drawn = seen[:, 0] != before[:, 0]
            moved = np.sum(seen - before, axis=1) / setting.clip
            evidence = evidence + drawn * (moved - 1.0) / (2.0 * sigma**2)
        before = seen
    return evidence


def watch_ours(setting: Setting, multiplier: float, outputs) -> np.ndarray:
    """Nothing tells who was drawn: each step is a mixture of drawn and not drawn."""
    seen = np.array([v @ setting.data[0][CANARY] for v in outputs])
    moved = np.diff(seen, axis=0) / setting.clip
    return mixture_evidence(moved, setting.rate, multiplier).sum(axis=0)


def mixture_evidence(moved: np.ndarray, rate: float, multiplier: float) -> np.ndarray:
    """log of (1-q) N(0, z^2) + q N(1, z^2) over N(0, z^2) at `moved`."""
    return np.log(1.0 - rate + rate * np.exp((moved - 0.5) / multiplier**2))


# Both together


def attack_published(setting: Setting, sigma: float, runs: int, seed: int):
    """Statistics of `runs` runs with the canary and of as many without it."""
    return _both_worlds(published, watch_published, setting, sigma, runs, seed)


def attack_ours(setting: Setting, multiplier: float, runs: int, seed: int):
    """The same for ours."""
    return _both_worlds(ours, watch_ours, setting, multiplier, runs, seed)


def _both_worlds(mechanism, watch, setting: Setting, noise: float, runs: int, seed: int):
    generator = np.random.default_rng(seed)
    sizes = [min(AT_ONCE, runs - start) for start in range(0, runs, AT_ONCE)]
    return tuple(
        np.concatenate(
            [
                watch(setting, noise, mechanism(setting, noise, size, present, generator))
                for size in sizes
            ]
        )
        for present in (True, False)
    )
