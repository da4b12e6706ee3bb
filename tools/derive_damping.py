"""Compare rules for damping noisy moment equations, on generated problems only.

    python tools/derive_damping.py [problems] [seed]

Prints, for each rule, the loss of R^2 against least squares without noise, relative to that R^2:
its mean (losses above 1.5 count as 1.5), median, 90 % quantile, and how often a constant would be
better.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from numpy.random import Generator

from privlearn.accounting import Gaussian, smallest_scale
from privlearn.solvers._common.moment_equations import centred, inverse_eigenvalues

REPEATS = 3
Rule = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def problem(rng: Generator) -> tuple[int, float, np.ndarray]:
    """A random regression problem in [-1, 1]: rows, noise scale, moments of (1, x, y)."""
    p = int(rng.choice([2, 4, 8, 16, 40]))
    n = min(int(10 ** rng.uniform(2.7, 5.3)), 60_000)
    factors = rng.standard_normal((p, max(2, p // 2))) * rng.uniform(0, 1.5)
    covariance = factors @ factors.T + np.diag(np.arange(1, p + 1.0) ** -rng.uniform(0, 2))
    size = np.sqrt(np.diag(covariance))
    X = rng.multivariate_normal(np.zeros(p), covariance / np.outer(size, size), size=n)
    X = np.clip(X * 10 ** rng.uniform(-1, -0.2, p) + rng.uniform(-0.5, 0.5, p), -1, 1)
    if rng.random() < 0.3:
        j = rng.integers(p)
        X[:, j] = np.sign(X[:, j] - rng.uniform(-0.5, 0.5))
    coef = rng.standard_normal(p) * (rng.random(p) < rng.choice([0.3, 1.0]))
    signal = (X - X.mean(axis=0)) @ coef + 1e-12 * rng.standard_normal(n)
    explained = rng.uniform(0.1, 0.95)
    y = signal / signal.std() * np.sqrt(explained)
    y += rng.standard_normal(n) * np.sqrt(1 - explained)
    y = np.clip(y * rng.uniform(0.05, 0.4) + rng.uniform(-0.4, 0.4), -1, 1)
    Z = np.column_stack([np.ones(n), X, y])
    epsilon = 10 ** rng.uniform(-1, 1)
    multiplier = smallest_scale(lambda scale: [(Gaussian(1 / scale), 1)], epsilon, 1e-6)
    return n, multiplier * (p + 2), Z.T @ Z


def with_noise(moments: np.ndarray, scale: float, rng: Generator) -> np.ndarray:
    """Symmetric noise: `scale` on the diagonal, scale / sqrt(2) off it."""
    upper = np.triu(rng.standard_normal(moments.shape) * scale / np.sqrt(2), 1)
    return moments + upper + upper.T + np.diag(rng.standard_normal(len(moments)) * scale)


def tikhonov(constant: float) -> Rule:
    """Gain e / (e^2 + k^2), k a fixed multiple of the noise."""

    def gain(e: np.ndarray, cross: np.ndarray, noise: float) -> np.ndarray:
        e = np.maximum(e, 0)
        return e / (e**2 + (constant * noise) ** 2 * len(e))

    return gain


RULES: dict[str, Rule] = {
    **{
        f"ridge {c} s sqrt(p)": (
            lambda e, x, s, c=c: inverse_eigenvalues(e, x, s, c * s * np.sqrt(len(e)))
        )
        for c in (0.5, 1.0, 2.0, 3.0)
    },
    **{f"Tikhonov {c} s sqrt(p)": tikhonov(c) for c in (1.0, 1.4, 1.7, 2.0, 3.0)},
    "AdaSSP": lambda e, x, s: inverse_eigenvalues(e, x, s, "adassp"),
    "average over t": lambda e, x, s: inverse_eigenvalues(e, x, s, "noise"),
}


def losses(rng: Generator) -> dict[str, list[float]]:
    """Relative loss of R^2 of every rule on one problem."""
    n, scale, moments = problem(rng)
    gram, cross, means = centred(moments, n)
    spread = moments[-1, -1] - n * means[-1] ** 2
    best = cross @ np.linalg.lstsq(gram, cross, rcond=None)[0] / spread
    found: dict[str, list[float]] = {name: [] for name in RULES}
    for _ in range(REPEATS):
        noisy_gram, noisy_cross, noisy_means = centred(with_noise(moments, scale, rng), n)
        values, vectors = np.linalg.eigh(noisy_gram)
        along = vectors.T @ noisy_cross
        for name, rule in RULES.items():
            coef = vectors @ (rule(values, along, scale) * along)
            shift = (noisy_means - means) @ np.append(-coef, 1.0)
            error = spread - 2 * coef @ cross + coef @ gram @ coef + n * shift**2
            found[name].append(float((best - (1 - error / spread)) / max(best, 0.05)))
    return found


def main() -> None:
    """Print the table."""
    problems, seed = (int(a) for a in (sys.argv[1:] + ["400", "1"][len(sys.argv) - 1 :]))
    rng = np.random.default_rng(seed)
    collected: dict[str, list[float]] = {name: [] for name in RULES}
    for _ in range(problems):
        for name, values in losses(rng).items():
            collected[name] += values
    table = {name: np.array(values) for name, values in collected.items()}
    print(f"{'rule':<24} {'mean':>7} {'median':>7} {'90 %':>7}  worse than a constant")
    for name, loss in sorted(table.items(), key=lambda item: np.minimum(item[1], 1.5).mean()):
        print(
            f"{name:<24} {np.minimum(loss, 1.5).mean():7.4f} {np.median(loss):7.4f} "
            f"{np.quantile(loss, 0.9):7.3f}  {np.mean(loss > 1):.3f}"
        )


if __name__ == "__main__":
    main()
