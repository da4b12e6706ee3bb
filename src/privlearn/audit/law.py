"""Is the noise that leaves a real fit distributed as its plan declares?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from privlearn._core.mechanisms import Kind
from privlearn.audit.adversary import audited, base_data
from privlearn.audit.failure import AuditFailure
from privlearn.audit.tape import record

__all__ = ["check_noise_law", "noise_agrees", "standard_noise"]

Array = NDArray[np.float64]
SIGNIFICANCE = 1e-6  # false alarms of one check
FITS = 60


def _length_of_spherical(dimension: int) -> Callable[[Array], Array]:
    return lambda length: stats.gamma.cdf(length, dimension)


LAWS: dict[str, Callable[[Array], Array]] = {
    "Gaussian": stats.norm.cdf,
    "Laplace": stats.laplace.cdf,
    "Gumbel": stats.gumbel_r.cdf,
}


def standard_noise(estimator: Any, X: Array, y: Array, fits: int) -> dict[str, Array]:  # noqa: ANN401
    """(released - statistic) / scale of every release, over several fits."""
    found: dict[str, list[Array]] = defaultdict(list)
    model = audited(estimator)
    for k in range(fits):
        if estimator.random_state is not None:
            model.random_state = estimator.random_state + k
        tape = record(model, X, y)
        assert tape.plan is not None
        for entry in tape.entries:
            if entry.release.mechanism.kind is Kind.DRAW:
                continue  # no noise is added; draws.py looks at them
            scale = tape.plan.noise_scale(entry.release)
            found[entry.release.name].append((entry.released - entry.statistic).ravel() / scale)
    return {name: np.array(noise) for name, noise in found.items()}


def noise_agrees(noise: Array, mechanism: str) -> bool:
    """Whether rows of standardised noise follow the mechanism's law (Kolmogorov-Smirnov)."""
    if mechanism == "spherical":
        lengths = np.linalg.norm(noise, axis=1)
        law = _length_of_spherical(noise.shape[1])
        return bool(stats.kstest(lengths, law).pvalue > SIGNIFICANCE)
    return bool(stats.kstest(noise.ravel(), LAWS[mechanism]).pvalue > SIGNIFICANCE)


def check_noise_law(estimator: Any, *, n_features: int, seed: int = 0) -> None:  # noqa: ANN401
    """Refute the declared law of the noise, or pass."""
    rng = np.random.default_rng(seed)
    data = next(iter(base_data(estimator, n_features, rng)))
    model = audited(estimator, random_state=seed)
    plan = record(model, data.X, data.y).plan
    assert plan is not None
    mechanisms = {release.name: release.mechanism.name for release in plan.releases}
    for name, noise in standard_noise(model, data.X, data.y, FITS).items():
        if not noise_agrees(noise, mechanisms[name]):
            raise AuditFailure(f"the noise on {name!r} is not {mechanisms[name]} at its scale")
        if len(np.unique(noise)) < 0.99 * noise.size:
            raise AuditFailure(f"the noise on {name!r} repeats itself")
