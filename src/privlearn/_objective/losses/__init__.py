"""Losses as functions of (y, z), z the prediction, with the constants that solvers need.

A loss is a file: a frozen value with its compiled forms beside it, a line in `LOSSES` (with three
classes where several outputs are possible; the conformance tests check whatever is there), and a
line in each table of compiled.py that it has a form for.
"""

from privlearn._objective.losses.base import Auxiliary, Loss, Target, Units
from privlearn._objective.losses.hinge import Hinge
from privlearn._objective.losses.huber import Huber
from privlearn._objective.losses.logistic import Logistic
from privlearn._objective.losses.poisson import Poisson
from privlearn._objective.losses.softmax import Softmax
from privlearn._objective.losses.squared import Squared
from privlearn._objective.losses.squared_hinge import SquaredHinge

__all__ = [
    "LOSSES",
    "Auxiliary",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "Target",
    "Units",
]

LOSSES: tuple[Loss, ...] = (
    Squared(),
    Huber(),
    Logistic(),
    Hinge(),
    Hinge(3),
    Softmax(),
    SquaredHinge(),
    SquaredHinge(3),
    Poisson(),
)
