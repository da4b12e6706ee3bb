"""What several tests need: noise off, and configured instances of every estimator."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from itertools import product

import numpy as np
from sklearn.base import BaseEstimator

import privlearn
from privlearn.problem import Neighbors
from privlearn.release import Releaser, releasing_with


class NoNoise(Releaser):
    """Releases statistics as they are. It can issue no certificate."""

    def noise_scale(self, name):
        self._find(name)
        return 0.0

    def _emit(self, release, statistic):
        return statistic

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


def configured(estimator_class, **parameters):
    """Instances with every relation, kind of bounds and intercept, labelled for test ids."""
    for relation, (label, facts), intercept in product(Neighbors, FACTS.items(), (True, False)):
        if label == "norm" and not intercept:
            continue
        name = f"{estimator_class.__name__}-{relation}-{label}-{'with' if intercept else 'no'} 1"
        model = estimator_class(
            neighbors=relation.value, fit_intercept=intercept, **facts, **parameters
        )
        yield name, model


def every_configuration(**parameters):
    return [pair for cls in every_estimator() for pair in configured(cls, **parameters)]


def regression(n=2_000, p=4, seed=0):
    """Data inside [-1, 1]^p x [-1, 1] with a known linear part."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, p))
    coef = np.linspace(0.5, -0.3, p) / p
    y = np.clip(X @ coef + 0.1 + 0.05 * rng.standard_normal(n), -1, 1)
    return X, y
