"""Kernel regression on two problems: splits, losses, what is measured once, what is kept."""

import json

import numpy as np
import pytest
from benchmarks.datasets import california
from benchmarks.datasets.standins import california as standin
from benchmarks.harness import report
from benchmarks.papers.wang_guo import smooth
from benchmarks.papers.wang_guo_kernels import methods, pages, study

from privlearn import KernelRegressor
from support import exact

KEPT = report.RESULTS / "papers" / "wang_guo_kernels.json"


def test_splits_share_no_row_and_more_rows_keep_the_same_test():
    X = np.tile(np.arange(100.0)[:, None], (1, 8))
    task = study.california_task(X, np.arange(100.0))
    assert task.rows == 80
    few, _ = task.draw(3, 20)
    many, _ = task.draw(3, 80)
    held = many.points[:, list(california.BOXES).index("population")]
    assert sorted([*many.y, *held]) == list(range(100))
    np.testing.assert_array_equal(few.y, many.y[:20])
    np.testing.assert_array_equal(few.points, many.points)


def test_the_losses_are_what_they_say():
    X, y = standin(400)
    task = study.california_task(X, y)
    rows, loss = task.draw(0, task.rows)
    assert loss(np.full(80, 7.0)) > loss(np.full(80, np.mean(rows.y))) > 0.9
    problem = smooth.PROBLEM
    _, excess = study.smooth_task(100).draw(0, 100)
    truth = problem.target(problem.test_points)
    assert excess(truth) == 0.0
    assert excess(np.zeros_like(truth)) == pytest.approx(smooth.zero_excess(problem))


def test_features_without_privacy_are_those_of_a_fit_without_noise():
    task = study.california_task(*standin(500))
    rows, _ = task.draw(0, 300)
    model = KernelRegressor(solver="moments", n_components=32, **task.facts.given(1.0))
    theirs = exact(model, rows.X, rows.y).feature_map_.transform(rows.points)
    ours = methods._features(task.facts, rows, 1.0, 32).transform(rows.points)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_a_study_measures_each_method_once_where_nothing_changes(monkeypatch):
    calls = []

    def spy(name):
        def predict(facts, rows, epsilon, size):
            calls.append((name, len(rows.y), size, epsilon))
            return {"a": np.zeros(len(rows.points)), "b": np.ones(len(rows.points))}

        return predict

    names = [*methods.METHODS]
    monkeypatch.setattr(study, "METHODS", {name: spy(name) for name in names})
    sweeps = {"n": [100, 200], "features": [8, 16], "epsilon": [1.0, 2.0]}
    found = study.study(study.smooth_task(200), sweeps, seeds=1)
    assert len(calls) == len(set(calls))
    count = {name: sum(call[0] == name for call in calls) for name in names}
    assert count == dict(zip(names, (5, 5, 3, 4, 2), strict=True))
    assert found["losses"]["n"][names[0]][1] == found["losses"]["epsilon"][names[0]][0]
    assert found["best_linear"] == {"a": 3}  # the target is nearer to 0 than to 1


def test_the_gap_is_taken_split_by_split():
    losses = {"KernelRegressor": [[0.3, 0.5]], "best private linear model": [[0.4, 0.5]]}
    found = {"sweeps": {"epsilon": [1.0]}, "epsilon": 1.0, "losses": {"epsilon": losses}}
    np.testing.assert_allclose(pages.gaps(found)["KernelRegressor"], [0.1, 0.0])


@pytest.mark.skipif(not KEPT.exists(), reason="no results are kept yet")
def test_kept_kernels_beat_every_private_line_on_california():
    kept = json.loads(KEPT.read_text())["results"]
    housing = kept["california"]
    assert housing["seeds"] >= 10
    assert (housing["epsilon"], housing["delta"]) == (1.0, 1e-6)
    gap = pages.gaps(housing)["KernelRegressor"]
    assert np.median(gap) >= 0.03
    assert gap.min() > 0
    smooth_gap = pages.gaps(kept["smooth"])["KernelRegressor"]
    assert smooth_gap.min() > 0
