# ruff: noqa: ANN001, ANN201
"""Compare sizes of SubLasso's groups and penalties on generated data, never on a benchmark's.

    python tools/derive_sub_lasso.py [--seeds K]

For every problem and epsilon it prints a table: rows per group down, penalties across, and in each
place the share of the explainable variance that the selected features explain, mean of the seeds.
The last line is `KendallSelector`'s.
"""

from __future__ import annotations

import argparse

import numpy as np

from privlearn.feature_selection import KendallSelector, SubLassoSelector, sub_lasso_selector

K = 5
# rows, features, correlation, noise over signal, whether features are log-normal
PROBLEMS = [
    (2_000, 20, 0.0, 0.5, False),
    (10_000, 20, 0.0, 0.5, False),
    (10_000, 50, 0.3, 1.0, False),
    (10_000, 20, 0.3, 1.0, True),
]
EPSILONS = (0.2, 1.0)
ROWS = (5, 10, 20, 50, 100, 200)
PENALTIES = (0.01, 0.05, 0.1, 0.2, 0.4)


def problem(n, p, correlation, noise, skewed, seed):
    """Rows, targets and the true weights, K of which are not 0."""
    rng = np.random.default_rng([seed, n, p])
    common = rng.standard_normal((n, 1))
    own = rng.standard_normal((n, p))
    X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
    X = np.exp(X) if skewed else X
    weights = np.zeros(p)
    weights[rng.permutation(p)[:K]] = rng.uniform(0.5, 1.5, K) * rng.choice([-1, 1], K)
    signal = X @ weights
    return X, signal + noise * signal.std() * rng.standard_normal(n), weights


def explained(selector, X, y, weights):
    """Share of the signal's variance that is linear in the selected features."""
    chosen = X[:, selector.fit(X, y).selected_]
    signal = X @ weights - (X @ weights).mean()
    centred = chosen - chosen.mean(axis=0)
    left = signal - centred @ np.linalg.lstsq(centred, signal, rcond=None)[0]
    return 1.0 - left.var() / signal.var()


def mean_of(make, shape, seeds):
    """Mean over problems of one shape."""
    return np.mean([explained(make(seed), *problem(*shape, seed)) for seed in range(seeds)])


def main():
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    for shape in PROBLEMS:
        for epsilon in EPSILONS:
            print(f"n, p, correlation, noise, skewed = {shape}, epsilon = {epsilon}")
            for rows in ROWS:
                found = []
                for penalty in PENALTIES:
                    sub_lasso_selector.PENALTY = penalty
                    given = {"models": shape[0] // rows, "epsilon": epsilon}
                    found.append(
                        mean_of(
                            lambda s, g=given: SubLassoSelector(K, random_state=s, **g),
                            shape,
                            seeds,
                        )
                    )
                print(f"{rows:5d}", " ".join(f"{value:.3f}" for value in found), flush=True)
            value = mean_of(
                lambda s, e=epsilon: KendallSelector(K, epsilon=e, random_state=s), shape, seeds
            )
            print(f"  Kendall {value:.3f}")


if __name__ == "__main__":
    main()
