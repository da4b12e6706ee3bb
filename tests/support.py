"""What several tests need: noise off, and configured instances of every estimator."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import replace
from itertools import product

import numpy as np
from sklearn.base import BaseEstimator

import privlearn
from privlearn.problem import Budget, Neighbors
from privlearn.release import Releaser, releasing_with
from privlearn.solvers import SGD, SOLVERS, CoordinateDescent, DualCoordinateDescent, resolve


class NoNoise(Releaser):
    """Releases statistics as they are. It can issue no certificate."""

    def noise_scale(self, name):
        self._find(name)
        return 0.0

    def _emit(self, release, statistic):
        return statistic

    def _draw_noise(self, release, count):
        return np.zeros((count, *release.shape), dtype=np.int64)

    def certificate(self):
        return None


def without_noise():
    return releasing_with(NoNoise)


def modules():
    """Every module of the package, imported."""
    for info in pkgutil.walk_packages(privlearn.__path__, "privlearn."):
        yield importlib.import_module(info.name)


def every_estimator():
    """Every public estimator class, found by looking."""
    found = {}
    for module in modules():
        for name in getattr(module, "__all__", ()):
            thing = getattr(module, name)
            if _is_estimator(thing) and not name.startswith("Private"):
                found[thing.__qualname__] = thing
    return list(found.values())


def _is_estimator(thing):
    return inspect.isclass(thing) and issubclass(thing, BaseEstimator) and hasattr(thing, "fit")


N_FEATURES = 3
FACTS = {
    "box": {"bounds_X": ([-1.0, 0.0, 2.0], [3.0, 1.0, 9.0]), "bounds_y": (-2.0, 6.0)},
    "norm": {"data_norm": 2.5, "bounds_y": (-1.0, 1.0)},
    "box and norm": {"bounds_X": (0.0, 1.0), "data_norm": 1.5, "bounds_y": (0.0, 4.0)},
}


def accepted(estimator_class, facts):
    """The facts that a class has a parameter for; classifiers get their labels declared."""
    known = estimator_class().get_params()
    facts = {name: value for name, value in facts.items() if name in known}
    return ({"classes": [0, 1]} if "classes" in known else {}) | facts


def label(estimator_class, y):
    """Y for a regressor; whether it is above its middle for a classifier."""
    return y if "bounds_y" in estimator_class().get_params() else (y > 0.1).astype(int)


def configured(estimator_class, **parameters):
    """Instances with every relation, kind of bounds and intercept, labelled for test ids."""
    for relation, (kind, facts), intercept in product(Neighbors, FACTS.items(), (True, False)):
        if kind == "norm" and not intercept:
            continue
        name = f"{estimator_class.__name__}-{relation}-{kind}-{'with' if intercept else 'no'} 1"
        given = accepted(estimator_class, facts | parameters)
        yield name, estimator_class(neighbors=relation.value, fit_intercept=intercept, **given)


class FewDualSteps(DualCoordinateDescent):
    """Six epochs in 24 steps: a batch size would say so, but needs a public number of rows."""

    def configure(self, problem, budget):
        return replace(super().configure(problem, budget), steps=24, rate=0.25)


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
}


def solvers_for(estimator_class, n_classes=2):
    """Names of the solvers that support an estimator, "auto"'s choice for many rows first."""
    model = estimator_class(**accepted(estimator_class, FACTS["box"]))
    problem = model._problem(1_000_000, N_FEATURES, n_classes=n_classes)
    first = resolve("auto", problem, Budget(1.0, 1e-6)).name
    able = [name for name, solver in SOLVERS.items() if not solver.support.missing(problem)]
    return sorted(able, key=lambda name: name != first)


def modes_for(estimator_class, n_classes=2):
    """Short settings of every solver that supports an estimator, by name, "auto"'s choice first."""
    found = {}
    for name in solvers_for(estimator_class, n_classes):
        found |= SHORT.get(name, {name: name})
    return found


def every_configuration(**parameters):
    """Every estimator with its first solver in all configurations, with the others in some.

    Every solver, besides, in all configurations of the first estimator that it supports.
    """
    found, met = [], set()
    for cls in every_estimator():
        default = solvers_for(cls)[0]
        for solver in solvers_for(cls):
            (first, mode), *others = SHORT.get(solver, {solver: solver}).items()
            every = list(configured(cls, solver=mode, **parameters))
            if solver == default:
                found += every
            else:
                found += _named(every[:: 6 if solver in met else 1], first)
            for name, mode in others:
                found += _named(list(configured(cls, solver=mode, **parameters))[::6], name)
            met.add(solver)
        if "classes" in cls().get_params():
            mode = next(iter(modes_for(cls, n_classes=3).values()))
            three = {"classes": [0, 1, 2], "solver": mode}
            found += _named(list(configured(cls, **three, **parameters))[::6], "three classes")
        defaults = configured(cls, solver=default, **parameters)
        found += _named(list(defaults)[3:4], "defaults")
    return found


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
        def _penalty(self, n_features):
            return penalty

    return One(**parameters)


def exact(model, X, y):
    """The model, fitted without noise."""
    with without_noise():
        return model.fit(X, y)
