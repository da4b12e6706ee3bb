"""Frames of bounds that were estimated, with the clip that was planned; penalties of sane size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privlearn._objective.penalties import Penalty
from privlearn.exceptions import PlanViolationError
from privlearn.solvers._common.frame import Frame, FramedPenalty
from privlearn.solvers.base import sane

__all__ = ["as_planned", "framed"]


def as_planned(found: Frame, planned: Frame) -> Frame:
    """The found frame with the planned length of rows, which must be enough for it.

    Parameters
    ----------
    found : Frame
        Of bounds that were estimated.
    planned : Frame
        Of bounds that stood in for them: what was charged.
    """
    if found.squared_norm > planned.squared_norm or found.width != planned.width:
        raise PlanViolationError(
            "ranges estimated privately changed what is to be released: a solver bug"
        )
    return replace(found, squared_norm=planned.squared_norm)


def framed(frame: Frame, penalty: Penalty) -> FramedPenalty:
    """A penalty in a frame, with weights whose squares are numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = frame.penalty(penalty)
    return replace(found, l1=sane(found.l1), l2=sane(found.l2))
