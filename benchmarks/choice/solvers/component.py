"""Which solver wins where, and which one "auto" takes.

Generated problems over rows, columns and epsilon, for `Ridge` and `LogisticRegression` with
defaults (`zero_out`, delta = 1e-6, an intercept, penalty 1). No solver gets anything but public
facts. Problems come in three kinds:

- **balanced, tight bounds**: independent features that fill [-1, 1];
- **raw scales, wide bounds**: normal features whose scales span four orders of magnitude, every
  second one centred two deviations from zero, with bounds on X and y five times too wide;
- **one-hot, declared norm**: groups of 2 to 10 indicators of uneven sizes, with the norm that every
  row has.

**What is measured.** The share that privacy costs of the way from the best constant model to the
fit without privacy on the same rows, by squared error or log-loss on 10,000 fresh rows: 0 is as
good as without privacy, 1 no better than a constant. Medians over data sets and noise.

**The rule** (`src/privlearn/solvers/auto.py`) sees public facts only:

1. The budget is brought to one number, mu, that of a single Gaussian release; n mu says how much
   can be seen at all.
2. Coordinate descent ("cd") estimates scales, curvature and a clip, and then steps well in any
   units. It is the choice wherever neither of the next two holds.
3. Where n mu is below 100, scales are mostly noise, and its dual ("scd"), which estimates lengths
   alone, is better. The number was chosen on these problems, so they are no fresh test of it.
4. Where rows are declared to be much shorter than their box's corner, as one-hot rows are, and the
   loss has bounded slopes, the norm says what scales would: "scd" again. On rows that mix
   indicators and numbers (`people` in `derive/sgd.py`) that pays; on the pure indicators here
   "cd" is slightly better.
5. Where a norm alone is declared, "scd" as well for labels, and for squared errors where n mu is
   below 1,000: see `choice/situations`.
6. "sgd" and "moments" are not chosen: the one serves several classes, which the others cannot, the
   other those to whom one simple release is worth more than accuracy.
"""

from concurrent.futures import ProcessPoolExecutor
from itertools import chain, product
from multiprocessing import get_context

from benchmarks.harness.needs import estimator, one_thread

__all__ = ["NEEDS", "measure"]

NEEDS = (
    estimator("Ridge"),
    estimator("LogisticRegression"),
    estimator("solvers.CoordinateDescent"),
)
ROWS = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
COLUMNS = (2, 10, 50)
EPSILONS = (0.1, 1.0, 10.0)


def measure(options):
    from benchmarks.choice.solvers.fits import cells
    from benchmarks.choice.solvers.problems import KINDS, LOSSES

    rows, columns, epsilons = ROWS, COLUMNS, EPSILONS
    if options.quick:
        rows, columns, epsilons = (300, 1_000), (2, 10), (1.0,)
    seeds = options.repeats(usual=3, quick=1)
    tasks = [
        (kind, loss, n, p, epsilons, seeds)
        for n, p, loss, kind in product(rows[::-1], columns[::-1], LOSSES, KINDS)
    ]  # the longest first
    return {
        "seeds": seeds,
        "rows": list(rows),
        "columns": list(columns),
        "epsilons": list(epsilons),
        "cells": list(chain.from_iterable(_each(cells, tasks, here=options.quick))),
    }


def _each(work, tasks, *, here):
    """Results in the order of the tasks, from as many processes as there are CPUs, or from here."""
    if here:
        return [work(*task) for task in tasks]
    print(f"choice/solvers: {len(tasks)} sets of problems, some minutes", flush=True)
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=one_thread) as pool:
        return list(pool.map(work, *zip(*tasks, strict=True)))
