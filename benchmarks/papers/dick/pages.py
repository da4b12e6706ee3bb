"""Tables of the comparison with Dick et al. 2023, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report
from benchmarks.papers.dick import counts
from benchmarks.papers.dick.methods import BY_RULE
from benchmarks.papers.dick.published import COLUMNS, PRIVATE, TABLES

__all__ = ["number", "tables"]

MINUTES = {"minutes": "minutes", "cpu_minutes": "minutes of CPU, one thread"}


def tables(results: dict) -> str:
    """The paper's tables beside ours, counts, what is claimed, and why numbers differ."""
    parts = ["## Median R^2 at (ln 3, 1e-5)", _reading(results)]
    parts += [f"### k = {k}\n\n{_beside(results, k)}" for k in (5, 10)]
    parts += ["### Quartiles", _quartiles(results)]
    parts += ["## Figures 1 and 2 of the paper", _counted(results)]
    if "ours" in results["parts"]:
        parts += ["## LinearRegression() with nothing declared", *_ours(results)]
    if "mended" in results["parts"]:
        parts += ["## What the errors of the program did", *_mended(results), *_ridge(results)]
    parts += ["## Data sets", _sets(results), "## What made these numbers", _parts(results)]
    return "\n\n".join(parts)


def number(value: float) -> str:
    """Two digits after the point, or a power of ten; "fails" for minus infinity."""
    if not np.isfinite(value):
        return "fails"
    if abs(value) < 1_000.0:
        return f"{value:.2f}" if abs(value) < 10.0 else f"{value:.0f}"
    power = int(np.floor(np.log10(abs(value))))
    return f"{value / 10.0**power:.0f}e{power}"


def _reading(results: dict) -> str:
    gone = sorted(set(TABLES[5]) - {found["number"] for found in results["sets"].values()})
    return (
        f"Each cell: our median of {results['splits']} random splits / the paper's printed one. "
        "Where half of the splits fail the test of the Tukey mechanism, the cell says fails. "
        f"Not here: tasks {', '.join(map(str, gone))}."
    )


def _label(results: dict, name: str) -> str:
    found = results["sets"][name]
    return f"{name} ({found['n']:,} x {found['d']})"


def _beside(results: dict, k: int) -> str:
    """One row per data set, one column per method; at k = 10 only what k changes."""
    ours = results["parts"].get("ours", {"scores": {}})["scores"]
    own = ["ours", "ours, add_remove"] if ours else []
    columns = [name for name in COLUMNS if k == 5 or "-" in name or name == "NonDP"]
    rows = []
    for name, scores in counts.of_paper(results).items():
        task = results["sets"][name]["number"]
        cells = [_pair(scores, column, k, TABLES[k].get(task)) for column in columns]
        if all(cell == "" for cell in cells[1:]):
            continue
        cells += [number(counts.median(ours[name][label])) for label in own]
        rows.append([_label(results, name), *cells])
    header = ["data set (n x d)", *columns, *(f"**{label}**" for label in own)]
    return report.table(header, rows)


def _pair(scores: dict, column: str, k: int, row: dict | None) -> str:
    found = scores.get(column, scores.get(f"{column}, k = {k}"))
    if found is None:
        return ""
    return f"{number(counts.median(found))} / {number(row[column]) if row else '-'}"


def _quartiles(results: dict) -> str:
    """First to third quartile of every method."""
    paper = counts.of_paper(results)
    ours = results["parts"].get("ours", {"scores": {}})["scores"]
    both = {name: scores | ours.get(name, {}) for name, scores in paper.items()}
    methods = list(dict.fromkeys(m for scores in both.values() for m in scores))
    rows = [
        [name, *(_range(scores[m]) if m in scores else "" for m in methods)]
        for name, scores in both.items()
    ]
    return report.table(["data set", *methods], rows)


def _range(scores: list) -> str:
    low, _, high = counts.quartiles(scores)
    return f"{number(low)} to {number(high)}"


def _counted(results: dict) -> str:
    """First and second ranks, and positive medians, as printed and as measured."""
    lines = []
    for k in (5, 10):
        here = counts.measured(results, k)
        if not here:
            continue
        columns = {
            f"printed, {len(TABLES[k])} data sets": counts.printed(k),
            f"printed, the {len(here)} here": counts.printed(k, set(here)),
            f"measured, the {len(here)} here": here,
        }
        header = [f"k = {k}: first + second; R^2 > 0", *columns]
        rows = [[m, *(_count(table, m) for table in columns.values())] for m in PRIVATE]
        for label, own in _others(results, k).items():
            good = sum(
                counts.median(scores) > 0.0
                for name, scores in own.items()
                if results["sets"][name]["number"] in here
            )
            rows.append([f"{label}: R^2 > 0", "", "", str(good)])
        lines.append(report.table(header, rows))
    return "\n\n".join(lines)


def _count(table: dict, method: str) -> str:
    first, second = counts.ranks(table)[method]
    return f"{first} + {second}; {counts.positive(table)[method]}"


def _others(results: dict, k: int) -> dict[str, dict[str, list]]:
    """Methods that the paper does not have, with their scores by data set."""
    found = {}
    for method in ("L-Tukey", "K-Tukey"):
        own = {
            name: scores.get(f"{method}{BY_RULE}, k = {k}")
            for name, scores in counts.of_paper(results).items()
        }
        found[f"{method}{BY_RULE}"] = {name: scores for name, scores in own.items() if scores}
    if "ours" in results["parts"]:
        ours = results["parts"]["ours"]["scores"]
        found["**ours**"] = {name: scores["ours"] for name, scores in ours.items()}
    return found


def _ours(results: dict) -> list[str]:
    found = counts.claims(results)
    other = counts.claims(results, "ours, add_remove")
    lines = [
        f"Median R^2 above 0 on **{found['positive']} of {found['sets']}** data sets "
        f"(`add_remove`: {other['positive']}), at least 0.9 of least squares on "
        f"**{found['near']}** (`add_remove`: {other['near']})."
    ]
    if found["runs"]:
        lines[0] += (
            f" Of **{found['runs']:,}** further runs, each with its own split and noise, "
            f"**{sum(found['below'].values())}** ended below R^2 = -0.1."
        )
    header = ["data set", "NonDP", "epsilon = 0.3", "ln 3", "3", "ln 3, add_remove"]
    labels = ["ours, epsilon = 0.3", "ours", "ours, epsilon = 3", "ours, add_remove"]
    header += ["ln 3 / NonDP", "least of many runs"]
    rows = []
    for name, scores in results["parts"]["ours"]["scores"].items():
        plain = counts.median(results["parts"]["boosted"]["scores"][name]["NonDP"])
        cells = [_spread(scores[label]) for label in labels]
        least = found["least"].get(name)
        cells += [f"{found['ratios'][name]:.2f}", "" if least is None else f"{least:.3f}"]
        rows.append([name, f"{plain:.3f}", *cells])
    return [*lines, report.table(header, rows), "Median (first to third quartile)."]


def _spread(scores: list) -> str:
    low, middle, high = counts.quartiles(scores)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def _mended(results: dict) -> list[str]:
    """Variants of K-Tukey, k = 5: over all data sets, then one by one."""
    scores = {
        name: {key: found for key, found in own.items() if key != "fewest"}
        | _library(results, name)
        for name, own in results["parts"]["mended"]["scores"].items()
    }
    variants = list(next(iter(scores.values())))
    overall = [[v, *_overall([own[v] for own in scores.values()])] for v in variants]
    header = ["K-Tukey, k = 5", "R^2 > 0", "test passed", "distance, least", "distance needed"]
    rows = [
        [name, *(number(counts.median(own[v]["score"])) for v in variants)]
        for name, own in scores.items()
    ]
    return [
        report.table(header, overall),
        "Median R^2 by data set:",
        report.table(["", *variants], rows),
        _fewest(results),
    ]


def _ridge(results: dict) -> list[str]:
    """BAS and K-BAS as published, with AdaSSP's ridge, and privlearn's."""
    if "ridge" not in results["parts"]:
        return []
    own = {"BAS, privlearn": "BAS", "K-BAS, privlearn": "K-BAS, k = 5"}
    table = {
        name: scores | {label: counts.of_paper(results)[name][key] for label, key in own.items()}
        for name, scores in results["parts"]["ridge"]["scores"].items()
    }
    columns = sorted(next(iter(table.values())), key=lambda label: label.startswith("K"))
    good = [
        str(sum(counts.median(scores[column]) > 0.0 for scores in table.values()))
        for column in columns
    ]
    rows = [["data sets with R^2 > 0", *good]]
    rows += [
        [name, *(number(counts.median(scores[column])) for column in columns)]
        for name, scores in table.items()
    ]
    return [report.table(["median R^2, k = 5", *columns], rows)]


def _library(results: dict, name: str) -> dict[str, dict]:
    """The same by privlearn's Tukey, with the paper's number of models and with its own."""
    scores = counts.of_paper(results)[name]
    found = {"privlearn": scores["K-Tukey, k = 5"]}
    found[f"privlearn{BY_RULE}"] = scores[f"K-Tukey{BY_RULE}, k = 5"]
    return {label: {"score": own} for label, own in found.items()}


def _overall(found: list[dict]) -> list[str]:
    scores = [score for own in found for score in own["score"]]
    good = sum(counts.median(own["score"]) > 0.0 for own in found)
    passed = sum(score is not None for score in scores)
    cells = [f"{good} of {len(found)}", f"{passed} of {len(scores)}"]
    if "distance" not in found[0]:
        return [*cells, "", ""]
    least = min(distance for own in found for distance in own["distance"])
    return [*cells, str(least), f"{found[0]['needed'][0]:.1f}"]


def _fewest(results: dict) -> str:
    """From how many models on the test is passed, its own noise left out."""
    found = {name: own["fewest"] for name, own in results["parts"]["mended"]["scores"].items()}
    rows = [[name, *(_models(own[key]) for key in own)] for name, own in found.items()]
    return report.table(["models that the test needs", *next(iter(found.values()))], rows)


def _models(values: list) -> str:
    known = sorted(value for value in values if value is not None)
    return f"{known[len(known) // 2]:,}" if len(known) == len(values) else "more than there are"


def _sets(results: dict) -> str:
    """Which task of OpenML is which, and what the paper prints about it."""
    rows = []
    for name, found in results["sets"].items():
        n, d = found["printed"]
        own = f"{found['n']:,} x {found['d']}"
        paper = "" if n is None else f"{n:,} x {d}"
        rows.append([name, str(found["number"] or ""), own, paper, found["note"]])
    return report.table(["data set", "task", "n x d here", "printed", "note"], rows)


def _parts(results: dict) -> str:
    rows = [
        [name, part["date"], *(str(part.get(key, "")) for key in MINUTES), part["source"]]
        for name, part in results["parts"].items()
    ]
    header = ["part", "date", *MINUTES.values(), "privlearn's source"]
    return report.table(header, rows)
