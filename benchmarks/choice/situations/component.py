"""Which solver to take, by what is known about the data.

Generated problems for `LinearRegression` and `LogisticRegression` with defaults (`zero_out`,
delta = 1e-6, an intercept). Three situations each:

- **nothing declared**: tables as people have them (`datasets/tables.py`: skewed, heavy-tailed,
  zero-inflated, coded, offset and collinear columns in units that differ by 10^7). Every solver but
  "tukey" estimates the ranges first;
- **bounds declared**: the same tables, with bounds that hold for every row and are twice as wide as
  what the rows fill. With heavy tails that is far: the largest of 100,000 values may lie a hundred
  deviations out;
- **a norm declared**: rows of length 1 (random directions, columns of uneven scale, or
  indicators), `data_norm` alone, and for least squares bounds on y.

Labels for logistic regression say whether the target exceeds its mean.

**What is measured.** The share that privacy costs of the way from the best constant model to
scikit-learn's fit on the same rows, by squared error or log-loss on 10,000 fresh rows: 0 is as
good as without privacy, 1 no better than a constant. Tables on which that fit saves less than a
tenth of the constant's loss are passed over. "tukey" counts where its privacy test passed on every
table. Where nothing is declared and there are many columns, "auto" alone selects features first.

The rule for norms (`src/privlearn/solvers/auto.py`) was chosen on problems such as those of the
last situation, so they are no fresh test of it.
"""

from itertools import product

from benchmarks.harness.needs import estimator

__all__ = ["NEEDS", "measure"]

NEEDS = (
    estimator("LinearRegression"),
    estimator("LogisticRegression"),
    estimator("solvers.Tukey"),
)
ROWS = (1_000, 5_000, 20_000, 100_000)
COLUMNS = (5, 20, 80)
EPSILONS = (0.1, 1.0, 10.0)
MANY = 4_000_000  # numbers in X, from which on there is one table in place of `seeds`


def measure(options):
    from benchmarks.choice.situations.fits import cells
    from benchmarks.choice.situations.problems import KNOWN, LOSSES

    rows, columns, epsilons = ROWS, COLUMNS, EPSILONS
    if options.quick:
        rows, columns, epsilons = (1_000,), (5,), (1.0, 10.0)
    seeds = options.repeats(usual=3, quick=1)
    found = []
    for n, p, loss, known in product(rows, columns, LOSSES, KNOWN):
        found += cells(known, loss, n, p, epsilons, seeds if n * p < MANY else 1)
        print(f"choice/situations: {loss}, {known}, n={n}, p={p}", flush=True)
    return {
        "seeds": seeds,
        "rows": list(rows),
        "columns": list(columns),
        "epsilons": list(epsilons),
        "cells": found,
    }
