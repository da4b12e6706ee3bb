"""The algorithms, one file each, with the proof beside it.

Each is a frozen dataclass whose fields all have defaults; estimators take one of these objects, or
its name, as ``solver=``.
"""

from __future__ import annotations

from privlearn._core.problem import Budget, Problem
from privlearn.solvers.auto import choose
from privlearn.solvers.base import Solution, Solver, Support, check_supported
from privlearn.solvers.boosted.solver import BoostedStatistics
from privlearn.solvers.coordinate_descent.solver import CoordinateDescent
from privlearn.solvers.dual_coordinate_descent.solver import DualCoordinateDescent
from privlearn.solvers.moments.solver import SufficientStatistics
from privlearn.solvers.one_pass.solver import OnePassSGD
from privlearn.solvers.output_perturbation.solver import OutputPerturbation
from privlearn.solvers.sgd.solver import SGD
from privlearn.solvers.tukey.solver import Tukey

__all__ = [
    "SGD",
    "SOLVERS",
    "BoostedStatistics",
    "CoordinateDescent",
    "DualCoordinateDescent",
    "OnePassSGD",
    "OutputPerturbation",
    "Solution",
    "Solver",
    "SufficientStatistics",
    "Support",
    "Tukey",
    "check_supported",
    "resolve",
]

SOLVERS: dict[str, type[Solver]] = {
    solver.name: solver
    for solver in (
        CoordinateDescent,
        DualCoordinateDescent,
        SGD,
        SufficientStatistics,
        OnePassSGD,
        OutputPerturbation,
        BoostedStatistics,
        Tukey,
    )
}


def resolve(solver: str | Solver, problem: Problem, budget: Budget) -> Solver:
    """The solver that a parameter names; ``"auto"`` chooses by public facts (auto.py).

    Examples
    --------
    >>> sorted(SOLVERS)
    ['boosted', 'cd', 'moments', 'one-pass', 'output', 'scd', 'sgd', 'tukey']
    """
    if isinstance(solver, str):
        chosen = choose(SOLVERS, problem, budget) if solver == "auto" else _by_name(solver)
    elif isinstance(solver, tuple(SOLVERS.values())):
        chosen = solver
    else:
        raise TypeError(
            f"solver is a {type(solver).__name__}; give 'auto', one of {sorted(SOLVERS)}, "
            "or an object from privlearn.solvers"
        )
    check_supported(chosen, problem)
    return chosen


def _by_name(name: str) -> Solver:
    if name not in SOLVERS:
        raise ValueError(f"solver={name!r} is unknown; choose 'auto' or one of {sorted(SOLVERS)}")
    return SOLVERS[name]()
