"""Maps of the best solver by situation, with what "auto" takes; from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.choice.situations.fits import SELECTION
from benchmarks.choice.solvers.figures import HOPELESS, lattice
from benchmarks.choice.solvers.fits import CLOSER
from benchmarks.choice.solvers.pages import best, capped, is_wrong, lost, within_reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figures"]

NEAR = 0.02  # of the way: then "auto" counts as best
COLOURS = {
    "cd": "#8CC5EA",
    "scd": "#F4A582",
    "sgd": "#8FD3B6",
    "moments": "#D9B3CC",
    "boosted": "#F2D16B",
    "tukey": "#B9A7E0",
    "one-pass": "#A3A3A3",
    "output": "#C7B299",
}
INK = "#1a1a1a"
SHOWN = 20  # features, in the short figure


def figures(results: dict) -> dict[str, Figure]:
    """The main figure for one number of features, another for all of them."""
    columns = results["columns"]
    shown = SHOWN if SHOWN in columns else columns[0]
    return {"": _figure(results, [shown]), "all": _figure(results, columns)}


def _figure(results: dict, columns: list[int]) -> Figure:
    """One map per situation: situations beside each other, losses and features below each other."""
    from benchmarks.harness.figures import panels

    losses = list(dict.fromkeys(cell["loss"] for cell in results["cells"]))
    kinds = list(dict.fromkeys(cell["kind"] for cell in results["cells"]))
    lines = [(loss, p) for loss in losses for p in columns]
    size = (0.6 + 3.6 * len(kinds), 1.6 + 2.15 * len(lines))
    figure, maps = panels(len(lines), len(kinds), *size, grid=False)
    for line, (loss, p) in zip(maps, lines, strict=True):
        for axes, kind in zip(line, kinds, strict=True):
            where = (loss, kind, p)
            cells = [c for c in results["cells"] if (c["loss"], c["kind"], c["p"]) == where]
            _map(axes, cells, results)
            axes.set_title(f"{loss}, {kind}", fontsize=10, fontweight="bold")
        line[0].set_ylabel(f"epsilon ({p} features)")
    for axes in maps[-1]:
        axes.set_xlabel("n (rows)")
    _legend(figure, [cell for cell in results["cells"] if cell["p"] in columns])
    return figure


def _map(axes: Axes, cells: list[dict], results: dict) -> None:
    rows, epsilons = results["rows"], results["epsilons"]
    for cell in cells:
        _square(axes, rows.index(cell["n"]), epsilons.index(cell["epsilon"]), cell)
    lattice(axes, rows, [f"{epsilon:g}" for epsilon in epsilons])


def _square(axes: Axes, x: int, y: int, cell: dict) -> None:
    """Coloured by the best; in it what "auto" takes and the per cent that it loses."""
    from matplotlib.patches import Rectangle

    colour = COLOURS[_winner(cell)] if within_reach(cell) else HOPELESS
    axes.add_patch(Rectangle((x - 0.48, y - 0.47), 0.96, 0.94, facecolor=colour, edgecolor="none"))
    if is_wrong(cell):
        inside = (x - 0.45, y - 0.43)
        axes.add_patch(Rectangle(inside, 0.9, 0.86, fill=False, edgecolor="black", lw=1.6))
    name = cell["auto"].replace(SELECTION, "*").removesuffix(CLOSER)
    share = 100.0 * capped(cell, cell["auto"])
    words = f"{name}\nall" if share >= 99.5 else f"{name}\n{share:.0f} %"
    axes.text(x, y, words, ha="center", va="center", fontsize=9, linespacing=1.4, color=INK)


def _winner(cell: dict) -> str:
    """The solver that loses least, or "auto"'s where that cannot be told from it."""
    name = best(cell)
    if lost(cell)[cell["auto"]] <= max(lost(cell)[name], 0.0) + NEAR:
        name = cell["auto"]
    return name.replace(SELECTION, "").removesuffix(CLOSER)


def _legend(figure: Figure, cells: list[dict]) -> None:
    """What is seen on the figure, and no more."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    seen = {_winner(cell) for cell in cells if within_reach(cell)}
    fills = {f'"{name}" loses least': COLOURS[name] for name in COLOURS if name in seen}
    fills["too few rows: none keeps half"] = HOPELESS
    handles = [Patch(facecolor=colour, label=label) for label, colour in fills.items()]
    if any(map(is_wrong, cells)):
        frame = '"auto" loses over 3 times the least'
        handles.append(Patch(facecolor="none", edgecolor="black", lw=1.6, label=frame))
    notes = ['text: what "auto" takes, and what it loses']
    if any(cell["auto"].endswith(SELECTION) for cell in cells):
        notes.append("*: on selected features")
    handles += [Line2D([], [], linestyle="none", label=note) for note in notes]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
