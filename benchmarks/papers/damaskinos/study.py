"""Everything that is measured about one problem of Damaskinos et al. 2021."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import Options
from benchmarks.papers.damaskinos import fits, published
from benchmarks.papers.damaskinos.problems import DELTA, EPSILONS, PUBLIC, Task, load
from benchmarks.papers.damaskinos.tuning import BATCHES, FINAL_SEEDS, FINALISTS, SCALES

__all__ = ["peeking", "public", "remembered", "signature"]

PEEKED = "{}, as published"


def signature() -> dict:
    """What tuned settings depend on; settings tuned under another one are not used."""
    return {
        "scales": [SCALES[0], SCALES[-1], len(SCALES)],
        "batches": list(BATCHES),
        "finalists": [FINALISTS, FINAL_SEEDS],
        "epsilons": list(EPSILONS),
        "delta": DELTA,
        "methods": {name: list(how.batches) for name, how in published.TUNED.items()},
        "problems": {name: [s.loss, s.penalty, s.epochs] for name, s in PUBLIC.items()},
    }


def remembered(options: Options) -> dict:
    """Settings of an earlier run under the same signature, else none."""
    stored = None if options.quick else report.read("papers/damaskinos", options)
    if stored is None or stored["results"].get("grid") != signature():
        return {}
    return stored["results"]["tuned"]


def public(name: str, tuned: dict, epsilons: tuple, seeds: int, options: Options) -> dict:
    """A problem prepared by public facts, with every method; fills in what is not tuned yet."""
    task = load(name, quick=options.quick)
    print(f"papers/damaskinos: {name}", flush=True)
    if name not in tuned:
        tuned[name] = published.settings(task, epsilons, quick=options.quick)
    return _measured(task, tuned[name], epsilons, seeds, options) | {
        "grid": tuned[name]["grid"],
        "traces": published.traces(task, tuned[name]),
    }


def peeking(name: str, tuned: dict, epsilons: tuple, seeds: int, options: Options) -> dict:
    """The same problem prepared as the paper does: Algorithm 1 and privlearn alone."""
    task = load(name, peeking=True, quick=options.quick)
    print(f"papers/damaskinos: {name}, as published", flush=True)
    key = PEEKED.format(name)
    if key not in tuned:
        tuned[key] = published.near(task, tuned[name], epsilons, quick=options.quick)
    return _measured(task, tuned[key], epsilons, seeds, options)


def _measured(task: Task, tuned: dict, epsilons: tuple, seeds: int, options: Options) -> dict:
    n, p = task.train.X.shape
    return {
        "n": n,
        "p": p,
        "penalty": task.train.penalty,
        "epochs": task.epochs,
        "scored": "accuracy" if task.larger_is_better else "mean squared error",
        "score_zero": _score_of_no_model(task),
        **published.without_privacy(task),
        "rows": [
            *fits.rows(task, epsilons, seeds, options.clock),
            *published.rows(task, tuned, epsilons, seeds),
        ],
    }


def _score_of_no_model(task: Task) -> float:
    """Of the zero model; for classes of the commoner one."""
    if not task.larger_is_better:
        return task.test.score(np.zeros(task.test.X.shape[1]))
    share = float(np.mean(task.test.y > 0.0))
    return max(share, 1.0 - share)
