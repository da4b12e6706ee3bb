"""Tables of the page on Wang and Guo 2024, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report

__all__ = ["tables"]

ORDER = ("the paper's gradient bound", "ours", "residuals clipped to c")
REPLACED = ("printed", "proved", "mixture")


def tables(results: dict) -> str:
    """Noise, the attack, the smooth target."""
    parts = [
        "## Noise",
        _noise(results),
        "## The same as ratios",
        _ratios(results),
        "## The attack",
        _attacks(results),
        "## A smooth target",
        _smooth(results["smooth"]),
    ]
    return "\n\n".join(parts)


def _noise(results: dict) -> str:
    header = ["n, T, eta", "as printed", "as proved"]
    header += [f"{law}, {name}" for name in ORDER for law in ("permuted", "replaced")]
    rows = [
        [
            _where(row),
            *(_short(row[key], 3) for key in ("printed", "proved")),
            *(_short(row[law][name], 3) for name in ORDER for law in ("permuted", "mixture")),
        ]
        for row in results["calibration"]
    ]
    return (
        f"Standard deviation of the noise on each weight, epsilon = {results['epsilon']:g}, delta "
        f'= {results["delta"]:g}, c = kappa = 1, `replace_one`. "Replaced": drawn with '
        "replacement, mixture over the visits. Three gradient bounds: the paper's at t = T, ours, "
        "and residuals clipped to c.\n\n" + report.table(header, rows)
    )


def _short(value: float, digits: int) -> str:
    """As few characters as the digits allow."""
    if 1 <= value < 1e5:
        return f"{float(f'{value:.{digits}g}'):,g}"
    mantissa, _, power = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(power)}" if power else mantissa


def _where(row: dict) -> str:
    passes = "n" if row["passes"] == 1 else f"{row['passes']} n"
    return f"{row['n']:,}, {passes}, {row['step']}"


def _ratios(results: dict) -> str:
    header = ["n, T, eta"]
    header += [f"{law}, {name}" for name in ORDER for law in ("permuted", "replaced")]
    rows = [
        [
            _where(row),
            *(
                _short(row["proved"] / row[law][name], 3)
                for name in ORDER
                for law in ("permuted", "mixture")
            ),
        ]
        for row in results["calibration"]
    ]
    return "Noise of the theorem as proved over ours.\n\n" + report.table(header, rows)


def _attacks(results: dict) -> str:
    header = ["n = T = 1/eta"]
    for name in ("as printed", "as proved", "ours, replaced"):
        header += [f"{name}: true epsilon", "proven"]
    rows = [
        [f"{row['n']:,}", *(text for key in REPLACED for text in _proof(row[key]))]
        for row in results["attacks"]
    ]
    runs = results["attacks"][0]["printed"]["attack"]["runs"]
    return (
        f"Promised: epsilon = {results['epsilon']:g} at delta = {results['delta']:g}. Features of "
        "the linear kernel; one row at x = 1 with label c or -c, all others at x = 0; c = kappa = "
        "1. The attacker compares the released weights along the row's direction with a "
        "threshold, which is the best test here. Proven: a bound from below with 95 % confidence "
        f"(Clopper-Pearson), {runs:,} runs of each world to choose the threshold and as many to "
        "count. True: computed. Only the visits of the row matter, so the runs draw their number "
        "and skip all other steps.\n\n"
        + report.table(header, rows)
        + "\n\n"
        + _literal(results["literal"])
        + "\n\nOurs, with residuals clipped to c. With replacement its bound takes the number of "
        "visits for known, and this attacker does not know it. In one permuted pass the row is "
        "visited once, with a residual of c, and the bound is attained:\n\n"
        + _permuted(results["permuted"])
        + "\n\n"
        + _fits(results["fits"])
    )


def _literal(literal: dict) -> str:
    found = literal["attack"]
    return (
        f"All steps taken, n = {literal['n']:,}, as printed: {found['runs']} runs of "
        f"each world that count, hits {found['hits']}, false alarms "
        f"{found['false_alarms']}, which proves epsilon > "
        f"{found['epsilon']:.2f}; the truth is {literal['true']:.1f}."
    )


def _permuted(found: dict) -> str:
    rows = [
        [
            f"one permuted pass, {name}",
            *_proof(found[name]),
            *(f"{found[name]['attack'][key]:,}" for key in ("hits", "false_alarms", "runs")),
        ]
        for name in ("as planned", "2/3 of the noise")
    ]
    header = [f"n = {found['n']:,}", "true epsilon", "proven", "hits", "false alarms", "runs"]
    return report.table(header, rows)


def _fits(fits: dict | None) -> str:
    if fits is None:
        return 'Real fits are left out: this version has no solver "output".'
    rows = [
        [name, *(f"{attack[key]:,}" for key in ("hits", "false_alarms", "runs"))]
        for name, attack in fits["attacks"].items()
    ]
    for row, attack in zip(rows, fits["attacks"].values(), strict=True):
        row.insert(1, f"{attack['epsilon']:.2f}")
    return (
        f"The same on real fits, from their `coef_` alone: `{fits['model']}` on {fits['rows']} "
        f"rows, epsilon = {fits['epsilon']:g}, delta = {fits['delta']:g}, `replace_one`. The fits "
        f"with 2/3 of the noise have a promise so large ({fits['louder_epsilon']:.2f}) that they "
        "get only that.\n\n"
        + report.table(["real fits", "proven", "hits", "false alarms", "runs"], rows)
    )


def _proof(found: dict) -> list[str]:
    return [f"{found['true']:.3g}", f"{found['attack']['epsilon']:.2f}"]


def _smooth(smooth: dict) -> str:
    rows = smooth["rows"]
    header = ["excess at n =", *(f"{n:,}" for n in rows)]
    cells = [
        [method, *(_short(np.median(values[str(n)]), 2) for n in rows)]
        for method, values in smooth["excess"].items()
    ]
    cells.append(["predicting 0", *([f"{smooth['zero']:.2g}"] * len(rows))])
    chosen = ["eta, T, M", *(_setting(smooth["settings"][str(n)]) for n in rows)]
    first = next(iter(smooth["excess"].values()))
    seeds = ", ".join(str(len(first[str(n)])) for n in rows)
    return (
        "The experiment that the paper lacks. Points uniform on [-1, 1]^2, Gaussian kernel with "
        "l = 0.5, the target a mix of four bumps wider than the kernel, so that Assumption 2.1 "
        "holds with r = 1 (but for what the edges cut off); labels within [-1, 1]. eta, T and M "
        "from Theorem 1 with r = 1 and alpha = 0.5, all constants 1. Median excess error over "
        f"{seeds} seeds, each with 16 draws of the noise (fits of KernelRegressor: with one); "
        f"epsilon = {smooth['epsilon']:g}, delta = {smooth['delta']:g}, `replace_one`.\n\n"
        + report.table(header, [*cells, chosen])
        + "\n\nAlgorithm 1 has the features of the paper's Example 2.1 (kappa = sqrt(2)). "
        '"Permuted, clipped, paired" has sines beside cosines (kappa = 1), residuals clipped to '
        "c = 1, the same step size and as many whole passes as come next to T / n. "
        "KernelRegressor chooses the number of features, steps and penalty by rules of its own; "
        '"l given": it has the kernel above, otherwise it estimates ranks.'
    )


def _setting(setting: list) -> str:
    step_size, steps, features = setting
    return f"{step_size:.2g}, {steps:,}, {features:,}"
