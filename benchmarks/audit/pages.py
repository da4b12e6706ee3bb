"""The page and the figure of `make audit`, from stored values alone."""

from __future__ import annotations

from benchmarks.audit.cells import BLACK_AT_LEAST, MANY, RELATIONS, WHITE_AT_LEAST
from benchmarks.harness.report import table

__all__ = ["figures", "summary", "tables"]


def tables(results: dict) -> str:
    """Everything in Markdown, the summary first."""
    parts = [
        "\n".join(f"- {line}" for line in summary(results)),
        "## White box",
        _white(results["white"]),
        "## Black box",
        _black(results["black"]),
        "## A third of the noise, planted",
        _planted(results["planted"]),
        "## diffprivlib",
        _diffprivlib(results["diffprivlib"]),
    ]
    return "\n\n".join(parts)


def summary(results: dict) -> list[str]:
    """What the page shows, in sentences with numbers."""
    white, black = results["white"], results["black"]
    seen = [cell for cell in white if cell["ratio"] is not None]
    above = [cell for cell in white + black if cell["verdict"] == "ABOVE"]
    plain = [cell for cell in seen if cell["gaussian"]]
    found = sum(cell["verdict"] == "found" for cell in results["planted"])
    lines = [
        f"Above their promise: {len(above)} of {len(seen) + len(black)} cells that were measured.",
        f"Not measured: {len(white) - len(seen)} cells, each with its reason below.",
    ]
    for relation, least in WHITE_AT_LEAST.items():
        ratios = [cell["ratio"] for cell in plain if cell["relation"] == relation]
        if ratios:
            reached = sum(ratio >= least for ratio in ratios)
            lines.append(
                f"White box, Gaussian noise on all rows, `{relation}`: {min(ratios):.3f} to "
                f"{max(ratios):.3f} of the planned mu; {reached} of {len(ratios)} reach {least}."
            )
    many = [cell for cell in black if cell.get("fits") == MANY]
    if many:
        lines.append(
            f"Black box with {MANY:,} fits on each side: mu proven to "
            f"{min(c['ratio'] for c in many):.2f} to {max(c['ratio'] for c in many):.2f} of the "
            f"planned one; at least {BLACK_AT_LEAST} was asked for."
        )
    lines.append(f"A third of the noise, planted: found in {found} of {len(results['planted'])}.")
    return lines


def _white(white: list[dict]) -> str:
    head = ["configuration", "relation", "planned mu", "measured", "ratio", "deviation", "verdict"]
    rows = [
        [
            f"{cell['estimator']}, {cell['solver']}, {cell['facts']}",
            cell["relation"],
            *(
                ["", "", "", ""]
                if cell["ratio"] is None
                else [
                    f"{cell['planned']:.4f}",
                    f"{cell['measured']:.4f}",
                    f"{cell['ratio']:.3f}",
                    f"{cell['loss_deviation']:.3f}",
                ]
            ),
            _verdict(cell),
        ]
        for cell in white
    ]
    text = (
        "All promise epsilon = 1 at delta = 1e-6 (Tukey: 8). `*`: every release is Gaussian noise "
        "on a sum over all rows. `not offered`: the library refuses the combination. "
        "`not covered`: a release has no density here (Tukey's draw among models, whose law "
        "`check_draws` tests). For spherical noise the price is that of the worst pure mechanism, "
        "as in the plan."
    )
    return f"{text}\n\n{table(head, rows)}"


def _verdict(cell: dict) -> str:
    star = "*" if cell.get("gaussian") else ""
    return cell["verdict"] + star + (f": {cell['why']}" if cell["verdict"] == "ERROR" else "")


def _black(black: list[dict]) -> str:
    head = ["configuration", "relation", "fits a side", "promised epsilon", "proven", "planned mu",
            "proven", "ratio", "verdict"]  # fmt: skip
    rows = [
        [
            f"{cell['estimator']}, {cell['solver']}",
            cell["relation"],
            f"{cell['fits']:,}",
            f"{cell['epsilon']:g}",
            f"{cell['bound_epsilon']:.3f}",
            "" if cell["mu"] is None else f"{cell['mu']:.4f}",
            f"{cell['bound_mu']:.4f}",
            f"{cell['ratio']:.3f}",
            cell["verdict"],
        ]
        for cell in black
        if cell["verdict"] != "ERROR"
    ]
    failed = [f"{cell['name']}: {_verdict(cell)}" for cell in black if cell["verdict"] == "ERROR"]
    return "\n\n".join([table(head, rows), *failed])


def _planted(planted: list[dict]) -> str:
    rows = [
        [f"{cell['estimator']}, {cell['solver']}", cell["tool"], cell["verdict"], cell["why"]]
        for cell in planted
    ]
    return table(["configuration", "tool", "verdict", "it says"], rows)


def _diffprivlib(found: dict) -> str:
    if "skipped" in found:
        return f"Left out, because {found['skipped']}."
    versions = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return (
        f"`LinearRegression` of {versions}, with `bounds_X=(0, 1)` and `fit_intercept=False`, "
        f"claims epsilon = {found['epsilon']:g}. It takes the lower bound twice for the "
        "sensitivity of the diagonal of X'X, which is 0 then, and adds no noise to it. One of two "
        "rows is exchanged, x = 1 against x = 0.01, all targets are 0, and "
        f"{found['fits']:,} fits on each side prove **epsilon >= {found['bound_epsilon']:.2f}** "
        f"(95 %; {found['hits']} and {found['false_alarms']} of {found['counted']} beyond the "
        f"threshold; no attack with so few fits could prove more than {found['most']:.1f})."
    )


def figures(results: dict) -> dict:
    """Measured over planned, for every solver; filled where all is Gaussian and of all rows."""
    from matplotlib.lines import Line2D

    from benchmarks.harness.figures import COLOURS, MARKERS, blank, legend_below

    seen = [cell for cell in results["white"] if cell["ratio"] is not None]
    names = list(dict.fromkeys(cell["solver"] for cell in seen))
    figure, axes = blank(7.2, 0.9 + 0.34 * len(names))
    for k, relation in enumerate(RELATIONS):
        for cell in seen:
            if cell["relation"] != relation:
                continue
            height = names.index(cell["solver"]) + 0.22 * (k - 1)
            colour = COLOURS[k]
            inside = colour if cell["gaussian"] else "none"
            axes.plot(
                cell["ratio"], height, MARKERS[k], color=colour, markerfacecolor=inside,
                markersize=4.5, alpha=0.8,
            )  # fmt: skip
    axes.axvline(1.0, color="black", linewidth=1.2)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.08)
    axes.set_xlabel("white box: measured over planned (1: all that was promised)")
    for k, relation in enumerate(RELATIONS):
        axes.plot([], [], MARKERS[k], color=COLOURS[k], label=relation)
    for inside, label in (("grey", "Gaussian, all rows"), ("none", "sampled or other noise")):
        axes.add_line(
            Line2D(
                [], [], linestyle="", marker="o", color="grey", markerfacecolor=inside, label=label
            )
        )
    legend_below(figure, 3)
    return {"": figure}
