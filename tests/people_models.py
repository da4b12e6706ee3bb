"""Models of which one person may have several rows, in every mode that has a proof for it."""

from functools import cache

from privlearn import HuberRegressor, LinearRegression, LinearSVC, LogisticRegression
from privlearn._core.problem import Adjacency
from support import FACTS, SHORT, accepted

MOST = 3
MODES = {
    "moments": "moments",
    **SHORT["cd"],
    **SHORT["sgd"],
    **SHORT["scd"],
    "boosted": SHORT["boosted"]["boosted"],
}


@cache
def people_configurations():
    """By name: every mode and relation, bounds in turn; ranges that nobody declared; labels."""
    found = {}
    for k, (mode, solver) in enumerate(MODES.items()):
        for j, relation in enumerate(Adjacency):
            kind, given = list(FACTS.items())[(k + j) % len(FACTS)]
            known = accepted(LinearRegression, given) | {"adjacency": relation.value}
            found[f"{mode}-{relation}-{kind}"] = LinearRegression(
                solver=solver, max_rows_per_person=MOST, **known
            )
    for relation in Adjacency:
        own = {"adjacency": relation.value, "max_rows_per_person": 2}
        found[f"estimated-{relation}"] = LinearRegression(solver=SHORT["cd"]["whole"], **own)
    own = {"max_rows_per_person": 2, "classes": [0, 1]}
    found["labels, scd"] = LinearSVC(solver=SHORT["scd"]["scd"], **FACTS_OF_LABELS, **own)
    own["classes"] = [0, 1, 2]
    found["three labels, cd"] = LogisticRegression(
        solver=SHORT["cd"]["whole"], **FACTS_OF_LABELS, **own
    )
    found["huber, sgd"] = HuberRegressor(
        solver=SHORT["sgd"]["sgd"],
        max_rows_per_person=2,
        **accepted(HuberRegressor, FACTS["box"]),
    )
    found["one row counts"] = LinearRegression(
        solver="moments", max_rows_per_person=1, **accepted(LinearRegression, FACTS["box"])
    )
    return found


FACTS_OF_LABELS = {"bounds_X": FACTS["box"]["bounds_X"]}


@cache
def some_people_configurations():
    """One of each solver, under every relation, for the fast tests."""
    names = (
        "moments-zero_out-box",
        "whole-add_remove-box and norm",
        "sgd-add_remove-box and norm",
        "scd-replace_one-norm",
        "boosted-zero_out-box",
    )
    return {name: people_configurations()[name] for name in names}
