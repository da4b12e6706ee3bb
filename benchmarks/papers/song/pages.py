"""Tables of the comparison with Song et al. 2013, from stored values alone."""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report
from benchmarks.papers.song import findings
from benchmarks.papers.song.loops import SCHEDULES
from benchmarks.papers.song.study import BATCHES, NOISES

__all__ = ["LABELS", "OURS", "tables"]

LABELS = {
    "none": "no privacy",
    "replace_one": "private, the paper's noise (`replace_one`)",
    "zero_out": "private, half that noise (`zero_out`)",
}
CLAIMS = {
    1: "b = 1 does not converge; a moderate b matches SGD without privacy",
    2: "there is a best b; larger ones degrade, less so with larger steps",
    3: "steps of 1/(lambda t) raise the variance",
}
OURS = 'privlearn "one-pass", defaults'


def tables(results: dict) -> str:
    """Findings first, then every mean with its deviation, then what the problems are."""
    problems = results["problems"]
    parts = [
        "## The paper's findings as inequalities",
        "F is the objective over all training rows after one pass, its mean over "
        f"{results['seeds']} permutations with fresh noise. The room is F(0) - F*, all that there "
        "is to learn. The last column has the range over "
        f"{len(next(iter(results['projections'].values())))} other random projections "
        f"({results['projection_seeds']} permutations each), and how many of them hold.",
        _findings(results),
        "## What privacy costs",
        "The paper compares with non-private SGD at the same batch size and step, and calls that "
        '"free". But such batches and steps hold SGD back without privacy, too. "Best of all" is '
        f"the best of the {len(BATCHES) * len(SCHEDULES)} settings below for the mean over all "
        "runs, chosen by looking at the result, which nobody can do who has the private data and "
        "one pass. privlearn chooses nothing by looking.",
        _costs(problems),
        "## Objective by batch size and step",
        f"Mean and one standard deviation over {results['seeds']} permutations.",
        *(_problem(name, problem) for name, problem in problems.items()),
        "## The problems",
        "Rows longer than 1 after the random projection were shortened. The paper leaves them as "
        "they are; gradients can then be as long as the rows, and the noise for alpha = 1 gives an "
        "alpha of the longest length at best.",
        _facts(problems),
    ]
    return "\n\n".join(parts)


def _findings(results: dict) -> str:
    """One table per finding; the first two with what other random projections give."""
    problems = results["problems"]
    others = {
        name: [findings.of_batches(name, found) for found in results["projections"][name]]
        for name in results["projections"]
    }
    rows = {number: [] for number in CLAIMS}
    for finding in findings.findings(problems):
        again = [f for found in others.get(finding.problem, []) for f in found if _same(f, finding)]
        rows[finding.number].append(
            [
                f"{finding.problem}, {finding.claim}",
                _number(finding.value),
                _bound(finding),
                "yes" if finding.holds else "**no**",
                _elsewhere(again),
            ]
        )
    return "\n\n".join(
        report.table(
            [f"({number}) {words}", "measured", "needed", "holds", "other projections"],
            rows[number],
        )
        for number, words in CLAIMS.items()
    )


def _same(one: findings.Finding, other: findings.Finding) -> bool:
    """Whether both are about the same thing."""
    return (one.problem, one.claim) == (other.problem, other.claim)


def _elsewhere(again: list[findings.Finding]) -> str:
    if not again:
        return ""
    values = [finding.value for finding in again]
    held = sum(finding.holds for finding in again)
    return f"{_number(min(values))} to {_number(max(values))}; {held} of {len(again)} hold"


def _bound(finding: findings.Finding) -> str:
    if finding.at_least is not None:
        return f"at least {finding.at_least:g}"
    return f"at most {finding.at_most:g}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.3g}"


def _costs(problems: dict) -> str:
    rows = [["no privacy, the paper's b and step", *_at_papers(problems, "none")]]
    rows += [["no privacy, best of all", *_at_best(problems, "none")]]
    for noise in ("replace_one", "zero_out"):
        rows += [[f"`{noise}`: the paper's b and step", *_at_papers(problems, noise)]]
        rows += [[f"`{noise}`: best of all", *_at_best(problems, noise)]]
        cells = [_ours_cell(problem, noise) for problem in problems.values()]
        rows += [[f"`{noise}`: {OURS}", *cells]]
    return report.table(["excess F - F*", *problems], rows)


def _at_papers(problems: dict, noise: str) -> list[str]:
    """At 1/sqrt(t) and the batch size of Figures 1 and 3."""
    batches = {name: findings.MATCHING.get(name, 5) for name in problems}
    return [
        f"{_excess(problem, findings.find(problem, SCHEDULES[0], noise, batches[name]))} "
        f"(b = {batches[name]})"
        for name, problem in problems.items()
    ]


def _at_best(problems: dict, noise: str) -> list[str]:
    cells = []
    for problem in problems.values():
        found = {schedule: findings.best(problem, schedule, noise) for schedule in SCHEDULES}
        schedule = min(found, key=lambda s: found[s][1])
        batch, value = found[schedule]
        cells.append(f"{_excess(problem, value)} ({schedule}, b = {batch})")
    return cells


def _ours_cell(problem: dict, adjacency: str) -> str:
    for row in problem["ours"]:
        if row["adjacency"] == adjacency:
            return f"{_excess(problem, row['objectives'])} ({row['steps']:,} batches)"
    return "not measured"


def _excess(problem: dict, values: object) -> str:
    return f"{np.mean(values) - problem['optimum']:.4f}"


def _problem(name: str, problem: dict) -> str:
    parts = [f"### {name}"]
    for schedule in SCHEDULES:
        rows = [
            [
                LABELS[noise],
                *(_spread(findings.find(problem, schedule, noise, batch)) for batch in BATCHES),
            ]
            for noise in NOISES
        ]
        parts.append(report.table([f"step {schedule}", *(f"b = {b}" for b in BATCHES)], rows))
    levels = [["all rows at once, no privacy (F*)", f"{problem['optimum']:.4f}"]]
    levels += [
        [f"{OURS} (`{row['adjacency']}`)", _spread(np.array(row["objectives"]))]
        for row in problem["ours"]
    ]
    parts.append(report.table(["without a choice of b", "objective"], levels))
    return "\n\n".join(parts)


def _spread(values: np.ndarray) -> str:
    deviation = values.std(ddof=1) if len(values) > 1 else 0.0
    digits = 1 if values.mean() >= 10.0 else 3
    return f"{values.mean():.{digits}f} ± {deviation:.{digits}f}"


def _facts(problems: dict) -> str:
    header = [
        "problem",
        "rows",
        "columns",
        "label 1",
        "longer than 1",
        "longest",
        "F*",
        "F(0)",
        "length of w*",
    ]
    rows = [
        [
            name,
            f"{problem['n']:,}",
            str(problem["p"]),
            f"{problem['positive']:.1%}",
            f"{problem['clipped']:.1%}",
            f"{problem['longest']:.2f}",
            f"{problem['optimum']:.6f}",
            f"{problem['zero']:.6f}",
            f"{problem['length']:.1f}",
        ]
        for name, problem in problems.items()
    ]
    return report.table(header, rows)
