"""Mangold et al. 2022, Table 2: what must hold, and that the comparison computes what it says."""

import ast
import dataclasses
import json
import types
from pathlib import Path

import numpy as np
import pytest
from benchmarks.datasets import california, electricity, manifest, sparse_lasso, standins
from benchmarks.harness import report
from benchmarks.harness.needs import Options
from benchmarks.harness.objectives import Lasso, Logistic
from benchmarks.papers.mangold import component as mangold
from benchmarks.papers.mangold import figures, fits, pages, pages_tuned, problems, tuned

KEPT = report.RESULTS / "papers" / "mangold.json"
SEEDS = 3
HAS_CD = mangold.NEEDS[-1].missing(Options()) is None


# Objectives


def test_the_objectives_are_the_papers():
    X, w = np.array([[1.0, 2.0], [3.0, -1.0]]), np.array([0.5, -2.0])
    squares = ((1 * 0.5 - 2 * 2 - 1) ** 2 + (3 * 0.5 + 2 - 4) ** 2) / 2
    assert Lasso(X, np.array([1.0, 4.0]), 0.1).at(w) == pytest.approx(squares + 0.1 * 2.5)
    labels = np.array([-1.0, 1.0])  # x'w is -3.5 and 3.5: both are right
    assert Logistic(X, labels, 0.2).at(w) == pytest.approx(np.log1p(np.exp(-3.5)) + 0.1 * 4.25)


def test_no_direction_leads_below_a_reference_optimum():
    """And scikit-learn's model with the translated weight reaches it."""
    from sklearn import linear_model

    lasso = Lasso(*standins.california(500), 1.0)
    logistic = Logistic(*standins.electricity(500), 1.0 / 500)
    plain = {
        lasso: linear_model.Lasso(lasso.alpha, fit_intercept=False, tol=1e-10, max_iter=10**6),
        logistic: linear_model.LogisticRegression(
            C=logistic.C, fit_intercept=False, tol=1e-10, solver="newton-cholesky"
        ),
    }
    for objective, model in plain.items():
        best, coef = objective.optimum(), np.ravel(model.fit(objective.X, objective.y).coef_)
        assert objective.relative_error(coef, best) == pytest.approx(0.0, abs=1e-8)
        generator = np.random.default_rng(0)
        for size in (1e-5, 1e-3, 1e-1):
            nearby = coef * (1.0 + size * generator.normal(size=(50, len(coef))))
            assert min(objective.at(other) for other in nearby) >= best * (1.0 - 1e-9)


@pytest.mark.filterwarnings("ignore:Objective did not converge")
def test_a_reference_that_did_not_converge_is_refused(monkeypatch):
    from sklearn import linear_model

    slow = type("Slow", (linear_model.Lasso,), {"fit": lambda self, X, y: _unconverged(self, X, y)})
    monkeypatch.setattr(linear_model, "Lasso", slow)
    with pytest.raises(RuntimeError, match="duality gap"):
        Lasso(*standins.california(500), 0.01).optimum()


def _unconverged(model, X, y):
    from sklearn.linear_model._coordinate_descent import Lasso as Plain

    model.max_iter = 1
    return Plain.fit(model, X, y)


@pytest.mark.slow
def test_the_size_of_the_coefficients_gives_the_zero_model_its_printed_error():
    problem = problems.load("Sparse LASSO")
    zero = problem.objective.of_zero(problem.objective.optimum())
    assert zero == pytest.approx(0.7551, abs=5e-5)
    assert zero == pytest.approx(max(problem.paper_sgd), abs=5e-5)


# Facts


def test_the_papers_numbers_are_those_of_table_2():
    starred = {name: (min(e.paper_cd), min(e.paper_sgd)) for name, e in problems.FIVE.items()}
    assert list(starred.values()) == [
        (0.0020, 0.1484),
        (0.0013, 0.0040),
        (0.0124, 0.1068),
        (0.0007, 0.0042),
        (0.2498, 0.7551),
    ]


def test_public_bounds_are_written_as_numbers():
    """So that no data can have been asked."""
    names = {"BOXES", "BOUNDS_X", "BOUNDS_Y", "STANDARDISED_BOX"}
    found = 0
    for module in (california, electricity, sparse_lasso, problems):
        for node in ast.parse(Path(module.__file__).read_text()).body:
            if isinstance(node, ast.Assign) and node.targets[0].id in names:
                ast.literal_eval(node.value)
                found += 1
    assert found == 6


def test_the_day_of_the_week_becomes_its_number():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({column: [0.25, 0.5] for column in electricity.BOXES})
    frame["day"] = ["7", "2"]
    X = electricity.features(frame[frame.columns[::-1]])
    assert X[:, 1].tolist() == [7.0, 2.0]
    assert X[:, 0].tolist() == [0.25, 0.5]


@pytest.mark.parametrize("name", problems.FIVE)
def test_problems_hold_the_papers_promise(name):
    problem = problems.load(name, quick=True)
    X, n = problem.objective.X, len(problem.objective.y)
    assert problem.delta == 1.0 / n**2
    assert problem.epsilon == (10.0 if name == "Sparse LASSO" else 1.0)
    low, high = problem.paper_bounds
    np.testing.assert_allclose(high, 2.0 * np.abs(X).max(axis=0))
    np.testing.assert_array_equal(low, -high)
    if problem.standardised:
        np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(problem.mean_squares, 1.0)
        assert problem.scales == 1.0
    else:
        np.testing.assert_allclose(np.mean((X / problem.scales) ** 2, axis=0), 1.0)


def test_far_rows_are_counted_with_their_share_of_the_variance():
    X = np.zeros((400, 2))
    X[:, 0] = np.tile([1.0, -1.0], 200)
    X[:2, 1] = 18.0, -6.0
    X[2:, 1] = np.tile([0.2, -0.2], 199)
    problem = dataclasses.replace(
        problems.load("California, standardised", quick=True),
        objective=Lasso(X, X[:, 0], 0.1),
        names=("near", "far"),
    )
    (found,) = problem.far
    share = 18.0**2 / (18.0**2 + 6.0**2 + 398 * 0.04)
    assert found == {"feature": "far", "rows": 1, "variance": pytest.approx(share)}
    assert dataclasses.replace(problem, standardised=False).far == []


def test_fits_get_the_promise_and_the_bounds_of_their_row():
    problem = problems.load("Electricity, raw", quick=True)
    model = fits.fit(problem, "sgd", "public", seed=0)
    assert model.privacy_.adjacency == "replace_one"
    assert (model.privacy_.epsilon, model.privacy_.delta) == (1.0, problem.delta)
    assert abs(model.C - 1.0) < 1e-12
    assert not model.fit_intercept
    assert model.bounds_X[1][1] == 7.0
    marked = fits.fit(problem, "sgd", "2 max", seed=0)
    np.testing.assert_array_equal(marked.bounds_X[1], problem.paper_bounds[1])
    assert marked.scale_X is None
    declared = fits.fit(problem, "auto", seed=0, scales=True)
    np.testing.assert_array_equal(declared.scale_X, problem.scales)


def test_a_row_is_fitted_with_what_it_says(monkeypatch):
    """Declared scales only in the row of that name, and the bounds that the row names."""
    problem, asked, model = problems.load("California, raw", quick=True), [], fits.fit
    monkeypatch.setattr(fits, "fit", lambda *a, **k: asked.append(k) or model(*a, **k))
    for method in ("auto", fits.DECLARED):
        row = fits.row(problem, method, "2 max", optimum=1.0, seeds=1, clock=lambda: 0.0)
        assert len(row["seconds"]) == fits.TIMED
        assert {k["scales"] for k in asked} == {method == fits.DECLARED}
        assert {(k["solver"], k["bounds"]) for k in asked} == {("auto", "2 max")}
        asked.clear()


def test_what_clipping_alone_costs_is_judged_on_whole_rows():
    X, weight = np.array([[1.0], [-1.0], [4.0]]), 0.3
    objective = Lasso(X, X[:, 0].copy(), weight)
    problem = problems.load("California, raw", quick=True)
    problem = dataclasses.replace(problem, objective=objective, bounds_X=(-2.0, 2.0))
    public, double = (fits.clipped_row(problem, kind, optimum=1.0) for kind in fits.BOUNDS)
    for row, squares, products in ((public, 6.0, 10.0), (double, 18.0, 18.0)):
        slope = (products - 3.0 * weight / 2.0) / squares  # of y on x as it was clipped
        whole = (slope - 1.0) ** 2 * 18.0 / 3.0 + weight * slope
        assert row["errors"][0] == pytest.approx(whole - 1.0, rel=1e-6)


@pytest.mark.parametrize("number", [2, 20])
def test_sgd_goes_over_the_data_as_often_as_asked(number):
    problem = problems.load("Electricity, raw", quick=True)
    solver = fits._descend_by_gradients(problem, number, {})
    model = fits.fit(problem, solver, seed=0)
    assert fits.passes(model) == pytest.approx(number, rel=0.02)
    assert model.coef_.any()


@pytest.mark.skipif(not HAS_CD, reason="this version has no coordinate descent")
def test_cd_descends_as_often_as_asked_and_buys_nothing_that_is_given():
    problem = problems.load("California, standardised", quick=True)
    few, many = (
        fits.fit(problem, fits._descend_by_coordinates(problem, k, {}), seed=0) for k in (5, 9)
    )
    assert fits.passes(many) - fits.passes(few) == pytest.approx(4.0)
    estimated, given = (
        {release.name for release in fits.fit(problem, solver, seed=0).privacy_.plan.releases}
        for solver in ("cd", fits.solver_of("cd, constants given", problem))
    )
    assert given < estimated
    declared = fits.fit(problem, "cd", seed=0, scales=True).privacy_.plan.releases
    assert {release.name for release in declared} == given


def test_a_release_of_one_coordinate_is_a_share_of_a_pass():
    release = types.SimpleNamespace(count=80, size=1, sampling=types.SimpleNamespace(rate=0.5))
    plan = types.SimpleNamespace(releases=(release, release))
    model = types.SimpleNamespace(privacy_=types.SimpleNamespace(plan=plan), n_features_in_=8)
    assert fits.passes(model) == pytest.approx(10.0)


# Algorithm 1, tuned


@pytest.mark.skipif(not HAS_CD, reason="this version has no coordinate descent")
@pytest.mark.parametrize("name", ["Electricity, raw", "California, raw"])
@pytest.mark.parametrize("factor", [0.2, 0.5])
def test_a_tuned_fit_is_algorithm_1_with_the_papers_limits(name, factor):
    """Almost without noise it is the plain one, with limits that bind."""
    problem = dataclasses.replace(problems.load(name, quick=True), epsilon=1e7)
    optimum = problem.objective.optimum()
    cell = {"passes": 5, "step": 0.5, "clip": factor * tuned.typical(problem)}
    ours = tuned.error(problem, **cell, seed=0, optimum=optimum)
    assert ours == pytest.approx(tuned.plain(problem, cell, "cyclic", 0, optimum), rel=0.01)
    other = {**cell, "clip": 2.0 * cell["clip"]}
    assert abs(tuned.plain(problem, other, "cyclic", 0, optimum) / ours - 1.0) > 0.02


def test_a_random_order_leaves_coordinates_out():
    problem = dataclasses.replace(problems.load("California, raw", quick=True), epsilon=1e7)
    cell = {"passes": 1, "step": 1.0, "clip": 50.0 * tuned.typical(problem)}
    errors = {
        order: [tuned.plain(problem, cell, order, seed, 1.0) for seed in range(4)]
        for order in ("cyclic", "random")
    }
    assert np.ptp(errors["cyclic"]) < 1e-2 < np.ptp(errors["random"])


def test_the_search_finds_the_best_setting_of_the_papers_grid(monkeypatch):
    assert (tuned.STEPS[0], tuned.STEPS[-1], len(tuned.STEPS)) == (0.01, 10.0, 10)
    assert (tuned.CLIPS[0], tuned.CLIPS[-1], len(tuned.CLIPS)) == (1e-3, 1e6, 100)
    problem = problems.load("Electricity, raw", quick=True)
    best = int(np.searchsorted(tuned.CLIPS, 2.0 * tuned.typical(problem)))
    asked = []

    def error(problem, passes, step, clip, seed, optimum):
        asked.append((step, clip, seed))
        far = np.log(step / tuned.STEPS[6]) ** 2 + np.log(clip / tuned.CLIPS[best]) ** 2
        return float(far + 0.001 * seed)

    monkeypatch.setattr(tuned, "error", error)
    cell = tuned.tune(problem, 5, 1.0)
    assert (cell["step"], cell["clip"]) == (tuned.STEPS[6], tuned.CLIPS[best])
    assert cell["errors"] == pytest.approx([0.001 * k for k in range(tuned.RUNS)])
    assert {clip for _, clip, _ in asked} <= set(tuned.CLIPS)


def test_californias_target_is_tried_as_the_paper_seems_to_have_it():
    for name, other in (
        ("California, raw", "centred"),
        ("California, standardised", "standardised"),
    ):
        found = tuned.targets(name, problems.load(name, quick=True))
        assert list(found) == ["as it is", other]
        y, (low, high) = found[other].objective.y, found[other].bounds_y
        assert y.mean() == pytest.approx(0.0, abs=1e-12)
        assert (abs(y.std() - 1.0) < 1e-9) == (other == "standardised")
        assert high == -low == 2.0 * np.abs(y).max()
    problem = problems.load("Sparse LASSO", quick=True)
    assert tuned.targets("Sparse LASSO", problem) == {"as it is": problem}


def of_tuning(entry, factor=1.0):
    cells = [
        {"passes": k, "step": 1.0, "clip": 2.0, "errors": [0.9 * factor * e, 1.1 * factor * e]}
        for k, e in zip(problems.PASSES, entry.paper_cd, strict=True)
    ]
    best = min(entry.paper_cd)
    errors = [0.5 * best, 1.5 * best]
    orders = {"cyclic": errors, "random": [7.0]}
    return {
        "target": "as it is", "zero": 0.8, "cells": cells, "best": {}, "fresh": errors,
        "rule": [2.5 * best], "orders": orders,
    }  # fmt: skip


def test_a_cell_reproduces_table_2_within_both_spreads():
    entry = problems.FIVE["Electricity, raw"]
    problem = {"paper_cd": entry.paper_cd, "spread_cd": entry.spread_cd}
    for factor, yes in ((0.1, True), (1.0, True), (1.5, True), (2.0, False)):
        # 0.0020 +- 0.001 in the paper, and a tenth of ours
        assert pages_tuned.reproduces(problem, of_tuning(entry, factor)) is yes


def test_pages_show_every_cell_beside_table_2_and_the_rule():
    text = pages.tables(made_up())
    assert "| Electricity, raw | 0.1458 ± 0.0146 | 0.0842 ± 0.0084 |" in text
    assert "| (Table 2) | 0.1458 ± 0.0006 | 0.0842 ± 0.0010 |" in text
    assert "| 0.0020 ± 0.0010 | yes | 0.0050 (0.0050 to 0.0050) | 2.50 | 2.50 |" in text


# Pages


def made_up(factor=2.0):
    """Results: the headline, "cd" on raw features, has `factor` times the paper's error."""
    errors = dict.fromkeys(fits.METHODS, 9.0)
    errors |= {"auto": 8.0, "cd, constants given": 4 / 3, "sgd": 14.0}
    curve = {"passes": [2, 50], "errors": [[0.1, 0.3], [0.2, 0.4]]}
    found = {}
    for name, entry in problems.FIVE.items():
        best = min(entry.paper_cd)
        sizes = {(method, bounds): errors[method] for bounds in fits.BOUNDS for method in errors}
        sizes["cd", "2 max"] = 6.0
        sizes[fits.headline(entry.standardised)] = factor
        rows = [
            {
                "method": method,
                "bounds": bounds,
                "errors": [0.5 * size * best, 1.5 * size * best],
                "seconds": [0.1, 0.2, 0.3],
                "passes": 10.0,
                "took": "A method (Somebody 2020)",
            }
            for (method, bounds), size in sizes.items()
        ]
        rows += [{"method": fits.CLIPPED, "bounds": b, "errors": [0.01]} for b in fits.BOUNDS]
        found[name] = {
            "n": 100, "p": 8, "weight": 1.0, "epsilon": 1.0, "delta": 1e-4, "optimum": 1.0,
            "zero": 0.8, "standardised": entry.standardised, "paper_cd": entry.paper_cd,
            "paper_sgd": entry.paper_sgd, "rows": rows,
            "far": [{"feature": "vicprice", "rows": 14, "variance": 0.95}],
            "spread_cd": entry.spread_cd, "tuned": [of_tuning(entry)],
            "curves": {"cd": curve, "sgd": curve},
        }  # fmt: skip
    pages.counts(found["California, raw"])["errors"] = [0.0124 * 32.0]
    return {"seeds": 2, "problems": found}


def test_pages_tell_ratios_their_geometric_mean_and_the_largest():
    results = made_up()
    assert pages.ratios(results)["Sparse LASSO"] == pytest.approx(2.0)
    assert pages.ratios(results, "cd")["Electricity, standardised"] == pytest.approx(9.0)
    text = pages.tables(results)
    mean = (2.0**4 * 32.0) ** 0.2
    assert f"| the table above | {mean:.2f} | 32.00 | California, raw |" in text
    estimated = (2.0**2 * 9.0**2 * 32.0) ** 0.2
    assert f"| scales estimated, public bounds everywhere | {estimated:.2f} | 32.00 |" in text
    assert "| Electricity, raw | 7.0 | 10.5 | 74.2 |" in text
    assert "| cd | public | 0.0040 (0.0020 to 0.0060) | 2.00 | nothing |" in text
    assert "| auto; took A method | public | 0.0160 (0.0080 to 0.0240) | 8.00 | nothing |" in text
    assert "| no privacy, features clipped | public | 0.0100 |" in text


def test_pages_say_what_the_free_facts_are_worth():
    text = pages.tables(made_up())
    assert "Electricity, standardised misses the paper by a factor of **9.00**" in text
    assert "| Electricity, standardised | 0.0026 | 0.0117 | 0.0078 | 0.0117 | 0.0100 |" in text
    assert "| Electricity, standardised | vicprice | 14 of 100 | 95 % |" in text


def test_the_headline_takes_for_free_what_the_paper_does_and_no_more():
    found = {n: pages._free(p, pages.counts(p)) for n, p in made_up()["problems"].items()}
    everything = "standardisation, scales (scale_X=1), bounds (2 max)"
    assert list(found.values()) == ["nothing", everything, "nothing", everything, "nothing"]


def test_pages_mark_what_was_free():
    problem = made_up()["problems"]["Electricity, standardised"]
    given = pages.find(problem, "cd, constants given", "2 max")
    assert pages._free(problem, given) == "standardisation, constants, bounds (2 max)"
    assert pages._free(problem, pages.find(problem, "auto")) == "standardisation"
    raw = made_up()["problems"]["Electricity, raw"]
    assert pages._free(raw, pages.find(raw, fits.DECLARED)) == "scales (scale_X)"


def test_the_figure_has_a_panel_for_each_problem_and_both_sources():
    pytest.importorskip("matplotlib")
    (figure,) = figures.figures(made_up()).values()
    panels = [axes for axes in figure.axes if axes.axison]
    assert [axes.get_title(loc="left") for axes in panels] == list(problems.FIVE)
    (legend,) = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    assert len(legend.get_texts()) == 7
    assert all(axes.get_yscale() == axes.get_xscale() == "log" for axes in panels)


# Relations


def assert_the_relations_hold(results):
    found = pages.ratios(results)
    assert np.exp(np.mean(np.log(list(found.values())))) <= 2.0, found
    assert max(found.values()) <= 5.0, found
    for method in ("cd", "cd, constants given"):
        advantages = pages.advantages(results, method)
        assert len(advantages) == 2
        assert min(advantages.values()) >= 5.0, (method, advantages)


def test_the_check_of_relations_can_fail():
    results = made_up(factor=1.0)
    with pytest.raises(AssertionError):
        assert_the_relations_hold(results)  # one ratio is 32
    pages.counts(results["problems"]["California, raw"])["errors"] = [0.0124]
    assert_the_relations_hold(results)
    for row in results["problems"]["Electricity, raw"]["rows"]:
        if row["method"] == "sgd":
            row["errors"] = [0.0066]  # 3.3 times that of "cd"
    with pytest.raises(AssertionError, match="cd"):
        assert_the_relations_hold(results)


def assert_algorithm_1_is_table_2(results):
    """Tuned and then run anew, with one of the targets; and the rule loses at most 3 times that."""
    for name, problem in results["problems"].items():
        place = int(np.argmin(problem["paper_cd"]))
        least = problem["paper_cd"][place]
        beyond, over = [], []
        for found in problem["tuned"]:
            fresh, spread = np.mean(found["fresh"]), np.std(found["fresh"])
            beyond.append((fresh - least) / (spread + problem["spread_cd"][place]))
            over.append(np.mean(found["rule"]) / fresh)
        assert min(beyond) <= 1.0, (name, beyond)
        assert min(over) <= 3.0, (name, over)


def test_the_check_of_algorithm_1_can_fail():
    for key, factor in (("fresh", 3.0), ("rule", 1.3)):
        results = made_up()
        assert_algorithm_1_is_table_2(results)
        (found,) = results["problems"]["Sparse LASSO"]["tuned"]
        found[key] = [factor * error for error in found[key]]
        with pytest.raises(AssertionError, match="Sparse LASSO"):
            assert_algorithm_1_is_table_2(results)


@pytest.mark.skipif(not KEPT.exists(), reason="no results of papers/mangold are kept yet")
def test_the_kept_results_hold_the_relations():
    results = json.loads(KEPT.read_text())["results"]
    assert_the_relations_hold(results)
    assert_algorithm_1_is_table_2(results)


@pytest.fixture(scope="module")
def fresh():
    """The headline's rows and those of the claim about raw features, measured with few seeds."""
    if not KEPT.exists():
        pytest.skip("no results of papers/mangold are kept yet: default rules may still change")
    for need in mangold.NEEDS:
        if reason := need.missing(Options()):
            pytest.skip(reason)
    found = {}
    for name in problems.FIVE:
        problem = problems.load(name)
        optimum = problem.objective.optimum()
        kinds = [fits.headline(problem.standardised)]
        kinds += [(method, "public") for method in ("cd", "cd, constants given", "sgd")]
        found[name] = {
            "paper_cd": problem.paper_cd,
            "standardised": problem.standardised,
            "rows": [_errors(problem, *kind, optimum) for kind in kinds],
        }
    return {"problems": found}


def _errors(problem, method, bounds, optimum):
    given = {"bounds": bounds, "scales": method == fits.DECLARED}
    solver = fits.solver_of(method, problem)
    models = [fits.fit(problem, solver, seed=100 + seed, **given) for seed in range(SEEDS)]
    return {
        "method": method,
        "bounds": bounds,
        "errors": [fits._error(problem, model, optimum) for model in models],
    }


@pytest.mark.slow
def test_defaults_come_close_to_the_papers_tuned_errors(fresh):
    assert_the_relations_hold(fresh)


@pytest.mark.slow
@pytest.mark.skipif(not HAS_CD, reason="this version has no coordinate descent")
def test_a_short_run_writes_a_page_without_data(tmp_path, monkeypatch):
    from benchmarks.harness.components import discover, run

    pytest.importorskip("matplotlib")
    monkeypatch.setenv(manifest.VARIABLE, str(tmp_path / "nowhere"))
    said = run(discover()["papers/mangold"], Options(quick=True, results=tmp_path))
    assert "wrote" in said
    assert (tmp_path / "papers" / "mangold.png").exists()
