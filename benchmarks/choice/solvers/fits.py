"""Private fits of the generated problems: what each solver loses, and which one "auto" takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.choice.solvers.problems import Sample, draw

__all__ = [
    "CLOSER",
    "SOLVERS",
    "cells",
    "looks_closer",
    "mean_loss",
    "of_constant",
    "share_lost",
    "taken",
    "without_privacy",
]

SOLVERS = {
    "least squares": ("moments", "cd", "scd", "sgd"),
    "logistic": ("cd", "scd", "sgd"),
}
CLOSER = ", ranges inside"  # of a fit that only "auto" makes: it looks inside declared bounds


def cells(
    kind: str, loss: str, n: int, p: int, epsilons: Sequence[float], seeds: int
) -> list[dict]:
    """One cell per epsilon: shares lost per solver and seed, and what "auto" takes."""
    lost, took = {epsilon: {} for epsilon in epsilons}, {}
    for seed in range(seeds):
        sample = draw(kind, loss, n, p, seed)
        constant, optimum = of_constant(sample, loss), without_privacy(sample, loss)
        for epsilon, solvers in lost.items():
            took[epsilon] = taken(sample, loss, epsilon)
            for solver in dict.fromkeys((*SOLVERS[loss], took[epsilon])):
                reached = _private(sample, loss, epsilon, solver, seed)
                solvers.setdefault(solver, []).append(share_lost(reached, constant, optimum))
    where = {"loss": loss, "kind": kind, "n": n, "p": p}
    return [
        where | {"epsilon": epsilon, "lost": shares, "auto": took[epsilon]}
        for epsilon, shares in lost.items()
    ]


def share_lost(reached: float, constant: float, optimum: float) -> float:
    """Of the way from a constant to the optimum; refused where there is no way to lose."""
    if not optimum < constant:
        raise ValueError("the fit without privacy is no better than a constant: nothing to lose")
    return (reached - optimum) / (constant - optimum)


def taken(sample: Sample, loss: str, epsilon: float) -> str:
    """The name of the solver that "auto" takes, from public facts alone."""
    from privlearn._core.problem import Budget

    n, p = sample.X.shape
    model = _estimator(loss)(epsilon=epsilon, **sample.facts)
    problem = model._problem(n, p, len(sample.facts.get("classes", ())))
    solver = model._solver_for(problem, Budget(model.epsilon, model.delta))[1]
    return solver.name + (CLOSER if looks_closer(solver, problem) else "")


def looks_closer(solver: object, problem: object) -> bool:
    """Whether ranges are estimated that were declared."""
    bounds, wanted = problem.bounds, getattr(solver, "wanted", ())
    declared = {"features": bounds.low, "target": bounds.target}
    return any(declared[what] is not None for what in wanted)


def _estimator(loss: str) -> type:
    import privlearn

    return privlearn.LogisticRegression if loss == "logistic" else privlearn.Ridge


def _private(sample: Sample, loss: str, epsilon: float, solver: str, seed: int) -> float:
    solver = "auto" if solver.endswith(CLOSER) else solver
    model = _estimator(loss)(solver=solver, epsilon=epsilon, random_state=seed, **sample.facts)
    return mean_loss(model.fit(sample.X, sample.y), sample, loss)


def without_privacy(sample: Sample, loss: str) -> float:
    """scikit-learn with its defaults, on features of deviation 1 so that it converges.

    Only raw features change, and the penalty that their units would have is negligible.
    """
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    plain = LogisticRegression(max_iter=1_000) if loss == "logistic" else Ridge()
    return mean_loss(make_pipeline(StandardScaler(), plain).fit(sample.X, sample.y), sample, loss)


def of_constant(sample: Sample, loss: str) -> float:
    """The best constant for the fresh rows: variance of y, or entropy of its classes."""
    if loss == "logistic":
        share = float(np.mean(sample.fresh_y))
        return -(share * np.log(share) + (1.0 - share) * np.log(1.0 - share))
    return float(np.var(sample.fresh_y))


def mean_loss(model: object, sample: Sample, loss: str) -> float:
    """Squared error, or log-loss by scores, which stays exact where probabilities are 0 or 1."""
    if loss == "logistic":
        scores = np.ravel(model.decision_function(sample.fresh_X))
        return float(np.mean(np.logaddexp(0.0, np.where(sample.fresh_y == 1, -scores, scores))))
    return float(np.mean((model.predict(sample.fresh_X) - sample.fresh_y) ** 2))
