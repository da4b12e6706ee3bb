"""papers/dick: tables that were typed in, data sets, programs as published, counts."""

import json

import numpy as np
import pytest
from benchmarks.harness import report
from benchmarks.harness.needs import Options
from benchmarks.papers.dick import as_published as published
from benchmarks.papers.dick import counts, data, methods, pages, study
from benchmarks.papers.dick.published import PRIVATE, TABLES
from benchmarks.peers import adult_undeclared

# What was typed in


def test_the_tables_have_the_counts_that_the_text_states():
    """Sections 4.3.1, 4.3.2 and 4.4: shares of 25 data sets, and totals over methods."""
    first = {method: ranks[0] for method, ranks in counts.ranks(TABLES[5]).items()}
    both = {method: sum(ranks) for method, ranks in counts.ranks(TABLES[5]).items()}
    assert (first["K-Tukey"], first["L-BAS"], first["K-BAS"]) == (12, 6, 2)
    assert both["K-Tukey"] == 17 == max(both.values())
    good = counts.positive(TABLES[5])
    assert [good[method] for method in ("K-Tukey", "L-Tukey", "K-BAS", "L-BAS")] == [14, 10, 7, 5]
    assert sum(good.values()) == 41
    assert sum(counts.positive(TABLES[10]).values()) == 19


def test_the_exceptions_that_the_paper_names_are_the_ones_in_the_tables():
    """Footnote 7: where ten columns beat five. It forgets one, where BAS came out anew."""
    best = {k: {number: max(row[m] for m in PRIVATE) for number, row in TABLES[k].items()}
            for k in (5, 10)}  # fmt: skip
    assert {n for n in best[10] if best[10][n] > best[5][n]} == {361075, 361091, 361093, 361103}


# Data sets


def test_names_are_told_apart_by_what_the_paper_prints():
    assert len(data.NAMES) == 21
    numbers = [data.TASKS[name].number for name in data.NAMES]
    assert set(numbers) == set(TABLES[5]) - {361091, 361092, 361101, 361103}
    assert {n for n in numbers if n not in TABLES[10]} == {
        task.number for task in data.TASKS.values() if task.d is not None and task.d < 10
    }


def test_columns_do_not_depend_on_other_rows_and_unknown_words_get_no_one():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"northing": [1.5, 2.5, 3.5], "isns": ["yes", "no", "perhaps"]})
    together = data.encode(frame, data.TASKS["visualizing_soil"])
    np.testing.assert_array_equal(together, [[1.5, 0, 1], [2.5, 1, 0], [3.5, 0, 0]])
    alone = [data.encode(frame[i : i + 1], data.TASKS["visualizing_soil"]) for i in range(3)]
    np.testing.assert_array_equal(together, np.vstack(alone))


def test_a_split_holds_out_a_tenth_and_shares_no_row():
    X, y = np.arange(101.0)[:, None], np.arange(101.0)
    rows = data.split(X, y, seed=1)
    assert len(rows.y_test) == 11
    assert sorted([*rows.y, *rows.y_test]) == list(y)
    np.testing.assert_array_equal(rows.X[:, 0], rows.y)
    assert set(rows.y_test) != set(data.split(X, y, seed=2).y_test)


# As published


def test_the_programs_noise_does_not_keep_its_promise():
    """The grid's first point that violates delta is returned; the one before it would not."""
    mu = published._violating_mu(methods.EPSILON, methods.DELTA)
    assert published._delta(mu, methods.EPSILON) > methods.DELTA
    assert published._delta(0.998 * mu, methods.EPSILON) < methods.DELTA


def noises(repairs):
    """What the test of an epsilon of 0.5 adds, 0.25 of it its own, over many runs."""
    generator, models = np.random.default_rng(1), np.zeros((20, 2))
    return [published.tukey(models, 0.5, 1e-5, generator, repairs).noise for _ in range(1_000)]


def test_the_tests_noise_has_the_inverse_of_its_right_scale():
    assert np.mean(np.abs(noises(()))) == pytest.approx(0.25, rel=0.15)
    assert np.mean(np.abs(noises(("laplace",)))) == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("dealt", [False, True])
def test_models_of_blocks_are_least_squares(dealt):
    generator = np.random.default_rng(0)
    A = np.column_stack([generator.normal(size=(1_000, 2)), np.ones(1_000)])
    found = published.block_models(A, A @ [1.0, -2.0, 3.0], 50, generator, dealt=dealt)
    np.testing.assert_allclose(found, np.tile([1.0, -2.0, 3.0], (50, 1)), atol=1e-8)


def test_every_dealt_row_is_in_the_model_of_its_group():
    """With an intercept alone a model is the mean of its group's targets."""
    y = np.random.default_rng(0).normal(size=200)
    group = np.random.default_rng(3).integers(20, size=200)
    found = published.block_models(np.ones((200, 1)), y, 20, np.random.default_rng(3), dealt=True)
    np.testing.assert_allclose(found[:, 0], [y[group == g].mean() for g in range(20)])


@pytest.mark.parametrize("repairs", [(), published.REPAIRS])
def test_the_draw_is_deep_among_the_models(repairs):
    centre = np.array([5.0, -5.0, 0.0])
    models = centre + np.random.default_rng(0).normal(size=(2_000, 3))
    verdict = published.tukey(models, 1.0, 1e-5, np.random.default_rng(1), repairs)
    assert verdict.passed
    np.testing.assert_allclose(verdict.coef, centre, atol=0.3)


def test_few_models_fail_and_the_repaired_test_needs_more():
    def distance(count, repairs):
        models = np.random.default_rng(0).normal(size=(count, 3))
        verdict = published.tukey(models, 1.0, 1e-5, np.random.default_rng(1), repairs)
        return verdict.distance - verdict.needed

    assert distance(40, ()) < 0.0
    assert distance(400, ()) > 0.0 > distance(400, ("replaced",))
    assert distance(1_000, ("replaced",)) > 0.0


# Counts and pages


def test_failures_count_as_minus_infinity():
    assert counts.median([0.1, None, 0.3]) == 0.1
    assert counts.median([None, None, 0.3]) == -np.inf
    assert counts.quartiles([None, 0.2, 0.4, 0.6, 0.8]) == pytest.approx((0.2, 0.4, 0.6))
    assert pages.number(-np.inf) == "fails"
    assert [pages.number(v) for v in (0.123, -12.4, -4.5e4, 9.96e8)] == [
        "0.12", "-12", "-4e4", "10e8"
    ]  # fmt: skip


def results(ours=(0.5, 0.4, 0.6), many=(0.5, -0.2, 0.4)):
    rows = {"Tukey": [0.1, 0.2, 0.3]}
    rows |= {f"{m}, k = 5": [None, None, 0.3] for m in ("L-BAS", "L-Tukey", "K-BAS", "K-Tukey")}
    own = {label: list(ours) for label in study.OURS}
    made = {"date": "2000-01-01", "minutes": 1.0, "source": "0"}
    return {
        "splits": 3,
        "sets": {"sulfur": study._facts("sulfur", (np.zeros((5, 6)), np.zeros(5)))},
        "parts": {
            "boosted": made | {"scores": {"sulfur": {"NonDP": [0.55] * 3, "BAS": [0.2] * 3}}},
            "tukey": made | {"scores": {"sulfur": rows}},
            "ours": made | {"scores": {"sulfur": own}},
            "many": made | {"scores": {"sulfur": {"ours": list(many)}}},
        },
    }


def test_claims_count_medians_ratios_and_bad_runs():
    found = counts.claims(results())
    assert (found["positive"], found["near"], found["runs"]) == (1, 1, 3)
    assert found["below"] == {"sulfur": 1}
    assert found["least"] == {"sulfur": -0.2}
    assert counts.claims(results(ours=[0.4] * 3))["near"] == 0
    assert counts.claims(results(ours=[-0.4] * 3))["positive"] == 0


def test_the_page_has_ours_and_the_printed_beside_each_other():
    text = pages.tables(results())
    assert "| sulfur (5 x 7) | 0.55 / 0.33 | 0.20 / -20 | 0.20 / 0.33 | fails / -17 |" in text
    assert "**1 of 1** data sets" in text
    assert "**1** ended below R^2 = -0.1" in text


def kept(name):
    return json.loads((report.RESULTS / f"{name}.json").read_text())["results"]


@pytest.mark.parametrize("label", ["ours", "ours, add_remove"])
def test_kept_results_bear_out_what_is_claimed(label):
    found = counts.claims(kept("papers/dick"), label)
    assert found["positive"] == found["sets"] == len(data.TASKS)
    assert 3 * found["near"] >= 2 * found["sets"]
    assert found["runs"] >= study.RUNS
    assert sum(found["below"].values()) <= 1


def test_kept_least_squares_is_that_of_the_paper():
    for number, row in counts.measured(kept("papers/dick"), 5).items():
        assert row["NonDP"] == pytest.approx(TABLES[5][number]["NonDP"], abs=0.025)


def test_kept_accuracy_on_adult_is_near_that_without_privacy():
    assert np.median(adult_undeclared.gaps(kept("peers/adult_undeclared"))) < 1.5


def test_adults_columns_are_not_scaled():
    pd = pytest.importorskip("pandas")
    from benchmarks.datasets import adult

    words = {column: listed[-1] for column, listed in adult.CATEGORIES.items()}
    numbers = dict(zip(adult_undeclared.NUMBERS, (40, 77_516, 13, 2_174, 0, 38), strict=True))
    (row,) = adult_undeclared.features(pd.DataFrame([words | numbers]))
    assert row[:6].tolist() == [40, 77_516, 13, 2_174, 0, 38]
    assert row[6:].sum() == len(words)


def made_up_parts(calls, failing=None):
    """Two parts that say when they are measured, and one of them may fail."""

    def part(name):
        def measure(problems, splits, options):
            calls.append(name)
            if name == failing:
                raise KeyboardInterrupt
            yield "sulfur", {"ours": [float(len(calls))]}

        return measure

    return {name: part(name) for name in ("boosted", "ours")}


def test_parts_that_are_asked_for_are_kept(monkeypatch, tmp_path):
    """Only these; the others are measured again."""
    calls, options = [], Options(quick=True, results=tmp_path)
    monkeypatch.setattr(study, "PARTS", made_up_parts(calls))
    first = study.study(1, options)
    report.store("papers/dick", {}, first, options)
    monkeypatch.setenv(study.KEEP, "boosted")
    again = study.study(1, options)
    assert calls == ["boosted", "ours", "ours"]
    assert again["parts"]["boosted"] == first["parts"]["boosted"]
    assert again["parts"]["ours"]["scores"]["sulfur"]["ours"] == [3.0]


def test_a_run_that_was_stopped_leaves_its_parts_but_no_page(monkeypatch, tmp_path):
    calls, options = [], Options(quick=True, results=tmp_path)
    monkeypatch.setattr(study, "PARTS", made_up_parts(calls, failing="ours"))
    with pytest.raises(KeyboardInterrupt):
        study.study(1, options)
    assert report.read("papers/dick", options) is None
    monkeypatch.setattr(study, "PARTS", made_up_parts(calls))
    monkeypatch.setenv(study.KEEP, "boosted")
    study.study(1, options)
    assert calls == ["boosted", "ours", "ours"]
    assert not list(tmp_path.rglob("*.json"))


def test_a_count_is_below_the_truth_with_the_chance_that_the_paper_gives():
    epsilon = 0.05 * methods.EPSILON
    found = [methods.count_below(10_000, epsilon, seed) for seed in range(3_000)]
    assert np.mean(np.array(found) > 10_000) < 2e-3
    assert np.mean(found) == pytest.approx(10_000 - np.log(5_000) / epsilon, abs=3.0)
