"""Maps of the best solver over rows and columns, and of what "auto" takes; from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.choice.solvers.fits import CLOSER
from benchmarks.choice.solvers.pages import best, is_wrong, lost, tied, within_reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["HOPELESS", "figures", "lattice"]

SOLVERS = ("cd", "scd", "sgd", "moments")
HOPELESS, TIED = "#bbbbbb", "#f3efdc"
DARK = "#222222"


def figures(results: dict) -> dict[str, Figure]:
    """One map per loss, kind of problem and epsilon."""
    from benchmarks.harness.figures import panels

    places = sorted(dict.fromkeys((cell["loss"], cell["kind"]) for cell in results["cells"]))
    epsilons = results["epsilons"]
    size = (1.0 + 3.5 * len(epsilons), 1.2 + 1.75 * len(places))
    figure, maps = panels(len(places), len(epsilons), *size, grid=False, sharex=True)
    for line, (loss, kind) in zip(maps, places, strict=True):
        for axes, epsilon in zip(line, epsilons, strict=True):
            where = (loss, kind, epsilon)
            cells = [c for c in results["cells"] if (c["loss"], c["kind"], c["epsilon"]) == where]
            _map(axes, cells, results)
        line[0].set_title(f"{loss}; {kind}", loc="left", fontsize=10)
        line[0].set_ylabel("p")
    for axes, epsilon in zip(maps[0], epsilons, strict=True):
        axes.text(
            0.5,
            1.22,
            f"epsilon = {epsilon:g}",
            transform=axes.transAxes,
            ha="center",
            fontweight="bold",
        )
    for axes in maps[-1]:
        axes.set_xlabel("n")
    _legend(figure)
    return {"": figure}


def _map(axes: Axes, cells: list[dict], results: dict) -> None:
    rows, columns = results["rows"], results["columns"]
    for cell in cells:
        _square(axes, rows.index(cell["n"]), columns.index(cell["p"]), cell)
    lattice(axes, rows, [f"{p}" for p in columns])


def lattice(axes: Axes, rows: list[int], labels: list[str]) -> None:
    """Axes of a map: one square for every number of rows and every label."""
    axes.set_xlim(-0.5, len(rows) - 0.5)
    axes.set_ylim(-0.5, len(labels) - 0.5)
    axes.set_xticks(range(len(rows)), [_short(n) for n in rows])
    axes.set_yticks(range(len(labels)), labels)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)


def _short(n: int) -> str:
    return f"{n // 1000}k" if n >= 1000 else f"{n}"


def _square(axes: Axes, x: int, y: int, cell: dict) -> None:
    """Coloured by the best; its loss in per cent; the mark of what "auto" takes."""
    from matplotlib.patches import Rectangle

    colour = _colour(cell)
    wrong = is_wrong(cell)
    axes.add_patch(
        Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, facecolor=colour, edgecolor="none", zorder=1)
    )
    if wrong:
        axes.add_patch(
            Rectangle((x - 0.44, y - 0.41), 0.88, 0.82, fill=False, edgecolor="black", lw=1.8)
        )
    ink = "white" if colour in _colours().values() else DARK
    share = 100.0 * max(lost(cell)[best(cell)], 0.0)
    words = f"{share:.0f}" if share < 99.5 else "all"
    axes.text(x - 0.17, y, words, ha="center", va="center", fontsize=8, color=ink)
    marker = _markers()[cell["auto"].removesuffix(CLOSER)]
    axes.plot(x + 0.25, y, marker=marker, color=ink, markersize=4.5, linestyle="none", zorder=3)


def _colour(cell: dict) -> str:
    if not within_reach(cell):
        return HOPELESS
    if sum(tied(cell, solver) for solver in cell["lost"]) > 1:
        return TIED
    return _colours()[best(cell).removesuffix(CLOSER)]


def _colours() -> dict[str, str]:
    from benchmarks.harness.figures import COLOURS

    return dict(zip(SOLVERS, COLOURS, strict=False))


def _markers() -> dict[str, str]:
    from benchmarks.harness.figures import MARKERS

    return dict(zip(SOLVERS, MARKERS, strict=False))


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    fills = {f'"{solver}" is best': colour for solver, colour in _colours().items()}
    fills |= {"two or more are (within 0.5 %)": TIED, "none keeps half of the way": HOPELESS}
    handles = [Patch(facecolor=colour, label=label) for label, colour in fills.items()]
    handles += [
        Line2D([], [], color=DARK, marker=marker, linestyle="none", label=f'"auto" takes "{name}"')
        for name, marker in _markers().items()
        if name != "moments"
    ]
    handles += [
        Patch(facecolor="none", edgecolor="black", lw=1.8, label='"auto" is wrong (over 3 times)'),
        Line2D([], [], linestyle="none", label="number: per cent lost by the best"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
