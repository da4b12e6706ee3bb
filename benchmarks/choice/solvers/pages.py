"""Tables about the choice of a solver, from stored values alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.harness import report

__all__ = [
    "best",
    "capped",
    "is_wrong",
    "lost",
    "mistakes",
    "quality",
    "tables",
    "tied",
    "within_reach",
]

HALF = 0.5  # of the way: where no solver keeps it, which one is taken hardly matters
TIE = 0.005  # of the way: less cannot be told apart here
WRONG = 3.0  # times what the best loses
FREE = 1.0  # a constant loses the whole way, and nobody need use a model that loses more
ALL = "everything"
SOLVERS = ("cd", "scd", "sgd", "moments")


def lost(cell: dict) -> dict[str, float]:
    """Median over the seeds, per solver."""
    return {solver: float(np.median(shares)) for solver, shares in cell["lost"].items()}


def best(cell: dict) -> str:
    """The solver that loses least."""
    found = lost(cell)
    return min(found, key=found.__getitem__)


def within_reach(cell: dict) -> bool:
    """Whether some solver keeps half of the way."""
    return min(lost(cell).values()) <= HALF


def tied(cell: dict, solver: str) -> bool:
    """Whether a solver cannot be told from the best."""
    found = lost(cell)
    return found[solver] <= max(min(found.values()), 0.0) + TIE


def is_wrong(cell: dict) -> bool:
    """Whether "auto" loses far more than it would have to."""
    found = lost(cell)
    least = max(min(found.values()), 0.0)
    return within_reach(cell) and found[cell["auto"]] > WRONG * least + 2 * TIE


def tables(results: dict) -> str:
    """How good the choice is, then where it is wrong."""
    cells = [cell for cell in results["cells"] if within_reach(cell)]
    if not cells:
        return "No solver keeps half of the way anywhere."
    return "\n\n".join(
        [
            "## How good the choice is",
            f"Cells where some solver keeps half of the way ({len(cells)} of "
            f"{len(results['cells'])}), medians of {results['seeds']} runs. A solver counts as "
            f"best when it loses at most {TIE:g} more than the one that loses least. Columns of "
            "solvers are mean shares lost, in per cent, if that one were always taken (moments: in "
            "least squares); shares below 0 count as 0, those above 1 as 1.",
            quality(cells),
            "## Where it is wrong",
            mistakes(cells),
        ]
    )


def quality(cells: list[dict], solvers: Sequence[str] = SOLVERS) -> str:
    """Mean shares lost by the best, by "auto" and by each solver, per kind of problem."""
    header = ["problems", "cells", "auto is best", "best", "auto", *solvers]
    places = dict.fromkeys((cell["loss"], cell["kind"]) for cell in cells)
    groups = {
        f"{loss}; {kind}": [c for c in cells if (c["loss"], c["kind"]) == (loss, kind)]
        for loss, kind in sorted(places)
    }
    return report.table(
        header, [_line(*group, solvers) for group in (*groups.items(), (ALL, cells))]
    )


def _line(name: str, cells: list[dict], solvers: Sequence[str]) -> list[str]:
    choices = [best, lambda cell: cell["auto"], *(lambda cell, s=s: s for s in solvers)]
    right = np.mean([tied(cell, cell["auto"]) for cell in cells])
    return [
        name,
        f"{len(cells)}",
        f"{100 * right:.0f} %",
        *(_mean_lost([(cell, choice(cell)) for cell in cells]) for choice in choices),
    ]


def _mean_lost(taken: list[tuple[dict, str]]) -> str:
    """Over the cells that the solver can do."""
    shares = [capped(cell, solver) for cell, solver in taken if solver in cell["lost"]]
    return f"{100 * np.mean(shares):.1f}" if shares else ""


def capped(cell: dict, solver: str) -> float:
    """The median share lost, within 0 and 1."""
    return float(np.clip(lost(cell)[solver], 0.0, FREE))


def mistakes(cells: list[dict]) -> str:
    """Cells where "auto" is far off, the worst first."""
    wrong = [cell for cell in cells if is_wrong(cell)]
    words = (
        f'"auto" loses more than {WRONG:g} times what the best does (and a hundredth of the way '
        f"on top) in {len(wrong)} of {len(cells)} cells."
    )
    if not wrong:
        return words
    header = ["problems", "n", "p", "epsilon", "auto takes", "it loses", "best", "which loses"]
    wrong.sort(key=lambda cell: lost(cell)[best(cell)] - lost(cell)[cell["auto"]])
    rows = [
        [
            f"{cell['loss']}; {cell['kind']}",
            f"{cell['n']:,}",
            f"{cell['p']}",
            f"{cell['epsilon']:g}",
            cell["auto"],
            f"{100 * lost(cell)[cell['auto']]:.1f} %",
            best(cell),
            f"{100 * max(lost(cell)[best(cell)], 0.0):.1f} %",
        ]
        for cell in wrong
    ]
    return f"{words}\n\n{report.table(header, rows)}"
