"""Rules for damping noisy moment equations, on generated problems.

The score is the loss of R^2 against least squares without noise, relative to that R^2. The table
has its mean (losses above 1.5 count as 1.5), median, 90 % quantile, and how often a constant would
be better. The rule as it is averages over t.
"""

from __future__ import annotations

import numpy as np

from benchmarks.derive.harness import Candidate
from privlearn.accounting import Gaussian, smallest_scale
from privlearn.solvers._common import moment_equations
from privlearn.solvers._common.moment_equations import centred, inverse_eigenvalues

SEEDS = 3


def arguments(parser):
    parser.add_argument("--problems", type=int, default=400)
    parser.add_argument("--first", type=int, default=1, help="seed of the problems")


def homes(given):
    return (moment_equations,)


def candidates(given):
    rules = {f"ridge {c} s sqrt(p)": ridge(c) for c in (0.5, 1.0, 2.0, 3.0)}
    rules |= {f"Tikhonov {c} s sqrt(p)": tikhonov(c) for c in (1.0, 1.4, 1.7, 2.0, 3.0)}
    rules["AdaSSP"] = lambda e, cross, noise: inverse_eigenvalues(e, cross, noise, "adassp")
    return {name: Candidate(choice=rule) for name, rule in rules.items()}


def ridge(constant):
    """Gain 1 / (e + k), k a fixed multiple of the noise."""
    return lambda e, cross, noise: inverse_eigenvalues(
        e, cross, noise, constant * noise * np.sqrt(len(e))
    )


def tikhonov(constant):
    """Gain e / (e^2 + k^2), k a fixed multiple of the noise."""

    def gain(e, cross, noise):
        e = np.maximum(e, 0)
        return e / (e**2 + (constant * noise) ** 2 * len(e))

    return gain


def average(e, cross, noise):
    return inverse_eigenvalues(e, cross, noise, "noise")


def problems(given):
    rng = np.random.default_rng(given.first)
    return ((f"problem {k + 1}", (rng, *problem(rng))) for k in range(given.problems))


def problem(rng):
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


def with_noise(moments, scale, rng):
    """Symmetric noise: `scale` on the diagonal, scale / sqrt(2) off it."""
    upper = np.triu(rng.standard_normal(moments.shape) * scale / np.sqrt(2), 1)
    return moments + upper + upper.T + np.diag(rng.standard_normal(len(moments)) * scale)


def data(found, seed, given):
    """The exact equations and, solved along their eigenvectors, some with noise."""
    rng, n, scale, moments = found
    exact = centred(moments, n)
    gram, cross, means = centred(with_noise(moments, scale, rng), n)
    values, vectors = np.linalg.eigh(gram)
    spread = moments[-1, -1] - n * exact[2][-1] ** 2
    return n, scale, exact, spread, values, vectors, vectors.T @ cross, means


def score(found, rule, seed, given):
    n, scale, (gram, cross, means), spread, values, vectors, along, noisy_means = found
    best = cross @ np.linalg.lstsq(gram, cross, rcond=None)[0] / spread
    coef = vectors @ ((rule or average)(values, along, scale) * along)
    shift = (noisy_means - means) @ np.append(-coef, 1.0)
    error = spread - 2 * coef @ cross + coef @ gram @ coef + n * shift**2
    return (best - (1 - error / spread)) / max(best, 0.05)


def summary(found, usual):
    return {
        "mean": np.minimum(found, 1.5).mean(),
        "median": np.median(found),
        "90 %": np.quantile(found, 0.9),
        "worse": np.mean(found > 1),
    }
