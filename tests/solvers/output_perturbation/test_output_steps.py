"""Steps of "output" push no two models apart: its proof rests on that.

Every loss that the solver supports is tried with every clip that it accepts, for few classes and
many, on random pairs of weights: whatever is not refused must not expand.
"""

import math
from itertools import product

import numpy as np
import pytest

from privlearn._core.problem import Adjacency, Bounds, Budget, Problem
from privlearn._objective.losses import LOSSES, Hinge, Softmax, SquaredHinge, Target
from privlearn._objective.penalties import Penalty
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers import OutputPerturbation
from privlearn.solvers._common.loops.row_products import StoredRows
from privlearn.solvers._common.loops.sequential_sgd import visit_rows
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.scaling import Scaling

CLIPS = (None, 0.01, 0.1, 0.5, 2.0, math.inf)
CLASSES = (3, 50, 1000)
FAR = 1e9  # radius of a ball that no pair leaves
NONE = np.empty(0, np.int64)


def supported_losses():
    single = [loss for loss in LOSSES if loss.outputs == 1]
    many = [kind(k) for kind, k in product((Hinge, SquaredHinge, Softmax), CLASSES)]
    return [loss for loss in single + many if loss.name in OutputPerturbation.support.losses]


def problem_of(loss):
    box = Bounds(-np.ones(2), np.ones(2), (-1.0, 1.0), None)
    return Problem(1000, 2, box, loss, Penalty(), Adjacency.ZERO_OUT, fit_intercept=False)


def target_of(loss, rng):
    if loss.target is Target.NUMBER:
        return rng.uniform(-1, 1)
    return rng.choice([-1.0, 1.0]) if loss.target is Target.SIGN else rng.integers(loss.outputs)


def pairs(size, rng):
    """Weights near and far, that differ everywhere, or in one number alone."""
    for scale, near in product((0.1, 1.0, 5.0), (1e-3, 1.0)):
        for _ in range(4):
            first = rng.normal(0, scale, size)
            yield first, first + rng.normal(0, near, size)
            alone = first.copy()
            alone[rng.integers(min(size, 6))] += near
            first[: min(size, 6)] += scale * rng.normal(0, 3, min(size, 6))
            yield first, alone


def expansion(loss, settings, rng):
    """The largest ratio of distances after a step to those before it."""
    problem = problem_of(loss)
    objective = Objective.of(problem, Scaling.for_gradients(problem), 1000.0)
    model = objective.compiled(settings.slope_clip)
    worst = 0.0
    for first, second in pairs(objective.size, rng):
        x = rng.normal(size=2)
        x = (x / np.linalg.norm(x)).astype(np.float32)
        row = StoredRows(
            x[None, :], NONE, NONE, np.full(1, float(target_of(loss, rng))), np.ones(1)
        )
        after = [w.copy() for w in (first, second)]
        for w in after:
            visit_rows(row, np.zeros(1, np.int64), model, settings.step_size, FAR, w, 0.0)
        before = np.linalg.norm(first - second)
        worst = max(worst, np.linalg.norm(after[0] - after[1]) / before)
    return worst


@pytest.mark.parametrize("loss", supported_losses(), ids=lambda loss: f"{loss.name}-{loss.outputs}")
def test_steps_push_no_two_models_apart(loss):
    rng = np.random.default_rng(loss.outputs)
    tried = 0
    for clip, share in product(CLIPS, (0.3, 0.99)):
        solver = OutputPerturbation(epochs=1, step_size=share * 2.0 / loss.smoothness, clip=clip)
        try:
            settings = solver.configure(problem_of(loss), Budget(1.0, 1e-6))
        except UnsupportedCombinationError:
            continue
        tried += 1
        found = expansion(loss, settings, rng)
        assert found <= 1.0 + 1e-6, f"clip={clip}: two models {found:.6f} times as far apart"
    assert tried >= 2


@pytest.mark.parametrize("clip", [0.5, 1e3])
def test_a_finite_clip_is_refused_for_several_classes_with_a_remedy(clip):
    solver = OutputPerturbation(clip=clip)
    with pytest.raises(
        UnsupportedCombinationError, match=r"50 classes.*no proof.*Leave clip out.*'sgd'"
    ):
        solver.configure(problem_of(Softmax(50)), Budget(1.0, 1e-6))
    for loss in (Softmax(50), SquaredHinge(50)):
        settings = OutputPerturbation().configure(problem_of(loss), Budget(1.0, 1e-6))
        assert math.isinf(settings.slope_clip) == (loss.name == "softmax")
