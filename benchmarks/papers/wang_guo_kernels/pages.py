"""Tables of the page on kernels, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report

__all__ = ["gaps", "tables"]

NAMES = {"n": "n", "features": "M", "epsilon": "epsilon"}
LINEAR = "best private linear model"


def tables(results: dict) -> str:
    """Per problem: who is how far at the defaults, then the three sweeps."""
    parts = []
    for key in ("california", "smooth"):
        found = results[key]
        parts += [f"## {found['name'].capitalize()}", _setting(found)]
        parts += [_sweep(found, sweep) for sweep in found["sweeps"]]
        if key == "california":
            parts.append(_gap(found))
        parts.append(_winners(found))
    return "\n\n".join(parts)


def _setting(found: dict) -> str:
    return (
        f"Median {found['loss']} over {found['seeds']} seeds (least to most). What a table does "
        f"not vary is n = {found['rows']:,}, M by rule ({found['features']:,}) and epsilon = "
        f"{found['epsilon']:g}; delta = {found['delta']:g}, `{found['adjacency']}`."
    )


def _sweep(found: dict, sweep: str) -> str:
    values = found["sweeps"][sweep]
    header = [f"{NAMES[sweep]} =", *(f"{value:,}" for value in values)]
    rows = [
        [method, *(_spread(seeds) for seeds in points)]
        for method, points in found["losses"][sweep].items()
    ]
    return report.table(header, rows)


def _spread(losses: list[float]) -> str:
    middle, low, high = np.median(losses), min(losses), max(losses)
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"


def gaps(found: dict, sweep: str = "epsilon", value: float | None = None) -> dict[str, np.ndarray]:
    """For each kernel model: by how much its loss is below the best linear one's, seed by seed."""
    place = found["sweeps"][sweep].index(found["epsilon"] if value is None else value)
    losses = found["losses"][sweep]
    linear = np.array(losses[LINEAR][place])
    return {
        method: linear - np.array(points[place])
        for method, points in losses.items()
        if method.startswith("Kernel")
    }


def _gap(found: dict) -> str:
    rows = [
        [method, f"{np.median(gap):.3f}", f"{gap.min():.3f}", f"{gap.max():.3f}"]
        for method, gap in gaps(found).items()
    ]
    return (
        f"R^2 beyond the best private linear model on the same split, epsilon = "
        f"{found['epsilon']:g}:\n\n" + report.table(["", "median", "least", "most"], rows)
    )


def _winners(found: dict) -> str:
    most = [f"`{name}` {times} times" for name, times in list(found["best_linear"].items())[:4]]
    return f"Best among the linear models: {', '.join(most)}."
