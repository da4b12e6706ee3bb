"""Figures 1 to 3 of Damaskinos et al. 2021 with privlearn in them, from stored values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.damaskinos.pages import SCD, find
from benchmarks.papers.damaskinos.published import FIGURE_EPSILON, PLAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["figures"]

LINES = (
    (SCD, "defaults"),
    (PLAIN, "validation"),
    ("DP-SGD", "validation"),
    ("SeqDP-SCD", "validation"),
    ("DP-SCD, honestly accounted", "validation"),
)
NO_PRIVACY = "no privacy"
NEAR = 0.015  # of the way from no privacy to no model, in Figure 3


def figures(results: dict) -> dict[str, Figure]:
    """The paper's three; the second and the third of the first problem."""
    name, problem = next(iter(results["problems"].items()))
    return {
        "": trade_off(results),
        "convergence": convergence(name, problem),
        "batches": batches(name, problem),
    }


def trade_off(results: dict) -> Figure:
    """Figure 1: score on the test rows over epsilon, a panel per problem."""
    from benchmarks.harness.figures import legend_below, panels

    count = len(results["problems"])
    figure, (every,) = panels(1, count, max(8.0, 4.2 * count + 0.4), 4.6)
    for axes, (name, problem) in zip(every, results["problems"].items(), strict=True):
        _trade_off_panel(axes, name, problem, results["epsilons"])
    legend_below(figure, 3, every[:1])
    return figure


def _trade_off_panel(axes: Axes, name: str, problem: dict, epsilons: list[float]) -> None:
    from benchmarks.harness.figures import COLOURS, MARKERS, plain_ticks

    for index, (method, criterion) in enumerate(LINES):
        rows = [find(problem, method, epsilon, criterion) for epsilon in epsilons]
        if None in rows:
            continue
        low, middle, high = np.array([np.percentile(r["scores"], [25, 50, 75]) for r in rows]).T
        label = f"{method}, {'tuned' if criterion != 'defaults' else criterion}"
        colour = COLOURS[index]
        axes.plot(epsilons, middle, color=colour, marker=MARKERS[index], label=label, zorder=3)
        axes.fill_between(epsilons, low, high, color=colour, alpha=0.2, linewidth=0)
    axes.axhline(problem["score"], color="#444444", linestyle="--", label=NO_PRIVACY)
    axes.set_xscale("log")
    plain_ticks(axes.xaxis, epsilons)
    axes.set_title(name, loc="left")
    axes.set_xlabel("epsilon")
    squared = problem["scored"] == "mean squared error"
    better = "lower" if squared else "higher"
    axes.set_ylabel(f"{problem['scored']} on test rows ({better} is better)")
    shown = [np.median(row["scores"]) for row in problem["rows"] if _is_line(row)]
    _frame(axes, problem["score"], problem["score_zero"], shown)


def _is_line(row: dict) -> bool:
    return (row["method"], row["criterion"]) in LINES


def _frame(axes: Axes, best: float, worst: float, shown: list[float]) -> None:
    """Show the medians, but nothing that is much worse than no model at all."""
    shown = [value for value in shown if np.isfinite(value)]
    if worst > best:  # an error
        top = min(max(shown), worst)
        axes.set_ylim(best - 0.1 * (top - best), top + 0.1 * (top - best))
    else:
        bottom = max(min(shown), worst)
        axes.set_ylim(bottom - 0.1 * (best - bottom), best + 0.1 * (best - bottom))


def convergence(name: str, problem: dict) -> Figure:
    """Figure 2: excess of F over epochs; privlearn's end is one point per epsilon."""
    from benchmarks.harness.figures import COLOURS, blank, legend_below, plain_ticks

    plot, axes = blank(7.0, 4.8)
    styles = {"SCD, no noise": "#444444", PLAIN: COLOURS[1], "DP-SGD": COLOURS[2]}
    for trace in problem["traces"]:
        epsilon = trace["epsilon"]
        label = trace["method"] if epsilon is None else f"{trace['method']}, epsilon = {epsilon:g}"
        axes.plot(
            trace["epochs"],
            np.maximum(np.array(trace["objectives"]) - problem["optimum"], 1e-9),
            color=styles[trace["method"]],
            linestyle="-" if epsilon in (None, FIGURE_EPSILON) else "--",
            label=label,
        )
    _ours(axes, problem, COLOURS[0])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(bottom=1e-6)
    plain_ticks(axes.xaxis, [1, 2, 5, 10, 20, problem["epochs"]])
    axes.set_xlabel("epochs")
    axes.set_ylabel("training objective less its optimum")
    axes.set_title(f"{name}: convergence", loc="left")
    legend_below(plot, columns=2)
    return plot


def _ours(axes: Axes, problem: dict, colour: str) -> None:
    for trace in problem["traces"]:
        epsilon = trace["epsilon"]
        row = None if epsilon is None else find(problem, SCD, epsilon)
        if row is None or trace["method"] != PLAIN:
            continue
        axes.plot(
            [row["setting"]["epochs"]],
            [np.median(row["objectives"]) - problem["optimum"]],
            color=colour,
            marker="o" if epsilon == FIGURE_EPSILON else "s",
            markersize=9,
            linestyle="none",
            label=f"{SCD} after its last epoch, epsilon = {epsilon:g}",
            zorder=5,
        )


def batches(name: str, problem: dict) -> Figure:
    """Figure 3: score over L for several C at one epsilon; what privlearn's rule took is marked."""
    from benchmarks.harness.figures import COLOURS, MARKERS, blank, legend_below

    plot, axes = blank(7.0, 4.8)
    clips = _shown_clips(problem)
    for index, clip in enumerate(clips):
        points = sorted((g["batch"], g["test"]) for g in problem["grid"] if g["clip"] == clip)
        batch, score = np.array(points).T
        style = {"color": COLOURS[(index + 1) % 7], "marker": MARKERS[(index + 1) % 7]}
        axes.plot(batch, score, label=f"DP-SCD, C = {clip:g}", **style)
    row = find(problem, SCD, FIGURE_EPSILON)
    if row is not None:
        _draw_rule(axes, row)
    axes.axhline(problem["score"], color="#444444", linestyle="--", label=NO_PRIVACY)
    axes.set_xscale("log")
    best, worst = problem["score"], problem["score_zero"]
    _frame(axes, best, worst, [best + NEAR * (worst - best)])
    _draw_outside(axes, problem["grid"])
    axes.set_xlabel("batch size L")
    axes.set_ylabel(f"{problem['scored']} on test rows")
    axes.set_title(f"{name}, epsilon = {FIGURE_EPSILON:g}", loc="left")
    legend_below(plot, columns=2)
    return plot


def _draw_rule(axes: Axes, row: dict) -> None:
    """What privlearn's rule reached: a line at its score, marked at the batch that it took."""
    from benchmarks.harness.figures import COLOURS

    low, middle, high = np.percentile(row["scores"], [25, 50, 75])
    batch = row["setting"]["batch"]
    axes.axhspan(low, high, color=COLOURS[0], alpha=0.2, linewidth=0)
    axes.axhline(middle, color=COLOURS[0], label=f"{SCD}, defaults: L = {batch:,.0f}, C by rule")
    axes.plot([batch], [middle], color=COLOURS[0], marker="o", markersize=9, zorder=5)


def _draw_outside(axes: Axes, grid: list[dict]) -> None:
    """Settings whose score is beyond the frame, at its edge: how many, by batch size."""
    low, high = axes.get_ylim()
    out = [one["batch"] for one in grid if not low <= one["test"] <= high]
    if not out:
        return
    label = f"DP-SCD, outside the figure: {len(out)} of {len(grid)} settings"
    places = sorted(set(out))
    axes.plot(places, [high] * len(places), "k^", clip_on=False, label=label, zorder=6)
    for place in places:
        axes.annotate(
            f"{out.count(place)}", (place, high), (0, -14), textcoords="offset points", ha="center"
        )


def _shown_clips(problem: dict) -> list[float]:
    """Clips with a score inside the frame; without any the best one."""
    best, worst = problem["score"], problem["score_zero"]
    share = {
        clip: min((g["test"] - best) / (worst - best) for g in problem["grid"] if g["clip"] == clip)
        for clip in {point["clip"] for point in problem["grid"]}
    }
    inside = sorted(clip for clip, value in share.items() if value <= NEAR)
    return inside or [min(share, key=share.__getitem__)]
