"""choice/*: that shares lost, winners and marks are what the pages say they are."""

import json

import numpy as np
import pytest
from benchmarks.choice.situations import figures as situations_figures
from benchmarks.choice.situations import fits as situations_fits
from benchmarks.choice.situations import pages as situations_pages
from benchmarks.choice.situations import problems as situations_problems
from benchmarks.choice.solvers import figures as solvers_figures
from benchmarks.choice.solvers import fits, pages, problems
from benchmarks.harness.components import discover, run
from benchmarks.harness.needs import Options
from benchmarks.harness.report import RESULTS

CELLS = [(kind, loss) for kind in problems.KINDS for loss in problems.LOSSES]


def cell(auto="cd", **lost):
    shares = {solver: [9.0, share, -9.0] for solver, share in lost.items()}
    where = {"loss": "logistic", "kind": "balanced, tight bounds", "n": 300, "p": 2}
    return where | {"epsilon": 1.0, "lost": shares, "auto": auto}


def results(*cells):
    return {"seeds": 3, "rows": [300], "columns": [2], "epsilons": [1.0], "cells": list(cells)}


# Problems


@pytest.mark.parametrize(("kind", "loss"), CELLS)
@pytest.mark.parametrize("p", [2, 10, 50])
def test_rows_are_within_what_is_declared(kind, loss, p):
    sample = problems.draw(kind, loss, 400, p, seed=0)
    low, high = sample.facts["bounds_X"]
    assert sample.X.shape == (400, p)
    assert sample.fresh_X.shape == (problems.FRESH, p)
    np.testing.assert_array_equal(np.clip(sample.X, low, high), sample.X)
    if "bounds_y" in sample.facts:
        assert np.abs(sample.y).max() <= sample.facts["bounds_y"][1]
    if "data_norm" in sample.facts:
        lengths = np.sqrt(1.0 + np.sum(sample.X**2, axis=1))
        np.testing.assert_allclose(lengths, sample.facts["data_norm"])


def test_raw_scales_span_four_orders_in_bounds_five_times_too_wide():
    sample = problems.draw("raw scales, wide bounds", "least squares", 20_000, 10, seed=0)
    deviations = sample.X.std(axis=0)
    assert deviations[-1] / deviations[0] == pytest.approx(1e4, rel=0.05)
    wide = sample.facts["bounds_X"][1] / np.abs(sample.X).max(axis=0)
    np.testing.assert_allclose(wide, problems.TOO_WIDE, rtol=0.1)


@pytest.mark.parametrize(("kind", "loss"), CELLS)
def test_without_privacy_there_is_a_way_to_go(kind, loss):
    sample = problems.draw(kind, loss, 1_000, 10, seed=1)
    assert fits.without_privacy(sample, loss) < 0.8 * fits.of_constant(sample, loss)


def test_no_constant_is_better_than_the_best_one():
    sample = problems.draw("balanced, tight bounds", "logistic", 300, 2, seed=0)
    level = type("Level", (), {"decision_function": lambda self, X: np.full(len(X), self.score)})
    found = []
    for score in np.linspace(-2.0, 2.0, 401):
        level.score = score
        found.append(fits.mean_loss(level(), sample, "logistic"))
    assert min(found) == pytest.approx(fits.of_constant(sample, "logistic"), abs=1e-5)


# Measures


def test_shares_are_of_the_way_from_a_constant_to_the_optimum():
    assert fits.share_lost(2.0, constant=5.0, optimum=1.0) == 0.25
    with pytest.raises(ValueError, match="no better than a constant"):
        fits.share_lost(2.0, constant=1.0, optimum=1.0)


@pytest.mark.parametrize(("epsilon", "n"), [(0.1, 400), (0.1, 3_000), (10.0, 3_000)])
def test_what_auto_takes_is_what_a_fit_takes(epsilon, n):
    sample = problems.draw("one-hot, declared norm", "logistic", n, 10, seed=0)
    name = fits.taken(sample, "logistic", epsilon)
    losses = [fits._private(sample, "logistic", epsilon, solver, 0) for solver in ("auto", name)]
    assert losses[0] == losses[1]
    others = {"cd", "sgd"} - {name}
    assert fits._private(sample, "logistic", epsilon, others.pop(), 0) != losses[0]


def test_each_cell_has_every_solver_that_can_and_every_seed():
    first, second = fits.cells("balanced, tight bounds", "least squares", 300, 2, (1.0, 5.0), 2)
    assert (first["epsilon"], second["epsilon"]) == (1.0, 5.0)
    assert {solver: len(shares) for solver, shares in first["lost"].items()} == {
        "moments": 2,
        "cd": 2,
        "scd": 2,
        "sgd": 2,
        "scd" + fits.CLOSER: 2,  # which "auto" takes
    }
    assert first["auto"] == "scd" + fits.CLOSER
    assert first["lost"] != second["lost"]


# Pages


def test_medians_decide_and_near_ties_count_as_best():
    near = cell(auto="sgd", cd=0.100, sgd=0.104)
    assert pages.best(near) == "cd"
    assert pages.tied(near, "sgd")
    assert not pages.tied(cell(cd=0.10, sgd=0.11), "sgd")


def test_wrong_is_far_from_the_best_where_something_can_be_learned():
    assert pages.is_wrong(cell(auto="sgd", cd=0.10, sgd=0.32))
    assert not pages.is_wrong(cell(auto="sgd", cd=0.10, sgd=0.30))
    assert not pages.is_wrong(cell(auto="sgd", cd=0.60, sgd=5.0))
    assert pages.is_wrong(cell(auto="sgd", cd=-0.4, sgd=0.02))


def test_tables_tell_how_good_auto_is_and_name_its_mistakes():
    found = results(
        cell(auto="cd", cd=0.1, sgd=0.2), cell(auto="sgd", cd=0.1, sgd=3.0), cell(cd=0.9, sgd=0.8)
    )
    text = pages.tables(found)
    assert "(2 of 3)" in text
    assert "| everything | 2 | 50 % | 10.0 | 55.0 | 10.0 |  | 60.0 |  |" in text
    assert "in 1 of 2 cells" in text
    assert "| 300 | 2 | 1 | sgd | 300.0 % | cd | 10.0 % |" in text


def drawn(**lost):
    """The first axes of the main figure and of the map, of one cell."""
    main, *maps = solvers_figures.figures(results(cell(**lost))).values()
    return main.axes[0], maps[0].axes[0]


def crosses(axes):
    return [tuple(line.get_xydata()[0]) for line in axes.lines if _is_cross(line)]


def _is_cross(line):
    return line.get_marker() == "x" and len(line.get_xdata()) > 0


def test_the_figures_show_what_auto_and_the_best_lose_and_where_auto_is_wrong():
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex

    wrong, wrong_map = drawn(auto="scd", cd=0.1, scd=0.9)
    right, right_map = drawn(auto="cd", cd=0.1, scd=0.9)
    assert [line.get_ydata()[0] for line in wrong.lines[:2]] == pytest.approx([10, 90])
    assert [line.get_ydata()[0] for line in right.lines[:2]] == pytest.approx([10, 10])
    assert [y for _, y in crosses(wrong)] == pytest.approx([90])
    assert crosses(wrong_map) == [(0, 0)]
    assert crosses(right) == crosses(right_map) == []
    (square,), (alone,) = wrong_map.patches, right_map.patches
    assert square.get_facecolor() == alone.get_facecolor()
    assert to_hex(square.get_facecolor()).upper() == "#0072B2"


def test_figures_are_described_in_words():
    pytest.importorskip("matplotlib")
    from benchmarks.harness.figures import described

    words = described(drawn(auto="cd", cd=0.1, scd=0.9)[0].figure)
    assert "per cent lost by rows per coefficient" in words
    assert "epsilon = 1" in words


# Situations


@pytest.mark.parametrize("loss", situations_problems.LOSSES)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_declared_facts_hold_for_every_row(loss, seed):
    for known, facts in {
        "nothing declared": set(),
        "bounds declared": {"bounds_X", "bounds_y"},
        "a norm declared": {"data_norm", "bounds_y"},
    }.items():
        sample = situations_problems.draw(known, loss, 300, 10, seed)
        expected = facts - {"bounds_y"} | {"classes"} if loss == "logistic" else facts
        assert set(sample.facts) == expected
        X = np.vstack([sample.X, sample.fresh_X])
        if "bounds_X" in facts:
            low, high = sample.facts["bounds_X"]
            np.testing.assert_allclose(high - low, 2.0 * np.ptp(X, axis=0))
            np.testing.assert_array_equal(np.clip(X, low, high), X)
        if "data_norm" in facts:
            lengths = np.sqrt(1.0 + np.sum(X**2, axis=1))
            np.testing.assert_allclose(lengths, sample.facts["data_norm"], rtol=1e-6)


def test_nothing_and_bounds_are_about_the_same_rows():
    plain, bounded = (
        situations_problems.draw(known, "least squares", 300, 5, 1)
        for known in ("nothing declared", "bounds declared")
    )
    np.testing.assert_array_equal(plain.X, bounded.X)
    np.testing.assert_array_equal(plain.fresh_y, bounded.fresh_y)


def test_a_failed_privacy_test_leaves_a_solver_out(monkeypatch):
    monkeypatch.setitem(situations_fits.SOLVERS, "least squares", ("tukey", "moments"))
    few, many = situations_fits.cells(
        "nothing declared", "least squares", 1_000, 5, (0.1, 100.0), 2
    )
    assert "tukey" not in few["lost"]
    assert len(many["lost"]["tukey"]) == 2
    assert situations_fits._complete({"tukey": [0.1], "cd": [0.1, 0.2]}, 2) == {"cd": [0.1, 0.2]}


def test_what_auto_alone_does_is_a_cell_of_its_own(monkeypatch):
    monkeypatch.setitem(situations_fits.SOLVERS, "least squares", ("cd",))
    (cell,) = situations_fits.cells("nothing declared", "least squares", 1_000, 80, (0.5,), 1)
    assert cell["auto"] == "cd" + situations_fits.SELECTION
    assert cell["lost"][cell["auto"]] != cell["lost"]["cd"]
    (bounded,) = situations_fits.cells("bounds declared", "least squares", 1_000, 80, (0.5,), 1)
    assert bounded["auto"] == "cd" + situations_fits.SELECTION  # it selects in bounds, too
    assert set(bounded["lost"]) == {"cd", bounded["auto"]}
    (few,) = situations_fits.cells("bounds declared", "least squares", 1_000, 5, (0.5,), 1)
    assert few["auto"] == "cd" + fits.CLOSER
    assert few["lost"][few["auto"]] != few["lost"]["cd"]


def test_only_tables_that_can_be_learned_count(monkeypatch):
    monkeypatch.setattr(situations_fits, "without_privacy", lambda *_: 0.95)
    monkeypatch.setattr(situations_fits, "of_constant", lambda *_: 1.0)
    monkeypatch.setattr(situations_fits, "TRIES", 3)
    with pytest.raises(ValueError, match="only 0 of 3 tables"):
        situations_fits.cells("a norm declared", "logistic", 100, 5, (1.0,), 1)


def test_expectations_are_sorted_by_rows_times_mu_per_coefficient():
    near = cell(cd=0.40) | {"n": 100, "p": 5}  # 100 * 0.2367 / 6 = 3.9
    far = [cell(cd=share) | {"n": 10_000, "p": 5} for share in (0.1, 0.2, 1.7)]
    text = situations_pages.expected([near, *far])
    assert "| 3 to 10 | 40 (40) |" in text
    assert "| 100 to 1000 | 20 (100) |" in text


def test_the_guide_expects_what_was_measured():
    stored = json.loads((RESULTS / "choice" / "situations.json").read_text())["results"]["cells"]
    page = (RESULTS.parents[1] / "docs" / "how-to-choose.md").read_text()
    assert situations_pages.expected(stored) in page
    reached = [found for found in stored if pages.within_reach(found)]
    assert f"in {sum(map(pages.is_wrong, reached))} of the {len(reached)} cases" in page
    with_bounds, with_nothing = (
        f"{100 * pages.lost(found)['cd']:.0f} %"
        for kind in ("bounds declared", "nothing declared")
        for found in stored
        if (found["loss"], found["kind"], found["n"], found["p"], found["epsilon"])
        == ("least squares", kind, 1_000, 20, 1.0)
    )
    assert f"epsilon 1, 20 features: {with_bounds} lost in place of {with_nothing}" in page


def test_the_map_is_coloured_by_the_best_and_says_what_auto_takes():
    pytest.importorskip("matplotlib")
    from matplotlib.colors import to_hex

    star = "cd" + situations_fits.SELECTION
    for given, colour, words, patches in (
        (cell(auto="cd", cd=0.30, scd=0.05), "scd", "cd\n30 %", 2),
        (cell(auto="cd", cd=0.06, scd=0.05), "cd", "cd\n6 %", 1),
        (cell(auto=star, scd=0.4, cd=0.5, **{star: 0.2}), "cd", "cd*\n20 %", 1),
        (cell(auto="cd", cd=5.0, scd=0.6), None, "cd\nall", 1),
    ):
        axes = situations_figures.figures(results(given))[""].axes[0]
        shown = situations_figures.COLOURS.get(colour, situations_figures.HOPELESS)
        assert to_hex(axes.patches[0].get_facecolor()).upper() == shown.upper()
        assert [text.get_text() for text in axes.texts] == [words]
        assert len(axes.patches) == patches


@pytest.mark.slow
@pytest.mark.parametrize("name", ["solvers", "situations"])
def test_a_short_run_writes_a_page(name, tmp_path):
    pytest.importorskip("matplotlib")
    said = run(discover()[f"choice/{name}"], Options(quick=True, results=tmp_path))
    assert "wrote" in said
    assert (tmp_path / "choice" / f"{name}.png").exists()
