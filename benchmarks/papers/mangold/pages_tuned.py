"""Tables of Algorithm 1 itself, tuned as in the paper, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report
from benchmarks.papers.mangold.problems import PASSES

__all__ = ["best_cell", "reproduces", "section"]

TEXT = """`CoordinateDescent(block=1)` with `passes`, `step_size` and `clip` from the paper's grid
(Appendix G.1: 10 steps from 0.01 to 10, 100 thresholds from 0.001 to 1,000,000, logarithmically
spaced, and 2, 5, 10, 20 or 50 passes), `smoothness` the true mean squares, bounds of 2 max, and
`outer=passes`, so that the last iterate is published as in the paper. The setting with the lowest
mean error of 5 runs on the private data is kept; nothing of this is private or paid for. The grid
is searched in two looks (`benchmarks/papers/mangold/tuned.py`). Mean and standard deviation of
these 5 runs, and below them the cell of Table 2."""
TARGETS = """The paper does not say what it does to California's target. As it is, the zero model
has an error of 4.43 on raw features, but the paper's DP-SGD begins at 0.28: the zero model's
where the target is centred. So California is shown twice, also with its target centred (raw
features) or standardised (standardised features)."""
ORDERS = """The best setting run again with seeds that chose nothing. **By rule** is
`CoordinateDescent(block=1, smoothness=...)` with the same free facts and all else a default. The
last two columns are Algorithm 1 in plain numpy at the same setting: coordinates in turn, as here,
and uniformly at random, as the paper's text has them. (2 passes at random leave out one coordinate
in eight.) "Within its spread": above Table 2 by no more than both standard deviations together.
With its target standardised, California misses that by 0.00002, less than the 0.00005 to which
Table 2 is rounded, and runs anew do not; a search of the whole grid, 5 runs of each setting, has
the same best ones there (2, 5 and 10 passes)."""


def best_cell(found: dict) -> dict:
    """The number of passes whose best setting has the lowest mean error."""
    return min(found["cells"], key=lambda cell: np.mean(cell["errors"]))


def reproduces(problem: dict, found: dict) -> bool:
    """Whether the best errors of both differ by no more than their spreads together, or ours less.

    Of the 5 runs that the paper prints, and the 5 that were tuned here.
    """
    cell, place = best_cell(found), int(np.argmin(problem["paper_cd"]))
    beyond = float(np.mean(cell["errors"])) - problem["paper_cd"][place]
    return beyond <= float(np.std(cell["errors"])) + problem["spread_cd"][place]


def section(results: dict) -> str:
    """Every cell of Table 2 beside ours, then the best settings run anew and the rule."""
    return "\n\n".join([TEXT, _cells(results), TARGETS, ORDERS, _anew(results)])


def _each(results: dict) -> list[tuple[str, dict, dict]]:
    return [
        (
            name if found["target"] == "as it is" else f"{name}, target {found['target']}",
            problem,
            found,
        )
        for name, problem in results["problems"].items()
        for found in problem["tuned"]
    ]


def _cells(results: dict) -> str:
    rows = []
    for name, problem, found in _each(results):
        ours = {cell["passes"]: cell["errors"] for cell in found["cells"]}
        rows.append([name, *(_with(np.mean(e), np.std(e)) for e in ours.values())])
        paper = dict(
            zip(PASSES, zip(problem["paper_cd"], problem["spread_cd"], strict=True), strict=True)
        )
        rows.append(["(Table 2)", *(_with(*paper[passes]) for passes in ours)])
    tried = [cell["passes"] for cell in _each(results)[0][2]["cells"]]
    return report.table(["passes", *map(str, tried)], rows)


def _anew(results: dict) -> str:
    header = [
        "problem", "passes", "step", "clip C", "tuned", "run anew", "Table 2", "within its spread",
        "by rule", "over tuned", "over Table 2", "in turn", "at random",
    ]  # fmt: skip
    rows = []
    for name, problem, found in _each(results):
        cell, place = best_cell(found), int(np.argmin(problem["paper_cd"]))
        rule, fresh = float(np.mean(found["rule"])), float(np.mean(found["fresh"]))
        rows.append(
            [
                name,
                str(cell["passes"]),
                f"{cell['step']:.2g}",
                f"{cell['clip']:.3g}",
                _with(np.mean(cell["errors"]), np.std(cell["errors"])),
                _range(found["fresh"]),
                _with(problem["paper_cd"][place], problem["spread_cd"][place]),
                "yes" if reproduces(problem, found) else "**no**",
                _range(found["rule"]),
                f"{rule / fresh:.2f}",
                f"{rule / problem['paper_cd'][place]:.2f}",
                *(f"{np.mean(found['orders'][order]):.4f}" for order in ("cyclic", "random")),
            ]
        )
    return report.table(header, rows)


def _with(mean: float, spread: float) -> str:
    return f"{mean:.4f} ± {spread:.4f}"


def _range(errors: list[float]) -> str:
    return f"{np.mean(errors):.4f} ({min(errors):.4f} to {max(errors):.4f})"
