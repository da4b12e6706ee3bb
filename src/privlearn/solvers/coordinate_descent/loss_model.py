"""The loss of prepared rows, as compiled loops take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn._core.problem import Problem
from privlearn.solvers._common.descent import model_of
from privlearn.solvers.coordinate_descent.private_scales import Prepared

if TYPE_CHECKING:
    from privlearn.solvers._common.loops.sgd import Model

__all__ = ["loss_model"]


def loss_model(problem: Problem, prepared: Prepared) -> Model:
    """The loss with its coordinates; the clip is set once it is known."""
    return model_of(problem, prepared.coordinates, clip=1.0, scale_unit=1.0)
