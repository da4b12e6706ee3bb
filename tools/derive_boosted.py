# ruff: noqa: ANN001, ANN201
"""Compare settings of solver "boosted" with nothing declared, on generated tables only.

    python tools/derive_boosted.py [tables] [first seed]

Prints, for each setting and epsilon, how much R^2 on held-out rows is below that of least squares
without noise (the better of raw and winsorised columns): mean and median, with losses above 1.5
counted as 1.5; how often R^2 is below 0 and below -0.1; and how often it is 0.9 of that or more.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from _tables import table
from sklearn.linear_model import LinearRegression as LeastSquares

from privlearn import LinearRegression
from privlearn.solvers import BoostedStatistics
from privlearn.solvers.boosted import rules as boosted_rule

EPSILONS = (np.log(3.0), 0.3)
CONSTANTS = {
    "as set": {},
    "damping 0": {"DAMPING": 0.0},
    "damping 1": {"DAMPING": 1.0},
    "no level first": {"LEVEL_STEPS": 0},
    "bias counts half": {"ALIGNED": boosted_rule.ALIGNED / 2},
    "bias counts twice": {"ALIGNED": boosted_rule.ALIGNED * 2},
}
ROUNDS = (4, 12, 40)
SHARES = {"Gram matrix": 0.5, "residual magnitudes": 0.02}


@cache
def split(seed):
    """Rows to fit, rows to judge by, and what least squares reaches on them."""
    X, y = table(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    fit, held = np.split(order, [int(0.9 * len(y))])
    low, high = np.quantile(X[fit], [0.001, 0.999], axis=0)
    tame = np.clip(X, low, high)
    best = max(LeastSquares().fit(Z[fit], y[fit]).score(Z[held], y[held]) for Z in (X, tame))
    return (X[fit], y[fit]), (X[held], y[held]), best


def judged(seeds, solver, epsilon):
    """Pairs of R^2 of the private model and of least squares."""
    pairs = []
    for seed in seeds:
        fitted, held, best = split(seed)
        model = LinearRegression(epsilon=epsilon, delta=1e-5, solver=solver, random_state=seed)
        pairs.append((model.fit(*fitted).score(*held), best))
    return np.array(pairs).T


def show(name, seeds, solver=None):
    """One line per epsilon."""
    for epsilon in EPSILONS:
        found, best = judged(seeds, solver or BoostedStatistics(), epsilon)
        loss = np.minimum(best - found, 1.5)
        print(
            f"{name:<24} epsilon {epsilon:.2f}  loss {loss.mean():7.4f} {np.median(loss):7.4f}  "
            f"below 0 {np.mean(found < 0):.2f}, -0.1 {np.mean(found < -0.1):.2f}  "
            f"0.9 of best {np.mean(found >= 0.9 * best):.2f}",
            flush=True,
        )


def main() -> None:
    """Print the table."""
    count, first = (int(a) for a in (sys.argv[1:] + ["36", "100"][len(sys.argv) - 1 :]))
    seeds = range(first, first + count)
    for name, constants in CONSTANTS.items():
        kept = {key: getattr(boosted_rule, key) for key in constants}
        vars(boosted_rule).update(constants)
        show(name, seeds)
        vars(boosted_rule).update(kept)
    for rounds in ROUNDS:
        show(f"{rounds} rounds", seeds, BoostedStatistics(rounds=rounds))
    for release, share in SHARES.items():
        kept = boosted_rule.SHARES[release]
        boosted_rule.SHARES[release] = share
        show(f"{share:g} for {release}", seeds)
        boosted_rule.SHARES[release] = kept


if __name__ == "__main__":
    main()
