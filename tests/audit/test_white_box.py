"""The white box: the likelihood ratio of everything that is released."""

import math

import numpy as np
import pytest
from scipy import stats

from privlearn import Lasso, LinearRegression, LogisticRegression, Ridge, audit
from privlearn._core.calibration import _smallest_scale
from privlearn._core.mechanisms import (
    GAUSSIAN,
    GUMBEL,
    LAPLACE,
    MECHANISMS,
    SPHERICAL,
    GaussianNoise,
)
from privlearn._core.norms import LINF
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency
from privlearn._core.sampling import FULL, Disjoint, Poisson, WithReplacement
from privlearn.accounting.shares import squared_mu
from privlearn.audit.adversary import audited
from privlearn.audit.canaries import Design, Row, loudest, worlds
from privlearn.audit.likelihood import Moved, charged, tell
from privlearn.audit.tape import record
from privlearn.audit.white_box import promised_mu
from privlearn.solvers import SOLVERS, CoordinateDescent, Tukey
from support import FACTS, SHORT, accepted, every_estimator, modes_for

SHORTLY = {"tries": 8, "runs": 10}
CD = CoordinateDescent(passes=3, block="all")


def boxed(cls, **others):
    return cls(**accepted(cls, FACTS["box"]) | others)


def moved(
    mechanism, sampling=FULL, *, released, with_row, other, without=None, scale=1.0, visits=1
):
    release = Release("sum", np.shape(with_row), 1.0, mechanism=mechanism, sampling=sampling)
    arrays = [np.array(part, dtype=float) for part in (released, with_row, other)]
    third = None if without is None else np.array(without, dtype=float)
    return Moved(release, scale, *arrays, third, visits)


# Likelihoods


def test_gaussian_laplace_and_spherical_losses_are_log_ratios_of_densities():
    parts = {"released": [0.5, -1.0], "with_row": [1.0, 0.0], "other": [0.0, 0.0], "scale": 2.0}

    def log_pdf(law, centre):
        return sum(law.logpdf(np.array(parts["released"]) - centre, scale=2.0))

    gauss = log_pdf(stats.norm, [1, 0]) - log_pdf(stats.norm, [0, 0])
    assert moved(GAUSSIAN, **parts).loss() == pytest.approx(gauss)
    laplace = log_pdf(stats.laplace, [1, 0]) - log_pdf(stats.laplace, [0, 0])
    assert moved(LAPLACE, **parts).loss() == pytest.approx(laplace)
    lengths = np.linalg.norm([0.5, -1.0]) - np.linalg.norm([-0.5, -1.0])
    assert moved(SPHERICAL, **parts).loss() == pytest.approx(lengths / 2.0)


def test_a_coin_mixes_densities():
    one = moved(GAUSSIAN, Poisson(0.3), released=[0.7], with_row=[1.0], other=[-1.0], without=[0.0])
    mixed = [0.3 * stats.norm.pdf(0.7, c) + 0.7 * stats.norm.pdf(0.7, 0.0) for c in (1.0, -1.0)]
    assert one.loss() == pytest.approx(math.log(mixed[0] / mixed[1]))


def test_a_selection_releases_its_index_alone():
    scores, other = np.array([1.0, 0.0, 3.0]), np.array([0.0, 1.0, 3.0])
    one = moved(GUMBEL, released=[9.0, 0.0, 0.0], with_row=scores, other=other)
    first, second = (np.exp(s) / np.exp(s).sum() for s in (scores, other))
    assert one.loss() == pytest.approx(math.log(first[0] / second[0]))
    odds = np.log(first / second)
    assert one.shift == pytest.approx((odds.max() - odds.min()) / 2)


def test_what_is_moved_as_far_as_declared_costs_what_was_planned():
    """Each mechanism's own pair, with the declared distance."""
    cases = [
        (GAUSSIAN, FULL),
        (GAUSSIAN, Poisson(0.3)),
        (GAUSSIAN, WithReplacement(1, population=9, blocks=3)),
        (SPHERICAL, Disjoint(4)),
        (GUMBEL, FULL),
    ]
    for mechanism, sampling in cases:
        for relation in (Adjacency.ZERO_OUT, Adjacency.REPLACE_ONE):
            norm = {"norm": LINF} if mechanism is GUMBEL else {}
            release = Release("sum", (2,), 1.0, mechanism=mechanism, sampling=sampling, **norm)
            plan = Plan((release,), relation, scale=3.0)
            pair = charged(release, plan.sensitivity(release), 3.0, relation.replaces)
            planned = plan.pair(release)
            assert type(pair) is type(planned)
            assert squared_mu(pair) == pytest.approx(
                squared_mu(planned), rel=1e-3
            )  # but for rounding


def test_the_loss_of_a_fit_has_mean_and_deviation_of_its_mu():
    model = audited(boxed(Ridge, solver="moments"), on_invalid="drop")
    row = Row((1.0, 1.0, 1.0), 1.0)
    data, other = worlds(model, 3, Design(row, row, 4, Row((0.0, 0.0, 0.0), 0.0)))
    losses = []
    for seed in range(200):
        model.set_params(random_state=seed)
        losses.append(tell(record(model, data.X, data.y), model, data, other).loss())
    mu = promised_mu(model.plan(n=5, n_features=3), model.delta)
    assert np.std(losses) == pytest.approx(mu, rel=0.2)
    assert np.mean(losses) == pytest.approx(mu**2 / 2, abs=4 * mu / math.sqrt(200))


# Neighbours


@pytest.mark.parametrize("relation", list(Adjacency))
def test_worlds_differ_in_the_last_row_alone(relation):
    model = audited(boxed(Ridge, adjacency=relation.value), on_invalid="drop")
    rng = np.random.default_rng(0)
    for design in loudest(lambda design: design.n, 3, rng, 20):
        data, other = worlds(model, 3, design)
        np.testing.assert_array_equal(data.X[:-1], other.X[: len(data.y) - 1])
        np.testing.assert_array_equal(data.y[:-1], other.y[: len(data.y) - 1])
        assert len(other.y) == len(data.y) - (relation is Adjacency.ADD_REMOVE)
        if relation is Adjacency.ZERO_OUT:
            assert np.isnan(other.X[-1]).all()


def test_the_search_improves_on_where_it_starts():
    rng = np.random.default_rng(0)
    found = loudest(lambda d: -abs(d.spread - 0.5) - abs(d.canary.place[0] - 0.3), 2, rng, 200)
    assert found[0].spread == 0.5
    assert found[0].canary.place[0] == 0.3


# Fits


@pytest.mark.parametrize(
    ("solver", "relation", "least"),
    [
        ("moments", "zero_out", 0.9),
        ("moments", "replace_one", 0.8),
        (CD, "add_remove", 0.9),
        (CD, "replace_one", 0.8),
    ],
)
def test_nearly_all_of_the_promise_is_seen_and_no_more(solver, relation, least):
    found = audit.white_box(
        boxed(Ridge, solver=solver, adjacency=relation), n_features=3, **SHORTLY
    )
    assert least <= found.ratio <= 1.0
    assert found.unit == "mu"
    assert str(found.runs) in str(found)


@pytest.mark.parametrize("name", ["sgd", "one-pass"])
def test_sampled_and_pure_releases_are_measured(name):
    mode = next(iter(SHORT[name].values()))
    found = audit.white_box(boxed(LogisticRegression, solver=mode), n_features=3, **SHORTLY)
    assert 0.5 < found.ratio < 1.002
    assert found.covered


def test_pure_privacy_is_measured_in_epsilon():
    mode = SHORT["one-pass"]["one-pass"]
    model = boxed(LogisticRegression, solver=mode, delta=0.0)
    found = audit.white_box(model, n_features=3, **SHORTLY)
    assert found.unit == "epsilon"
    assert found.planned == pytest.approx(1.0, abs=1e-3)
    assert 0.5 < found.ratio <= 1.0


def test_what_has_no_density_is_not_covered_and_not_passed():
    found = audit.white_box(LinearRegression(solver=Tukey(), epsilon=8.0), n_features=2)
    assert not found.covered
    assert found.uncovered
    assert math.isnan(found.ratio)
    assert "not covered" in str(found)


# Planted bugs


def a_third_of_the_noise(patch):
    for mechanism in MECHANISMS:
        kind = type(mechanism)

        def third(self, source, scale, shape, draw=kind.draw):
            return draw(self, source, scale / 3, shape)

        patch.setattr(kind, "draw", third)


def test_a_third_of_the_noise_is_found(monkeypatch):
    a_third_of_the_noise(monkeypatch)
    model = boxed(Ridge, solver="moments")
    with pytest.raises(audit.AuditFailure, match="more was measured than planned"):
        audit.white_box(model, n_features=3, **SHORTLY)
    found = audit.white_box(model, n_features=3, raises=False, **SHORTLY)
    assert 2.0 < found.ratio < 3.1


@pytest.mark.slow
def test_too_little_noise_is_found_where_the_row_is_not_loud(monkeypatch):
    """However little the loudest row moves: the noise itself is not what was declared."""
    monkeypatch.setattr(
        GaussianNoise, "draw", lambda self, source, scale, shape, draw=GaussianNoise.draw: draw(
            self, source, 0.7 * scale, shape
        )
    )  # fmt: skip
    model = boxed(Lasso, solver=SHORT["output"]["output"])
    with pytest.raises(audit.AuditFailure, match="of its declared noise"):
        audit.white_box(model, n_features=3, tries=7, runs=200)


def test_a_relation_that_is_accounted_as_another_is_found(monkeypatch):
    _smallest_scale.cache_clear()
    monkeypatch.setattr(Adjacency.REPLACE_ONE, "replaces", False)
    model = boxed(Ridge, solver="moments", adjacency="replace_one")
    try:
        with pytest.raises(audit.AuditFailure, match="moved further than its plan"):
            audit.white_box(model, n_features=3, **SHORTLY)
    finally:
        monkeypatch.undo()
        _smallest_scale.cache_clear()


KINDS = [
    (cls, name, mode)
    for cls in every_estimator()
    for name, mode in modes_for(cls).items()
    if name not in ("tukey", "boosted, clip given")  # whose clip does not meet this box
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cls", "name", "mode"), KINDS[::2], ids=[f"{c.__name__}-{n}" for c, n, _ in KINDS[::2]]
)
def test_a_third_of_the_noise_is_found_in_every_kind(cls, name, mode, monkeypatch):
    assert name in SOLVERS or mode
    model = boxed(cls, solver=mode)
    a_third_of_the_noise(monkeypatch)
    with pytest.raises(audit.AuditFailure):
        audit.white_box(model, n_features=3, tries=7, runs=10)
