"""Are points drawn among models by their depth, and is what two neighbours draw alike enough?

Both are answered without the library's own formulas: volumes are counted with whole numbers of any
size, cell by cell of equal depths, and the density is the exponential of depth.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy import stats

from privlearn._core.mechanisms import Kind
from privlearn._core.mechanisms.tukey_boxes import STEP
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.releaser import Releaser, use_releaser
from privlearn._core.sampling import Batches, Disjoint
from privlearn.accounting import ApproximateLoss
from privlearn.audit.adversary import audited, base_data, neighbourhoods
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.tape import Entry, Tape, record, replay_on
from privlearn.exceptions import PrivacyTestFailedError

__all__ = ["check_draws", "depth_of", "divergences", "draws_by_depth", "places"]

Array = NDArray[np.float64]
SIGNIFICANCE = 1e-6  # false alarms of one check
FITS = 60
FAR = 1e17  # of targets, where others are 0: wide boxes outweigh deep ones
EVERY = 12  # of the adversary's neighbourhoods, in which divergences are computed


def depth_of(point: Array, ordered: Array) -> int:
    """The smallest number of models on either side of a point, up to half of all."""
    sides = (ordered <= point).sum(axis=0).min(), (ordered >= point).sum(axis=0).min()
    return int(min(*sides, (len(ordered) + 1) // 2))


def _shallowest(ordered: Array) -> int:
    return max(1, len(ordered) // 4)


def _log_volumes(ordered: Array) -> Array:
    """Logarithms of the lattice points of depth at least i, from the shallowest i on."""
    first, last = _shallowest(ordered), (len(ordered) + 1) // 2
    depths = np.arange(first, last + 1)
    widths = ordered[len(ordered) - depths] - ordered[depths - 1]
    return np.log(widths / STEP + 1.0).sum(axis=1)


def places(point: Array, ordered: Array, epsilon: float, rng: Generator) -> Array:
    """Where a draw lies in its declared law: uniform numbers, one for depth, one per coordinate.

    Ties are broken at random. A coordinate's law is a mixture of the boxes' uniform laws.
    """
    first = _shallowest(ordered)
    volumes = _log_volumes(ordered)
    depths = first + np.arange(volumes.size)
    inner = np.append(volumes[1:], -np.inf)
    with np.errstate(divide="ignore"):
        shells = volumes + np.log1p(-np.exp(inner - volumes)) + depths * epsilon / 2
        rises = np.exp(depths * epsilon / 2 - depths[-1] * epsilon / 2)
        boxes = volumes + np.log(np.diff(rises, prepend=0.0))
    chance = np.exp(shells - np.logaddexp.reduce(shells))
    depth = depth_of(point, ordered) - first
    found = [-1.0 if depth < 0 else chance[:depth].sum() + rng.random() * chance[depth]]
    weights = np.exp(boxes - np.logaddexp.reduce(boxes))
    low, high = ordered[depths - 1], ordered[len(ordered) - depths]
    within = ((point - low) / STEP + rng.random(point.size)) / ((high - low) / STEP + 1.0)
    return np.append(found, weights @ np.clip(within, 0.0, 1.0))


def divergences(ordered: Array, other: Array, slope: float, epsilon: float) -> tuple[float, float]:
    """Exact hockey-stick divergences of draws from two data sets, in both directions.

    Parameters
    ----------
    ordered, other : arrays of shape (models, coordinates)
        In order, on the lattice; neighbours, so that depths differ by one at most.
    slope : float
        Logarithm of the density per unit of depth.
    epsilon : float
        At which the divergences are taken.
    """
    first, last = _shallowest(ordered), (len(ordered) + 1) // 2
    ends = [[[int(v / STEP) for v in row] for row in table] for table in (ordered, other)]

    @cache
    def shared(i: int, j: int) -> int:
        """Lattice points of depth at least i in one and at least j in the other."""
        return _intersection(ends[0], i, ends[1], j) if max(i, j) <= last else 0

    cells = []
    for i in range(first - 1, last + 1):
        for j in range(max(first - 1, i - 1), min(last, i + 1) + 1):
            points = shared(i, j) - shared(i + 1, j) - shared(i, j + 1) + shared(i + 1, j + 1)
            if points > 0:
                cells.append((math.log(points), i, j))
    laws = []
    for side in (1, 2):
        logs = [c[0] + slope * c[side] if c[side] >= first else -math.inf for c in cells]
        laws.append(np.exp(np.array(logs) - np.logaddexp.reduce(logs)))
    there, back = laws
    grown = math.exp(epsilon)
    return (
        float(np.maximum(there - grown * back, 0.0).sum()),
        float(np.maximum(back - grown * there, 0.0).sum()),
    )


def _intersection(one: list[list[int]], i: int, two: list[list[int]], j: int) -> int:
    """Lattice points in the box of depth i of one and the box of depth j of the other."""
    total = 1
    for c in range(len(one[0])):
        low = max(one[max(i, 1) - 1][c], two[max(j, 1) - 1][c])
        high = min(one[len(one) - max(i, 1)][c], two[len(two) - max(j, 1)][c])
        total *= max(0, high - low + 1)
    return total


def draws_by_depth(model: Model, n_features: int) -> bool:
    """Whether points are drawn among models at all, so that there is something to check."""
    plan = model.plan(n=1_000, n_features=n_features)
    return any(release.mechanism.kind is Kind.DRAW for release in plan.releases)


def check_draws(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Refute the declared law of draws by depth, or their declared privacy, or pass."""
    rng = np.random.default_rng(seed)
    model = audited(estimator, on_invalid="drop", random_state=seed)
    if not draws_by_depth(model, n_features):
        return
    _, data, _ = base_data(model, n_features, rng)
    found = []
    for k in range(FITS):
        try:
            tape = record(model.set_params(random_state=seed + k), data.X, data.y)
        except PrivacyTestFailedError:
            continue
        found += [_places(tape, entry, rng) for entry in _draws(tape)]
    if len(found) < FITS / 2:
        raise AuditFailure("most tests failed, so draws cannot be audited; use more models")
    for column in np.array(found).T:
        if not stats.kstest(column, "uniform").pvalue > SIGNIFICANCE:
            raise AuditFailure("points are not drawn by their depth as it is declared")
    _check_divergences(model.set_params(random_state=seed), n_features, rng)
    _check_gate(model, n_features, rng)


def _draws(tape: Tape) -> list[Entry]:
    return [entry for entry in tape.entries if entry.release.mechanism.kind is Kind.DRAW]


def _places(tape: Tape, entry: Entry, rng: Generator) -> Array:
    epsilon = 1.0 / tape.plan.noise_scale(entry.release)
    return places(entry.released, entry.statistic, epsilon, rng)


def _check_divergences(model: Model, n_features: int, rng: Generator) -> None:
    """Draws from neighbours must be as hard to tell apart as the plan says."""
    for data, neighbours in islice(neighbourhoods(model, n_features, rng), 0, None, EVERY):
        try:
            tape = record(model, data.X, data.y)
            again = replay_on(tape, model, neighbours[0].X, neighbours[0].y)
        except PrivacyTestFailedError:
            continue
        for first, second in zip(_draws(tape), _draws(again), strict=True):
            pair = tape.plan.pair(first.release)
            assert isinstance(pair, ApproximateLoss)
            slope = 0.5 / tape.plan.noise_scale(first.release)
            told = max(divergences(first.statistic, second.statistic, slope, pair.epsilon))
            if told > pair.delta:
                raise AuditFailure(
                    f"draws are told apart with probability {told:.3g}, declared is "
                    f"{pair.delta:.3g}: {data.story} against {neighbours[0].story}"
                )


class _Reached(Exception):
    """A draw is about to be made."""


@dataclass(eq=False)
class _Gate:
    """What a fit made up to its draw, or up to a test that it failed."""

    told: float  # what the test is told instead of its noisy statistic
    statistic: float = math.nan
    ordered: Array | None = None  # the models to draw among; None where the test failed
    groups: list[NDArray[np.int64]] = field(default_factory=list)

    def opener(self, plan: Plan, budget: Budget, seed: int | None = None) -> Releaser:
        """A Releaser that reports here."""
        gate = self

        class Told(Releaser):
            def _emit(self, release: Release, statistic: Array) -> Array:
                if release != plan.releases[-2]:  # the test comes right before the draw
                    return super()._emit(release, statistic)
                gate.statistic = float(statistic[0])
                return np.full(release.shape, gate.told)

            def _draw(self, release: Release, ordered: Array) -> Array:
                gate.ordered = ordered.copy()
                raise _Reached

            def _deal(self, sampling: Disjoint, n: int) -> Batches:
                batches = super()._deal(sampling, n)
                gate.groups = np.split(batches.rows, batches.starts[1:-1])
                return batches

        return Told(plan, budget, seed)


def _gate(model: Model, X: Array, y: Array, told: float = math.inf) -> _Gate:
    found = _Gate(told)
    with suppress(_Reached, PrivacyTestFailedError), use_releaser(found.opener):
        model.fit(X, y)
    return found


def _check_gate(model: Model, n_features: int, rng: Generator) -> None:
    """Where one row brings models from a wide box to a point, a test must stop nearly every draw.

    As many models lie far out as the shallowest box leaves out on a side, the last of them by one
    row; without it that box is a point. What the test needs to be told is found by bisection.
    """
    X, y = rng.uniform(-1.0, 1.0, (1_500, n_features)), np.zeros(1_500)
    same = _gate(model, X, y)
    assert same.ordered is not None
    far = _shallowest(same.ordered)
    y[np.concatenate(same.groups[1:far])] = FAR
    other = _gate(model, X, y)
    y[same.groups[0][0]] = FAR
    unsafe = _gate(model, X, y)
    assert other.ordered is not None
    assert unsafe.ordered is not None
    *_, test, draw = (plan := model.plan(n=len(y), n_features=n_features)).releases
    pair, slope = plan.pair(draw), 0.5 / plan.noise_scale(draw)
    assert isinstance(pair, ApproximateLoss)
    apart = max(divergences(unsafe.ordered, other.ordered, slope, pair.epsilon))
    low, high = unsafe.statistic, unsafe.statistic + 100.0 * plan.noise_scale(test)
    for _ in range(30):
        middle = (low + high) / 2
        passed = _gate(model, X, y, middle).ordered is not None
        low, high = (low, middle) if passed else (middle, high)
    chance = float(stats.laplace.sf((high - unsafe.statistic) / plan.noise_scale(test)))
    if chance * apart > pair.delta:
        raise AuditFailure(
            f"models whose draws are told apart with probability {apart:.3g} pass their test with "
            f"probability {chance:.3g}, more than delta = {pair.delta:.3g} together"
        )
