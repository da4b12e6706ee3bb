"""How `CoordinateDescent` divides its budget and chooses its steps, from public facts.

The numbers were chosen with benchmarks/derive/cd.py on generated data (proof.md, "The
rule"). They need no units: features are divided by privately estimated scales, y lies in [-1, 1].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Budget, Problem
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.snr import gdp_mu, public_n_or_default

__all__ = ["ByRule", "Mode", "Settings", "bearable", "by_rule", "loops", "mode_for"]

Array = NDArray[np.float64]
Mode = Literal["all", "cyclic", "greedy"]

MAGNITUDES, CURVATURE, LENGTHS, COUNT = 0.06, 0.10, 0.03, 0.01  # shares of mu^2
ALL_STEPS, GREEDY_LEAST, GREEDY_MOST = 30, 8, 60
SWEEPS, LEAST_SWEEPS, MOST_SWEEPS = 0.25, 3, 100  # the first per effective row of a coordinate
OUTER = 2
USUALLY_MISSED = 0.2  # of a class's share, by mean predictions before the intercept's last step
LEAST_BEND = 0.01  # of the loss's bound: in a curvature that is calculated, whatever rows are
ONE_LOOP = 20  # sweeps below which the clip is chosen once
WARM_UP = 0.1  # of all steps, before the clip is chosen a second time
AHEAD = 4.0  # the first step's weight in its loop's average; each later one weighs 1 more
LONGEST_ROW = 1.3  # squared length in the curvature, relative to the mean square of a row
DAMPING = 0.5  # of the length that the curvature's noise may have
BLURRED = 10.0  # noise of the curvature, relative to a feature's, above which few can matter
HIDDEN = 1.0  # rows with longer gradients than are seen, in deviations of the count's noise
# Of a clip, relative to that of the loop before, where slopes have no bound: errors fall, or steps
# were too long. Slopes that have one may come closer to it, as those of rows on the wrong side do.
GROWTH = 1.0
UNSEEN = 0.5  # of its bound: where one row that no release shows may have a feature
# Rows without effect that a column which may have no 1 in any row is given, over the noise on a sum
# of gradients in lengths of a typical one. Any from 0.5 to 2 do (proof.md).
RARE = 1.0
LONG_STEP, CLEAR = 1.5, 30.0  # of several classes, where n mu per weight is that large
WIDEST = 1000  # coordinates whose curvature is a matrix of bearable size
COORDINATE_CLIP = 2.0  # of one coordinate, relative to its share of a whole gradient's clip
NARROWEST, NARROWING = 0.8, (0.35, 0.4)  # of it: least, and factor and power of effective rows
# With standard errors (proof.md): shares of the budget; squared length of a row in curvatures, over
# the mean square of one; eigenvalue of a curvature, in deviations of its noise, below which it is
# taken for noise.
LENGTHS_FOR_ERRORS, BENDS, SLOPES = 0.06, 0.14, 0.05
BENDS_OF_MANY, SQUARES = 0.40, 0.05  # where errors are of one size, and features many
LONGEST_FOR_ERRORS, CLEAR_OF_NOISE = 2.2, 1.0
ROUNDED_UP = 1.0 + 2.0**-16  # rows in single precision may be that much longer
BLURRED_LENGTHS = 10.0  # least clip in typical gradients, per noise on the share of a bin of them
STEEP = 3.0  # second derivative of one row, relative to a typical one
UNCUT = 2.0  # clip, relative to the longest gradients that are seen: cutting skewed errors biases
GREEDY_ERROR = 0.02  # noise on a coordinate, relative to the errors' size, that is acceptable


@dataclass(frozen=True)
class Settings:
    """Everything about a run that is fixed before any data: all of it public."""

    mode: Mode
    passes: int
    outer: int
    step_size: float
    clip: float | None  # None: estimated privately
    smoothness: tuple[float, ...] | None  # None: estimated privately
    intercept_first: bool = False  # the intercept has the first step for itself
    intercept_last: bool = False  # and the last, of slopes that nothing shortens
    wants_moments: bool = False  # the loss wants to know moments of y, even beside given scales
    coordinate_clip: float = COORDINATE_CLIP  # in place of the constant
    shortened: bool = False  # steps are shorter than 1 because of noise
    intervals: bool = False  # standard errors are told
    # Squared length of a row in curvatures with standard errors, over the mean square of one.
    longest_for_errors: float = LONGEST_FOR_ERRORS
    # Of standard errors: rows of one declared length, whose errors are taken for of one size.
    of_one_size: bool = False

    @property
    def scales_given(self) -> bool:
        """Whether features need no histograms."""
        return self.smoothness is not None

    def expected(self, constant: Array) -> Array:
        """What noisy models are shrunk to: of classes the best constant, as it was released.

        Else zero: the middle of a number's range is about its mean, and with standard errors a last
        step takes all shrinkage back.
        """
        return constant if self.intercept_last else np.zeros_like(constant)

    @property
    def private_shares(self) -> dict[str, float]:
        """Shares of the budget for what is estimated privately before and between gradients."""
        shares = {
            "magnitudes": 0.0 if self.scales_given and not self.wants_moments else MAGNITUDES,
            "curvature": CURVATURE if self.mode == "all" else 0.0,
            "lengths": 0.0 if self.clip else LENGTHS_FOR_ERRORS if self.intervals else LENGTHS,
            "bends": (BENDS_OF_MANY if self.of_one_size else BENDS) if self.intervals else 0.0,
            "slopes": SLOPES if self.intervals and not self.of_one_size else 0.0,
            "squares": SQUARES if self.intervals and self.of_one_size else 0.0,
        }
        return {name: share for name, share in shares.items() if share > 0.0}


def loops(settings: Settings) -> list[int]:
    """Steps of each outer loop: the intercept's own, a short one, then equal ones.

    Without the last step, where that is the intercept's.
    """
    own = [1] if settings.intercept_first else []
    passes = settings.passes - len(own) - int(settings.intercept_last)
    outer = min(settings.outer, passes)
    if outer == 1:
        return [*own, passes]
    first = min(max(1, round(WARM_UP * passes)), passes - outer + 1)  # no loop is empty
    rest, loops_left = passes - first, outer - 1
    return [*own, first, *(rest // loops_left + (k < rest % loops_left) for k in range(loops_left))]


def intercept_last(mode: Mode, problem: Problem, passes: int) -> bool:
    """Whether the last step is the intercept's: of classes, whose slopes have a public bound."""
    of_classes = problem.loss.bends and math.isfinite(problem.loss.lipschitz)
    own = mode == "all" and problem.fit_intercept and passes > 2
    return own and of_classes and not problem.intervals


def longest_for_errors(problem: Problem, smoothness: tuple[float, ...] | None) -> float:
    """Squared length of a row over the mean square of one: as declared, where that is less.

    Rows of declared length and scales, and without a box, as those of random features are, may be
    no longer than others; whoever makes room for longer ones pays for it with noise.
    """
    bounds, own = problem.bounds, float(problem.fit_intercept)
    if bounds.row_norm is None or bounds.low is not None or not smoothness:
        return LONGEST_FOR_ERRORS
    longest = (bounds.row_norm**2 - own) / min(smoothness) + own
    return min(LONGEST_FOR_ERRORS, ROUNDED_UP * longest / (len(smoothness) + own))


def bearable(problem: Problem) -> bool:
    """Whether matrices of several classes have a bearable size.

    A smooth penalty lets them fall apart into one for each class.
    """
    width = problem.n_features + int(problem.fit_intercept)
    size = width if problem.penalty.smooth else n_weights(problem)
    return not problem.loss.coupled or size <= WIDEST


def mode_for(problem: Problem, budget: Budget) -> Mode:
    """All coordinates at once, unless they are very many, or few of very many matter.

    The noise of the curvature, as the length of a matrix, grows with p^(3/2). Where it drowns a
    feature's own curvature of 1, gradients of all coordinates are mostly noise, too; with an l1
    penalty few coordinates will matter, and looking for them pays.
    """
    if problem.loss.coupled or problem.intervals:
        return "all"
    coordinates = n_weights(problem)
    mu = gdp_mu(problem, budget) * math.sqrt(2.0 * CURVATURE)
    noise = (
        LONGEST_ROW
        * coordinates
        * math.sqrt(2.0 * coordinates)
        / (mu * public_n_or_default(problem))
    )
    sparse = problem.penalty.sparse
    if coordinates <= WIDEST and not (sparse and noise > BLURRED):
        return "all"
    return "greedy" if sparse else "cyclic"


class ByRule(NamedTuple):
    """What the rule takes for numbers that are not given."""

    passes: int  # steps of all coordinates at once, or of one each; or sweeps over all of them
    step_size: float = 1.0
    coordinate_clip: float = COORDINATE_CLIP  # limit of one coordinate, relative to its share


def by_rule(mode: Mode, problem: Problem, budget: Budget) -> ByRule:
    """Whole steps, but where noise allows few sweeps, or is small beside several classes."""
    if mode == "all":
        step = _step_of_classes(problem, budget) if problem.loss.coupled else 1.0
        return ByRule(ALL_STEPS, step)
    if mode == "cyclic":
        return _sweeps(problem, budget)
    signal = gdp_mu(problem, budget) * public_n_or_default(problem) / COORDINATE_CLIP
    steps = 0.5 * (GREEDY_ERROR * signal) ** 2
    return ByRule(int(min(max(steps, GREEDY_LEAST), GREEDY_MOST, 2 * n_weights(problem))))


def _sweeps(problem: Problem, budget: Budget) -> ByRule:
    """As many as noise allows; shorter steps where that is fewer than the least.

    The sum of the steps is what counts: a direction of curvature c has converged once it is 1 / c,
    and then has noise 1 / c times that of others. To stop before is to leave such directions out.
    Where noise is more than clips cut, derivatives are clipped more: they are about symmetric, so
    that shortens their mean, which costs little, and noise falls with it.
    """
    rows, (factor, power) = effective_rows(problem, budget), NARROWING
    return ByRule(
        int(min(max(SWEEPS * rows, LEAST_SWEEPS), MOST_SWEEPS)),
        min(1.0, SWEEPS * rows / LEAST_SWEEPS),
        min(max(factor * rows**power, NARROWEST), COORDINATE_CLIP),
    )


def effective_rows(problem: Problem, budget: Budget) -> float:
    """Effective sample size per coordinate: one over the noise that a descent leaves on each.

    It holds for an averaged weight, relative to a typical gradient, whatever the number of sweeps.
    """
    return gdp_mu(problem, budget) * public_n_or_default(problem) / n_weights(problem)


def _step_of_classes(problem: Problem, budget: Budget) -> float:
    """Longer ones where each weight stands out of the noise.

    The curvature of several classes is a product of what couples classes and of what couples
    features. That is too large in the very directions in which classes are told apart: rows there
    are far from any boundary.
    """
    seen = gdp_mu(problem, budget) * public_n_or_default(problem)
    return LONG_STEP if seen >= CLEAR * n_weights(problem) else 1.0
