"""Proximal coordinate descent ("cd").

The proof is in proof.md, the rule for every number that is not given in rules.py.
Feature scales are estimated first, so that none needs standardising; then noisy gradients of
all coordinates at once, of one after the other, or of the one that matters most.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from numpy.typing import ArrayLike

from privlearn._core.forecast import Forecast
from privlearn._core.mechanisms import GUMBEL
from privlearn._core.norms import LINF, OUTER, UNIT_BOX
from privlearn._core.plan import FACTS, Plan, Release
from privlearn._core.problem import Budget, Problem, declared_numbers
from privlearn._core.releaser import Releaser
from privlearn._core.threads import blas_in_one_thread
from privlearn._data.bounded import BoundedData
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.solvers._common.histograms import LENGTH_BINS, MAGNITUDE_BINS, histogram_release
from privlearn.solvers._common.memory import squares, stored_rows
from privlearn.solvers._common.objective import n_weights
from privlearn.solvers._common.row_count import count_release
from privlearn.solvers.base import Solution, SolverDefaults, Support, check_numbers, need_bounds
from privlearn.solvers.coordinate_descent import private_scales, rules
from privlearn.solvers.coordinate_descent.all_coordinates import descend_all
from privlearn.solvers.coordinate_descent.rules import Mode, Settings

__all__ = ["CoordinateDescent"]

SMALL = 400  # columns up to which one thread of BLAS is as fast as several, and leaves others alone


@dataclass(frozen=True)
class CoordinateDescent(SolverDefaults):
    """Noisy proximal descent in coordinates whose scales are estimated, with periodic averaging.

    What is None is chosen by a rule from the number of rows and columns, the budget and the bounds.
    Lengths are measured where each feature has mean square 1 and y lies in [-1, 1].

    Parameters
    ----------
    passes : int or None
        Passes over the data; with ``selection="greedy"``, steps of one coordinate each.
    outer : int or None
        Outer loops: at the start of each the clip is chosen anew, at the end its steps are
        averaged, later ones more. With ``block=1`` and as many as there are passes nothing is
        averaged.
    step_size : float or None
        Relative to the inverse curvature; None takes 1, or less where all else is a rule's and
        ``block=1`` would spread noise.
    clip : float or None
        Largest length of one row's gradient; None estimates a histogram of lengths and chooses. The
        intercept's last step, of classes and from three passes on, needs none.
    block : {1, "all"} or None
        Coordinates that are updated together: one, or all with an estimated matrix of curvatures.
    smoothness : array-like of shape (n_features,) or None
        Mean square of each feature, from public knowledge; None takes the estimator's `scale_X`,
        squared, or estimates their magnitudes where that is None, too.
    selection : {"cyclic", "greedy"} or None
        With ``block=1``: every coordinate in turn, or the one whose step is largest, which is
        selected privately.
    of_one_size : bool, default=False
        With ``intervals=True`` and squared errors: whether errors are taken for of one size, which
        is then one released number in place of a matrix. Kernels do, for they have many features.

    Examples
    --------
    >>> from privlearn import Lasso
    >>> model = Lasso(alpha=0.1, solver=CoordinateDescent(passes=20))
    """

    passes: int | None = None
    outer: int | None = None
    step_size: float | None = None
    clip: float | None = None
    block: int | Literal["all"] | None = None
    smoothness: ArrayLike | None = None
    selection: Literal["cyclic", "greedy"] | None = None
    of_one_size: bool = False

    name: ClassVar[str] = "cd"
    support: ClassVar[Support] = Support.of(
        losses=["squared", "huber", "logistic", "softmax", "poisson"],
        people=True,
        intervals=["squared", "logistic", "poisson"],
        narrows=True,
        sources=["squared", "logistic"],
        cluster=True,
    )
    forks: ClassVar[tuple[str, ...]] = (
        "mode",
        "intercept_first",
        "intercept_last",
        "scales_given",
        "intervals",
    )

    def __post_init__(self) -> None:
        check_numbers(self, whole=("passes", "outer"), positive=("step_size", "clip"))
        if self.block not in (None, 1, "all"):
            raise ValueError(f"block={self.block!r}, but 1, 'all' or None is needed")
        if self.selection not in (None, "cyclic", "greedy"):
            raise ValueError(
                f"selection={self.selection!r}, but 'cyclic', 'greedy' or None is needed"
            )
        if not isinstance(self.of_one_size, bool):
            raise ValueError(f"of_one_size={self.of_one_size!r}, but True or False is needed")
        if self.selection is not None and self.block == "all":
            raise ValueError("block='all' updates every coordinate, so leave selection out")
        if self.smoothness is not None:
            object.__setattr__(self, "smoothness", _mean_squares(self.smoothness))

    def configure(self, problem: Problem, budget: Budget) -> Settings:
        """Numbers that were given, and the rule's for the rest."""
        need_bounds(problem, self.name)
        given = None if self.smoothness is None else _mean_squares(self.smoothness)
        if given is None and problem.bounds.scale is not None:
            given = _mean_squares(problem.bounds.scale**2)
        if given is not None and len(given) != problem.n_features:
            raise ValueError(
                f"smoothness has {len(given)} entries, but X has {problem.n_features} "
                "features; give one mean square per feature"
            )
        mode = self._mode(problem, budget)
        _refuse_unsupported(self, problem, mode)
        rule = rules.by_rule(mode, problem, budget)
        passes = int(self.passes or rule.passes)
        step = rule.step_size if self.passes is None else 1.0
        one_loop = mode == "cyclic" and passes < rules.ONE_LOOP  # each would pay for its clip
        return Settings(
            mode=mode,
            passes=passes,
            outer=int(self.outer or (1 if one_loop else rules.OUTER)),
            step_size=float(self.step_size or step),
            clip=self.clip,
            smoothness=given,
            intercept_first=mode == "all" and problem.fit_intercept and passes > 1,
            intercept_last=rules.intercept_last(mode, problem, passes),
            wants_moments=problem.loss.wants_moments,
            coordinate_clip=rule.coordinate_clip if self.clip is None else rules.COORDINATE_CLIP,
            shortened=self.step_size is None and step < 1.0,
            intervals=problem.intervals,
            longest_for_errors=rules.longest_for_errors(problem, given),
            of_one_size=self.of_one_size,
        )

    def _mode(self, problem: Problem, budget: Budget) -> Mode:
        if self.selection is not None:
            return "greedy" if self.selection == "greedy" else "cyclic"
        if self.block is not None:
            return "all" if self.block == "all" else "cyclic"
        return rules.mode_for(problem, budget)

    def plan(self, problem: Problem, settings: Settings, scale: float) -> Plan:
        """Facts first, then every gradient, all with Gaussian noise but for a selection."""
        gradients = [(release, None) for release in _gradients(problem, settings)]
        return Plan.of(
            problem,
            scale,
            [*_private_releases(problem, settings), *gradients],
            paper="DP-CD (Mangold et al. 2022), scales and curvature estimated privately, exact "
            "accounting",
        )

    def solve(
        self, problem: Problem, settings: Settings, data: BoundedData, release: Releaser
    ) -> Solution:
        """Descend along released gradients."""
        if settings.mode == "all":
            few = problem.n_features <= SMALL
            with blas_in_one_thread() if few else nullcontext():
                return descend_all(problem, settings, data, release)
        # Late: fits by default take all coordinates. A rehearsal has loaded it before a charge.
        if settings.mode == "cyclic":
            from privlearn.solvers.coordinate_descent.cyclic import descend_by_coordinates

            return descend_by_coordinates(problem, settings, data, release)
        from privlearn.solvers.coordinate_descent.greedy import descend_greedily

        return descend_greedily(problem, settings, data, release)

    def rehearsal(
        self, problem: Problem, settings: Settings, budget: Budget
    ) -> tuple[CoordinateDescent, Settings]:
        """Three passes, in the same mode."""
        given = settings.smoothness
        return self, replace(
            settings,
            passes=min(settings.passes, 3),
            smoothness=None if given is None else given[: problem.n_features],
        )

    def memory(self, problem: Problem, settings: Settings, *, sparse: bool) -> float:
        """Rows, once more as columns; or the matrix of curvatures."""
        whole = settings.mode == "all"
        own = problem.loss.outputs if problem.penalty.smooth else problem.loss.outputs**2
        matrices = own * squares(problem.n_features + 1) if whole else 0.0
        return matrices + stored_rows(problem, sparse=sparse, copies=1 if whole else 2)

    def row_passes(self, problem: Problem, settings: Settings) -> int | None:
        """One for each release but those of the target; all coordinates at once, or none at all."""
        if settings.mode != "all" or not self.support.takes_sources(problem):
            return None
        estimated = {"magnitudes", "curvature"} & set(settings.private_shares)
        lengths = len(rules.loops(settings)) if "lengths" in settings.private_shares else 0
        return settings.passes + lengths + len(estimated)

    def fitted_numbers(self, problem: Problem, settings: Settings) -> int:
        """All coordinates; or as many as there are steps, where each step takes one."""
        size = super().fitted_numbers(problem, settings)
        return min(settings.passes, size) if settings.mode == "greedy" else size

    def forecast(self, problem: Problem, settings: Settings, plan: Plan, n: int) -> Forecast:
        """Noise on the predictions of usual tables."""
        from privlearn.solvers.coordinate_descent.forecast import outlook  # only plans need it

        return outlook(problem, settings, plan, n)


def _refuse_unsupported(solver: CoordinateDescent, problem: Problem, mode: Mode) -> None:
    width = problem.n_features + int(problem.fit_intercept)
    alone = solver.block == 1 or solver.selection is not None
    if problem.loss.coupled and alone:
        raise UnsupportedCombinationError(
            "several classes move together: leave block and selection out, or fit one class "
            "against the rest"
        )
    if problem.loss.coupled and not rules.bearable(problem):
        raise UnsupportedCombinationError(
            f"solver='cd' keeps matrices of at most {rules.WIDEST} columns, and of several "
            f"classes that many weights with an l1 penalty or limits; here are "
            f"{n_weights(problem)} weights: use solver='sgd'"
        )
    if problem.from_source and mode != "all":
        raise UnsupportedCombinationError(
            "rows that stay on disk are read once for every gradient of all coordinates, but here "
            f"one coordinate moves at a time, of {n_weights(problem)}; leave block and selection "
            f"out, use at most {rules.WIDEST} columns, or read the rows into memory first"
        )
    if solver.of_one_size and not problem.loss.of_residual:
        raise UnsupportedCombinationError(
            f"of_one_size=True is about squared errors, but the loss is {problem.loss.name!r}; "
            "leave of_one_size out"
        )
    if problem.intervals and (alone or width > rules.WIDEST):
        raise UnsupportedCombinationError(
            f"intervals=True needs all coordinates at once, and at most {rules.WIDEST}; here are "
            f"{width}: leave block and selection out, or leave intervals out"
        )


def _mean_squares(given: ArrayLike) -> tuple[float, ...]:
    squares = declared_numbers(given, "smoothness")
    if squares.ndim != 1 or not (squares > 0).all():
        raise ValueError("smoothness must hold one finite number above 0 per feature")
    return tuple(float(square) for square in squares)


def _private_releases(problem: Problem, settings: Settings) -> list[tuple[Release, float]]:
    """What is estimated privately before and between the gradients, with shares of the budget."""
    width, loops = problem.n_features + int(problem.fit_intercept), rules.loops(settings)
    p = max(private_scales.magnitudes_of(problem, settings), 1)  # if there are any
    planned = {
        "magnitudes": histogram_release(private_scales.MAGNITUDES, MAGNITUDE_BINS, p),
        "curvature": Release(
            private_scales.CURVATURE, (width * (width + 1) // 2,), 1.0, OUTER, stage=FACTS
        ),
        "lengths": histogram_release(private_scales.LENGTHS, LENGTH_BINS, count=len(loops)),
        "bends": Release(private_scales.BENDS, (width * (width + 1) // 2,), 1.0, OUTER),
        "slopes": Release(private_scales.SLOPES, (width * (width + 1) // 2,), 1.0, OUTER),
        "squares": Release(private_scales.SQUARES, (1,), 1.0, UNIT_BOX),
    }
    found = [(planned[what], share) for what, share in settings.private_shares.items()]
    return found if problem.n is not None else [(count_release(), rules.COUNT), *found]


def _gradients(problem: Problem, settings: Settings) -> list[Release]:
    """The rest of the budget, in equal parts; a selection costs as much as a coordinate."""
    size, passes = n_weights(problem), settings.passes
    if settings.mode == "all":
        return [Release(private_scales.GRADIENT, (size,), 1.0, count=passes)]
    if settings.mode == "cyclic":
        return [Release(private_scales.GRADIENT, (1,), 1.0, count=passes * size)]
    chosen = Release(private_scales.CHOICE, (size,), 1.0, LINF, GUMBEL, count=passes)
    return [chosen, Release(private_scales.GRADIENT, (1,), 1.0, count=passes)]
