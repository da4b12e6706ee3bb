"""What several tests need: noise off, and configured instances of every estimator."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
from dataclasses import replace
from functools import cache
from itertools import islice, product

import numpy as np
from sklearn.base import BaseEstimator

import privlearn
from privlearn import (
    HuberRegressor,
    KernelRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    audit,
)
from privlearn._core.numerics import round_to_grid
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.releaser import Releaser, use_releaser
from privlearn.audit.charge import _watched
from privlearn.audit.draws import draws_by_depth
from privlearn.audit.levels import paid, takes_levels
from privlearn.audit.people import has_people
from privlearn.audit.tape import record, replay_on
from privlearn.private_bounds import WithPrivateBounds
from privlearn.solvers import (
    SGD,
    SOLVERS,
    BoostedStatistics,
    CoordinateDescent,
    DualCoordinateDescent,
    OnePassSGD,
    OutputPerturbation,
    Tukey,
    resolve,
)


class NoNoise(Releaser):
    """Releases statistics as they are. It can issue no certificate."""

    def noise_scale(self, name):
        self._find(name)
        return 0.0

    def _emit(self, release, statistic):
        return statistic

    def _draw_noise(self, release, count):
        return np.zeros((count, *release.shape), dtype=np.int64)

    def _draw(self, release, ordered):
        return np.median(ordered, axis=0)

    def certificate(self):
        return None


def without_noise():
    return use_releaser(NoNoise)


def modules():
    """Every module of the package, imported; kernels for a GPU where their compiler is there."""
    for info in pkgutil.walk_packages(privlearn.__path__, "privlearn."):
        if not info.name.endswith("kernels") or importlib.util.find_spec("triton"):
            yield importlib.import_module(info.name)


@cache
def every_estimator():
    """Every public estimator class, found by looking; a tuple, linear models first."""
    found = {}
    for module in modules():
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if _is_estimator(thing) and not name.startswith("Private"):
                found[thing.__qualname__] = thing
    return tuple(sorted(found.values(), key=is_kernel))


def is_kernel(estimator_class):
    """Whether features stand between the data and a linear solver."""
    return "n_components" in estimator_class().get_params()


def _is_estimator(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseEstimator) and hasattr(thing, "predict")


N_FEATURES = 3
FEW = {"n_components": 6}  # of kernels
FACTS = {
    "box": {"bounds_X": ([-1.0, 0.0, 2.0], [3.0, 1.0, 9.0]), "bounds_y": (-2.0, 6.0), **FEW},
    "norm": {"data_norm": 2.5, "bounds_y": (-1.0, 1.0), "bandwidth": 1.5, **FEW},
    # The box excludes zero, so that shrinking a row to the norm could take it out of the box.
    "box and norm": {
        "bounds_X": ([0.0, 0.6, -1.0], [1.0, 3.0, -0.25]),
        "data_norm": 1.5,
        "bounds_y": (0.0, 4.0),
        **FEW,
    },
}


def takes_counts(estimator_class):
    """Whether y must not be negative."""
    return estimator_class().__sklearn_tags__().target_tags.positive_only


def accepted(estimator_class, facts):
    """The facts that a class has a parameter for; classifiers get their labels declared."""
    known = estimator_class().get_params()
    facts = {name: value for name, value in facts.items() if name in known}
    if takes_counts(estimator_class) and facts.get("bounds_y") is not None:
        facts["bounds_y"] = tuple(max(end, 0.0) for end in facts["bounds_y"])
    return ({"classes": [0, 1]} if "classes" in known else {}) | facts


def label(estimator_class, y):
    """Y for a regressor, its size for counts; whether it is above its middle for a classifier."""
    if takes_counts(estimator_class):
        return np.abs(y)
    return y if "bounds_y" in estimator_class().get_params() else (y > 0.1).astype(int)


def configured(estimator_class, **parameters):
    """Instances with every relation, kind of bounds and intercept, labelled for test ids."""
    for relation, (kind, facts), intercept in product(Adjacency, FACTS.items(), (True, False)):
        if kind == "norm" and not intercept:
            continue
        name = f"{estimator_class.__name__}-{relation}-{kind}-{'with' if intercept else 'no'} 1"
        given = accepted(estimator_class, facts | parameters)
        yield name, estimator_class(adjacency=relation.value, fit_intercept=intercept, **given)


class FewDualSteps(DualCoordinateDescent):
    """Six epochs in 24 steps: a batch size would say so, but needs a public number of rows."""

    def configure(self, problem, budget):
        return replace(super().configure(problem, budget), steps=24, rate=0.25)


class FewBatches(OnePassSGD):
    """Five batches: a batch size would say so, but needs a public number of rows."""

    def configure(self, problem, budget):
        return replace(super().configure(problem, budget), batches=5)


# Fewer steps than by rule: replay takes each of them hundreds of times. The first of a solver's
# modes goes through all configurations where "auto" takes that solver.
SHORT = {
    "sgd": {"sgd": SGD(steps=24, momentum=0.5)},
    "scd": {"scd": FewDualSteps()},
    "cd": {
        "whole": CoordinateDescent(passes=5, block="all"),
        "sweeps": CoordinateDescent(passes=4, block=1),
        "greedy": CoordinateDescent(passes=6, selection="greedy"),
    },
    "one-pass": {
        "one-pass": FewBatches(noise="spherical"),
        "one-pass, Gaussian": FewBatches(noise="gaussian"),
    },
    "output": {
        "output": OutputPerturbation(epochs=2),
        "output, with replacement": OutputPerturbation(epochs=1, sampling="with_replacement"),
    },
    "boosted": {
        "boosted": BoostedStatistics(rounds=3),
        "boosted, clip given": BoostedStatistics(rounds=3, clip=0.9),
    },
}
# These are audited in a few configurations of each estimator, other ones every time: all of them
# would take minutes, and what differs between estimators is in files that solvers share.
SAMPLED = ("one-pass", "output", "boosted")
APART = ("tukey",)  # whose test fails on the adversary's few rows unless epsilon is large


@cache
def solvers_for(estimator_class, n_classes=2):
    """Names of the solvers that support an estimator, "auto"'s choice for many rows first."""
    model = estimator_class(**accepted(estimator_class, FACTS["box"]))
    problem = model._problem(1_000_000, N_FEATURES, n_classes=n_classes)
    first = resolve("auto", problem, Budget(1.0, 1e-6)).name
    able = [name for name, solver in SOLVERS.items() if not solver.support.missing(problem)]
    return tuple(sorted(able, key=lambda name: name != first))


def modes_for(estimator_class, n_classes=2):
    """Short settings of every solver that supports an estimator, by name, "auto"'s choice first."""
    found = {}
    for name in solvers_for(estimator_class, n_classes):
        found |= SHORT.get(name, {name: name})
    if n_classes > 2:  # they move together, not one coordinate at a time
        found = {mode: own for mode, own in found.items() if mode not in ("sweeps", "greedy")}
    return found


def every_configuration(**parameters):
    """Every estimator with its first solver in all configurations, with the others in some.

    Every solver, besides, in all configurations of the first estimator that it supports; those of
    `SAMPLED` in fewer.
    """
    found, met = [], set()
    for cls in every_estimator():
        default = solvers_for(cls)[0]
        for solver in solvers_for(cls):
            if solver in APART:
                continue
            if solver in SAMPLED or is_kernel(cls):
                found += _sampled(cls, solver, parameters, first=solver not in met)
            else:
                found += _in_full(cls, solver, parameters, solver == default, solver not in met)
            met.add(solver)
        if "classes" in cls().get_params():
            for place, solver in enumerate(solvers_for(cls, n_classes=3)[:2]):
                mode = next(iter(SHORT.get(solver, {solver: solver}).values()))
                three = list(configured(cls, classes=[0, 1, 2], solver=mode, **parameters))
                found += _named(three[3 * place :: 6], f"three classes, {solver}")
        defaults = configured(cls, solver=default, **parameters)
        found += _named(list(defaults)[3:4], "defaults")
    return found + list(special_configurations(**parameters))


def _in_full(cls, solver, parameters, default, first):
    """All configurations of a default, and where the solver is new; others in some."""
    (name, mode), *others = SHORT.get(solver, {solver: solver}).items()
    every = list(configured(cls, solver=mode, **parameters))
    found = every if default else _named(every[:: 1 if first else 6], name)
    for name, mode in others:
        found += _named(list(configured(cls, solver=mode, **parameters))[::6], name)
    return found


def _sampled(cls, solver, parameters, first):
    """Five configurations where the solver is new, one elsewhere, another one each time.

    Steps of 7 change relation and bounds every time. Modes beyond the first take turns.
    """
    place = every_estimator().index(cls)
    modes = list(SHORT.get(solver, {solver: solver}).items())
    found = []
    for k, (name, mode) in enumerate(modes):
        every = [pair for pair in configured(cls, solver=mode, **parameters) if possible(pair[1])]
        if first and k == 0:
            found += _named(every[::3], name)
        elif k == 0 or (place + k) % 2:
            found += _named([every[(7 * place + 4 * k) % len(every)]], name)
    return found


def possible(model):
    """Whether the solver has a proof for the relation, and its clip leaves rows in the box."""
    drawn = getattr(model.solver, "sampling", "") == "with_replacement"
    far = getattr(model, "bounds_X", None) == FACTS["box"]["bounds_X"]
    clipped = isinstance(model.solver, BoostedStatistics) and model.solver.clip is not None
    return not (far and clipped) and (not drawn or Adjacency(model.adjacency).n_is_public)


class Levelled(LogisticRegression):
    """People take turns with two levels."""

    rows_have_places = True

    def fit(self, X, y, sample_epsilon=None, **others):
        given = (
            self._own(X.shape[0] if hasattr(X, "shape") else len(X))
            if sample_epsilon is None
            else sample_epsilon
        )
        return super().fit(X, y, sample_epsilon=given, **others)

    def plan(self, n=None, *, n_features, n_classes=2, sample_epsilon=None):
        given = self._own(n) if sample_epsilon is None else sample_epsilon
        return super().plan(n, n_features=n_features, n_classes=n_classes, sample_epsilon=given)

    def _own(self, n):
        return np.where(np.arange(n) % 2, 0.2, 1.0)


class ManyLevels(Levelled):
    """Twenty levels, which have to be merged. The eighth row has nobody's level of its own.

    It is the last of the adversary's few rows, and the list of personal epsilons is public.
    """

    def _own(self, n):
        row = np.arange(n)
        return np.geomspace(0.05, 1.0, 20)[np.where(row < 8, 3 * row % 7, row % 20)]


class Streamed(LogisticRegression):
    """A fit that feeds a stream, the last rows first: all but six, then two, then four."""

    rows_have_places = True

    def fit(self, X, y):
        self.__dict__.pop("_stream", None)
        for rows in (slice(6, None), slice(4, 6), slice(0, 4)):
            self.partial_fit(X[rows], y[rows])
        return self

    def plan(self, n=None, *, n_features, **others):
        X, y = np.zeros((4, n_features)), np.zeros(4)
        self._validate_params()
        table = self._read(X, y, self.classes)
        return self._planned_stream(self._streaming_solver(), table, None)[0].plan


def checks_for(model, n_features=N_FEATURES):
    """The audits that say something about a model; for `check_row_locality` see `for_reading`.

    Those of levels, of draws by depth and of people return at once where there are none.

    A stream opens its plan anew for every batch and makes its release once in each, which the
    checks of plan, ledger and sampling, written for one fit with one opening, take for a mistake.
    """
    idle = {audit.check_row_locality}
    if not takes_levels(model, n_features):
        idle.add(audit.check_levels)
    if not draws_by_depth(model, n_features):
        idle.add(audit.check_draws)
    if not has_people(model):
        idle.add(audit.check_people)
    if isinstance(model, Streamed):
        idle |= {audit.check_plan, audit.check_ledger, audit.check_sampling}
    every = [check for check in audit.CHECKS if check not in idle]
    return [check_stream, *every] if isinstance(model, Streamed) else every


EVERY_THIRD = 3


def run_quickly(check, model, n_features=N_FEATURES, first=0):
    """An audit as the fast tests run it: replays look at every third data set, from `first` on.

    There are 19 kinds of rows for each of three data sets of others, so that all kinds are met.
    """
    thirds = {"first": first, "every": EVERY_THIRD}
    quicker = thirds if check is audit.check_replay else {}
    check(model, n_features=n_features, **quicker)


def solver_of(model):
    """The name of the solver."""
    return model.solver if isinstance(model.solver, str) else model.solver.name


def for_reading(configurations):
    """A configuration of every estimator and of every solver, by name.

    How rows are read depends on them alone, and `check_row_locality` fits hundreds of times.
    """
    met = set()
    for name, model in configurations:
        new = {type(model).__name__, solver_of(model)} - met
        if new and type(model) in every_estimator():
            met |= new
            yield name, model


def check_stream(estimator, *, n_features, seed=0):
    """A stream is charged once, and first; batches share no noise; nobody is in two of them."""
    _check_charge(estimator, n_features, seed)
    model = audit.adversary.audited(estimator, on_invalid="drop", random_state=seed)
    rng = np.random.default_rng(seed)
    for data, neighbours in islice(audit.adversary.neighbourhoods(model, n_features, rng), 0, 40):
        tape = record(model, data.X, data.y)
        entries = [(e, tape.plan.grid(e.release)) for e in tape.entries]
        noises = [round_to_grid(e.released, g) - round_to_grid(e.statistic, g) for e, g in entries]
        if len({noise.tobytes() for noise in noises}) < len(noises):
            raise audit.AuditFailure("two batches of a stream have the same noise")
        spent, _ = paid(tape, replay_on(tape, model, neighbours[0].X, neighbours[0].y))
        if not spent <= model.epsilon * (1 + 1e-6):
            raise audit.AuditFailure(f"one row cost {spent:.6g} in all batches: {data.story}")


def _check_charge(estimator, n_features, seed):
    """One charge, before anything else, with the plan that every batch is released by."""
    witness, model = _watched(estimator, n_features, seed, refuses=False)
    if witness.events.count("charge") != 1 or witness.events[0] != "charge":
        raise audit.AuditFailure("a stream was not charged once, and before anything else")
    if any(plan != witness.charged[0] for plan in witness.opened):
        raise audit.AuditFailure("another plan was charged than the one that was released")
    if witness.charged[0] != model.plan(n_features=n_features):
        raise audit.AuditFailure("another plan was charged than the one that was announced")
    if witness.events.count("release") != len(witness.opened):
        raise audit.AuditFailure("a batch was not released once")
    witness, model = _watched(estimator, n_features, seed, refuses=True)
    if witness.events != ["charge"] or hasattr(model, "privacy_"):
        raise audit.AuditFailure("something left although the ledger had refused")


def special_configurations(**parameters):
    """Levels, streams, three classes and pure privacy."""
    pure, many, three = {"delta": 0.0}, {"solver": FewBatches()}, {"classes": [0, 1, 2]}
    stream = {"solver": OnePassSGD(batch_size=500), "delta": 0.0}
    for k, relation in enumerate(Adjacency):
        known = {"adjacency": relation.value, "classes": [0, 1]}
        known |= accepted(LogisticRegression, list(FACTS.values())[k]) | parameters
        yield f"two levels-{relation}", Levelled(**known | many | pure)
        yield f"twenty levels-{relation}", ManyLevels(**known | many)
        yield f"stream-{relation}", Streamed(**known | stream)
    known = accepted(LogisticRegression, FACTS["box"]) | parameters | three
    kernel = accepted(KernelRegressor, FACTS["norm"]) | parameters
    yield "kernel that takes levels", KernelRegressor(**kernel | many | pure)
    for name in ("one-pass", "output"):
        solver = next(iter(SHORT[name].values()))
        yield f"three classes-{name}", LogisticRegression(**known | pure, solver=solver)
    for relation in Adjacency:
        for name, solver in SHORT["boosted"].items():
            bare = {"adjacency": relation.value, "solver": solver} | parameters
            yield f"{name}, nothing declared-{relation}", LinearRegression(**bare)
    yield from _shrinking(**parameters)
    yield from _tukey(**parameters)
    yield from _estimated(**parameters)
    yield from _off_zero(**parameters)
    yield from _with_errors(**parameters)


def _with_errors(**parameters):
    """Standard errors take releases of their own."""
    short = CoordinateDescent(passes=4)
    kinds = LinearRegression, LogisticRegression, PoissonRegressor
    for k, (cls, relation) in enumerate(product(kinds, Adjacency)):
        facts = list(FACTS.values())[k % 3]
        known = accepted(cls, facts) | {"adjacency": relation.value, "solver": short} | parameters
        if cls is PoissonRegressor:
            known["bounds_y"] = (0.0, 6.0)
        if "classes" in cls().get_params():
            known["classes"] = [0, 1]
        yield f"intervals-{cls.__name__}-{relation}", cls(intervals=True, **known)
    width = FEW["n_components"] + N_FEATURES
    even = CoordinateDescent(passes=4, of_one_size=True, smoothness=(1.0 / width,) * width)
    for relation in Adjacency:
        own = {"adjacency": relation.value, "solver": even, "bounds_y": (-1.0, 1.0)} | FEW
        box = {"bounds_X": ([-1.0] * N_FEATURES, [1.0] * N_FEATURES)} | own | parameters
        yield f"intervals-KernelRegressor-{relation}", KernelRegressor(intervals=True, **box)


def _shrinking(**parameters):
    """A penalty so strong that it shrinks what rows have done before their epoch is over."""
    drawn = OutputPerturbation(epochs=4, step_size=0.02, sampling="with_replacement")
    known = {"bounds_X": ([-1.0] * 3, [1.0] * 3), "bounds_y": (-1.0, 1.0)} | parameters
    model = Ridge(alpha=200.0, fit_intercept=False, solver=drawn, **known)
    yield "strong penalty, with replacement-zero_out", model


def _off_zero(**parameters):
    """Boxes far from zero or without width beside a norm that hardly any row of them has."""
    far = {"bounds_X": ([1990.0, 0.0, 5.0], [2020.0, 1e5, 5.0]), "data_norm": 5e4}
    for relation, solver in product(Adjacency, ("moments", "boosted", "output")):
        given = {
            "adjacency": relation.value,
            "solver": next(iter(SHORT.get(solver, {solver: solver}).values())),
        }
        model = LinearRegression(**far, bounds_y=(-2.0, 6.0), **given, **parameters)
        yield f"far from zero-{solver}-{relation}", model


def _tukey(**parameters):
    """So many models that draws vary, and so large an epsilon that their test passes.

    79 divides 1,501, so that equal parts of the adversary's rows all change with one row less.
    """
    few = {"solver": Tukey(models=79), "epsilon": 8.0} | parameters
    for relation in Adjacency:
        yield (
            f"tukey, nothing declared-{relation}",
            LinearRegression(adjacency=relation.value, **few),
        )
    known = few | accepted(LinearRegression, FACTS["box and norm"])
    yield "tukey, no 1-zero_out", LinearRegression(fit_intercept=False, **known)


class Selecting(LinearRegression):
    """Keeps two features, as the rule does where there are hundreds."""

    def _solver_for(self, problem, budget):
        solver = resolve(self.solver, problem, budget)
        return problem, WithPrivateBounds(solver, ("features", "target"), keep=2)


class Partly(LinearRegression):
    """Of one column a range is declared, of one nothing, and one is known to be 0 or 1."""

    def _problem(self, n, n_features, n_classes):
        problem = super()._problem(n, n_features, n_classes)
        box = np.array([[-1.0, -np.inf, 0.0], [3.0, np.inf, 1.0]])
        known = np.array([False, False, True])
        return replace(
            problem, bounds=replace(problem.bounds, low=box[0], high=box[1], known=known)
        )


class PartlySelecting(Partly, Selecting):
    """The same where two features are kept, of which one or two need a range."""


class PartlyCloser(Partly):
    """The same where one looks inside the declared range as well."""

    def _solver_for(self, problem, budget):
        solver = resolve(self.solver, problem, budget)
        return problem, WithPrivateBounds(solver, ("features", "target"))


def _estimated(**parameters):
    """Nothing declared, or half of what there is; and features of which not all are estimated."""
    whole, moments = SHORT["cd"]["whole"], SOLVERS["moments"]()
    two = {"classes": [0, 1]}
    for k, relation in enumerate(Adjacency):
        own = {"adjacency": relation.value} | parameters
        yield f"estimated-{relation}", LinearRegression(solver=whole, **own)
        yield f"estimated target-{relation}", LinearRegression(solver=moments, data_norm=2.0, **own)
        yield f"selected and estimated-{relation}", Selecting(solver=whole, **own)
        partly = (Partly, PartlySelecting, PartlyCloser)[k]
        yield f"partly declared-{relation}", partly(solver=moments if k else whole, **own)
        yield (
            f"estimated features-{relation}",
            [
                LogisticRegression(solver=FewDualSteps(), **two, **own),
                HuberRegressor(solver=whole, bounds_y=(-1.0, 1.0), **own),
                KernelRegressor(solver=FewDualSteps(), bounds_y=(-1.0, 1.0), **FEW, **own),
            ][k],
        )


def _named(configurations, what):
    """The same with more to their names; every sixth are one kind of bounds per relation."""
    return [(f"{name}-{what}", model) for name, model in configurations]


def regression(n=2_000, p=4, seed=0):
    """Data inside [-1, 1]^p x [-1, 1] with a known linear part."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p))
    coef = np.linspace(0.5, -0.3, p) / p
    y = np.clip(X @ coef + 0.1 + 0.05 * rng.standard_normal(n), -1, 1)
    return X, y


NUMBERS = ("squared", "huber")


def sloped(loss, n=150, seed=0):
    """Features of different spread, somewhat correlated and away from zero."""
    rng = np.random.default_rng(seed)
    mix = np.eye(4) + 0.1 * rng.standard_normal((4, 4))
    X = rng.uniform(-1, 1, (n, 4)) @ mix + [0.0, 0.2, -0.3, 0.0]
    score = X @ [1.5, -1.0, 0.3, 0.0] + 0.4
    if loss not in NUMBERS:
        return X, np.where(rng.random(n) < 1 / (1 + np.exp(-2 * score)), 1, 0)
    y = score + 0.3 * rng.standard_normal(n)
    if loss == "huber":
        y[::9] = 6.0
    return X, y


def facts(X, y, loss):
    """Bounds that clip nothing; a test may look at its own data."""
    known = {"bounds_X": (X.min(axis=0) - 0.1, X.max(axis=0) + 0.1)}
    return known | ({"bounds_y": (y.min() - 1, y.max())} if loss in NUMBERS else {})


def tilted(n=5_000, seed=3):
    """Six features of spread 1, three of which matter."""
    rng = np.random.default_rng(seed)
    X = np.clip(rng.standard_normal((n, 6)), -4, 4)
    return X, X @ [0.8, 0.0, -0.5, 0.0, 0.3, 0.0] + 0.5 * rng.standard_normal(n)


def with_penalty(estimator_class, penalty, **parameters):
    """An estimator of that class with any penalty."""

    class One(estimator_class):
        def _penalty(self):
            return penalty

    return One(**parameters)


def exact(model, X, y):
    """The model, fitted without noise."""
    with without_noise():
        return model.fit(X, y)
