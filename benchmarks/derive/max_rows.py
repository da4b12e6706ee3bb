"""Tables with several rows per person: how many people the number of rows that count should cover.

People have one row each, all the same number, a geometric number, or one with a heavy tail, and
what is predicted has a part of its own for each person, from none to as much as that of rows. The
rule is told exact numbers of people, so that only the share is judged, not the noise; `TYPICAL` is
the share of people who have no more rows than count. The score is R^2 on fresh rows of fresh
people. The table has the mean, the worst tenth and the worst over problems and seeds, and the mean
less the rule's. Shares from a quarter to four fifths do equally well within the spread of seeds;
0.9 and more lose, most of all with a heavy tail and few people.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.derive.harness import Candidate
from privlearn import LinearRegression
from privlearn.schema import max_rows

SEEDS, FRESH, BINS = 4, 4_000, 7
COLUMNS = (3, 12)
PEOPLE = ((500, 1.0), (3_000, 0.3), (3_000, 3.0), (20_000, 1.0))  # people, epsilon
ROWS = ("one", "eight each", "geometric", "heavy tail")
OWN = (0.0, 1.0)  # deviation of what is a person's own, that of a row being 1
SHARES = (0.25, 0.75, 0.9, 0.97)
middle = np.median


def homes(given):
    return (max_rows,)


def candidates(given):
    return {f"{share:g} of people": Candidate({"TYPICAL": share}) for share in SHARES}


def problems(given):
    for setting in product(COLUMNS, PEOPLE, ROWS, OWN):
        p, (people, epsilon), rows, own = setting
        yield f"{rows}, own {own:g}, {people} people, {p} columns, epsilon {epsilon:g}", setting


def _sizes(rng, people, rows):
    """How many rows each person has."""
    if rows == "one":
        return np.ones(people, int)
    if rows == "eight each":
        return np.full(people, 8)
    if rows == "geometric":
        return np.minimum(rng.geometric(0.25, people), 64)
    return np.minimum(rng.zipf(1.7, people), 64)


def _rows(rng, of_row, people, true, own):
    """Rows of people, who share a third of the variance of a column."""
    p = len(true)
    mine = rng.standard_normal((people, p))[of_row]
    X = np.sqrt(1 / 3) * mine + np.sqrt(2 / 3) * rng.standard_normal((len(of_row), p))
    y = X @ true + own * rng.standard_normal(people)[of_row] + rng.standard_normal(len(of_row))
    return X, y


def data(setting, seed, given):
    p, (people, epsilon), rows, own = setting
    rng = np.random.default_rng(seed)
    true = rng.normal(0.0, 1.0, p) / np.sqrt(p)
    groups = np.repeat(np.arange(people), _sizes(rng, people, rows))
    X, y = _rows(rng, groups, people, true, own)
    fresh = _rows(rng, np.arange(FRESH), FRESH, true, own)
    known = {"epsilon": epsilon, "bounds_X": (-4.0, 4.0), "bounds_y": (-6.0, 6.0)}
    return known, (X, y, groups, people), fresh


def score(found, choice, seed, given):
    known, (X, y, groups, people), fresh = found
    most = max_rows.rule(max_rows.people_in_bins(groups, people, BINS))
    model = LinearRegression(max_rows_per_person=most, random_state=seed, **known)
    return model.fit(X, y, groups=groups).score(*fresh)


def summary(found, usual):
    own = found[..., 0]
    return {
        "mean": float(own.mean()),
        "worst 10%": float(np.quantile(own, 0.1)),
        "worst": float(own.min()),
        "gain": float((own - usual[..., 0]).mean()),
    }
