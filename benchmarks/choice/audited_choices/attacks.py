"""Outputs of lists and searches in two neighbouring worlds, and bugs to plant in them."""

from __future__ import annotations

import math
from contextlib import contextmanager
from dataclasses import replace
from unittest.mock import patch

import numpy as np

__all__ = ["BUGS", "best_outputs", "list_outputs", "list_plan", "planted", "search_outputs"]

ROWS = 60  # of a search
OTHERS = 40.0  # people who hold the common value
NOWHERE = -1e3  # the count of a value that was not published


def list_plan(relation: str, most: int, promise):
    """The release of frequent values alone, for the whole promise; a tenth of delta may fail."""
    from privlearn._core.adjacency import Adjacency
    from privlearn._core.calibration import calibrate
    from privlearn._core.plan import Plan
    from privlearn.schema.discovery import FAILURE, Discovery

    releases = tuple(one for one, _ in Discovery(0, 1, 20, FAILURE * promise.delta).releases())
    people = None if most == 1 else most
    blank = Plan(releases, Adjacency(relation), 1.0, rows_per_person=people)
    return calibrate(lambda scale: replace(blank, scale=scale), promise)


def list_worlds(relation: str, design: str, most: int):
    """Counts with the canary, whose every row has one value, and with its neighbour."""
    value = "own" if design == "alone" else "common"
    with_canary = {"common": OTHERS}
    with_canary[value] = with_canary.get(value, 0.0) + most
    without = {"common": OTHERS}
    if relation == "replace_one":
        without["other"] = float(most)
    return with_canary, without


def list_outputs(plan, promise, worlds, runs):
    """Noisy counts of the common and of the canary's own value, as they are published."""
    from privlearn._core.releaser import Releaser
    from privlearn.schema.discovery import LISTS

    found = []
    for counts in worlds:
        pile = np.full((runs, 2), NOWHERE)
        for row in pile:
            told = Releaser(plan, promise).publish(LISTS, counts, clip=1.0)
            row[:] = told.get("common", NOWHERE), told.get("own", NOWHERE)
        found.append(pile)
    return found


SCORES = {"the output": lambda x: x, "minus the output": lambda x: -x, "its size": abs}


def best_outputs(law, score: str, runs: int, promise):
    """The best of a secret number of Gaussian tries, whose mean the canary moves by mu."""
    from privlearn._core.adjacency import Adjacency
    from privlearn._core.norms import ONE_MODEL
    from privlearn._core.plan import Plan, Release
    from privlearn._core.releaser import Releaser

    release = Release("best", (2,), 1.0, norm=ONE_MODEL, mechanism=law)
    plan = Plan((release,), Adjacency.ZERO_OUT, 1.0)
    rng, found = np.random.default_rng(), []  # of the tries: any mechanism of this mu
    for mean in (law.mu, 0.0):
        pile = np.empty((runs, 1))
        for row in pile:

            def attempt(setting, seed, mean=mean):
                output = rng.normal(mean)
                return SCORES[score](output), output

            given = Releaser(plan, promise).best_of_tries("best", attempt, clip=1.0)
            # A bug may hand over all tries: their log likelihood ratio is what they tell.
            row[0] = given if np.isscalar(given) else _told(given, law.mu)
        found.append(pile)
    return found


def _told(outputs, mu: float) -> float:
    return float(np.sum(mu * np.asarray(outputs) - mu * mu / 2))


def search_outputs(promise, runs: int):
    """Setting, coefficient and score of small searches; the canary decides which setting wins."""
    from privlearn import Ridge
    from privlearn.model_selection import PrivateSearchCV

    model = Ridge(bounds_X=(-1, 1), bounds_y=(-1, 1), fit_intercept=False, on_invalid="drop")
    X, y = np.ones((ROWS, 1)), np.full(ROWS, -0.5)
    canary = np.array([1.0] + [-0.5] * (ROWS - 1))
    found = []
    for table in ((X, canary), (np.vstack([[np.nan], X[1:]]), y)):
        search = PrivateSearchCV(
            model.set_params(solver="cd"),
            {"alpha": [1e-3, 1e3]},
            epsilon=promise.epsilon,
            delta=promise.delta,
        )
        pile = np.empty((runs, 3))
        for row in pile:
            row[:] = _searched(search, table)
        found.append(pile)
    return found


def _searched(search, table):
    """What a search tells; that it fails is told, too."""
    from privlearn.exceptions import PrivacyTestFailedError

    try:
        search.fit(*table)
    except PrivacyTestFailedError:
        return NOWHERE, NOWHERE, NOWHERE
    return search.best_params_["alpha"], search.best_estimator_.coef_[0], search.best_score_


# Bugs


@contextmanager
def threshold_forgotten():
    from privlearn._core.mechanisms.frequent import FrequentValues

    with patch.object(FrequentValues, "threshold", lambda *facts: -math.inf):
        yield


@contextmanager
def noise_forgotten():
    from privlearn._core.mechanisms.frequent import FrequentValues

    def nothing(self, source, scale, shape):
        return np.zeros(shape, dtype=np.int64)

    with patch.object(FrequentValues, "draw", nothing, create=True):
        yield


@contextmanager
def rows_of_a_person_forgotten():
    from privlearn._core.plan import Plan

    with patch.object(Plan, "contribution", lambda self, release: release.clip):
        yield


@contextmanager
def all_tries_published():
    from privlearn._core.mechanisms import tries

    def everything(number, source, attempt):
        return [attempt()[1] for _ in range(number)]

    with patch.object(tries, "best_of", everything):
        yield


@contextmanager
def tries_without_noise():
    from benchmarks.audit.planting import less_noise

    with less_noise(0.05):
        yield


BUGS = {
    "threshold forgotten": threshold_forgotten,
    "noise on the counts forgotten": noise_forgotten,
    "rows of a person forgotten": rows_of_a_person_forgotten,
    "all tries published": all_tries_published,
    "a twentieth of the noise in each try": tries_without_noise,
}


@contextmanager
def planted(name: str):
    """One of the bugs, or none."""
    if not name:
        yield
        return
    with BUGS[name]():
        yield
