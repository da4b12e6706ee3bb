"""Tables of the comparison with Mangold et al. 2022, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks import report
from benchmarks.timing import seconds_line

__all__ = ["advantages", "best", "find", "headline", "ratios", "tables"]

RAW = ("Electricity, raw", "California, raw")
FREE = {"2 max": "bounds (2 max)", "cd, constants given": "constants"}


def find(problem: dict, method: str, bounds: str = "public") -> dict:
    """The row of one method and one kind of bounds."""
    return next(r for r in problem["rows"] if (r["method"], r["bounds"]) == (method, bounds))


def best(problem: dict, method: str) -> float:
    """The paper's lowest error over its numbers of passes: what Table 2 stars."""
    return min(problem[f"paper_{method}"])


def ratios(results: dict, bounds: str = "public") -> dict[str, float]:
    """Mean error of "auto" with defaults over the paper's tuned DP-CD, per problem."""
    return {
        name: float(np.mean(find(problem, "auto", bounds)["errors"])) / best(problem, "cd")
        for name, problem in results["problems"].items()
    }


def advantages(results: dict, method: str, bounds: str = "public") -> dict[str, float]:
    """Mean error of "sgd" over that of a variant of "cd", on raw features."""
    return {
        name: float(
            np.mean(find(problem, "sgd", bounds)["errors"])
            / np.mean(find(problem, method, bounds)["errors"])
        )
        for name, problem in results["problems"].items()
        if name in RAW
    }


def tables(results: dict) -> str:
    """The comparison, then every row that was measured, then the facts."""
    parts = [
        headline(results),
        _summary(results),
        "## On raw features",
        _claim(results),
        "## Every row",
        "Mean relative error of the runs (smallest to largest); the ratio to the paper's tuned "
        "DP-CD; what the row took from the data without paying for it; expected passes over the "
        "data; seconds of one fit, calibration included, median and range of "
        f"{len(next(iter(results['problems'].values()))['rows'][0]['seconds'])}.",
        *(_rows(name, problem) for name, problem in results["problems"].items()),
        "## The problems",
        _facts(results),
    ]
    return "\n\n".join(parts)


def headline(results: dict) -> str:
    """Defaults beside what the paper's grid search found."""
    header = [
        "relative error",
        "privlearn, defaults",
        "paper's tuned DP-CD",
        "ratio",
        "paper's tuned DP-SGD",
        "for free",
    ]
    found = ratios(results)
    rows = [
        [
            name,
            _spread(find(problem, "auto")["errors"]),
            f"{best(problem, 'cd'):.4f}",
            _ratio(found[name]),
            f"{best(problem, 'sgd'):.4f}",
            _free(problem, find(problem, "auto")),
        ]
        for name, problem in results["problems"].items()
    ]
    return report.table(header, rows)


def _summary(results: dict) -> str:
    lines = [
        f'`solver="auto"` with nothing but the promise and public bounds, mean of '
        f"{results['seeds']} runs (smallest to largest)."
    ]
    for bounds, words in (("public", "public bounds"), ("2 max", "the paper's bounds (2 max)")):
        found = ratios(results, bounds)
        worst = max(found, key=found.__getitem__)
        lines.append(
            f"With {words}, the geometric mean of the ratios is **{_ratio(_geometric(found))}**, "
            f"the largest **{_ratio(found[worst])}** ({worst})."
        )
    return " ".join(lines)


def _geometric(found: dict[str, float]) -> float:
    return float(np.exp(np.mean(np.log(list(found.values())))))


def _claim(results: dict) -> str:
    """Section 6.1: DP-CD beats DP-SGD by an order of magnitude, with bought constants too."""
    text = (
        'Mean error of "sgd" over that of "cd", both with defaults. The paper\'s tuned ones '
        "differ by the last column."
    )
    bought, given = (advantages(results, method) for method in ("cd", "cd, constants given"))
    rows = []
    for name in bought:
        problem = results["problems"][name]
        paper = best(problem, "sgd") / best(problem, "cd")
        rows.append([name, f"{bought[name]:.1f}", f"{given[name]:.1f}", f"{paper:.1f}"])
    header = ["how many times smaller", "constants bought", "constants given (free)", "paper"]
    return f"{text}\n\n{report.table(header, rows)}"


def _rows(name: str, problem: dict) -> str:
    header = [name, "bounds", "error", "ratio", "for free", "passes", "seconds"]
    rows = [
        [
            _called(row),
            row["bounds"],
            _spread(row["errors"]),
            _ratio(float(np.mean(row["errors"])) / best(problem, "cd")),
            _free(problem, row),
            f"{row['passes']:.3g}",
            seconds_line(row["seconds"]),
        ]
        for row in problem["rows"]
    ]
    zero = ["the zero model", "", _number(problem["zero"]), "", "", "", ""]
    return report.table(header, [*rows, zero])


def _called(row: dict) -> str:
    took = row["took"].split(" (")[0]  # without the references
    return f"auto, which took: {took}" if row["method"] == "auto" else row["method"]


def _free(problem: dict, row: dict) -> str:
    """What this row knows about the data and did not pay for."""
    taken = ["standardisation"] if problem["standardised"] else []
    taken += [FREE[key] for key in (row["bounds"], row["method"]) if key in FREE]
    return ", ".join(taken) if taken else "nothing"


def _spread(errors: list[float]) -> str:
    low, middle, high = (_number(float(pick(errors))) for pick in (min, np.mean, max))
    return f"{middle} ({low} to {high})"


def _number(value: float) -> str:
    """Four decimals as in the paper, fewer for what is large."""
    return f"{value:.4f}" if abs(value) < 10 else f"{value:,.3g}"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _facts(results: dict) -> str:
    header = ["problem", "n", "p", "lambda", "epsilon", "delta", "optimum F*", "F(0) / F* - 1"]
    rows = [
        [
            name,
            f"{problem['n']:,}",
            f"{problem['p']:,}",
            f"{problem['weight']:.4g}",
            f"{problem['epsilon']:g}",
            f"{problem['delta']:.3g}",
            f"{problem['optimum']:.6g}",
            _number(problem["zero"]),
        ]
        for name, problem in results["problems"].items()
    ]
    return report.table(header, rows)
