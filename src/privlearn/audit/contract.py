"""Checks of the plan's own promises: cost, independence of data, empty rows, the grid."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from privlearn._core.mechanisms import GAUSSIAN, Kind
from privlearn._core.plan import Plan, Release
from privlearn._core.sampling import FULL
from privlearn.accounting import compose
from privlearn.audit.adversary import audited, base_data, few_rows, most_rows
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.tape import Tape, record

__all__ = ["check_empty_rows", "check_grid", "check_plan", "check_price", "off_grid"]


def _fitted(estimator: Model, n_features: int, seed: int) -> Tape:
    data = few_rows(estimator, n_features, seed)
    return record(audited(estimator, random_state=seed), data.X, data.y, **data.named)


def check_plan(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """The fit releases exactly what `plan` announced, as often as announced."""
    rng = np.random.default_rng(seed)
    for data in base_data(estimator, n_features, rng):
        tape = record(audited(estimator, random_state=seed), data.X, data.y, **data.named)
        if tape.plan != audited(estimator).plan(n=data.units, n_features=n_features):
            raise AuditFailure(f"fit used another plan than estimator.plan announced: {data.story}")
        made = [entry.release.name for entry in tape.entries]
        for release in tape.plan.releases:
            if made.count(release.name) != release.count:
                raise AuditFailure(f"{release.name!r} was not released {release.count} times")


def check_price(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """The plan keeps the promise; Gaussian plans again from scale and movement.

    A release whose rows are drawn by coins is charged for no less than what its two laws, added up
    point by point, tell apart.
    """
    plan = _fitted(estimator, n_features, seed).plan
    if plan.delta(estimator.epsilon) > estimator.delta:
        raise AuditFailure("the plan costs more than was promised")
    for release in plan.releases:
        if release.mechanism == GAUSSIAN and release.sampling.visits is None:
            _demand_charged(plan, release)
    if any(r.mechanism != GAUSSIAN or r.sampling != FULL for r in plan.releases):
        return
    mu = math.sqrt(
        sum(r.count * (plan.sensitivity(r) / plan.noise_scale(r)) ** 2 for r in plan.releases)
    )
    # Balle and Wang 2018, Theorem 8.
    first = norm.cdf(mu / 2 - estimator.epsilon / mu)
    second = math.exp(estimator.epsilon + norm.logcdf(-mu / 2 - estimator.epsilon / mu))
    if first - second > estimator.delta * (1 + 1e-6) + 1e-13:
        raise AuditFailure("noise and sensitivity cost more than was promised")


def _demand_charged(plan: Plan, release: Release) -> None:
    """Along one line: what a person may add beyond what others do, against none, or another."""
    moved, rate = plan.contribution(release) / plan.noise_scale(release), release.sampling.rate
    back = moved * (1.0 - release.norm.diameter) if plan.adjacency.replaces else 0.0
    points = np.linspace(back - 10.0, moved + 10.0, 40_001)
    one, other = (
        (1.0 - rate) * norm.pdf(points) + rate * norm.pdf(points - there) for there in (moved, back)
    )
    charged = compose([(plan.pair(release), 1)])
    for place in np.searchsorted(points, moved + np.array([0.0, 1.0, 2.0])):
        epsilon = math.log(one[place] / other[place])
        told = np.sum(np.maximum(one - math.exp(epsilon) * other, 0.0)) * (points[1] - points[0])
        if charged.delta(epsilon) < told * (1.0 - 1e-3):
            raise AuditFailure(f"{release.name!r} is charged for less than its batches tell")


def check_empty_rows(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Empty rows contribute exactly nothing: all of them empty gives zero statistics.

    Scores of a selection may start elsewhere, from public facts and earlier releases.
    """
    X, y = np.full((9, n_features), np.nan), np.full(9, np.nan)
    model = audited(estimator, on_invalid="drop", random_state=seed)
    ids = None if most_rows(model) is None else np.arange(9) // 2
    for entry in record(model, X, y, groups=ids).entries:
        if entry.release.mechanism.kind is not Kind.SELECTION and np.any(entry.statistic != 0.0):
            raise AuditFailure(f"empty rows contribute to {entry.release.name!r}")


def off_grid(released: ArrayLike, grid: float) -> bool:
    """Whether any number has bits below the grid."""
    units = np.asarray(released) / grid
    return bool(np.any(units != np.rint(units)))


def check_grid(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """No released number has bits below the grid, and the grid is below the noise."""
    tape = _fitted(estimator, n_features, seed)
    plan = tape.plan
    for entry in tape.entries:
        grid = plan.grid(entry.release)
        if math.frexp(grid)[0] != 0.5 or grid > plan.noise_scale(entry.release) / 1024:
            raise AuditFailure(f"the grid of {entry.release.name!r} is no fine power of two")
        if off_grid(entry.released, grid):
            raise AuditFailure(f"{entry.release.name!r} was released with bits below its grid")
