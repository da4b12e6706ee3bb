"""Counts over tables of medians: ranks, positive R^2, and what is claimed for privlearn."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.dick.published import PRIVATE, TABLES

__all__ = [
    "claims",
    "measured",
    "median",
    "of_paper",
    "positive",
    "printed",
    "quartiles",
    "ranks",
]


def median(scores: list[float | None]) -> float:
    """Median R^2, where a failed test is minus infinity, as in the paper."""
    return quartiles(scores)[1]


def quartiles(scores: list[float | None]) -> tuple[float, float, float]:
    """First quartile, median and third quartile; where they fall on a failure, minus infinity."""
    values = np.sort([-np.inf if score is None else score for score in scores])
    return tuple(_quantile(values, share) for share in (0.25, 0.5, 0.75))


def _quantile(values: np.ndarray, share: float) -> float:
    place = share * (len(values) - 1)
    low, high = values[int(np.floor(place))], values[int(np.ceil(place))]
    if not np.isfinite(low):
        return float(low)
    return float(low + (place - np.floor(place)) * (high - low))


def of_paper(results: dict) -> dict[str, dict[str, list]]:
    """Scores of the paper's methods by data set."""
    boosted, tukey = (results["parts"][part]["scores"] for part in ("boosted", "tukey"))
    return {name: boosted[name] | tukey[name] for name in boosted}


def printed(k: int, numbers: set[int] | None = None) -> dict[int, dict[str, float]]:
    """The paper's table at k, of these data sets alone if they are given."""
    return {
        number: row for number, row in TABLES[k].items() if numbers is None or number in numbers
    }


def measured(results: dict, k: int) -> dict[int, dict[str, float]]:
    """The same table from our runs; the paper's names of methods, data sets of the paper alone."""
    found = {}
    for name, scores in of_paper(results).items():
        number = results["sets"][name]["number"]
        if number is None or number not in TABLES[k]:
            continue
        rows = {method: scores.get(method, scores.get(f"{method}, k = {k}")) for method in _NAMES}
        found[number] = {method: median(row) for method, row in rows.items() if row}
    return found


_NAMES = ("NonDP", *PRIVATE)


def positive(table: dict[int, dict[str, float]]) -> dict[str, int]:
    """On how many data sets each private method has a positive median."""
    return {method: sum(row[method] > 0.0 for row in table.values()) for method in PRIVATE}


def ranks(table: dict[int, dict[str, float]]) -> dict[str, tuple[int, int]]:
    """How often each private method is first, and how often second; failures have no rank."""
    counts = {method: [0, 0] for method in PRIVATE}
    for row in table.values():
        order = sorted((m for m in PRIVATE if np.isfinite(row[m])), key=lambda m: -row[m])
        for place, method in enumerate(order[:2]):
            counts[method][place] += 1
    return {method: (first, second) for method, (first, second) in counts.items()}


def claims(results: dict, label: str = "ours", floor: float = -0.1) -> dict:
    """Data sets with a positive median, those near least squares, and runs that went wrong."""
    ours = results["parts"]["ours"]["scores"]
    plain = results["parts"]["boosted"]["scores"]
    medians = {name: median(scores[label]) for name, scores in ours.items()}
    ratios = {name: medians[name] / median(plain[name]["NonDP"]) for name in medians}
    many = {
        name: scores["ours"]
        for name, scores in results["parts"].get("many", {"scores": {}})["scores"].items()
    }
    runs = [score for scores in many.values() for score in scores]
    return {
        "sets": len(medians),
        "positive": sum(value > 0.0 for value in medians.values()),
        "near": sum(value >= 0.9 for value in ratios.values()),
        "ratios": ratios,
        "runs": len(runs),
        "below": {name: sum(s < floor for s in scores) for name, scores in many.items()},
        "least": {name: min(scores) for name, scores in many.items()},
    }
