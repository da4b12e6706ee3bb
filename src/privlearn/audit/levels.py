"""Does everybody's own promise hold where people have different ones?

Replay tells what one person moves. Here it is set against the noise, as a cost, and compared with
what that person was promised: whoever decides on levels, their merging or their noise has no say.
"""

from __future__ import annotations

import math
from inspect import signature
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from privlearn._core.mechanisms import GAUSSIAN
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.audit.adversary import Data, audited, neighbourhoods
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.replay import moved
from privlearn.audit.tape import Tape, record, replay_on
from privlearn.exceptions import MissingFactError, UnsupportedCombinationError

__all__ = ["check_levels", "paid", "takes_levels"]

Array = NDArray[np.float64]
LEVELS = 20  # distinct ones: more than a solver will want to keep apart
SPREAD = 20.0  # the largest over the smallest
EVERY = 20  # of the adversary's neighbourhoods: one with each of its data sets
ROUNDING = 1e-6


def paid(tape: Tape, again: Tape) -> tuple[float, float]:
    """What two runs tell apart: epsilons of pure noise, added up, and the mu of all Gaussians."""
    pure, squares = 0.0, 0.0
    for first, second in zip(tape.entries, again.entries, strict=True):
        ratio = moved(tape.plan, first, second) / tape.plan.noise_scale(first.release)
        if first.release.mechanism == GAUSSIAN:
            squares += ratio**2
        else:
            pure += ratio
    return pure, math.sqrt(squares)


def check_levels(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Refute somebody's own promise where `fit` takes one per person, or pass.

    Parameters
    ----------
    estimator : estimator
        One that refuses `sample_epsilon` passes.
    n_features : int
        Number of columns of the adversarial data.
    seed : int, default=0
        For the adversarial data, the levels and reproducible noise.
    """
    rng = np.random.default_rng(seed)
    model = audited(estimator, on_invalid="drop", random_state=seed)
    if not takes_levels(model, n_features):
        return
    levels = model.epsilon * SPREAD ** -np.append(np.sort(rng.random(LEVELS - 1))[::-1], 0.0)
    looked_at = islice(neighbourhoods(model, n_features, rng), 0, None, EVERY)
    for k, (data, neighbours) in enumerate(looked_at):
        tried = levels[k::3]  # all of them, but some with each data set
        for level in tried:
            everybody = _levels_around(level, tried, levels, len(data.y))
            _compare(model, data, neighbours[0], everybody)


def takes_levels(model: Model, n_features: int) -> bool:
    """Whether people may have levels of their own, so that there is something to check."""
    if "sample_epsilon" not in signature(model.fit).parameters:
        return False
    try:
        model.plan(n=10, n_features=n_features, sample_epsilon=np.full(10, model.epsilon))
    except (MissingFactError, UnsupportedCombinationError):
        return False
    return True


def _levels_around(level: float, tried: Array, levels: Array, n: int) -> Array:
    """One level per row; the last row, which differs, has one that others have, too.

    The list of levels is public, so it must not depend on whether that row is there.
    """
    return np.append(np.resize(np.concatenate([tried, levels]), n - 1), level)


def _compare(model: Model, data: Data, other: Data, levels: Array) -> None:
    level = float(levels[-1])
    tape = record(model, data.X, data.y, sample_epsilon=levels)
    again = replay_on(tape, model, other.X, other.y, sample_epsilon=levels[: len(other.y)])
    if tape.plan != again.plan or len(tape.entries) != len(again.entries):
        raise AuditFailure(f"the plan depends on the data: {data.story} against {other.story}")
    pure, mu = paid(tape, again)
    # (epsilon', 0) is (epsilon, delta) if e^epsilon' (1 - delta) <= e^epsilon + delta.
    most = math.log((math.exp(level) + model.delta) / (1.0 - model.delta))
    largest_mu = equivalent_mu(level, model.delta) * (1.0 + ROUNDING)
    if not (pure <= most * (1.0 + ROUNDING) and mu <= largest_mu):
        raise AuditFailure(
            f"somebody who was promised epsilon = {level:.6g} moved what was released by more: "
            f"{pure:.6g} pure and mu = {mu:.6g}: {data.story} against {other.story}"
        )
