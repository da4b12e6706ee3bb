"""The two regressions as their authors' program has them, errors included: never for use.

`tukey` takes three repairs one at a time, so that it can be measured what each of them does:

- "laplace": the program draws the test's Laplace noise with scale epsilon; right is 1 / epsilon.
- "dealing": the program cuts a permutation into blocks of int(n / m) rows. One row more or less can
  change that number and with it every model. Right, where n is private: each row is dealt to a
  model by itself.
- "replaced": the program's test and draw are for a model that comes or goes; but m is fixed, and
  one row replaces one model. Right: half of the epsilon per unit of depth, V counted one depth
  further out in the test, and the exact bound on the mass that is lost.

`boosted` (BAS) turns (epsilon, delta) into mu by the first grid point that violates delta, draws
noise for the Gram matrix without symmetry and adds a noisy smallest eigenvalue to its diagonal.
AdaSSP (Wang 2018) has another ridge there: what the noise may take away, less that eigenvalue.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

__all__ = ["REPAIRS", "Verdict", "block_models", "boosted", "clipped", "tukey"]

REPAIRS = ("laplace", "dealing", "replaced")
FAILURE = 0.05  # of AdaSSP's ridge to be enough, as its author has it


@dataclass(frozen=True, eq=False)
class Verdict:
    """What came of a run: the distance that the test found, what it needs, and the model."""

    distance: int
    needed: float
    noise: float
    coef: np.ndarray | None

    @property
    def passed(self) -> bool:
        return self.distance + self.noise > self.needed


def block_models(
    A: np.ndarray, y: np.ndarray, models: int, generator: np.random.Generator, *, dealt: bool
) -> np.ndarray:
    """Least squares of smallest norm on each group of rows: one row per model."""
    if dealt:
        group = generator.integers(models, size=len(y))
    else:
        group = np.repeat(np.arange(models), len(y) // models)
    order = np.argsort(group, kind="stable") if dealt else generator.permutation(len(y))
    group = group[order] if dealt else group
    order = order[: len(group)]
    counts = np.bincount(group, minlength=models)
    place = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    blocks = np.zeros((models, max(counts.max(), 1), A.shape[1]))
    targets = np.zeros(blocks.shape[:2])
    blocks[group, place], targets[group, place] = A[order], y[order]
    return np.einsum("mdb,mb->md", np.linalg.pinv(blocks), targets)


def tukey(
    models: np.ndarray,
    epsilon: float,
    delta: float,
    generator: np.random.Generator,
    repairs: tuple[str, ...] = (),
) -> Verdict:
    """Test and draw on given models, with half of epsilon each."""
    half, count = epsilon / 2.0, len(models)
    ordered = np.sort(models + 1e-10 * generator.random(models.shape), axis=0)
    with np.errstate(divide="ignore"):
        widths = np.log((ordered[::-1] - ordered)[: count // 2])  # [i - 1]: box of depth i
    volumes = widths.sum(axis=1)
    depth = count // 4
    if depth < 2:
        return Verdict(-1, np.inf, 0.0, None)
    replaced = "replaced" in repairs
    rate = half / 2.0 if replaced else half
    found = _distance(volumes, rate, delta, depth, half, replaced=replaced)
    noise = generator.laplace(scale=1.0 / half if "laplace" in repairs else half)
    needed = np.log(1.0 / (2.0 * delta)) / half - (1.0 if replaced else 0.0)
    verdict = Verdict(found, needed, noise, None)
    if not verdict.passed:
        return verdict
    return Verdict(found, needed, noise, _draw(ordered, volumes, rate, depth, generator))


def _shells(volumes: np.ndarray) -> np.ndarray:
    """Log volume of the points of exactly each depth."""
    inner = np.append(volumes[1:], -np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        return volumes + np.log1p(-np.exp(np.minimum(inner - volumes, 0.0)))


def _distance(volumes, rate, delta, depth, half, *, replaced):
    """The largest k whose neighbourhood is safe, or -1."""
    terms = rate * np.arange(1, len(volumes) + 1) + _shells(volumes)
    mass = np.logaddexp.accumulate(terms[::-1])[::-1]  # of depth i or more, at [i - 1]
    best = -1
    for k in range(depth - 1):
        outer, inner = volumes[depth - k - 2], depth + k - (0 if replaced else 1)
        if inner > len(mass):
            break
        if replaced:
            ratio = outer + rate * (depth + k) - mass[inner - 1]
            limit = np.log(delta / (delta + np.exp(half / 2.0)))
        else:  # Lemma 9.5
            ratio = outer + rate * (depth + k + 1) - mass[inner - 1]
            limit = np.log(delta / (8.0 * np.exp(half)))
        if ratio <= limit:
            best = k
    return best


def _draw(ordered, volumes, rate, depth, generator):
    """A depth by its mass, then a point of exactly that depth."""
    terms = (rate * np.arange(1, len(volumes) + 1) + _shells(volumes))[depth - 1 :]
    chances = np.exp(terms - logsumexp(terms))
    chosen = depth + generator.choice(len(terms), p=chances / chances.sum())
    low, high = ordered[chosen - 1], ordered[-chosen]
    last = chosen >= len(volumes)
    inner = (high, high) if last else (ordered[chosen], ordered[-chosen - 1])
    return _shell_point(low, high, *inner, generator)


def _shell_point(low, high, inner_low, inner_high, generator):
    """Uniform in the box but not in the inner box: which side first leaves it, then the rest."""
    whole, within = high - low, np.maximum(inner_high - inner_low, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(whole), np.log(within), np.log(np.maximum(whole - within, 0.0))
    before = np.concatenate([[0.0], np.cumsum(logs[1])[:-1]])
    after = np.concatenate([np.cumsum(logs[0][::-1])[::-1][1:], [0.0]])
    weight = logs[2] + before + after
    if not np.isfinite(weight).any():
        return generator.uniform(low, high)
    first = int(np.argmax(weight + generator.gumbel(size=len(weight))))
    point = generator.uniform(low, high)
    point[:first] = generator.uniform(inner_low, inner_high)[:first]
    left = inner_low[first] - low[first]
    offset = generator.uniform(0.0, whole[first] - within[first])
    point[first] = low[first] + offset + (within[first] if offset > left else 0.0)
    return point


def boosted(
    A: np.ndarray,
    y: np.ndarray,
    epsilon: float,
    delta: float,
    generator: np.random.Generator,
    *,
    adassp: bool = False,
) -> np.ndarray:
    """100 rounds, rows and residuals clipped to 1; coefficients for clipped rows."""
    mu = _violating_mu(epsilon, delta) / np.sqrt(3.0)
    rows = clipped(A)
    gram, width = rows.T @ rows, A.shape[1]
    ridge = max(0.0, np.linalg.eigvalsh(gram)[0]) + generator.normal(scale=1.0 / mu)
    noise = generator.normal(scale=1.0 / mu, size=gram.shape)
    if adassp:
        noise = np.triu(noise) + np.triu(noise, 1).T
        ridge = max(0.0, np.sqrt(width * np.log(2.0 * width**2 / FAILURE)) / mu - max(0.0, ridge))
    inverse = np.linalg.pinv(gram + noise + ridge * np.eye(width))
    coef, per_round = np.zeros(width), mu / 10.0
    for _ in range(100):
        sums = rows.T @ np.clip(y - rows @ coef, -1.0, 1.0)
        coef = coef + inverse @ (sums + generator.normal(scale=1.0 / per_round, size=len(sums)))
    return coef


def clipped(A: np.ndarray) -> np.ndarray:
    """Rows of length 1 at most."""
    return A / np.maximum(1.0, np.linalg.norm(A, axis=1))[:, None]


def _violating_mu(epsilon: float, delta: float) -> float:
    """The first point of the program's grid whose delta is too large."""
    mu = epsilon**2 / (2.0 * np.log(1.25 / delta))
    while _delta(mu, epsilon) <= delta:
        mu *= 2.0
    grid = np.linspace(mu / 2.0, mu, 1_000)
    return float(grid[np.argmax([_delta(point, epsilon) > delta for point in grid])])


def _delta(mu: float, epsilon: float) -> float:
    return norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
