"""The loss of prepared rows, as compiled loops take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn.problem import Problem
from privlearn.solvers.cd_facts import Prepared

if TYPE_CHECKING:
    from privlearn._loops.sgd import Model

__all__ = ["loss_model"]


def loss_model(problem: Problem, prepared: Prepared) -> Model:
    """The loss with its coordinates; the clip is set once it is known."""
    from privlearn._loops.sgd import Model

    return Model(
        loss=problem.loss.code,
        threshold=problem.loss.threshold,
        outputs=1,
        width=prepared.coordinates.width,
        unit=prepared.coordinates.unit,
        clip=1.0,
    )
