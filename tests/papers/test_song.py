"""Song et al. 2013: its three findings, and that the comparison computes what it says."""

import ast
import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.datasets import kddcup99, standins
from benchmarks.harness import report
from benchmarks.harness.needs import Options
from benchmarks.harness.objectives import Logistic
from benchmarks.papers.song import component as song
from benchmarks.papers.song import findings, fits, loops, pages, problems, study
from scipy import stats

KEPT = report.RESULTS / "papers" / "song.json"
SLOW, FAST, STRONG = loops.SCHEDULES
needs_one_pass = pytest.mark.skipif(
    song.WELCOME[0].missing(Options()) is not None, reason="this version has no one-pass solver"
)


def small(n=400, p=4, name=problems.KDD):
    """A problem whose rows lie in the unit ball, some of them on its surface."""
    generator = np.random.default_rng(3)
    X, *_ = problems.prepare(generator.normal(size=(n, 2 * p)), p)
    y = np.where(X[:, 0] + 0.3 * generator.normal(size=n) > 0.0, 1.0, -1.0)
    return problems.Problem(name, Logistic(X, y, problems.PENALTY))


# Features of KDDCup99


def connection(**values):
    """A frame of one connection in the 41 columns of the data set."""
    pd = pytest.importorskip("pandas")
    usual = {column: words[0] for column, words in kddcup99.CATEGORIES.items()}
    return pd.DataFrame([usual | dict.fromkeys((*kddcup99.TOPS, *kddcup99.RATES), 0) | values])


def test_features_of_a_connection_are_what_their_names_say():
    row = kddcup99.features(
        connection(src_bytes=999, count=255, serror_rate=0.25, service="http", flag="SF")
    )[0]
    found = dict(zip(kddcup99.feature_names(), row, strict=True))
    assert len(found) == 38 + 3 + 70 + 11
    assert found["src_bytes"] == pytest.approx(math.log(1000) / math.log(1e9 + 1))
    assert found["count"] == pytest.approx(8.0 / 9.0)  # 256 of 512, both powers of two
    assert found["serror_rate"] == 0.25
    assert (found["service=http"], found["flag=SF"], found["protocol_type=tcp"]) == (1.0, 1.0, 1.0)
    assert sum(row[38:]) == 3.0


def test_features_of_a_connection_do_not_depend_on_the_other_rows():
    pd = pytest.importorskip("pandas")
    rows = [
        connection(count=511, src_bytes=10**12, service="a new word"),
        connection(count=-3, serror_rate=7.0, su_attempted=2),
        connection(),
    ]
    together = kddcup99.features(pd.concat(rows, ignore_index=True))
    np.testing.assert_array_equal(together, np.vstack([kddcup99.features(row) for row in rows]))
    assert together.min() == 0.0
    assert together.max() == 1.0
    assert together[0, 38:].sum() == 2.0


def test_facts_about_connections_are_written_down_not_computed():
    tree = ast.parse(Path(kddcup99.__file__).read_text())
    written = {n.targets[0].id: n.value for n in tree.body if isinstance(n, ast.Assign)}
    assert ast.literal_eval(written["TOPS"]) == kddcup99.TOPS
    assert {k: tuple(v.split()) for k, v in ast.literal_eval(written["_LISTS"]).items()} == (
        kddcup99.CATEGORIES
    )
    columns = [*kddcup99.TOPS, *kddcup99.RATES, *kddcup99.CATEGORIES]
    assert len(columns) == len(set(columns)) == 41


def test_every_attack_is_one_label():
    found = kddcup99.labels(np.array(["normal", "smurf", "neptune", "normal"]))
    assert found.tolist() == [-1.0, 1.0, 1.0, -1.0]


# Problems


def test_rows_lie_in_the_unit_ball_after_the_projection():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(2000, 50)) * generator.exponential(size=(2000, 1))
    X[0] = 0.0
    rows, clipped, longest = problems.prepare(X, 9)
    lengths = np.linalg.norm(rows, axis=1)
    assert rows.shape == (2000, 9)
    assert lengths.max() <= 1.0 + 1e-12
    assert lengths[0] == 0.0
    assert np.mean(lengths > 1.0 - 1e-9) == pytest.approx(clipped)
    assert longest > 1.5
    assert 0.2 < clipped < 0.6  # a projection alone keeps lengths on average only


def test_a_projection_depends_on_its_seed_alone():
    X = np.random.default_rng(0).normal(size=(30, 20)) / 10.0
    one, again, other = (problems.prepare(X, 5, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert np.abs(one - other).max() > 0.1
    alone = problems.prepare(X[7:8], 5, seed=1)[0]
    np.testing.assert_allclose(alone, one[7:8], atol=1e-15)


def test_the_synthetic_rows_are_on_the_sphere_and_separable_with_the_papers_margin():
    X, y = problems.sphere(10_000)
    assert X.shape == (10_000, 5)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1.0)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.02)
    np.testing.assert_allclose(X.T @ X / len(X), np.eye(5) / 5, atol=0.01)
    generator = np.random.default_rng(problems.SEED)
    normal = generator.normal(size=5)
    margins = y * (X @ normal) / np.linalg.norm(normal)
    assert margins.min() >= 1e-3
    assert margins.min() < 1.5e-3
    assert 0.45 < np.mean(y > 0.0) < 0.55


def test_short_runs_have_rows_of_their_own():
    """So that nothing which is run in passing sees a problem of the comparison."""
    points, others = (problems.load(problems.SYNTHETIC, quick=quick) for quick in (False, True))
    assert points.shape == (10_000, 5)
    together = np.vstack([points.objective.X, others.objective.X])
    assert len(np.unique(together, axis=0)) == len(together)


def test_objectives_are_the_papers():
    problem = small()
    X, y = problem.objective.X, problem.objective.y
    w = np.array([1.0, -2.0, 0.5, 3.0])
    mean = np.mean([math.log1p(math.exp(-b * float(a @ w))) for a, b in zip(X, y, strict=True)])
    assert problem.values(w[None])[0] == pytest.approx(mean + 0.5e-4 * float(w @ w))


# The published algorithm


@pytest.mark.parametrize(("sensitivity", "p"), [(2.0, 9), (1.0, 9), (2.0, 1)])
def test_the_noise_has_the_density_of_eq_5(sensitivity, p):
    """Lengths follow Gamma(p, s / alpha), and neither 2/3 of that scale nor another shape."""
    z = loops.spherical(np.random.default_rng(5), 20_000, p, sensitivity, alpha=0.5)
    lengths = np.linalg.norm(z, axis=1)
    scale = sensitivity / 0.5

    def p_value(shape, size):
        return stats.kstest(lengths, stats.gamma(shape, scale=size).cdf).pvalue

    assert p_value(p, scale) > 1e-3
    assert p_value(p, scale * 2 / 3) < 1e-9
    assert p_value(p + 1, scale) < 1e-9
    directions = z / lengths[:, None]
    np.testing.assert_allclose(directions.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(directions.T @ directions / len(z), np.eye(p) / p, atol=0.02)


def written_out(X, y, order, batch, rate, penalty, noise):
    """Eq. (6) and the projection of Section IV.B, one line each; w after every batch."""
    w, trace = np.zeros(X.shape[1]), []
    for t in range(1, len(order) // batch + 1):
        rows = order[(t - 1) * batch : t * batch]
        gradients = [-y[i] * X[i] / (1.0 + np.exp(y[i] * (X[i] @ w))) for i in rows]
        w = w - rate(t) * (penalty * w + sum(gradients) / batch + noise[t - 1] / batch)
        w = w / max(1.0, penalty * np.linalg.norm(w))
        trace.append(w)
    return np.array(trace)


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.parametrize("schedule", range(3))
def test_a_pass_is_eq_6(schedule, batch):
    problem, penalty = small(200), 0.2
    X, y = problem.objective.X, problem.objective.y
    rate = [lambda t: t**-0.5, lambda t: 10 * t**-0.5, lambda t: 1 / (penalty * t)][schedule]
    generator = np.random.default_rng(0)
    order, steps = generator.permutation(200), 200 // batch
    noise = loops.spherical(generator, steps, 4, 2.0, 1.0)
    wanted = written_out(X, y, order, batch, rate, penalty, noise)
    at = np.arange(1, steps + 1)
    found = loops.one_pass(X, y, order, batch, schedule, penalty, noise, at)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    lengths = np.linalg.norm(wanted, axis=1)
    assert (lengths.max() > 4.999) == (schedule == 1 or batch == 1)  # the ball has radius 5
    quiet = loops.one_pass(X, y, order, batch, schedule, penalty, np.empty((0, 4)), at[-1:])
    wanted = written_out(X, y, order, batch, rate, penalty, np.zeros((steps, 4)))
    np.testing.assert_allclose(quiet[0], wanted[-1], rtol=1e-9, atol=1e-12)


def test_a_row_touches_nothing_before_its_batch_and_rows_left_over_touch_nothing():
    problem = small(103)
    X, y, order = problem.objective.X, problem.objective.y, np.arange(103)
    given = (order, 10, 0, 1e-4, np.empty((0, 4)), np.arange(1, 11))
    usual = loops.one_pass(X, y, *given)
    for row, first in ((0, 0), (59, 5), (99, 9), (100, 10)):
        flipped = y.copy()
        flipped[row] *= -1.0
        moved = np.abs(loops.one_pass(X, flipped, *given) - usual).max(axis=1) > 0.0
        assert moved.tolist() == [False] * first + [True] * (10 - first)


def test_a_seed_is_one_permutation_for_every_noise(monkeypatch):
    seen = []

    def record(X, y, order, batch, schedule, penalty, noise, at):
        seen.append((order.tolist(), noise.copy()))
        return np.zeros((len(at), X.shape[1]))

    monkeypatch.setattr(study, "one_pass", record)
    problem = small(60)
    for noise in study.NOISES:
        assert study.objectives(problem, SLOW, noise, 5, 2).shape == (2, 1)
    none, paper, half = seen[::2], seen[2:4], seen[4:6]
    assert none[0][0] == paper[0][0] == half[0][0] != paper[1][0]
    assert len(none[0][1]) == 0
    np.testing.assert_allclose(paper[0][1], 2.0 * half[0][1])  # the same draws, another scale
    assert paper[0][1].shape == (12, 4)
    assert np.abs(paper[0][1] - paper[1][1]).min() > 0.0


def test_a_curve_ends_with_all_rows_and_agrees_with_the_end_of_a_pass():
    problem = small()
    found = study.curve(problem, SLOW, "replace_one", 5, 3)
    ends = study.objectives(problem, SLOW, "replace_one", 5, 3)[:, 0]
    assert found["rows"][-1] == 400
    assert (np.diff(found["rows"]) > 0).all()
    assert found["means"][-1] == pytest.approx(ends.mean())
    assert found["deviations"][-1] == pytest.approx(ends.std(ddof=1))
    assert found["means"][-1] >= problem.objective.optimum()


# The three findings


def generated(name, seeds=5):
    """What the findings need, from a stand-in with the paper's number of rows."""
    X, y, dimension = standins.clustered(name == problems.KDD, 50_000)
    problem = problems.Problem(
        name, Logistic(problems.prepare(X, dimension)[0], y, problems.PENALTY)
    )
    return study.outcomes(problem, study.needed(findings.MATCHING[name]), seeds)


def generated_sphere(seeds=8):
    settings = [(s, noise, 5) for s in (SLOW, STRONG) for noise in ("none", "replace_one")]
    return study.outcomes(problems.load(problems.SYNTHETIC), settings, seeds)


@pytest.fixture(scope="module")
def on_generated_rows():
    found = {name: generated(name) for name in findings.MATCHING}
    return found | {problems.SYNTHETIC: generated_sphere()}


def failed(found):
    return [
        (f.number, f.problem, f.claim, f.value) for f in findings.findings(found) if not f.holds
    ]


@pytest.mark.slow
def test_the_findings_hold_on_generated_rows(on_generated_rows):
    assert len(findings.findings(on_generated_rows)) == 24
    assert failed(on_generated_rows) == []


def replaced(results, noise, **changes):
    """The same results, with other objectives in rows of one noise: {(schedule, batch): values}."""
    results = copy.deepcopy(results)
    for problem in results.values():
        for row in problem["rows"]:
            if row["noise"] == noise:
                row["objectives"] = changes["by"](row, problem)
    return results


@pytest.mark.slow
def test_findings_fail_where_noise_does_not_matter(on_generated_rows):
    """Private runs that were not: b = 1 is then as good, and no step size varies more."""

    def without_noise(row, problem):
        found = [r for r in problem["rows"] if r["noise"] == "none"]
        same = [r for r in found if (r["schedule"], r["batch"]) == (row["schedule"], row["batch"])]
        return same[0]["objectives"] if same else found[0]["objectives"]

    wrong = failed(replaced(on_generated_rows, "replace_one", by=without_noise))
    assert {number for number, *_ in wrong} == {1, 2, 3}


@pytest.mark.slow
def test_findings_fail_where_batches_do_not_help(on_generated_rows):
    """Every batch as bad as b = 1: no best batch, and none near to what there is without noise."""

    def as_for_one(row, problem):
        return next(r["objectives"] for r in problem["rows"] if r["noise"] == "replace_one")

    wrong = failed(replaced(on_generated_rows, "replace_one", by=as_for_one))
    claims = " ".join(claim for _, _, claim, _ in wrong)
    assert "b = 5: private less" in claims
    assert "b = 10: private less" in claims
    assert "at the best b, share of the room" in claims


def kept():
    if not KEPT.is_file():
        pytest.skip("no results are kept; python -m benchmarks papers/song makes them")
    return json.loads(KEPT.read_text(encoding="utf-8"))["results"]


def test_the_findings_hold_in_the_kept_results():
    assert failed(kept()["problems"]) == []


def test_kept_results_are_whole():
    results = kept()
    assert (results["alpha"], results["penalty"], results["seeds"]) == (1.0, 1e-4, 20)
    shapes = {name: (found["n"], found["p"]) for name, found in results["problems"].items()}
    assert list(shapes.values()) == [(50_000, 9), (60_000, 15), (10_000, 5)]
    for problem in results["problems"].values():
        assert len(problem["rows"]) == 3 * 3 * len(study.BATCHES)
        for row in problem["rows"]:
            assert len(row["objectives"]) == 20
            assert min(row["objectives"]) >= problem["optimum"] - 1e-9


def test_privacy_is_not_free_at_the_best_settings():
    """The paper compares at the same b and step; at the best of each it costs far more."""
    for problem in kept()["problems"].values():
        excess = {
            noise: min(findings.best(problem, schedule, noise)[1] for schedule in loops.SCHEDULES)
            - problem["optimum"]
            for noise in ("none", "replace_one")
        }
        assert excess["replace_one"] >= 10.0 * excess["none"] > 0.0


def test_the_variance_does_not_match_at_the_batch_sizes_that_the_paper_praises():
    above = []
    for name, batch in findings.MATCHING.items():
        found = [
            findings.find(kept()["problems"][name], SLOW, noise, batch)
            for noise in ("replace_one", "none")
        ]
        assert 50.0 < found[0].std() / found[1].std() < 120.0
        above += (found[0] > found[1]).tolist()
    assert sum(above) == 37


@pytest.mark.parametrize("adjacency", fits.NEIGHBORS)
def test_defaults_lose_less_than_the_papers_settings(adjacency):
    for name, problem in kept()["problems"].items():
        (ours,) = [r for r in problem["ours"] if r["adjacency"] == adjacency]
        batch = findings.MATCHING.get(name, 5)
        paper = findings.find(problem, SLOW, adjacency, batch).mean() - problem["optimum"]
        assert len(ours["objectives"]) == 20
        assert np.mean(ours["objectives"]) - problem["optimum"] < 0.7 * paper


@pytest.mark.slow
@pytest.mark.parametrize("name", findings.MATCHING)
def test_the_kept_numbers_come_out_again(name):
    """Two of twenty permutations of one setting, on the real rows."""
    for need in song.NEEDS:
        if reason := need.missing(Options()):
            pytest.skip(reason)
    batch, stored = findings.MATCHING[name], kept()["problems"][name]
    problem = problems.load(name)
    assert problem.objective.optimum() == pytest.approx(stored["optimum"], rel=1e-6)
    again = study.objectives(problem, SLOW, "replace_one", batch, 2)[:, 0]
    np.testing.assert_allclose(again, findings.find(stored, SLOW, "replace_one", batch)[:2], 1e-3)


# Pages and figures


def made_up():
    """Results in which F is 0.2 + batch / 1000 without noise, and ten over batch more with it."""
    rows = [
        {
            "schedule": schedule,
            "noise": noise,
            "batch": batch,
            "objectives": [0.2 + batch / 1000 + extra * size / batch for extra in (0.9, 1.1)],
        }
        for schedule in loops.SCHEDULES
        for noise, size in study.NOISES.items()
        for batch in study.BATCHES
    ]
    problem = {
        "n": 1000, "p": 3, "positive": 0.25, "clipped": 0.5, "longest": 1.25, "length": 7.0,
        "optimum": 0.1, "zero": 0.7, "rows": rows, "ours": [
            {"adjacency": kind, "objectives": [0.15, 0.17], "steps": 1234, "took": "A (B 2020)"}
            for kind in fits.NEIGHBORS
        ],
    }  # fmt: skip
    found = {}
    for name, curves in study.CURVES.items():
        points = {"rows": [10, 1000], "means": [0.6, 0.3], "deviations": [0.1, 0.05]}
        found[name] = copy.deepcopy(problem) | {
            "curves": [
                points | {"schedule": schedule, "batch": batch, "noise": noise}
                for schedule, batch in curves
                for noise in study.NOISES
            ]
        }
    others = {name: [copy.deepcopy(problem), copy.deepcopy(problem)] for name in findings.MATCHING}
    for row in others[problems.KDD][1]["rows"]:
        if row["noise"] == "replace_one":
            row["objectives"] = [2.0 * value for value in row["objectives"]]
    return {"seeds": 2, "problems": found, "projections": others, "projection_seeds": 2}


def test_pages_hold_means_deviations_and_whether_findings_hold():
    text = pages.tables(made_up())
    assert "| no privacy | 0.201 ± 0.000 | 0.202 ± 0.000 | 0.205 ± 0.000 |" in text
    assert "| private, the paper's noise (`replace_one`) | 2.201 ± 0.283 | 1.202 ± 0.141 |" in text
    gap = "KDDCup99, b = 5: private less non-private F, as a share of the room"
    assert f"| {gap} | 0.667 | at most 0.1 | **no** | 0.667 to 1.67; 0 of 2 hold |" in text
    single = "MNIST, 1 against all, b = 1: private less non-private F, as a share of the room"
    assert f"| {single} | 3.33 | at least 0.5 | yes | 3.33 to 3.33; 2 of 2 hold |" in text
    ours = "| 0.0600 (1,234 batches) | 0.0600 (1,234 batches) | 0.0600 (1,234 batches) |"
    assert f'| `zero_out`: privlearn "one-pass", defaults {ours}' in text
    best = "0.1700 (1/sqrt(t), b = 20)"
    assert f"| `zero_out`: best of all | {best} |" in text
    assert "| no privacy, the paper's b and step | 0.1050 (b = 5) | 0.1100 (b = 10) |" in text
    assert "| KDDCup99 | 1,000 | 3 | 25.0% | 50.0% | 1.25 | 0.100000 | 0.700000 | 7.0 |" in text


def test_pages_do_without_ours():
    results = made_up()
    for problem in results["problems"].values():
        problem["ours"] = []
    assert "| not measured | not measured | not measured |" in pages.tables(results)
    pytest.importorskip("matplotlib")
    from benchmarks.papers.song.figures import figures

    words = {text.get_text() for text in figures(results)[""].legends[0].get_texts()}
    assert len(words) == 4


def test_figures_are_the_papers_three():
    pytest.importorskip("matplotlib")
    from benchmarks.papers.song.figures import figures

    made = figures(made_up())
    assert [len(figure.axes) for figure in made.values()] == [6, 4, 2]
    titles = {name: [a.get_title(loc="left") for a in f.axes] for name, f in made.items()}
    assert titles["convergence"] == [
        "KDDCup99, b = 1",
        "MNIST, 1 against all, b = 1",
        "KDDCup99, b = 5",
        "MNIST, 1 against all, b = 10",
    ]
    assert [title.split("step ")[1] for title in titles["steps"]] == [SLOW, STRONG]
    words = {text.get_text() for text in made[""].legends[0].get_texts()}
    assert {f"{pages.OURS} ({kind})" for kind in fits.NEIGHBORS} < words
    for figure in made.values():
        assert all(axes.get_yscale() == "log" for axes in figure.axes)
        assert all(len(axes.lines) >= 3 for axes in figure.axes)


@pytest.mark.slow
def test_a_short_run_makes_its_page_and_figures(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.harness import components

    said = components.run(components.discover()["papers/song"], Options(True, 2, results=tmp_path))
    assert "wrote" in said
    made = {path.name for path in (tmp_path / "papers").iterdir()}
    assert {"song.md", "song.png", "song-convergence.png", "song-steps.png"} <= made
    assert "nan" not in (tmp_path / "papers" / "song.md").read_text()


# Ours


@needs_one_pass
@pytest.mark.parametrize("adjacency", fits.NEIGHBORS)
def test_ours_gets_the_papers_promise_and_objective(adjacency):
    problem = small(2000)
    model = fits.fit(problem, adjacency, seed=0)
    certificate = model.privacy_
    assert (certificate.epsilon, certificate.delta, certificate.adjacency) == (1.0, 0.0, adjacency)
    assert certificate.spent(0.0) <= 1.0
    assert pytest.approx(1.0 / (1e-4 * 2000)) == model.C
    assert model.data_norm == 1.0
    assert not model.fit_intercept
    row = fits.row(problem, adjacency, 2)
    assert row["objectives"][0] == problem.objective.at(np.ravel(model.coef_))
    assert row["objectives"][0] != row["objectives"][1]
    assert 1 <= row["steps"] <= 2000
