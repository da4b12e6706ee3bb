"""Settings of solver "boosted" with nothing declared, on generated tables.

The score is R^2 on held-out rows, at two epsilons, and that of least squares without noise (the
better of raw and winsorised columns). The table has, for each epsilon, by how much the first is
below the second (mean and median, with losses above 1.5 counted as 1.5), how often it is below 0
and below -0.1, and how often it is 0.9 of the other or more.
"""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.tables import table
from benchmarks.derive.harness import Candidate
from privlearn import LinearRegression
from privlearn.solvers import BoostedStatistics
from privlearn.solvers.boosted import rules as boosted_rule

SEEDS = 1
EPSILONS = (np.log(3.0), 0.3)
CONSTANTS = {
    "damping 0": {"DAMPING": 0.0},
    "damping 1": {"DAMPING": 1.0},
    "no intercept first": {"INTERCEPT_STEPS": 0},
    "bias counts half": {"ALIGNED": boosted_rule.ALIGNED / 2},
    "bias counts twice": {"ALIGNED": boosted_rule.ALIGNED * 2},
    "0.5 for Gram matrix": {"SHARES": boosted_rule.SHARES | {"Gram matrix": 0.5}},
    "0.02 for magnitudes": {"SHARES": boosted_rule.SHARES | {"residual magnitudes": 0.02}},
}
ROUNDS = (4, 12, 40)


def arguments(parser):
    parser.add_argument("--tables", type=int, default=36)
    parser.add_argument("--first", type=int, default=100, help="seed of the first table")


def homes(given):
    return (boosted_rule,)


def candidates(given):
    found = {name: Candidate(constants) for name, constants in CONSTANTS.items()}
    return found | {f"{rounds} rounds": Candidate(choice=rounds) for rounds in ROUNDS}


def problems(given):
    return ((f"table {k}", k) for k in range(given.first, given.first + given.tables))


def data(number, seed, given):
    """Rows to fit, rows to judge by, and what least squares reaches on them."""
    from sklearn.linear_model import LinearRegression as LeastSquares

    X, y = table(number)
    order = np.random.default_rng(number).permutation(len(y))
    fit, held = np.split(order, [int(0.9 * len(y))])
    low, high = np.quantile(X[fit], [0.001, 0.999], axis=0)
    tame = np.clip(X, low, high)
    best = max(LeastSquares().fit(Z[fit], y[fit]).score(Z[held], y[held]) for Z in (X, tame))
    return number, (X[fit], y[fit]), (X[held], y[held]), best


def score(found, rounds, seed, given):
    number, fitted, held, best = found
    solver = BoostedStatistics() if rounds is None else BoostedStatistics(rounds=rounds)
    return *(
        LinearRegression(epsilon=epsilon, delta=1e-5, solver=solver, random_state=number)
        .fit(*fitted)
        .score(*held)
        for epsilon in EPSILONS
    ), best


def summary(found, usual):
    *reached, best = found.reshape(-1, len(EPSILONS) + 1).T
    lines = {}
    for epsilon, own in zip(EPSILONS, reached, strict=True):
        loss = np.minimum(best - own, 1.5)
        lines |= {
            f"loss {epsilon:.1f}": loss.mean(),
            f"median {epsilon:.1f}": np.median(loss),
            f"<0 {epsilon:.1f}": np.mean(own < 0),
            f"<-0.1 {epsilon:.1f}": np.mean(own < -0.1),
            f">0.9 {epsilon:.1f}": np.mean(own >= 0.9 * best),
        }
    return lines
