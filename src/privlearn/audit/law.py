"""Is the noise that leaves a real fit distributed as its plan declares?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from privlearn._core.mechanisms import Kind
from privlearn._core.plan import Release
from privlearn._core.problem import Budget
from privlearn._core.releaser import Releaser
from privlearn.audit.adversary import audited, few_rows
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.tape import Tape, record

__all__ = ["check_noise_law", "noise_agrees", "noise_on", "standard_noise"]

Array = NDArray[np.float64]
SIGNIFICANCE = 1e-6  # false alarms of one check
FITS = 60
BLOCK = 2**15  # numbers that are drawn at once: sources and loops work on fewer
BY_CHANCE = 0.1  # of numbers on a grid that may be equal: repeats are looked for among so many

LAWS: dict[str, Callable[[Array], Array]] = {
    "Gaussian": stats.norm.cdf,
    "Gaussian above a threshold": stats.norm.cdf,
    "Laplace": stats.laplace.cdf,
    "Gumbel": stats.gumbel_r.cdf,
}


def standard_noise(
    estimator: Model, X: Array, y: Array, fits: int, groups: NDArray[Any] | None = None
) -> dict[str, Array]:
    """(released - statistic) / scale of every release, over several fits."""
    model = audited(estimator)
    tapes = []
    for k in range(fits):
        if estimator.random_state is not None:
            model.random_state = estimator.random_state + k
        tapes.append(record(model, X, y, groups=groups))
    return noise_on(tapes)


def noise_on(tapes: Iterable[Tape]) -> dict[str, Array]:
    """The same of fits that were recorded; one row per release and fit."""
    found: dict[str, list[Array]] = defaultdict(list)
    for tape in tapes:
        for entry in tape.entries:
            if entry.release.mechanism.kind is Kind.DRAW:
                continue  # no noise is added; draws.py looks at them
            scale = tape.plan.noise_scale(entry.release)
            found[entry.release.name].append((entry.released - entry.statistic).ravel() / scale)
    # Releases may be of fewer numbers where earlier ones say so: as many of each as all have.
    least = {name: min(map(len, noise)) for name, noise in found.items()}
    return {
        name: np.array([each[: least[name]] for each in noise])
        for name, noise in found.items()
        if least[name]
    }


def noise_agrees(noise: Array, mechanism: str) -> bool:
    """Whether rows of standardised noise follow the mechanism's law (Kolmogorov-Smirnov)."""
    if mechanism == "spherical":
        found = stats.kstest(np.linalg.norm(noise, axis=1), stats.gamma(noise.shape[1]).cdf)
    else:
        found = stats.kstest(noise.ravel(), LAWS[mechanism])
    return bool(found.pvalue > SIGNIFICANCE)


def check_noise_law(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Refute the declared law of the noise, in fits and in one long block of it, or pass."""
    data = few_rows(estimator, n_features, seed)
    model = audited(estimator, random_state=seed)
    plan = record(model, data.X, data.y, **data.named).plan
    mechanisms = {release.name: release.mechanism.name for release in plan.releases}
    grids = {
        release.name: plan.grid(release) / plan.noise_scale(release)
        for release in plan.releases
        if release.mechanism.kind is not Kind.DRAW
    }
    for name, noise in standard_noise(model, data.X, data.y, FITS, **data.named).items():
        what = f"the noise on {name!r}"
        _demand_law(noise, mechanisms[name], grids[name], what)
    releaser = Releaser(plan, Budget(model.epsilon, model.delta), seed)
    for release in plan.releases:
        if release.mechanism.kind is not Kind.DRAW and release.mechanism.independent:
            units = _long_block(releaser, release)
            grid = plan.grid(release) / plan.noise_scale(release)
            what = f"a long block of noise on {release.name!r}"
            noise = np.asarray(grid * units.reshape(len(units), -1), dtype=np.float64)
            _demand_law(noise, release.mechanism.name, grid, what)


def _long_block(releaser: Releaser, release: Release) -> NDArray[Any]:
    """Noise of many releases, in units of the grid; of counts, that on many values at once."""
    if release.mechanism.kind is not Kind.LIST:
        return releaser._draw_noise(release, -(-BLOCK // release.size))
    noisy = releaser._count(release, dict.fromkeys(range(BLOCK), 0.0))
    return np.array([*noisy.values()]).reshape(-1, 2) / releaser.plan.grid(release)


def _demand_law(noise: Array, mechanism: str, grid: float, what: str) -> None:
    """One row per release, in order: each of its law, and none that tells another.

    On a grid of so many scales, so many numbers are the same by chance that it is allowed for; and
    where there are very many, repeats are looked for among the first.
    """
    if not noise_agrees(noise, mechanism):
        raise AuditFailure(f"{what} is not {mechanism} at its scale")
    few = np.abs(noise).ravel()[: int(BY_CHANCE / grid) if grid > 0.0 else None]
    if len(np.unique(few)) < (0.99 - grid * few.size) * few.size:
        raise AuditFailure(f"{what} repeats itself")
    above = noise > np.median(noise)
    alike = above[1:] == above[:-1]
    if alike.size and stats.binomtest(int(alike.sum()), alike.size).pvalue < SIGNIFICANCE:
        raise AuditFailure(f"{what} tells the noise of the next release")
