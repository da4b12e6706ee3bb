"""Steps of SGD along released gradients: in a compiled loop, or over rows that are computed."""

from __future__ import annotations

from privlearn._core.releaser import ReleaseBatch
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common.loops import sgd
from privlearn.solvers._common.loops.sgd import SGDState
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.row_source import ScaledRows

__all__ = ["take_steps"]


def take_steps(
    rows: ScaledRows,
    objective: Objective,
    clip: float,
    state: SGDState,
    steps: ReleaseBatch,
    done: int,
) -> None:
    """Take the steps that were handed out, `done` of them having been taken before.

    Parameters
    ----------
    rows : ScaledRows
        Where batches come from.
    objective : Objective
        What turns a row into a gradient.
    clip : float
        Largest length of a gradient.
    state : SGDState
        Weights and their average, which move.
    steps : Steps
        Batches and noise.
    done : int
        How many steps were taken before.
    """
    if rows.stored is not None:
        if not sgd.descend(rows.stored, objective.compiled(clip), state, steps, done):
            raise PlanViolationError("a gradient sum does not fit its grid: a solver bug")
        return
    for k in range(steps.taken):
        found = rows.gradient_sum(steps.rows(k), objective, state.weights, clip)
        sgd.take_step(state, steps.release_step(k, found), objective.step_factor(state.weights))
        averaged = done + k + 1 - state.first_averaged
        if averaged > 0:
            average = state.average
            average += (state.weights - average) / averaged
