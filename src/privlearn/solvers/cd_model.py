"""The loss of prepared rows, as compiled loops take it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privlearn.problem import Problem
from privlearn.solvers.cd_facts import Prepared
from privlearn.solvers.descent import model_of

if TYPE_CHECKING:
    from privlearn._loops.sgd import Model

__all__ = ["loss_model"]


def loss_model(problem: Problem, prepared: Prepared) -> Model:
    """The loss with its coordinates; the clip is set once it is known."""
    return model_of(problem, prepared.coordinates, clip=1.0, scale_unit=1.0)
