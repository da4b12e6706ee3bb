"""Kendall's rank correlation: one pair of columns beside scipy's.

Concordant less discordant pairs of two columns of 500,000 generated rows. "One pair" is what a
round of `KendallSelector` does for every feature, with columns that were ranked before: each is
ranked once, however many rounds there are. "With ranking" ranks both columns, too. scipy's
`kendalltau` sorts both, and also computes a p-value, which takes next to nothing. All on one core;
a fit lets the pairs of a round run in parallel. A ratio below 0.2 means five times faster.
"""

import numpy as np

from benchmarks.harness import races
from benchmarks.harness.needs import Need
from benchmarks.harness.timing import race

NEEDS: tuple[Need, ...] = ()
ROWS, QUICK = 500_000, 20_000
PAIR, RANKED, SCIPY = "one pair", "with ranking", "scipy"


def measure(options):
    n = QUICK if options.quick else ROWS
    rounds = options.repeats(usual=11, quick=3)
    return {case: _race(x, y, rounds, options.clock) for case, (x, y) in _columns(n).items()}


def _columns(n):
    generator = np.random.default_rng(0)
    x = generator.standard_normal(n)
    y = x + generator.standard_normal(n)
    counted = np.round(10 * x), np.round(10 * y)  # about 100 values each
    return {
        "numbers": (x, y),
        "numbers, the same order": (x, 2 * x),
        "numbers, 0 and 1": (x, (y > 1).astype(float)),
        "counts": counted,
        "counts, 0 and 1": (counted[0], (y > 1).astype(float)),
        "0 and 1": ((x > 0).astype(float), (y > 1).astype(float)),
    }


def _race(x, y, rounds, clock):
    from scipy.stats import kendalltau

    from privlearn.solvers._common.loops.kendall import (
        concordance,
        rank_column,
        starts_without_ties,
    )

    whole, room = starts_without_ties(len(x)), np.empty((2, len(x)), dtype=np.uint32)
    ranked = [rank_column(column, whole) for column in (x, y)]

    def with_ranking():
        return concordance(rank_column(x, whole), rank_column(y, whole), room)

    contestants = {
        PAIR: lambda: concordance(*ranked, room),
        RANKED: with_ranking,
        SCIPY: lambda: kendalltau(x, y),
    }
    return race(contestants, rounds=rounds, clock=clock, rest=0.05)


def tables(results):
    return races.table(results, PAIR, SCIPY)


def figures(results):
    return {"": races.figure(results, "Time of one Kendall correlation")}
