"""One root finder for all searches: it returns a point that was evaluated and passed."""

from __future__ import annotations

import math
from collections.abc import Callable


class NoRootError(Exception):
    """No point that passes was found."""


def decreasing_root(
    excess: Callable[[float], tuple[float, float | None]],
    start: float,
    slope: float,
    relative: float,
    reach: float = 35.0,
) -> tuple[float, float]:
    """Find a positive x with excess(x) <= 0 that is about the smallest, within `relative`.

    Secant steps in log x, kept inside a bracket once there is one. Each step aims a little to the
    passing side, so that the last evaluation is usually the answer.

    Parameters
    ----------
    excess : callable
        A decreasing function (-inf and inf are allowed values), and its slope in log x or None.
    start, slope : float
        First point, and a guess of d excess / d log x there (negative).
    relative : float
        Relative distance to the root that ends the search.
    reach : float
        How far log x may go from log start before the search gives up.

    Returns
    -------
    x, slope : float
        The point, where excess <= 0 was evaluated, and the last slope.
    """
    x = origin = math.log(start)
    fails, passes = -math.inf, math.inf
    stride, boost = 0.7, 1.0
    side: bool | None = None
    known: tuple[float, float] | None = None
    for trial in range(200):
        value, exact_slope = excess(math.exp(x))
        if value <= 0:
            passes = min(passes, x)
        else:
            fails = max(fails, x)
        move = math.copysign(math.inf, value)
        if math.isfinite(value):
            if exact_slope is not None and exact_slope < 0:
                slope = exact_slope
            # A short secant would measure the steps between loss grids, not the slope.
            elif known is not None and abs(x - known[0]) > 10 * relative:
                secant = (value - known[1]) / (x - known[0])
                slope = secant if secant < 0 else slope
            known = (x, value)
            move = -value / slope
        crept = side == (value > 0) and exact_slope is None  # on one side: go further
        boost = boost * 2 if crept else 1.0
        side = value > 0
        arrived = x == passes and abs(move) <= 0.7 * relative
        if arrived or passes - fails <= relative:
            return math.exp(passes), slope
        if math.isinf(passes) or math.isinf(fails):  # still looking for the other side
            x += max(-stride, min(stride, move * boost)) + 0.3 * relative
            stride *= 1.6
        else:
            x = _inside(x + move + 0.3 * relative, fails, passes, halve=trial % 6 == 5)
        if abs(x - origin) > reach:
            break
    if math.isinf(passes):
        raise NoRootError
    return math.exp(passes), slope


def _inside(proposal: float, fails: float, passes: float, halve: bool) -> float:
    """A point strictly inside the bracket: the proposal if it is one, else the middle."""
    if halve or not fails < proposal < passes:
        return (fails + passes) / 2
    return proposal
