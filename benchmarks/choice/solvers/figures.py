"""How much "auto" loses beside the best solver, and maps of the best one; from stored values."""

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


def figures(results: dict) -> dict[str, Figure]:
    """What is lost over rows per coefficient; then a map of the best solver for each loss."""
    losses = sorted(dict.fromkeys(cell["loss"] for cell in results["cells"]))
    maps = {f"map-{loss.replace(' ', '-')}": _maps(results, loss) for loss in losses}
    return {"": _losses(results, losses), **maps}


def _losses(results: dict, losses: list[str]) -> Figure:
    from benchmarks.harness.figures import legend_below, panels

    kinds = sorted(dict.fromkeys(cell["kind"] for cell in results["cells"]))
    size = (1.0 + 3.3 * len(kinds), 1.4 + 2.6 * len(losses))
    figure, every = panels(len(losses), len(kinds), *size, sharex=True, sharey=True)
    for line, loss in zip(every, losses, strict=True):
        for axes, kind in zip(line, kinds, strict=True):
            cells = [c for c in results["cells"] if (c["loss"], c["kind"]) == (loss, kind)]
            _scatter(axes, cells, results["epsilons"])
            axes.set_title(f"{loss}; {kind}", loc="left", fontsize=9)
        line[0].set_ylabel("per cent lost")
    for axes in every[-1]:
        axes.set_xlabel("rows per coefficient")
    legend_below(
        figure, 3, every.flat, 'filled: what "auto" loses; ring: what the best solver loses'
    )
    return figure


def _scatter(axes: Axes, cells: list[dict], epsilons: list[float]) -> None:
    """A mark for each cell: 100 is no better than a constant, or worse."""
    from benchmarks.harness.figures import COLOURS, MARKERS

    axes.set_xscale("log")
    for index, epsilon in enumerate(epsilons):
        shown = [cell for cell in cells if cell["epsilon"] == epsilon]
        places = [cell["n"] / (cell["p"] + 1) for cell in shown]
        style = {"color": COLOURS[index], "marker": MARKERS[index], "linestyle": "none"}
        least = [_share(cell, best(cell)) for cell in shown]
        axes.plot(places, least, fillstyle="none", markersize=9, alpha=0.6, **style)
        taken = [_share(cell, cell["auto"]) for cell in shown]
        axes.plot(places, taken, markersize=4, label=f"epsilon = {epsilon:g}", **style)
    wrong = [cell for cell in cells if is_wrong(cell)]
    axes.plot(
        [cell["n"] / (cell["p"] + 1) for cell in wrong],
        [_share(cell, cell["auto"]) for cell in wrong],
        **{"marker": "x", "markersize": 13, "color": "black", "linestyle": "none"},
        label='"auto" loses over three times the best',
    )
    axes.set_ylim(-6, 106)


def _share(cell: dict, solver: str) -> float:
    return 100.0 * min(max(lost(cell)[solver], 0.0), 1.0)


def _maps(results: dict, loss: str) -> Figure:
    """For one loss the best solver by rows and columns: a map for each epsilon and kind."""
    from benchmarks.harness.figures import panels

    kinds = sorted(dict.fromkeys(cell["kind"] for cell in results["cells"]))
    epsilons = results["epsilons"]
    size = (1.0 + 3.2 * len(epsilons), 1.6 + 1.6 * len(kinds))
    figure, maps = panels(len(kinds), len(epsilons), *size, grid=False, sharex=True)
    for line, kind in zip(maps, kinds, strict=True):
        for axes, epsilon in zip(line, epsilons, strict=True):
            where = (loss, kind, epsilon)
            cells = [c for c in results["cells"] if (c["loss"], c["kind"], c["epsilon"]) == where]
            _map(axes, cells, results)
            axes.set_title(f"{kind}; epsilon = {epsilon:g}", loc="left", fontsize=9)
        line[0].set_ylabel("columns")
    for axes in maps[-1]:
        axes.set_xlabel("rows")
    figure.suptitle(f"The best solver: {loss}", x=0.01, ha="left")
    _legend(figure)
    return figure


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
    """Coloured by the best, crossed where "auto" is far from it."""
    from matplotlib.patches import Rectangle

    place = (x - 0.48, y - 0.46)
    axes.add_patch(Rectangle(place, 0.96, 0.92, facecolor=_colour(cell), edgecolor="none"))
    if is_wrong(cell):
        axes.plot(x, y, marker="x", color="black", markersize=10, markeredgewidth=2)


def _colour(cell: dict) -> str:
    if not within_reach(cell):
        return HOPELESS
    if sum(tied(cell, solver) for solver in cell["lost"]) > 1:
        return TIED
    return _colours()[best(cell).removesuffix(CLOSER)]


def _colours() -> dict[str, str]:
    from benchmarks.harness.figures import COLOURS

    return dict(zip(SOLVERS, COLOURS, strict=False))


def _legend(figure: Figure) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    fills = {f'"{solver}"': colour for solver, colour in _colours().items()}
    fills |= {"two or more (within 0.5 %)": TIED, "none keeps half of the way": HOPELESS}
    handles = [Patch(facecolor=colour, label=label) for label, colour in fills.items()]
    mark = {"color": "black", "marker": "x", "linestyle": "none"}
    handles.append(Line2D([], [], label='"auto" loses over three times the best', **mark))
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
