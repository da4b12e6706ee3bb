# ruff: noqa: ANN001, ANN201
"""Compare numbers of the rules for bought ranges on generated tables, never on a benchmark's.

    python tools/derive_buying.py [--tables K] [--seeds K] [--epsilon E] [--rows N] [NAME=VALUE ...]

Each NAME is a constant of privlearn/buying. For the rules as they are, and for each change alone,
it prints how much of ordinary least squares' R^2 on fresh rows `LinearRegression` with nothing
declared keeps: the mean over tables (each within -1 and 1.2), the part of the tables with at least
0.9, the mean of the worst tenth, and the smallest R^2 of all runs.
"""

from __future__ import annotations

import argparse
import ast
import math

import numpy as np
from _tables import table
from sklearn.linear_model import LinearRegression as LeastSquares
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from privlearn import LinearRegression
from privlearn.private_bounds import ranges, selection
from privlearn.private_bounds import solver as purchase

FEWEST_TABLES = 10  # of which a tenth is one


def split(seed, run, rows):
    """Nine tenths of a table to learn from, the rest for the score, and least squares' score."""
    X, y = table(seed, n=rows)
    order = np.random.default_rng([seed, run]).permutation(len(y))
    fresh, old = order[: len(y) // 10], order[len(y) // 10 :]
    reference = make_pipeline(StandardScaler(), LeastSquares()).fit(X[old], y[old])
    return X[old], y[old], X[fresh], y[fresh], reference.score(X[fresh], y[fresh])


def kept(options):
    """One line of figures for the rules as they are now."""
    relative, smallest = [], math.inf
    for seed in range(options.tables):
        scores, references = [], []
        for run in range(options.seeds):
            X, y, fresh_X, fresh_y, reference = split(seed, run, options.rows)
            model = LinearRegression(epsilon=options.epsilon, delta=1e-5, random_state=run)
            scores.append(model.fit(X, y).score(fresh_X, fresh_y))
            references.append(reference)
        smallest = min(smallest, *scores)
        relative.append(np.clip(np.median(scores) / max(np.mean(references), 0.05), -1.0, 1.2))
    worst = np.sort(relative)[: max(1, len(relative) // FEWEST_TABLES)]
    good = np.mean(np.asarray(relative) >= 0.9)
    return f"{np.mean(relative):.4f}  {good:.3f}  {np.mean(worst):.3f}  {smallest:.3f}"


def main():
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=36)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--epsilon", type=float, default=math.log(3))
    parser.add_argument("--rows", type=int, default=None)
    parser.add_argument("changes", nargs="*")
    options = parser.parse_args()
    print(f"{'as it is':<28}", kept(options), flush=True)
    for change in options.changes:
        name, value = change.split("=", 1)
        homes = [module for module in (purchase, ranges, selection) if hasattr(module, name)]
        before = getattr(homes[0], name)
        for module in homes:
            setattr(module, name, ast.literal_eval(value))
        print(f"{change:<28}", kept(options), flush=True)
        for module in homes:
            setattr(module, name, before)


if __name__ == "__main__":
    main()
