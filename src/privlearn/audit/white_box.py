"""White box: the joint likelihood ratio of everything that a fit releases, against its promise.

An attacker who sees every release, and not the model alone, can do no better than to look at the
ratio of its likelihoods with and without one row. Here that row is searched for, what it moves is
taken from real fits by replay, and the cost of *that* is put beside the plan's.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from privlearn._core.plan import Plan, Release
from privlearn.accounting import Gaussian, Pair, compose
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.accounting.shares import squared_mu
from privlearn.audit.adversary import Data, audited
from privlearn.audit.bounds import Attack, lower_bound
from privlearn.audit.canaries import SIZES, Design, loudest, worlds
from privlearn.audit.law import noise_on
from privlearn.audit.likelihood import COVERED, Story, charged, tell
from privlearn.audit.noise_scales import SURE, largest_scale
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.tape import Tape, record

__all__ = ["WhiteBox", "all_gaussian", "promised_mu", "white_box"]

Array = NDArray[np.float64]
ROUNDING = 1e-9  # of sums of squares
COMPOSED = 2e-3  # of costs that are composed numerically, each rounded upward
FINALISTS = 3
STEPS = 16  # distances within a sixteenth of the declared one cost alike, as the smallest


@dataclass(frozen=True)
class WhiteBox:
    """What was promised, what was planned, and what a search for the loudest row measured.

    Attributes
    ----------
    epsilon, delta : float
        Promised.
    planned, measured : float
        As mu: of a Gaussian mechanism that costs as much at `delta`. With delta = 0: as epsilon.
    unit : {"mu", "epsilon"}
        Which of the two.
    loss_mean, loss_deviation : float
        Of the logarithm of the likelihood ratio, over the runs. mu^2 / 2 and mu for Gaussian noise.
    noise : dict
        The largest scale of each release's noise that the runs do not rule out, over the declared.
    proven : Attack or None
        What the likelihood ratio of real fits proves (Clopper-Pearson), where both worlds could be
        run; few runs prove little.
    uncovered : tuple of str
        Releases whose mechanism has no density here: nothing was measured about them.
    """

    epsilon: float
    delta: float
    adjacency: str
    planned: float
    unit: str
    uncovered: tuple[str, ...] = ()
    measured: float = math.nan
    loss_mean: float = math.nan
    loss_deviation: float = math.nan
    noise: dict[str, float] = field(default_factory=dict)
    proven: Attack | None = None
    design: str = "nothing was run"
    runs: int = 0

    @property
    def ratio(self) -> float:
        """Measured over planned."""
        return self.measured / self.planned

    @property
    def short_of_noise(self) -> tuple[str, ...]:
        """Releases whose noise is surely less than declared, whatever rows there are."""
        return tuple(name for name, most in self.noise.items() if most < 1.0)

    @property
    def covered(self) -> bool:
        """Whether every release was measured."""
        return not self.uncovered

    def __str__(self) -> str:
        lines = [
            f"promised: epsilon = {self.epsilon:g} at delta = {self.delta:g} ({self.adjacency})",
            f"white box: {self.unit} = {self.measured:.4g} of {self.planned:.4g} planned "
            f"({self.ratio:.1%}), for the most influential of the rows that were tried",
            f"  {self.design}",
            f"  log likelihood ratio over {self.runs} runs: mean {self.loss_mean:.4g}, standard "
            f"deviation {self.loss_deviation:.4g} (error about {self.sampling_error:.0%})",
        ]
        if self.proven is not None:
            lines.append(f"  these runs alone prove mu >= {self.proven.mu:.4g}")
        lines += [f"  not covered: {name}" for name in self.uncovered]
        return "\n".join(lines)

    @property
    def sampling_error(self) -> float:
        """Relative standard error of a standard deviation that was estimated from the runs."""
        return 1.0 / math.sqrt(2.0 * max(self.runs - 1, 1))


def promised_mu(plan: Plan, delta: float) -> float:
    """The mu of a plan: exact where all of it is Gaussian and certain, else as costly at `delta`.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> plan = Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).plan(n=100, n_features=2)
    >>> round(promised_mu(plan, 1e-6), 3)
    0.237
    """
    return _mu(plan.pairs(), delta)


def _mu(pairs: list[tuple[Pair, int]], delta: float) -> float:
    if all(isinstance(pair, Gaussian) for pair, _ in pairs):
        return math.sqrt(math.fsum(count * squared_mu(pair) for pair, count in pairs))
    epsilon = compose(pairs).epsilon(delta)
    return equivalent_mu(epsilon, delta) if delta > 0 else epsilon


def white_box(
    estimator: Model,
    *,
    n_features: int,
    tries: int = 60,
    runs: int = 40,
    seed: int = 0,
    raises: bool = True,
) -> WhiteBox:
    """Measure how much the releases of a fit tell about the loudest row that a search finds.

    Parameters
    ----------
    estimator : estimator
        Of privlearn, configured with epsilon, delta, bounds and relation; it is cloned.
    n_features : int
        Number of columns of the data, which the audit makes itself.
    tries : int, default=60
        How many pairs of neighbours are tried.
    runs : int, default=40
        How many fits of the best are looked at.
    seed : int, default=0
        For the data and for reproducible noise.
    raises : bool, default=True
        Whether what is above its promise raises `AuditFailure`.

    Returns
    -------
    WhiteBox
        Promised, planned and measured.

    Examples
    --------
    >>> from privlearn import Ridge, audit
    >>> model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1), solver="moments")
    >>> audit.white_box(model, n_features=2, tries=10, runs=20).ratio > 0.9
    True
    """
    model = audited(estimator, on_invalid="drop", random_state=seed)
    plan = model.plan(n=SIZES[0], n_features=n_features)
    promised = _promised(model, plan)
    if promised.uncovered:
        return promised  # releases without a known density: nothing is measured, and it says so
    search = _Search(model, n_features, seed)
    found = loudest(search.loudness, n_features, np.random.default_rng(seed), tries)
    few = max(2, runs // 8)
    best = max(
        found[:FINALISTS],
        key=lambda design: float(np.mean([search.loudness(design, k + 1) for k in range(few)])),
    )
    return _judged(model, search.watch(best, runs), best, raises)


def _promised(model: Model, plan: Plan) -> WhiteBox:
    """What is known before anything was run."""
    delta = float(model.delta)
    return WhiteBox(
        epsilon=float(model.epsilon),
        delta=delta,
        adjacency=plan.adjacency.value,
        planned=promised_mu(plan, delta),
        unit="mu" if delta > 0 or all_gaussian(plan) else "epsilon",
        uncovered=tuple(r.name for r in plan.releases if r.mechanism.name not in COVERED),
    )


class _Search:
    """Records and replays one estimator on designs."""

    def __init__(self, model: Model, n_features: int, seed: int) -> None:
        self.model, self.n_features, self.seed = model, n_features, seed

    def loudness(self, design: Design, run: int = 0) -> float:
        """Squared mu of what was moved; the plan's is the same for all designs of one size."""
        data, other = worlds(self.model, self.n_features, design)
        story = self.run(data, other, data, run)[1]
        replaces = story.plan.adjacency.replaces
        costs = [
            squared_mu(
                charged(release, np.nan_to_num(shift), story.plan.noise_scale(release), replaces)
            )
            for release, shift in story.charges()
        ]
        planned = [times * squared_mu(pair) for pair, times in story.plan.pairs()]
        return math.fsum(costs) / math.fsum(planned)

    def run(self, data: Data, other: Data, fitted: Data, run: int) -> tuple[Tape, Story]:
        """Fit to one of the two data sets, and tell what both would have made of it."""
        self.model.set_params(random_state=self.seed + 7919 * run)
        tape = record(self.model, fitted.X, fitted.y, **fitted.named)
        return tape, tell(tape, self.model, data, other, on_other=fitted is other)

    def watch(self, design: Design, runs: int) -> _Watched:
        """Many runs in both worlds."""
        data, other = worlds(self.model, self.n_features, design)
        both = [self.run(data, other, data, 100 + k) for k in range(runs)]
        plan = both[0][1].plan
        if other.units < data.units and any(r.sampling.at_once for r in plan.releases):
            absent = []  # rows that are dealt: a tape of the smaller data lacks the canary's place
        else:
            absent = [self.run(data, other, other, 100 + runs + k)[1].loss() for k in range(runs)]
        return _Watched([tape for tape, _ in both], [story for _, story in both], np.array(absent))


@dataclass(frozen=True, eq=False)
class _Watched:
    tapes: list[Tape]
    stories: list[Story]
    absent: Array

    @property
    def plan(self) -> Plan:
        return self.stories[0].plan

    def moved(self) -> list[tuple[Release, float]]:
        """Every charge with the root mean square of its distance over the runs."""
        charges = [story.charges() for story in self.stories]
        table = np.array([[shift for _, shift in run] for run in charges])
        with np.errstate(invalid="ignore"):
            counted = np.maximum(np.sum(~np.isnan(table), axis=0), 1)
            mean = np.sqrt(np.nansum(table**2, axis=0) / counted)
        return [(release, float(m)) for (release, _), m in zip(charges[0], mean, strict=True)]

    def too_far(self) -> str | None:
        """A release that moved further than declared in some run."""
        for story in self.stories:
            for release, shift in story.charges():
                law = release.sampling.visits
                visits = law[0][0] if law is not None and len(law) == 1 else 1
                if shift > self.plan.sensitivity(release, visits) * (1.0 + ROUNDING):
                    return release.name
        return None

    def noise(self) -> dict[str, float]:
        """For each release: the largest scale, over the declared, that the runs do not rule out."""
        kinds = {release.name: release.mechanism.name for release in self.plan.releases}
        return {
            name: largest_scale(noise, kinds[name])
            for name, noise in noise_on(self.tapes).items()
            if kinds[name] in COVERED
        }


def _judged(model: Model, watched: _Watched, design: Design, raises: bool) -> WhiteBox:
    plan, noise, delta = watched.plan, watched.noise(), float(model.delta)
    losses = np.array([story.loss() for story in watched.stories])
    proven = surely = None
    if len(watched.absent) >= 8:
        proven = lower_bound(losses, watched.absent, delta, by="mu")
        surely = lower_bound(losses, watched.absent, delta, by="mu", confidence=1.0 - SURE)
    report = replace(
        _promised(model, plan),
        measured=_mu(_pairs_of(watched.moved(), plan, noise), delta),
        loss_mean=float(np.mean(losses)),
        loss_deviation=float(np.std(losses, ddof=1)),
        noise=noise,
        proven=proven,
        design=str(design),
        runs=len(losses),
    )
    if raises:
        _demand_kept(report, watched.too_far(), surely, plan)
    return report


def all_gaussian(plan: Plan) -> bool:
    """Whether the whole plan is one Gaussian mechanism, so that its mu says everything."""
    return all(isinstance(pair, Gaussian) for pair, _ in plan.pairs())


def _pairs_of(
    moved: list[tuple[Release, float]], plan: Plan, noise: dict[str, float]
) -> list[tuple[Pair, int]]:
    """Pairs of what was moved, with the noise that was measured where that is surely less."""
    groups: dict[tuple[str, int], list[float]] = defaultdict(list)
    releases = {release.name: release for release, _ in moved}
    level = max(plan.levels, default=None)
    for release, shift in moved:
        if release.level not in (None, level):
            continue  # people of one level enter what is for them alone
        groups[release.name, round(STEPS * shift / plan.sensitivity(release))].append(shift)
    found = []
    for (name, _), shifts in groups.items():
        release = releases[name]
        scale = plan.noise_scale(release) * min(1.0, noise.get(name, 1.0))
        pair = charged(release, min(shifts), scale, plan.adjacency.replaces)
        found.append((pair, len(shifts)))
    return found


def _demand_kept(report: WhiteBox, too_far: str | None, surely: Attack | None, plan: Plan) -> None:
    rounding = ROUNDING if all_gaussian(plan) else COMPOSED
    if too_far is not None:
        raise AuditFailure(f"{too_far!r} moved further than its plan declares: {report}")
    if report.measured > report.planned * (1.0 + rounding):
        raise AuditFailure(f"more was measured than planned: {report}")
    for name in report.short_of_noise:
        most = report.noise[name]
        raise AuditFailure(f"{name!r} has at most {most:.3g} of its declared noise: {report}")
    # A cost at one delta says nothing about error rates elsewhere, unless all of it is Gaussian.
    most = report.planned if all_gaussian(plan) else math.inf
    if surely is not None and (surely.mu > most or surely.epsilon > report.epsilon):
        raise AuditFailure(f"the likelihood ratio of real fits proves more than planned: {report}")
    spent = plan.epsilon(report.delta)
    if spent > report.epsilon * (1.0 + 1e-6):
        raise AuditFailure(f"the plan costs epsilon = {spent:.6g}, more than promised: {report}")
