"""Exact enumeration on a tiny domain: every record of up to two rows against every other.

Three people; one of them has every record that there is, of none, one or two rows of a few values.
All of them are replayed against one run, so that each release has the same past, and the largest
distance of any two statistics is compared with what the plan declares.
"""

import math
from functools import cache, partial
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

from people_models import MODES
from privlearn import LinearRegression, LogisticRegression
from privlearn._core.norms import L1, L2, LINF, ONE_BIN, OUTER, UNIT_BOX
from privlearn._core.problem import Adjacency
from privlearn._core.sampling import FULL
from privlearn.audit.replay import moved
from privlearn.audit.tape import Series, record, replay_on
from support import SHORT

MOST = 2
CELLS = [(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 1.0)] + [(1e300, -1e300)]
RECORDS = [
    own for size in range(MOST + 1) for own in combinations_with_replacement(CELLS, size)
]  # 36 of them
OTHERS = [[(0.5, 0.2), (-1.0, 1.0)], [(1.0, 1.0)]]  # the other two people's

pytestmark = pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")


def table(own, classifies):
    """X, y and ids; the person that differs comes last, the empty record as a row of NaN."""
    rows = [(cell, who) for who, others in enumerate(OTHERS) for cell in others]
    rows += [(cell, 2) for cell in own or [(np.nan, np.nan)]]
    X, y = np.array([[cell[0]] for cell, _ in rows]), np.array([cell[1] for cell, _ in rows])
    y = np.where(np.isnan(y), np.nan, np.sign(y)) if classifies else y
    return X, y, np.array([who for _, who in rows])


def statistics(model, classifies=False):
    """The statistics of every record, release by release, all with the same past."""
    X, y, ids = table(RECORDS[-2], classifies)
    tape = record(model, X, y, groups=ids)
    found = []
    for own in RECORDS:
        X, y, ids = table(own, classifies)
        found.append(replay_on(tape, model, X, y, groups=ids).entries)
    return tape, found


def neighbours(adjacency):
    """Pairs of places among the records."""
    if adjacency.replaces:
        return product(range(len(RECORDS)), repeat=2)
    return product(range(len(RECORDS)), [0])


def configured(mode, adjacency):
    known = {"bounds_X": (-1.0, 1.0), "adjacency": adjacency.value, "on_invalid": "drop"}
    known |= {"max_rows_per_person": MOST, "random_state": 0, "solver": mode}
    return LinearRegression(bounds_y=(-1.0, 1.0), **known)


def largest_ratios(model, classifies=False):
    """Of each release: the largest distance of two neighbours, over what is declared."""
    tape, found = statistics(model, classifies)
    ratios = {}
    for place, entry in enumerate(tape.entries):
        declared = tape.plan.sensitivity(entry.release)
        most = max(
            moved(tape.plan, found[one][place], found[two][place])
            for one, two in neighbours(tape.plan.adjacency)
        )
        ratios[entry.release] = max(most / declared, ratios.get(entry.release, 0.0))
    return ratios


@cache
def ratios_of(mode, adjacency):
    return largest_ratios(configured(MODES[mode], adjacency))


FAST = {"moments", "sweeps", "greedy"}, {Adjacency.REPLACE_ONE}
SLOW = [
    [pytest.param(one, marks=[] if one in fast else [pytest.mark.slow]) for one in every]
    for every, fast in zip((MODES, Adjacency), FAST, strict=True)
]


@pytest.mark.parametrize("adjacency", SLOW[1], ids=str)
@pytest.mark.parametrize("mode", SLOW[0])
def test_nobody_moves_a_release_further_than_declared(mode, adjacency):
    ratios = ratios_of(mode, adjacency)
    assert max(ratios.values()) <= 1.0
    # Were a person charged as a row, this would fail.
    assert max(ratios.values()) > 1.0 / MOST + 0.1


@pytest.mark.slow
def test_every_kind_of_release_is_met_and_none_is_declared_much_too_large():
    seen = {}
    for mode in MODES:
        for release, ratio in ratios_of(mode, Adjacency.REPLACE_ONE).items():
            seen[release.norm] = max(ratio, seen.get(release.norm, 0.0))
    assert seen.keys() == {L2, LINF, ONE_BIN, OUTER, UNIT_BOX}
    assert all(0.5 < ratio <= 1.0 for ratio in seen.values())


SETS = {
    L1: [(1, 0), (0, -1), (0.5, 0.5), (-0.5, 0.5), (0, 0)],
    L2: [(1, 0), (-1, 0), (0.6, 0.8), (-0.6, -0.8), (0, 0)],
    LINF: [(1, 1), (-1, -1), (1, -1), (0.3, 0), (0, 0)],
    OUTER: [(1, 0, 0), (0, 0, 1), (0.5, math.sqrt(0.5), 0.5), (0.5, -math.sqrt(0.5), 0.5)],
    UNIT_BOX: [(0, 0), (math.sqrt(0.5), math.sqrt(0.5)), (math.sqrt(0.5), 0), (0.2, 0.1)],
    ONE_BIN: [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0)],
}


@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("norm", SETS, ids=lambda norm: norm.name)
def test_sums_of_contributions_differ_by_so_many_diameters(norm, most):
    """Contributions of rows with clip 1: of each norm a few extreme ones, and the empty row."""
    sums = [
        np.sum(np.reshape(own, (-1, len(SETS[norm][0]))), axis=0)
        for size in range(most + 1)
        for own in combinations_with_replacement(SETS[norm], size)
    ]
    lengths = [np.linalg.norm(one, norm.exponent) for one in sums]
    apart = max(np.linalg.norm(one - two, norm.exponent) for one, two in product(sums, repeat=2))
    assert math.isclose(max(lengths), most)
    assert math.isclose(apart, most * norm.diameter)


def test_labels_and_estimated_ranges():
    two = {"classes": [-1, 1], "max_rows_per_person": MOST, "random_state": 0}
    model = LogisticRegression(
        bounds_X=(-1.0, 1.0), on_invalid="drop", solver=SHORT["scd"]["scd"], **two
    )
    assert 0.6 < max(largest_ratios(model, classifies=True).values()) <= 1.0
    model = LinearRegression(
        on_invalid="drop", solver="moments", max_rows_per_person=MOST, random_state=0
    )
    ratios = largest_ratios(model)
    assert 0.9 < max(ratio for release, ratio in ratios.items() if release.norm is ONE_BIN) <= 1.0
    assert max(ratios.values()) <= 1.0


@pytest.mark.parametrize("mode", ["sgd", "scd"])
def test_a_person_who_is_not_drawn_changes_no_bit(mode):
    """Whoever comes first, last or between: sums of the others' rows are the same numbers."""
    model, rng = configured(MODES[mode], Adjacency.REPLACE_ONE), np.random.default_rng(0)
    others = rng.uniform(-1, 1, (300, 1)), rng.uniform(-1, 1, 300), rng.integers(0, 120, 300)
    for place in (0, 150, 300):
        tapes = []
        for size in (1, 2, 5):
            at, new = [place] * size, (1.0, -1.0, 999)
            X, y, ids = (np.insert(one, at, own, 0) for one, own in zip(others, new, strict=True))
            again = partial(replay_on, tapes[0]) if tapes else record
            tapes.append(again(model, X, y, groups=ids))
        own = list(dict.fromkeys(ids.tolist())).index(999)
        drawn = [
            own in series.steps.batches.rows[first:last]
            for series in tapes[0].made
            if isinstance(series, Series)
            for first, last in pairwise(series.steps.batches.starts)
        ]
        sampled = [
            [entry.statistic.tobytes() for entry in tape.entries if entry.release.sampling != FULL]
            for tape in tapes
        ]
        assert 0 < sum(drawn) < len(drawn) == len(sampled[0])
        for step, there in enumerate(drawn):
            same = len({one[step] for one in sampled}) == 1
            assert same is not there
