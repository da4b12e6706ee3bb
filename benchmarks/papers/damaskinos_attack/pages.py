"""Tables and the figure of the attack on Damaskinos et al. 2021, from stored values alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.harness import report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figures", "tables"]


def tables(results: dict) -> str:
    """Published, where its numbers come from, ours, and real fits of ours."""
    parts = [
        "## Algorithm 1 as published, output [alpha; v]",
        _published(results),
        "## Hidden alpha, every v released",
        _ours(results),
        "## Real fits",
        _fits(results["fits"]),
    ]
    return "\n\n".join(parts)


def _published(results: dict) -> str:
    header = [
        "promised epsilon",
        "sigma",
        "true epsilon",
        "attack proves",
        "hits",
        "false alarms",
        "v alone",
    ]
    rows = [
        [
            f"{row['nominal']:g}",
            f"{row['sigma']:.3f}",
            f"{row['true']:.1f}",
            f"at least {row['attack']['epsilon']:.2f}",
            *_counts(row["attack"]),
            f"at least {row['fixed_size']:.2f}",
        ]
        for row in results["published"]
    ]
    truths = ", ".join(f"{row['exact_true']:.2g}" for row in results["published"])
    sigmas = ", ".join(f"{row['exact_sigma']:.3f}" for row in results["published"])
    return (
        report.table(header, rows)
        + f"\n\nsigma is the moments accountant's, as in the paper: Renyi orders 2 to 256 of the "
        "Poisson-sampled Gaussian, converted as Canonne et al. 2020 do. An exact accountant finds "
        f"that less noise would do for the same promises ({sigmas}); the true epsilons are then "
        f"{truths}. {results['runs']:,} runs in each world, half of them to count."
    )


def _counts(attack: dict) -> list[str]:
    return [f"{attack[name]:,} of {attack['runs']:,}" for name in ("hits", "false_alarms")]


def _ours(results: dict) -> str:
    header = [
        "promised epsilon",
        "noise multiplier",
        "attack proves",
        "hits",
        "false alarms",
        "with 2/3 of the noise",
    ]
    rows = [
        [
            f"{row['nominal']:g}",
            f"{row['multiplier']:.3f}",
            f"at least {row['attack']['epsilon']:.3f}",
            *_counts(row["attack"]),
            f"at least {row['with_less_noise']['epsilon']:.3f}",
        ]
        for row in results["ours"]
    ]
    return (
        report.table(header, rows)
        + "\n\nHere the promise is also the truth: the row's update has the largest size that the "
        "clip allows, which attains the bound (`tests/accounting/test_hidden_state.py`). The noise "
        "is relative to C, that of Algorithm 1 to sqrt(2) C."
    )


def _fits(fits: dict | None) -> str:
    if fits is None:
        return 'Left out: this version has no solver "scd".'
    rows = [
        [name, f"at least {attack['epsilon']:.2f}", *_counts(attack)]
        for name, attack in fits["attacks"].items()
    ]
    return (
        report.table(["fits", "attack proves", "hits", "false alarms"], rows)
        + f"\n\n`{fits['model']}` on {fits['rows']} rows, promised epsilon = {fits['epsilon']:g}, "
        f"delta = {fits['delta']:g}, `zero_out`: {fits['steps']} releases at rate "
        f"{fits['rate']:g} and noise multiplier {fits['multiplier']:.3f}. The attacker reads each "
        'release off the tape of a real `fit`. "2/3 of the noise" are fits whose promise is so '
        f"large ({fits['louder_epsilon']:.2f}) that they get only that."
    )


def figures(results: dict) -> dict[str, Figure]:
    """Promise against truth and proof; what lies above the diagonal breaks its promise."""
    from benchmarks.harness.figures import COLOURS, MARKERS, blank, legend_below, plain_ticks

    figure, axes = blank(height=4.8)
    nominal = [row["nominal"] for row in results["published"]]
    truth = [row["true"] for row in results["published"]]
    axes.loglog(
        nominal, truth, color=COLOURS[1], label="Algorithm 1 with [alpha; v]: the truth", zorder=3
    )
    ends = [nominal[0] / 1.4, nominal[-1] * 1.4]
    axes.loglog(
        ends, ends, color="#444444", linestyle="--", label='the promise (the truth of "scd")'
    )
    for index, (key, name) in enumerate((("published", "Algorithm 1"), ("ours", '"scd"'))):
        proven = [row["attack"]["epsilon"] for row in results[key]]
        axes.plot(
            nominal,
            proven,
            color=COLOURS[1 - index],
            marker=MARKERS[1 - index],
            linestyle=":",
            label=f"{name}: proven by the attack",
            zorder=4,
        )
    axes.fill_between(ends, ends, 40.0, color=COLOURS[1], alpha=0.08, linewidth=0)
    axes.text(0.08, 26.0, "less private than promised", color="#444444", va="center")
    plain_ticks(axes.xaxis, nominal)
    plain_ticks(axes.yaxis, [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20])
    axes.set_xlim(*ends)
    axes.set_ylim(0.03, 40.0)
    axes.set_xlabel("promised epsilon (delta = 0.001), logarithmic")
    axes.set_ylabel("epsilon: true, or proven with 95 % confidence")
    axes.set_title("What is promised, what is true, what an attacker proves", loc="left")
    legend_below(figure, columns=2)
    return {"": figure}
