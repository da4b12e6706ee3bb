"""Lists that are found and settings that are chosen: promised, and proven by attacks.

*Lists*: the release of frequent values by itself, with the whole promise (epsilon 1, and a delta of
0.05 that an attack can see; a tenth of it is the probability with which a value of one person may
be published). 40 people hold one value. The canary, with K rows, holds a value that nobody else
holds ("alone"), or the same one ("beside"). *Best of tries*: the mechanism that releases the best
of a secret number of tries, with tries that are Gaussian outputs whose mean the canary moves by all
that a try is allowed, scored in three ways. *Searches*: `PrivateSearchCV` over two penalties of
`Ridge` ("cd") on sixty rows (of ten, hardly any search passes its own count of usable rows), of
which the canary's contradicts all others.

Each cell is run many times in both worlds; a part of the runs learns where to look, the other is
counted (`audit.bound_from_outputs`), with a confidence of 95 %. "ABOVE" needs 99.99 %. Then the
same with planted bugs, each of which has to be found with 99.99 %. That the *number* of tries is
published cannot be seen from outside with so few runs; exact laws of tiny tries show it
(`tests/model_selection/test_tries_enumerated.py`).

Cells, numbers of runs and confidences were fixed before the first run.
"""

from benchmarks.choice.audited_choices import attacks
from benchmarks.harness import report
from benchmarks.harness.needs import estimator

NEEDS = (estimator("Ridge"),)
LISTS, TRIES, SEARCHES = (1.0, 0.05), (1.0, 1e-5), (3.0, 1e-5)  # epsilon and delta
RUNS, MORE, FEW = 6_000, 40_000, 300
USUAL, SURE = 0.95, 0.9999
RELATIONS = ("zero_out", "add_remove", "replace_one")
CELLS = [
    *(
        ("list", f"{design}, K = {most}", relation, "")
        for relation in RELATIONS
        for design in ("alone", "beside")
        for most in (1, 4)
    ),
    *(("tries", score, "zero_out", "") for score in attacks.SCORES),
    ("search", "Ridge, cd, two penalties", "zero_out", ""),
    ("list", "alone, K = 1", "zero_out", "threshold forgotten"),
    ("list", "alone, K = 4", "replace_one", "threshold forgotten"),
    ("list", "beside, K = 1", "zero_out", "noise on the counts forgotten"),
    ("list", "beside, K = 4", "zero_out", "rows of a person forgotten"),
    ("list", "alone, K = 4", "add_remove", "rows of a person forgotten"),
    ("tries", "the output", "zero_out", "all tries published"),
    (
        "search",
        "Ridge, cd, two penalties",
        "zero_out",
        "a twentieth of the noise in each try",
    ),
]


def measure(options):
    share = 20 if options.quick else 1
    return {"cells": [attacked(*cell, share) for cell in CELLS]}


def attacked(kind, what, relation, bug, share=1):
    """One cell: what was promised, and what was proven."""
    from privlearn.audit import bound_from_outputs

    with attacks.planted(bug):
        (epsilon, delta), piles = OUTPUTS[kind](what, relation, share)
    usual, sure = (
        bound_from_outputs(*piles, delta=delta, confidence=sureness).epsilon
        for sureness in (USUAL, SURE)
    )
    above = sure > epsilon
    verdicts = ("MISSED", "found") if bug else ("kept", "ABOVE")
    return {
        "kind": kind,
        "what": what,
        "relation": relation,
        "bug": bug,
        "epsilon": epsilon,
        "delta": delta,
        "proven": usual,
        "surely": sure,
        "runs": len(piles[0]),
        "published": float((piles[0][:, -1] > attacks.NOWHERE).mean()) if kind == "list" else None,
        "verdict": verdicts[above],
    }


def of_list(what, relation, share):
    from privlearn._core.budget import Budget

    design, _, most = what.partition(", K = ")
    promise = Budget(*LISTS)
    plan = attacks.list_plan(relation, int(most), promise)
    worlds = attacks.list_worlds(relation, design, int(most))
    return LISTS, attacks.list_outputs(plan, promise, worlds, RUNS // share)


def of_tries(what, relation, share):
    from privlearn._core.budget import Budget
    from privlearn.model_selection.rules import tries_for

    promise = Budget(*TRIES)
    return TRIES, attacks.best_outputs(tries_for(promise, 12), what, MORE // share, promise)


def of_search(what, relation, share):
    import warnings

    from privlearn._core.budget import Budget

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SEARCHES, attacks.search_outputs(Budget(*SEARCHES), max(20, FEW // share))


OUTPUTS = {"list": of_list, "tries": of_tries, "search": of_search}
NAMES = {"list": "frequent values", "tries": "best of tries", "search": "search"}


def tables(results):
    """All cells, then all bugs."""
    cells = results["cells"]
    plain, bugs = ([one for one in cells if bool(one["bug"]) is wrong] for wrong in (False, True))
    above = sum(one["verdict"] == "ABOVE" for one in plain)
    found = sum(one["verdict"] == "found" for one in bugs)
    return (
        f"Above their promise: {above} of {len(plain)}. Planted bugs found: {found} of "
        f"{len(bugs)}.\n\n{_table(plain)}\n\n## Planted bugs\n\n{_table(bugs)}"
    )


def _table(cells):
    head = ["what", "canary or score", "relation", "bug", "promised epsilon (delta)"]
    head += ["proven epsilon", "own value published", "runs", "verdict"]
    rows = [
        [
            NAMES[one["kind"]],
            one["what"],
            one["relation"],
            one["bug"] or "-",
            f"{one['epsilon']:g} ({one['delta']:g})",
            f"{one['proven']:.2f}",
            "" if one["published"] is None else f"{one['published']:.2%}",
            f"{one['runs']:,}",
            one["verdict"],
        ]
        for one in cells
    ]
    return report.table(head, rows)


def figures(results):
    """Proven over promised, one bar per cell."""
    from benchmarks.harness.figures import COLOURS, panels

    cells = results["cells"]
    plot, axes = panels(1, 1, 7.2, 0.24 * len(cells) + 0.8)
    place = axes if not hasattr(axes, "ravel") else axes.ravel()[0]
    shares = [one["proven"] / one["epsilon"] for one in cells]
    colours = [COLOURS[1 if one["bug"] else 0] for one in cells]
    place.barh(range(len(cells)), shares, color=colours)
    names = [
        f"{NAMES[one['kind']]}, {one['what']}, {one['relation']}{', ' * bool(one['bug'])}"
        f"{one['bug']}"
        for one in cells
    ]
    place.set_yticks(range(len(cells)), labels=names, fontsize=6)
    place.invert_yaxis()
    place.axvline(1.0, color="black", linewidth=0.8)
    place.set_xlabel("proven epsilon over the promised one (bugs: in the other colour)")
    return {"": plot}
