"""Figures of the page on Wang and Guo 2024, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.figures import COLOURS, MARKERS, blank, legend_below, plain_ticks

__all__ = ["figures"]

SHOWN = (
    "Algorithm 1, Theorem 2 as proved",
    "Algorithm 1, mixture over visits",
    "permuted, clipped, paired",
    "Algorithm 1 without noise",
    'KernelRegressor, "output", l given',
    "KernelRegressor",
)


def figures(results: dict) -> dict:
    """Noise, the attack and the smooth target."""
    return {"": noise(results), "attack": attack(results), "smooth": smooth(results)}


def noise(results: dict):
    """Noise over passes, in units of the most that one visit moves."""
    figure, axes = blank(height=4.4)
    points = results["passes"]["points"]
    passes = [point["passes"] for point in points]
    lines = {
        "proved": "Theorem 2 as proved",
        "mixture": "drawn with replacement, mixture over visits",
        "permuted": "permuted passes, exact Gaussian",
    }
    for index, (key, label) in enumerate(lines.items()):
        values = [point[key] for point in points]
        axes.loglog(passes, values, color=COLOURS[index], marker=MARKERS[index], label=label)
    plain_ticks(axes.xaxis, [1, 2, 5, 10, 20, 50, 100])
    plain_ticks(axes.yaxis, [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000])
    axes.set_xlabel("passes over the rows, T / n")
    axes.set_ylabel("noise / largest move of one visit")
    axes.set_title(
        f"Noise for one promise: epsilon = {results['epsilon']:g}, "
        f"delta = {results['delta']:g}, n = {results['passes']['n']:,}",
        loc="left",
    )
    legend_below(figure, columns=1)
    return figure


def attack(results: dict):
    """True and proven epsilon over n, at T = n and eta = 1/n."""
    figure, axes = blank(height=4.8)
    rows = [row["n"] for row in results["attacks"]]
    printed = [row["printed"] for row in results["attacks"]]
    style = {"color": COLOURS[1], "marker": MARKERS[0]}
    truth, proven = [one["true"] for one in printed], [one["attack"]["epsilon"] for one in printed]
    axes.loglog(rows, truth, label="Theorem 2 as printed: truth", **style)
    label = "Theorem 2 as printed: proven"
    axes.loglog(rows, proven, linestyle=":", fillstyle="none", label=label, **style)
    axes.axhline(results["epsilon"], color="#444444", linestyle="--", label="promised")
    kept = results["permuted"]
    for index, name in enumerate(("2/3 of the noise", "as planned")):
        axes.plot(
            [kept["n"]],
            [kept[name]["attack"]["epsilon"]],
            color=COLOURS[(3, 0)[index]],
            marker=MARKERS[(4, 2)[index]],
            linestyle="none",
            label=f"ours, permuted, {name}: proven",
        )
    axes.set_ylim(0.03, 400)
    axes.set_xticks([1e4, 1e5, 1e6], labels=["10,000", "100,000", "1,000,000"])
    plain_ticks(axes.yaxis, [0.1, 0.3, 1, 3, 10, 30, 100])
    axes.set_xlabel("n = T = 1 / eta")
    axes.set_ylabel("epsilon: true, or proven (95 %)")
    axes.set_title("An attack on the last iterate", loc="left")
    legend_below(figure, columns=2)
    return figure


def smooth(results: dict):
    """Excess error over n; dotted where only the noise is known."""
    figure, axes = blank(height=5.2)
    found = results["smooth"]
    rows = found["rows"]
    shown = [method for method in SHOWN if method in found["excess"]]
    for index, method in enumerate(shown):
        losses = [found["excess"][method][str(n)] for n in rows]
        style = {"color": COLOURS[index]}
        middle = [np.median(seeds) for seeds in losses]
        axes.loglog(rows, middle, marker=MARKERS[index], label=method, **style)
        low, high = [min(seeds) for seeds in losses], [max(seeds) for seeds in losses]
        axes.fill_between(rows, low, high, alpha=0.15, **style)
        far = {int(n): value**2 for n, value in found["noise"][method].items() if value > 0}
        beyond = [n for n in sorted(far) if n >= rows[-1]]
        axes.loglog(beyond, [far[n] for n in beyond], linestyle=":", **style)
    axes.axhline(found["zero"], color="#444444", linestyle="--")
    axes.text(rows[0], 1.15 * found["zero"], "predicting 0", color="#444444", va="bottom")
    axes.set_xlabel("rows n (dotted: variance of the noise on a prediction alone)")
    axes.set_ylabel("excess error")
    axes.set_title(f"A smooth target, epsilon = {found['epsilon']:g}", loc="left")
    legend_below(figure, columns=2)
    return figure
