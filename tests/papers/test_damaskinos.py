"""Damaskinos et al. 2021: the published algorithms are theirs, and what our comparison claims."""

import ast
import json
import math
from pathlib import Path

import numpy as np
import pytest
from benchmarks.datasets import phishing, sgemm, standins
from benchmarks.harness import report
from benchmarks.harness.needs import Options
from benchmarks.papers.damaskinos import component as damaskinos
from benchmarks.papers.damaskinos import (
    fits,
    noise,
    pages,
    problems,
    published,
    study,
    tuning,
)
from benchmarks.papers.damaskinos.loops import dual_descent, gradient_descent
from benchmarks.papers.damaskinos.objective import GAP, Objective
from benchmarks.papers.damaskinos.primal import primal_descent
from benchmarks.papers.damaskinos.runs import Algorithm, Setting, noise_of, outcome, thetas
from benchmarks.papers.damaskinos.steps import (
    BOX,
    HINGE,
    LOGISTIC,
    SQUARED,
    conjugate,
    dual_step,
    slope,
)
from scipy import optimize

KEPT = report.RESULTS / "papers" / "damaskinos.json"
LOSSES = {"ridge": SQUARED, "logistic": LOGISTIC, "hinge": HINGE}
HAS_SCD = damaskinos.NEEDS[-1].missing(Options()) is None
needs_scd = pytest.mark.skipif(not HAS_SCD, reason="there is no DualCoordinateDescent yet")


def objective_of(loss, n=400, penalty=1e-2):
    made = standins.regression if loss == SQUARED else standins.classification
    X, y, _ = made(n)
    return Objective(problems.unit_rows(X), y, loss, penalty)


def task_of(loss, n=400, penalty=1e-2, epochs=100, test=None):
    train = objective_of(loss, n, penalty)
    return problems.Task("made", train, train, test or train, epochs, bounds_y=sgemm.BOUNDS_Y)


def last(task, algorithm, setting, epsilon=None, seed=0):
    """The model at the end."""
    return thetas(task, algorithm, [(setting, epsilon)], seed=seed)[-1][0]


def one_dual(X, y, weight, batch, steps, clip, *, shuffled=False, seed=0):
    """Theta and alphas of Algorithm 1 without noise."""
    trace, alpha = dual_descent(
        X.astype(np.float32),
        y,
        SQUARED,
        weight,
        batch,
        np.array([clip]),
        np.zeros(1),
        False,
        shuffled,
        np.random.default_rng(seed),
        np.array([steps]),
    )
    return trace[-1, 0], alpha[:, 0]


# Subproblem (8)


@pytest.mark.parametrize("loss", [SQUARED, HINGE])
def test_closed_forms_minimise_the_subproblem(loss):
    """Beside scipy's search on N times (8), written out from the paper."""
    generator = np.random.default_rng(loss)
    for _ in range(200):
        y = float(generator.normal() if loss == SQUARED else generator.choice([-1.0, 1.0]))
        alpha = float(generator.normal()) if loss == SQUARED else y * float(generator.random())
        margin, curvature = float(2 * generator.normal()), float(generator.exponential(2.0))

        def value(zeta, alpha=alpha, y=y, margin=margin, curvature=curvature):
            return conjugate(loss, alpha + zeta, y) + margin * zeta + curvature * zeta**2 / 2.0

        ends = (-20.0, 20.0) if loss == SQUARED else sorted((-alpha, y - alpha))
        best = optimize.minimize_scalar(
            value, bounds=ends, method="bounded", options={"xatol": 1e-10}
        ).x
        zeta = dual_step(loss, alpha, y, margin, curvature)
        assert value(zeta) <= value(best) + 1e-9
        assert zeta == pytest.approx(best, abs=1e-4)


def test_the_logistic_step_is_newtons_and_stays_in_the_domain():
    for y in (-1.0, 1.0):
        for alpha in (0.2 * y, 0.9 * y):
            for margin, curvature in ((0.3, 0.5), (-1.2, 2.0)):

                def value(zeta, alpha=alpha, y=y, margin=margin, curvature=curvature):
                    found = conjugate(LOGISTIC, alpha + zeta, y)
                    return found + margin * zeta + curvature * zeta**2 / 2.0

                h = 1e-4
                first = (value(h) - value(-h)) / (2 * h)
                second = (value(h) - 2 * value(0.0) + value(-h)) / h**2
                moved = np.clip(y * (alpha - first / second), BOX, 1 - BOX)
                zeta = dual_step(LOGISTIC, alpha, y, margin, curvature)
                assert y * (alpha + zeta) == pytest.approx(moved, abs=1e-5)
    for alpha in (-3.0, 0.0, 0.5, 1.0, 7.0):  # noise leaves the domain; the step starts inside
        zeta = dual_step(LOGISTIC, alpha, 1.0, -50.0, 0.01)
        start = min(max(alpha, BOX), 1 - BOX)
        assert BOX <= start + zeta <= 1 - BOX


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_slopes_are_derivatives_of_the_objectives_loss(loss):
    for y in (-1.0, 1.0):
        for score in (-3.0, -0.4, 0.7, 4.0):
            one = Objective(np.ones((1, 1)), np.array([y]), loss, 0.0)
            step = 1e-6
            ends = (one.at(np.array([score + s])) for s in (step, -step))
            difference = next(ends) - next(ends)
            assert slope(loss, score, y) == pytest.approx(difference / (2 * step), abs=1e-6)


# Optima


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_optima_are_optima(loss):
    """Weak duality proves them: the dual at a point made from theta is a lower bound."""
    objective = objective_of(loss, penalty=1e-3)
    theta = objective.solution()
    best = objective.at(theta)
    assert best < objective.at_zero() - 0.01
    generator = np.random.default_rng(0)
    for size in (1e-4, 1e-2, 1.0):
        for _ in range(30):
            assert objective.at(theta + size * generator.normal(size=len(theta))) >= best - GAP
    if loss != HINGE:
        alpha = -np.array(
            [slope(loss, s, y) for s, y in zip(objective.X @ theta, objective.y, strict=True)]
        )
        dual = -np.mean([conjugate(loss, a, y) for a, y in zip(alpha, objective.y, strict=True)])
        v = objective.X.T @ alpha / len(alpha)
        assert dual - v @ v / (2 * objective.penalty) >= best - 10 * GAP


def test_the_hinge_optimum_is_scikit_learns():
    from sklearn.svm import LinearSVC

    objective = objective_of(HINGE)
    weight = objective.penalty * len(objective.y)
    plain = LinearSVC(
        loss="hinge", C=1 / weight, fit_intercept=False, tol=1e-6, max_iter=10**6, random_state=0
    ).fit(objective.X, objective.y)
    best = objective.at(objective.solution())
    assert objective.at(np.ravel(plain.coef_)) == pytest.approx(best, abs=1e-6)


# The algorithms


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dual", "sequential"])
@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_without_noise_they_converge_to_the_optimum(loss, kind, shuffled):
    task = task_of(loss, epochs=400)
    start = task.train.at_zero() - task.train.at(task.train.solution())
    found = last(task, Algorithm(kind, shuffled=shuffled), Setting(20, 10.0))
    excess = task.train.at(found) - task.train.at(task.train.solution())
    assert excess < (1e-5 if loss == LOGISTIC else 1e-6 if loss == SQUARED else 1e-3) * start


@pytest.mark.slow
def test_gradient_descent_converges_without_noise():
    task = task_of(LOGISTIC, epochs=400)
    found = last(task, Algorithm("gradient"), Setting(400, 10.0, 2.0))
    assert task.train.at(found) - task.train.at(task.train.solution()) < 1e-3


def test_the_primal_one_converges_without_noise():
    objective = objective_of(LOGISTIC)
    settings = {"batch": 5, "steps": 4000, "clip": 1e9, "multiplier": 0.0}
    generator = np.random.default_rng(0)
    found = primal_descent(objective, 1.0, generator=generator, **settings)
    assert objective.at(found) - objective.at(objective.solution()) < 1e-6


@pytest.mark.slow
def test_one_step_is_written_out():
    """Both algorithms, one batch of all rows: the clip and the sums are the paper's."""
    task = task_of(SQUARED, n=50, epochs=1)
    X, y, weight = task.train.X, task.train.y, task.weight
    clip = float(np.median(np.abs(y / (1 + 50 / weight))))
    theta, alpha = one_dual(X, y, weight, 50, 1, clip)
    zeta = np.clip(y / (1 + 50 / weight), -clip, clip)
    assert np.abs(zeta).max() == clip
    np.testing.assert_allclose(theta, X.T @ zeta / weight, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(alpha, zeta, rtol=1e-5)
    (theta,) = gradient_descent(
        X.astype(np.float32),
        y,
        SQUARED,
        0.1,
        50,
        np.array([clip]),
        np.zeros(1),
        np.array([0.5]),
        False,
        np.random.default_rng(0),
        np.array([1]),
    )[0]
    expected = 0.5 * X.T @ np.clip(y, -clip, clip) / 50
    np.testing.assert_allclose(theta, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("shuffled", [False, True])
def test_batches_are_of_distinct_rows_and_shuffled_epochs_visit_every_row(shuffled):
    """Each visit moves alpha by the clip, so that alphas count visits."""
    X, y = objective_of(SQUARED, n=100).X, np.full(100, 1e9)
    _, visits = one_dual(X, y, 1.0, 20, 1, 1.0, shuffled=shuffled)
    assert sorted(visits) == [0.0] * 80 + [1.0] * 20
    _, visits = one_dual(X, y, 1.0, 20, 5, 1.0, shuffled=shuffled)
    assert visits.sum() == 100
    assert (visits == 1.0).all() == shuffled


def test_settings_side_by_side_do_not_disturb_each_other():
    task = task_of(LOGISTIC, epochs=3)
    for kind in ("dual", "sequential", "gradient"):
        algorithm = Algorithm(kind)
        jobs = [(Setting(20, 0.1, 0.5), 1.0), (Setting(20, 1.0, 0.1), 0.1)]
        both = thetas(task, algorithm, jobs, seed=4, epochs=(1, 3))
        for place, job in enumerate(jobs):
            alone = thetas(task, algorithm, [job], seed=4, epochs=(1, 3))
            np.testing.assert_allclose(both[:, place], alone[:, 0], rtol=1e-5)


@pytest.mark.parametrize(("kind", "factor"), [("dual", math.sqrt(2.0)), ("gradient", 1.0)])
def test_noise_has_the_papers_deviation(kind, factor):
    """Measured on labels that ask for nothing; two thirds of it would not pass."""
    made = objective_of(SQUARED)
    zero = Objective(made.X, np.zeros(400), SQUARED, 1e-2)
    task = problems.Task("made", zero, zero, zero, epochs=1)
    algorithm, setting = Algorithm(kind), Setting(400, 0.3, 1.0)
    declared = noise_of(task, algorithm, setting, 1.0)
    multiplier = noise.renyi_multiplier(1.0, problems.DELTA, 1.0, 1)
    assert declared == pytest.approx(factor * 0.3 * multiplier)
    drawn = np.array([last(task, algorithm, setting, 1.0, seed=s) for s in range(300)])
    unit = task.weight if kind == "dual" else 400.0
    assert np.std(drawn) * unit == pytest.approx(declared, rel=0.05)


def test_noise_reaches_the_alphas_of_the_batch_alone():
    X, y = objective_of(SQUARED, n=1000).X.astype(np.float32), np.zeros(1000)
    given = (np.array([0.3]), np.array([2.0]), False, False, np.random.default_rng(1))
    _, alpha = dual_descent(X, y, SQUARED, 10.0, 400, *given, np.array([1]))
    assert (alpha == 0.0).sum() == 600
    assert np.std(alpha[alpha != 0.0]) == pytest.approx(2.0, rel=0.15)


def test_sequential_noise_is_that_of_lemma_5():
    task, setting = task_of(SQUARED), Setting(10, 0.5)
    ratio = noise_of(task, Algorithm("sequential"), setting, 1.0)
    ratio /= noise_of(task, Algorithm("dual"), setting, 1.0)
    assert ratio == pytest.approx(2 * math.sqrt(10 * 11) / math.sqrt(2))


def test_independent_updates_beat_sequential_ones():
    """The paper's finding (Figure 1), each at the best of a small grid, epsilon = 1."""
    task = task_of(SQUARED, n=4000, penalty=1e-3, epochs=10)
    best = {}
    for kind in ("dual", "sequential"):
        search = tuning.Search(
            task, Algorithm(kind), 1.0, batches=(5, 50, 200), scales=(1e-3, 1e-2, 1e-1, 1.0)
        )
        (found,) = tuning.tune([search])
        setting = Setting(**found["best"]["objective"])
        best[kind] = np.median([one["objective"] for one in search.tried[setting]])
    optimum = task.train.at(task.train.solution())
    assert best["dual"] - optimum < 0.7 * (best["sequential"] - optimum)


# Accountants


def test_moments_and_conversions_are_those_of_dp_accounting():
    dp_accounting = pytest.importorskip("dp_accounting")
    rdp = pytest.importorskip("dp_accounting.rdp")
    accountant = rdp.RdpAccountant(list(range(2, 130)))
    sampled = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.3))
    accountant.compose(sampled, 500)
    found = noise.renyi_epsilon(1.3, 0.01, 500, 1e-3)
    assert found == pytest.approx(accountant.get_epsilon(1e-3), rel=1e-6)
    assert noise.moments_epsilon(1.3, 0.01, 500, 1e-3) > found


def test_multipliers_keep_their_epsilon_and_come_in_order():
    """The paper's accountant adds most noise, the exact one least; honesty costs several times."""
    given = (0.5, 1e-3, 1 / 75, 750)
    moments, renyi, exact, honest = (
        how(*given)
        for how in (
            noise.moments_multiplier,
            noise.renyi_multiplier,
            noise.exact_multiplier,
            noise.honest_multiplier,
        )
    )
    assert noise.moments_epsilon(moments, 1 / 75, 750, 1e-3) == pytest.approx(0.5, rel=1e-4)
    assert noise.renyi_epsilon(renyi, 1 / 75, 750, 1e-3) == pytest.approx(0.5, rel=1e-4)
    assert noise.honest_epsilon(honest, 1 / 75, 750, 1e-3) == pytest.approx(0.5, rel=1e-4)
    assert moments > renyi > exact
    assert honest > 4 * moments


def test_honest_epsilon_of_one_certain_visit_is_the_gaussians():
    from privlearn.accounting import Gaussian, compose

    found = noise.honest_epsilon(2.0, 1.0, 9, 1e-3)
    assert found == pytest.approx(compose([(Gaussian(1.5), 1)]).epsilon(1e-3), rel=1e-5)


@pytest.mark.parametrize(("nominal", "true"), [(0.1, 1.4), (0.5, 7.1), (1.0, 13.2), (2.0, 21.9)])
def test_what_a_nominal_epsilon_is_worth(nominal, true):
    multiplier = noise.exact_multiplier(nominal, 1e-3, 1 / 75, 750)
    assert noise.honest_epsilon(multiplier, 1 / 75, 750, 1e-3) == pytest.approx(true, abs=0.06)


# Facts and tuning


def test_public_facts_are_written_as_numbers():
    """So that no data can have been asked."""
    names, found = {"LARGEST", "MILLISECONDS"}, 0
    for node in ast.parse(Path(sgemm.__file__).read_text()).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in names:
            ast.literal_eval(node.value)
            found += 1
    assert found == 2
    assert sgemm.BOUNDS_Y[0] == pytest.approx(-sgemm.BOUNDS_Y[1])


def test_features_are_divided_and_targets_clipped():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({name: [value, 0] for name, value in sgemm.LARGEST.items()})
    np.testing.assert_array_equal(sgemm.features(frame[frame.columns[::-1]])[0], 1.0)
    times = sgemm.target(np.array([1.0, 200.0, 9000.0]))
    assert times[0] == sgemm.BOUNDS_Y[0]
    assert times[1] == pytest.approx(math.log(201.0) - sgemm.CENTRE)
    assert times[2] == sgemm.BOUNDS_Y[1]
    assert phishing.labels(np.array([0, 1])).tolist() == list(phishing.CLASSES)


def test_splits_have_the_papers_sizes_and_share_no_row():
    phishing_parts = problems.split(11_055, None)
    assert [len(part) for part in phishing_parts] == [6218, 2073, 2764]
    is_test = np.arange(48_842) >= 32_561
    adult_parts = problems.split(48_842, is_test)
    assert [len(part) for part in adult_parts] == [24_420, 8141, 16_281]
    for parts in (phishing_parts, adult_parts):
        joined = np.concatenate(parts)
        assert len(np.unique(joined)) == len(joined)
    assert set(adult_parts[2]) == set(np.flatnonzero(is_test))


def test_settings_that_are_left_out_are_bad():
    """A pruned point is never the best of the grid, by either criterion."""
    task = task_of(SQUARED, n=2000, penalty=1e-3, epochs=10)
    for kind in ("dual", "gradient"):
        search = tuning.Search(task, Algorithm(kind), 1.0, batches=(50, 500))
        kept = set(search.grid())
        scales = tuning.SCALES[3:11]
        rates = scales if kind == "gradient" else (0.0,)
        whole = [Setting(b, c, r) for b in (50, 500) for c in scales for r in rates]
        out = [setting for setting in whole if setting not in kept]
        assert out
        search.tries(whole)
        best = search.order("objective")[:3]
        assert not set(best) & set(out)


def test_a_search_takes_the_best_by_the_criterion_and_walks_to_it():
    task = task_of(LOGISTIC, n=1000, penalty=1e-3, epochs=5)
    search = tuning.Search(
        task, Algorithm("dual"), 2.0, batches=(50, 200), scales=(1e-4, 1e-3, 1e-2, 1e-1)
    )
    (found,) = tuning.tune([search], starts=[[Setting(50, 1e-4)]])
    whole = tuning.Search(
        task, Algorithm("dual"), 2.0, batches=(50, 200), scales=(1e-4, 1e-3, 1e-2, 1e-1)
    )
    whole.tries(whole.grid())
    assert found["best"]["objective"]["clip"] == whole.order("objective")[0].clip
    assert whole.order("validation")[0] == max(
        whole.tried, key=lambda setting: whole.tried[setting][0]["validation"]
    )


def test_a_model_that_diverged_is_worst():
    task = task_of(HINGE)
    assert outcome(task, np.full(20, np.nan)) == {
        "objective": math.inf,
        "validation": 0.0,
        "test": 0.0,
    }


# Ours


@needs_scd
@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_fits_get_the_problems_objective_and_the_promise(loss):
    task = task_of(loss, n=2000, penalty=1e-2)
    model = fits.fit(task, "scd", 1.0, seed=0)
    assert (model.epsilon, model.delta, model.adjacency) == (1.0, 1e-3, "zero_out")
    assert not model.fit_intercept
    assert model.data_norm == 1.0
    assert (model.alpha if loss == SQUARED else 1.0 / model.C) == pytest.approx(20.0)
    assert getattr(model, "loss", "hinge") == "hinge"
    released = fits._released(model, task.n)
    assert 1 <= released["batch"] <= task.n
    assert released["epochs"] >= 1


@needs_scd
@pytest.mark.slow
def test_a_short_run_makes_its_page_and_figures(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.harness import components

    component = components.discover()["papers/damaskinos"]
    said = components.run(component, Options(quick=True, results=tmp_path))
    assert "wrote" in said
    made = {path.name for path in (tmp_path / "papers").iterdir()}
    assert {"damaskinos.md", "damaskinos.png", "damaskinos-convergence.png"} <= made
    assert "nan" not in (tmp_path / "papers" / "damaskinos.md").read_text()


# What was measured


def made_problem(ours, theirs):
    row = {"epsilon": 0.1, "criterion": "objective"}
    return {
        "optimum": 1.0,
        "rows": [
            row | {"method": pages.SCD, "criterion": "defaults", "objectives": ours},
            row | {"method": published.PLAIN, "criterion": "validation", "objectives": [9.0] * 3},
            row | {"method": published.PLAIN, "objectives": theirs},
        ],
    }


def test_ratios_are_of_median_excesses_over_the_stronger_opponent():
    problem = made_problem([1.1, 1.2, 1.3], [1.3, 1.4, 1.5])
    middle, low, high = pages.ratio(problem, pages.SCD, published.PLAIN, 0.1)
    assert middle == pytest.approx(0.5)
    assert low == pytest.approx(0.1 / 0.5)
    assert high == pytest.approx(1.0)
    fixed = made_problem([1.2] * 3, [1.4] * 3)
    assert pages.ratio(fixed, pages.SCD, published.PLAIN, 0.1) == pytest.approx((0.5,) * 3)


def kept():
    if not KEPT.is_file():
        pytest.skip("no results are kept; python -m benchmarks papers/damaskinos makes them")
    return json.loads(KEPT.read_text(encoding="utf-8"))["results"]


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
@pytest.mark.parametrize("name", problems.PUBLIC)
def test_defaults_lose_at_most_seven_tenths_of_what_tuned_dp_scd_loses(name, epsilon):
    found = pages.ratio(kept()["problems"][name], pages.SCD, published.PLAIN, epsilon)
    assert found[0] <= 0.7


def test_kept_results_are_whole():
    results = kept()
    assert list(results["problems"]) == list(problems.PUBLIC)
    assert list(results["peeking"]) == list(problems.PEEKING)
    assert results["epsilons"] == list(problems.EPSILONS)
    assert results["grid"] == study.signature()
    for problem in results["problems"].values():
        for epsilon in problems.EPSILONS:
            ours = pages.find(problem, pages.SCD, epsilon)
            assert len(ours["objectives"]) == results["seeds"] >= 10
            assert (pages.excesses(problem, ours) > -2 * GAP).all()


@pytest.mark.parametrize("name", problems.PUBLIC)
def test_sequential_updates_are_worse_on_every_problem(name):
    """The paper's Figure 1."""
    problem = kept()["problems"][name]
    for epsilon in problems.EPSILONS:
        median = {
            method: np.median(pages.find(problem, method, epsilon, "objective")["objectives"])
            for method in ("DP-SCD", "SeqDP-SCD")
        }
        assert median["DP-SCD"] < median["SeqDP-SCD"]
