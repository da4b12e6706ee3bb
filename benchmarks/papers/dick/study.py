"""What the page measures, in parts, each of which says what made it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter, process_time

import numpy as np

from benchmarks.harness import report
from benchmarks.papers.dick import data
from benchmarks.papers.dick.mended import VARIANTS, fewest_models, mended_scores, ridge_scores
from benchmarks.papers.dick.methods import DELTA, EPSILON, automatic, boosted_scores, tukey_scores

__all__ = ["KEEP", "OURS", "RUNS", "study"]

KEEP = "PRIVLEARN_BENCH_KEEP"
UNFINISHED = "papers/dick_unfinished"
RUNS = 1_000
OTHER_SPLITS = 1_000  # seeds of the many runs begin here: other splits, other noise
# Name: epsilon and relation.
OURS = {
    "ours": (EPSILON, "zero_out"),
    "ours, add_remove": (EPSILON, "add_remove"),
    "ours, epsilon = 0.3": (0.3, "zero_out"),
    "ours, epsilon = 3": (3.0, "zero_out"),
}
Problems = dict[str, Callable[[], tuple[np.ndarray, np.ndarray]]]


def study(splits: int, options: object) -> dict:
    """Measure every part that is not kept, and put aside what there is after each of them."""
    source = _source()
    problems = _standins() if options.quick else _problems()
    aside = replace(options, quick=True)  # a folder that is not kept in the project
    before = _parts_of("papers/dick", options) | _parts_of(UNFINISHED, aside)
    kept = {name for name in os.environ.get(KEEP, "").split(",") if name}
    found = {
        "epsilon": EPSILON,
        "delta": DELTA,
        "splits": splits,
        "sets": {name: _facts(name, load()) for name, load in problems.items()},
        "parts": {name: before[name] for name in PARTS if name in kept & set(before)},
    }
    for name, part in PARTS.items():
        if name not in found["parts"]:
            found["parts"][name] = _made(name, source, part(problems, splits, options))
            found["parts"] = {key: found["parts"][key] for key in PARTS if key in found["parts"]}
            report.store(UNFINISHED, {}, found, aside)
    (report.folder(aside) / f"{UNFINISHED}.json").unlink(missing_ok=True)
    return found


def _parts_of(name: str, options: object) -> dict:
    """Parts that were measured earlier."""
    stored = report.read(name, options)
    return stored["results"]["parts"] if stored else {}


def _problems() -> Problems:
    return {name: (lambda name=name: data.load(name)) for name in (*data.NAMES, *data.EXTRA)}


def _standins() -> Problems:
    """Generated rows for a short run; two names of the paper, so that its columns are there."""

    def draw(n: int, p: int):
        generator = np.random.default_rng(p)
        X = generator.normal(size=(n, p)) * np.exp(generator.normal(size=p))
        return X, X @ generator.normal(size=p) + generator.normal(size=n)

    return {"sulfur": lambda: draw(4_000, 6), "wine_quality": lambda: draw(4_000, 11)}


def _facts(name: str, rows: tuple[np.ndarray, np.ndarray]) -> dict:
    task = data.TASKS[name]
    return {
        "number": task.number,
        "n": len(rows[1]),
        "d": rows[0].shape[1] + 1,
        "printed": [task.n, task.d],
        "note": task.note,
    }


def _source() -> str:
    """A hash of privlearn's source, which is then imported, before the long part begins."""

    return report.source_hash()


def _made(name: str, source: str, scores: Iterator[tuple[str, dict]]) -> dict:
    """Scores of a part by data set, and what made them."""
    start, found = (perf_counter(), process_time()), {}
    for problem, values in scores:
        found[problem] = values
        took = (perf_counter() - start[0]) / 60.0
        print(f"papers/dick: {name}: {problem}, {took:.1f} minutes so far", flush=True)
    return {
        "source": source,
        "date": datetime.now(UTC).date().isoformat(),
        "minutes": round((perf_counter() - start[0]) / 60.0, 1),
        "cpu_minutes": round((process_time() - start[1]) / 60.0, 1),
        "scores": found,
    }


def _by_method(rows: list[dict[str, object]]) -> dict[str, list]:
    """One dictionary per split, as one list per method."""
    return {method: [row[method] for row in rows] for method in rows[0]}


def _by(scores: Callable) -> Callable:
    """A part that has these scores on every split."""

    def part(problems: Problems, splits: int, options: object):
        for name, load in problems.items():
            X, y = load()
            rows = [scores(data.split(X, y, seed), seed) for seed in range(splits)]
            yield name, _by_method(rows)

    return part


def _printed(problems: Problems) -> Problems:
    """Data sets of the paper alone."""
    return {name: load for name, load in problems.items() if data.TASKS[name].number}


def _mended(problems: Problems, splits: int, options: object):
    """The program as published, and with its repairs one by one."""
    for name, load in _printed(problems).items():
        X, y = load()
        rows = [mended_scores(data.split(X, y, seed), seed) for seed in range(splits)]
        found = {variant: _by_method([row[variant] for row in rows]) for variant in VARIANTS}
        fewest = [fewest_models(data.split(X, y, seed), seed) for seed in range(min(splits, 3))]
        yield name, found | {"fewest": _by_method(fewest)}


def _ours(problems: Problems, splits: int, options: object):
    for name, load in problems.items():
        X, y = load()
        found = {}
        for label, (epsilon, adjacency) in OURS.items():
            found[label] = [
                automatic(data.split(X, y, seed), seed, epsilon=epsilon, adjacency=adjacency)
                for seed in range(splits)
            ]
        yield name, found


def _many(problems: Problems, splits: int, options: object):
    """As many runs on each data set, so that there are a thousand at least."""
    each = 3 if options.quick else math.ceil(RUNS / len(problems))
    for name, load in problems.items():
        X, y = load()
        seeds = range(OTHER_SPLITS, OTHER_SPLITS + each)
        yield name, {"ours": [automatic(data.split(X, y, seed), seed) for seed in seeds]}


PARTS = {
    "boosted": _by(boosted_scores),
    "tukey": _by(tukey_scores),
    "mended": _mended,
    "ridge": lambda problems, *more: _by(ridge_scores)(_printed(problems), *more),
    "ours": _ours,
    "many": _many,
}
