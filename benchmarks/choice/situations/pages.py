"""Tables about the choice of a solver by situation, from stored values alone."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from benchmarks.choice.solvers.pages import TIE, capped, mistakes, quality, within_reach
from benchmarks.harness import report

__all__ = ["expected", "tables"]

SOLVERS = ("cd", "scd", "sgd", "moments", "boosted", "tukey", "one-pass", "output")
DELTA = 1e-6
STEPS = (0.0, 3.0, 10.0, 30.0, 100.0, 1_000.0, math.inf)


def tables(results: dict) -> str:
    """How good the choice is, what to expect, and where the choice is wrong."""
    cells = [cell for cell in results["cells"] if within_reach(cell)]
    if not cells:
        return "No solver keeps half of the way anywhere."
    return "\n\n".join(
        [
            "## What to expect",
            "What `auto` loses, in per cent (the median over all cells, and in brackets the "
            "largest; 100 counts for more), by n mu per coefficient: mu is the budget as one "
            "Gaussian release, about epsilon / 4 for delta = 1e-6.",
            expected(results["cells"]),
            "## How good the choice is",
            f"Cells where some solver keeps half of the way ({len(cells)} of "
            f"{len(results['cells'])}), medians of {results['seeds']} tables (of one where X holds "
            "4 million numbers or more). A solver counts as best when it loses at most "
            f"{TIE:g} more than the one that loses least. Columns of solvers are mean shares lost, "
            "in per cent, over the cells that the solver can do, if that one were always taken; "
            "shares below 0 count as 0, those above 1 as 1.",
            quality(cells, SOLVERS),
            "## Where it is wrong",
            mistakes(cells),
        ]
    )


def expected(cells: list[dict]) -> str:
    """What "auto" loses by signal per coefficient and situation."""
    places = sorted(dict.fromkeys((cell["loss"], cell["kind"]) for cell in cells))
    rows = []
    for low, high in pairwise(STEPS):
        step = [cell for cell in cells if low <= signal(cell) < high]
        if step:
            words = f"{low:g} to {high:g}" if math.isfinite(high) else f"over {low:g}"
            rows.append([words, *(_lost(step, place) for place in places)])
    header = ["n mu per coefficient", *(f"{loss}, {kind}" for loss, kind in places)]
    return report.table(header, rows)


def signal(cell: dict) -> float:
    """Rows times mu, over the number of coefficients."""
    from privlearn.accounting.gaussian import equivalent_mu

    return cell["n"] * equivalent_mu(cell["epsilon"], DELTA) / (cell["p"] + 1)


def _lost(cells: list[dict], place: tuple[str, str]) -> str:
    found = [capped(c, c["auto"]) for c in cells if (c["loss"], c["kind"]) == place]
    if not found:
        return ""
    return f"{100 * np.median(found):.0f} ({100 * max(found):.0f})"
