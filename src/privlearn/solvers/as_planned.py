"""Coordinates of bounds that were bought, with the clip that was planned before they were known."""

from __future__ import annotations

from dataclasses import replace

from privlearn.exceptions import PlanViolation
from privlearn.solvers.frame import Frame

__all__ = ["as_planned"]


def as_planned(found: Frame, planned: Frame) -> Frame:
    """The found frame with the planned length of rows, which must be enough for it.

    Parameters
    ----------
    found : Frame
        Of bounds that were bought.
    planned : Frame
        Of bounds that stood in for them: what was charged.
    """
    if found.squared_norm > planned.squared_norm or found.width != planned.width:
        raise PlanViolation("bought ranges changed what is to be released: a solver bug")
    return replace(found, squared_norm=planned.squared_norm)
