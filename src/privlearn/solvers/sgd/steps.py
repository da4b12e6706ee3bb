"""Steps of SGD along released gradients: in a compiled loop, or over rows that are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn._core.releaser import ReleaseBatch
from privlearn._objective.losses import HUBER
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common.row_source import RowSource, gradient_sum

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.sgd import Descent, Model

__all__ = ["take_steps"]


def take_steps(
    rows: RowSource, model: Model, path: Descent, steps: ReleaseBatch, done: int
) -> None:
    """Take the steps that were handed out, `done` of them having been taken before.

    Parameters
    ----------
    rows : RowSource
        Where batches come from.
    model : Model
        What turns a row into a gradient.
    path : Descent
        Weights and their average, which move.
    steps : Steps
        Batches and noise.
    done : int
        How many steps were taken before.
    """
    from privlearn.solvers._common.loops.sgd import descend, take_step

    if rows.stored is not None:
        if not descend(rows.stored, model, path, steps, done):
            raise PlanViolationError("a gradient sum does not fit its grid: a solver bug")
        return
    for k in range(steps.taken):
        gradient = steps.release_step(k, gradient_sum(rows, steps.rows(k), model, path.weights))
        scale = float(path.weights[-1]) * model.scale_unit if model.loss == HUBER else 1.0
        take_step(path, gradient, scale)
        averaged = done + k + 1 - path.first_averaged
        if averaged > 0:
            average = path.average
            average += (path.weights - average) / averaged
