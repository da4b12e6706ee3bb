"""Sensitivities by enumeration: all tables of up to three rows of small domains, and neighbours."""

from functools import cache
from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from privlearn._core.problem import Adjacency
from privlearn.metrics.evaluation import _sums, prepare, read_rows
from privlearn.metrics.task import Task
from scored_models import Line, Margins, ThreeClasses, TwoClasses

EMPTY = (np.nan, np.nan, np.nan, np.nan)
LARGE = 40.0
DOMAINS = {
    "two classes": (
        TwoClasses,
        None,
        [(x, 0.0, 0.0, y) for x in (-LARGE, 0.0, LARGE) for y in (0, 1)],
    ),
    "margins": (Margins, None, [(x, 0.0, 0.0, y) for x in (-2.0, 0.0, 2.0) for y in (0, 1)]),
    "three classes": (
        ThreeClasses,
        None,
        [(x, -x, 0.0, y) for x in (-LARGE, LARGE) for y in (0, 1, 2)],
    ),
    "line": (
        Line,
        (-2.0, 3.0),
        [(x, 0.0, 0.0, y) for x, y in [(-9.0, 7.0), (9.0, -7.0), (9.0, 7.0), (0.0, 0.5)]],
    ),
}
ASKED = {
    "two classes": [None, ["auc"], ["accuracy"], ["confusion"], ["log_loss"], ["brier"]],
    "margins": [None],
    "three classes": [None, ["accuracy"]],
    "line": [None, ["r2"], ["mse"], ["mae"]],
}
CASES = [(kind, asked) for kind, every in ASKED.items() for asked in every]


def tables(rows, relation):
    """All pairs of neighbours with at most three rows, up to the order of the others."""
    others = [rest for k in range(3) for rest in combinations_with_replacement(rows, k)]
    for rest, row in product(others, rows):
        if relation is Adjacency.ADD_REMOVE:
            yield (*rest, row), rest
        elif relation is Adjacency.ZERO_OUT:
            yield (*rest, row), (*rest, EMPTY)
        else:
            for other in (*rows, EMPTY):
                yield (*rest, row), (*rest, other)


@pytest.mark.parametrize("relation", Adjacency)
@pytest.mark.parametrize(("kind", "asked"), CASES, ids=[f"{a}-{b}" for a, b in CASES])
def test_no_neighbour_moves_a_sum_further_than_declared(kind, asked, relation):
    model, bounds, rows = DOMAINS[kind]
    task = Task.of(model(), asked, bounds)
    job = prepare(task, 3, 1.0, 1e-6, relation.value, "drop")

    @cache
    def sums_of(table):
        held = np.array(table, dtype=float).reshape(-1, 4)
        data = read_rows(task, held[:, :3], held[:, 3], relation.value, "drop")
        return _sums(job, data, strict=False)

    farthest = dict.fromkeys((release.name for release in job.plan.releases), 0.0)
    for first, second in tables(rows, relation):
        if not second and relation.n_is_public:
            continue
        one, other = sums_of(first), sums_of(second)
        for release in job.plan.releases:
            moved = float(np.linalg.norm(one[release.name] - other[release.name]))
            assert moved <= job.plan.sensitivity(release), release.name
            farthest[release.name] = max(moved, farthest[release.name])
    for release in job.plan.releases:  # no more than it needs: some pair is as far apart
        assert farthest[release.name] > 0.999 * job.plan.sensitivity(release), release.name


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=4)])
def test_a_row_more_leaves_all_others_where_they_are(model):
    """Through the predictions of a library, which computes many rows together."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2_100, 3)) * [1.0, 1e3, 1e-3]
    y = (X[:, 0] + rng.standard_normal(2_100) > 0).astype(int)
    task = Task.of(model.fit(X[:100], y[:100]), ["auc", "log_loss"], None)
    job = prepare(task, None, 1.0, 1e-6, "add_remove", "raise")

    def sums_of(rows):
        return _sums(job, read_rows(task, X[rows], y[rows], "add_remove", "raise"), strict=True)

    whole = sums_of(np.arange(2_100))
    for k in (0, 700, 1_023, 1_024, 2_099):
        rest, own = sums_of(np.delete(np.arange(2_100), k)), sums_of(np.array([k]))
        for name, total in whole.items():
            exact = total.size > 100 or total.size == 1  # counts; others are rounded in sums
            np.testing.assert_allclose(total - rest[name], own[name], atol=0 if exact else 1e-11)
