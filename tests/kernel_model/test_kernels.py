"""Kernel models: ridge on features without noise, ranks, what is estimated, refused and kept."""

import pickle
from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

import privlearn
from privlearn import KernelClassifier, KernelRegressor, audit
from privlearn._core.problem import Adjacency, Bounds, Budget
from privlearn._data.bounded import BoundedData, Table
from privlearn.accounting import compose
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.kernel_model import base, ranks
from privlearn.kernel_model.feature_map import STRAIGHT, FeatureMap, KernelSpec
from privlearn.kernel_model.mapped import MappedData
from privlearn.kernel_model.on_features import LENGTH, RANKS
from privlearn.solvers import SGD, OnePassSGD, OutputPerturbation
from privlearn.solvers._common import row_source
from privlearn.solvers.sgd import solver as sgd
from support import exact

RELATIONS = [relation.value for relation in Adjacency]
LOW, HIGH = np.array([-1.0, 0.0, 2.0]), np.array([3.0, 1.0, 9.0])
FACTS = {"bounds_X": (LOW, HIGH), "bounds_y": (-2.0, 2.0)}
BANDWIDTHS = {"given": [2.0, 0.5, 3.0], "estimated": None}


def curved(n=400, seed=0):
    """A curve of three features of different scales, and y within its bounds."""
    rng = np.random.default_rng(seed)
    U = rng.uniform(size=(n, 3))
    y = np.sin(6 * U[:, 0]) + U[:, 1] * (U[:, 2] > 0.5) + 0.1 * rng.standard_normal(n)
    return LOW + U * (HIGH - LOW), np.clip(y, -2, 2)


def model(kind=KernelRegressor, **given):
    facts = FACTS if kind is KernelRegressor else {"bounds_X": FACTS["bounds_X"], "classes": [0, 1]}
    return kind(**facts | {"n_components": 40, "random_state": 0} | given)


def edges_for(low, high):
    """Edges of one feature with this box."""
    return ranks.edges_of(Bounds(np.array([low]), np.array([high]), None, None), 1, True)


def counts_for(x, edges):
    """The histogram of one feature, without noise."""
    box = Bounds(edges[:, 0], edges[:, -1], None, None)
    data = BoundedData(Table(np.asarray(x, float)[:, None], np.zeros(len(x))), box, True)
    return ranks.histograms(data, edges)


def ranked(x, edges, noise=0.0, seed=0):
    """Ranks of values, estimated with this noise."""
    counts = counts_for(x, edges)
    counts = counts + noise * np.random.default_rng(seed).standard_normal(counts.shape)
    found = ranks.ranks_from(counts, noise, edges)
    assert (np.diff(found) >= 0).all()
    assert found.min() >= -1
    assert found.max() <= 1
    return FeatureMap(np.ones((1, 1)), edges, found).inputs(np.asarray(x, float)[:, None])[:, 0]


# Without noise


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.3, 5.0])
@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_moments_reach_ridge_on_the_features(bandwidth, alpha, intercept):
    X, y = curved()
    given = {"alpha": alpha, "fit_intercept": intercept, "solver": "moments"}
    ours = exact(model(bandwidth=bandwidth, **given), X, y)
    phi = ours.feature_map_.transform(X)
    theirs = Ridge(alpha=alpha, fit_intercept=intercept).fit(phi, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(phi), atol=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert theirs.score(phi, y) > 0.5


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_more_features_come_nearer_to_kernel_ridge(kernel):
    X, y = curved(200)
    X, lengths = X / (HIGH - LOW), {"gaussian": 0.4, "laplacian": 1.0}
    h = lengths[kernel]
    gamma = {"gaussian": 1 / (2 * h**2), "laplacian": 1 / h}[kernel]
    name = {"gaussian": "rbf", "laplacian": "laplacian"}[kernel]
    best = KernelRidge(alpha=1.0, kernel=name, gamma=gamma).fit(X, y).predict(X)
    box = {"bounds_X": (LOW / (HIGH - LOW), HIGH / (HIGH - LOW)), "kernel": kernel, "bandwidth": h}
    given = box | {"alpha": 1.0, "fit_intercept": False, "solver": "moments"}
    off = [
        np.abs(exact(model(n_components=size, **given), X, y).predict(X) - best).max()
        for size in (8, 48, 288)
    ]
    assert off[0] > 2 * off[1] > 3 * off[2]
    assert off[2] < 0.2


def test_estimated_features_have_the_kernel_of_ranks_and_their_products():
    """k(u, v) and u'v / p in equal parts; the length is known in units of ranks."""
    X, y = curved()
    ours = exact(model(n_components=4096, solver=SGD(steps=1)), X, y)
    u, phi = ours.feature_map_.inputs(X), ours.feature_map_.transform(X)
    squares = np.sum((u[:, None] - u) ** 2, axis=2)
    kernel = (1 - STRAIGHT) * np.exp(-squares / (2 * 3 * LENGTH**2)) + STRAIGHT * u @ u.T / 3
    np.testing.assert_allclose(phi @ phi.T, kernel, atol=0.06)
    assert np.abs(phi @ phi.T - kernel).mean() < 0.01
    np.testing.assert_array_less(np.sum(phi**2, axis=1), 1.0)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("solver", ["scd", "sgd", "output", "one-pass", "moments"])
def test_a_kernel_model_is_the_linear_one_of_its_features(solver, relation):
    """The same noise included: both plans, and with one seed all draws, are the same."""
    X, y = curved(1_000)
    given = {"alpha": 2.0, "solver": solver, "adjacency": relation, "epsilon": 20.0}
    ours = model(bandwidth=BANDWIDTHS["given"], **given).fit(X, y)
    phi = ours.feature_map_.transform(X)
    known = {"data_norm": 2**0.5, "bounds_y": (-2.0, 2.0), "random_state": 0}
    linear = privlearn.Ridge(**given, **known).fit(phi, y)
    assert ours.privacy_.plan.releases == linear.privacy_.plan.releases
    np.testing.assert_allclose(ours.coef_, linear.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, linear.intercept_, atol=1e-4)
    assert np.abs(ours.coef_).max() > 0.1


# Ranks


BOXES = [(-1.0, 1.0), (0.0, 5.0), (2.0, 9.0), (-7.0, -3.0), (-1.0, 1e6), (0.0, 0.0), (3.0, 3.0)]


@pytest.mark.parametrize("box", BOXES)
def test_edges_are_in_order_and_cover_the_box(box):
    (edges,) = edges_for(*box)
    assert edges.shape == (ranks.BINS + 1,)
    assert (edges[0], edges[-1]) == box
    assert (np.diff(edges) >= 0).all()


def test_edges_of_a_norm_cover_every_row_that_it_allows():
    for intercept, limit in ((True, 3.0), (False, 10**0.5)):
        edges = ranks.edges_of(Bounds(None, None, None, 10**0.5), 2, intercept)
        np.testing.assert_allclose(edges[:, [0, -1]], [[-limit, limit]] * 2)


@pytest.mark.parametrize("box", BOXES)
def test_a_row_is_in_one_bin_of_every_feature(box):
    edges = edges_for(*box)
    inside = np.concatenate([edges[0], np.linspace(*box, 50), np.nextafter(edges[0], np.inf)])
    for x in (*inside, -1e300, 1e300):
        counts = counts_for([x], edges)
        assert counts.sum() == counts.max() == 1.0


@pytest.mark.parametrize("relation", RELATIONS)
def test_one_row_moves_one_bin_of_each_feature(relation):
    """Two when it is replaced: sqrt(2 p) in all, as declared."""
    rng = np.random.default_rng(1)
    box = Bounds(LOW, HIGH, None, None)
    edges = ranks.edges_of(box, 3, True)
    X = rng.uniform(-2, 10, (50, 3))
    other = X.copy()
    X[7], other[7] = LOW, HIGH if relation == "replace_one" else np.nan
    seen = [ranks.histograms(BoundedData(Table(D, np.zeros(50)), box, True), edges)
            for D in (X, other)]  # fmt: skip
    release = model(adjacency=relation).plan(n=50, n_features=3).releases[0]
    assert release.clip == pytest.approx(np.sqrt(3))
    moved = np.linalg.norm(seen[0] - seen[1])
    most = release.clip * (release.norm.diameter if relation == "replace_one" else 1.0)
    assert moved == pytest.approx(most)
    assert (seen[0].sum(axis=1) == 50).all()


LAWS = {
    "even": lambda rng: rng.uniform(-1, 1, 5_000),
    "normal": lambda rng: rng.standard_normal(5_000),
    "heavy tails": lambda rng: rng.standard_t(1.5, 5_000),
    "one side": lambda rng: rng.lognormal(0, 1.5, 5_000),
    "outliers": lambda rng: np.where(rng.random(5_000) < 0.01, 1e6, rng.standard_normal(5_000)),
}


@pytest.mark.parametrize("wide", [1.0, 100.0])
@pytest.mark.parametrize("law", LAWS)
def test_ranks_are_nearly_even_whatever_the_law(law, wide):
    """Even where bounds are far too wide, and with noise of one part in 250."""
    x = LAWS[law](np.random.default_rng(2))
    reach = wide * np.quantile(np.abs(x), 0.98)
    edges = edges_for(0.0 if x.min() >= 0 else -reach, reach)
    x = np.clip(x, edges[0, 0], edges[0, -1])
    for noise in (0.0, 20.0):
        found = ranked(x, edges, noise)
        truth = 2 * np.argsort(np.argsort(x)) / len(x) - 1
        order = np.argsort(x)
        assert (np.diff(found[order]) >= 0).all()
        assert np.abs(found - truth).mean() < 0.12
        assert np.corrcoef(found, truth)[0, 1] > 0.95


def test_a_box_that_excludes_zero_is_looked_at_around_its_middle():
    x = 1000.0 + np.random.default_rng(0).standard_normal(3_000)
    found = ranked(x, edges_for(900.0, 1100.0))
    assert np.std(found) > 0.5


@pytest.mark.parametrize("values", [[0.0, 1.0], [0.0], [0.3], [1.0]])
@pytest.mark.parametrize("noise", [0.0, 20.0])
def test_few_values_have_ranks_far_apart(values, noise):
    x = np.repeat(values, 1_000)
    found = ranked(x, edges_for(0.0, 1.0), noise)
    assert np.isfinite(found).all()
    assert len(np.unique(found)) == len(values)
    if len(values) == 2:
        assert found[-1] - found[0] > 1.8


def test_a_feature_without_room_has_one_rank():
    found = ranked(np.full(100, 3.0), edges_for(3.0, 3.0), noise=5.0)
    assert len(np.unique(found)) == 1


@pytest.mark.parametrize("believed", [0.0, 150.0, 240.0, 300.0])
def test_drowned_counts_leave_ranks_even(believed):
    """Of 500 rows more than half must be in counts that stand out of noise of 50."""
    edges = np.vstack([edges_for(0, 1), edges_for(-2, 2)])
    counts = np.full((2, ranks.BINS), (500.0 - believed) / (ranks.BINS - 1))
    counts[:, 40] = believed
    found = ranks.ranks_from(counts, 50.0, edges)
    even = 2 * (edges - edges[:, :1]) / (edges[:, -1:] - edges[:, :1]) - 1
    if believed <= 250.0:
        np.testing.assert_allclose(found, even, atol=1e-12)
    else:
        assert (found[:, 40] == -1.0).all()
        assert (found[:, 41] == 1.0).all()


def test_ranks_beyond_the_box_are_those_of_its_ends():
    edges = edges_for(0.0, 1.0)
    map_ = FeatureMap(np.ones((1, 1)), edges, np.linspace(-1, 1, edges.size)[None, :])
    np.testing.assert_array_equal(map_.inputs(np.array([[-9.0], [9.0], [1e308]]))[:, 0], [-1, 1, 1])


# What is estimated


def mu2(pairs):
    """The cost of pairs as one Gaussian release, squared."""
    return equivalent_mu(compose(pairs).epsilon(1e-6), 1e-6) ** 2


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("solver", ["auto", "sgd", "moments", "output", OnePassSGD()])
def test_ranks_cost_a_twentieth(solver, relation):
    plan = model(solver=solver, adjacency=relation).plan(n=20_000, n_features=3)
    assert plan.releases[0].name == RANKS
    estimated, *rest = plan.pairs()
    assert mu2([estimated]) / mu2([estimated, *rest]) == pytest.approx(0.05, rel=0.2)
    assert plan.epsilon(1e-6) == pytest.approx(1.0, rel=1e-3)


def test_plan_and_certificate_name_what_is_estimated():
    X, y = curved()
    fitted = model(solver=SGD(steps=5)).fit(X, y)
    for text in (str(model().plan(n=400, n_features=3)), str(fitted.privacy_)):
        assert f"{RANKS}: 1 x gaussian, {3 * ranks.BINS} numbers" in text.replace(
            "Gaussian", "gaussian"
        )


def test_a_given_bandwidth_buys_nothing():
    X, y = curved()
    given = model(bandwidth=1.0, solver=SGD(steps=5))
    names = [release.name for release in given.plan(n=400, n_features=3).releases]
    assert RANKS not in names
    fitted = given.fit(X, y)
    assert RANKS not in str(fitted.privacy_)
    assert fitted.feature_map_.edges is None
    assert fitted.coef_.shape == (40,)
    assert model(solver=SGD(steps=5)).fit(X, y).coef_.shape == (43,)


def test_the_map_is_a_function_of_what_was_released():
    """Two data sets with the same noisy counts have the same features, and frequencies always."""
    X, y = curved()
    fits = [model(solver=SGD(steps=2), random_state=k).fit(D, y) for k, D in ((1, X), (2, X[::-1]))]
    assert np.array_equal(fits[0].feature_map_.frequencies, fits[1].feature_map_.frequencies)
    assert not np.array_equal(fits[0].feature_map_.ranks, fits[1].feature_map_.ranks)
    clean = exact(model(solver=SGD(steps=2)), X, y).feature_map_
    counts = ranks.histograms(
        BoundedData(Table(X, y), Bounds(LOW, HIGH, None, None), True), clean.edges
    )
    np.testing.assert_allclose(clean.ranks, ranks.ranks_from(counts, 0.0, clean.edges))
    assert np.abs(fits[0].feature_map_.ranks - clean.ranks).max() > 1e-3


# Refusals


class Witness:
    """A ledger that has never been charged when something was refused."""

    charged = False

    def charge(self, plan, dataset):
        self.charged = True


REFUSED = {
    "no features": ({"n_components": 0}, None, "n_components"),
    "bandwidth 0": ({"bandwidth": 0.0}, None, "finite and above 0"),
    "bandwidth inf": ({"bandwidth": [1.0, np.inf, 1.0]}, None, "finite and above 0"),
    "too few lengths": ({"bandwidth": [1.0, 2.0]}, None, r"shape \(2,\)"),
    "no delta": ({"delta": 0.0}, None, "give bandwidth"),
    "scale_X": ({"scale_X": 1.0}, None, "scale_X is not used by kernels"),
    "levels": ({}, 1.0, "give bandwidth"),
    "orthogonal": ({"kernel": "laplacian", "orthogonal": True}, None, "matern12"),
    "no bounds": ({"bounds_X": None, "delta": 0.0, "bandwidth": 1.0}, None, "bounds_X"),
    "solver": ({"solver": "scd", "bandwidth": 1.0}, 0.5, "sample_epsilon"),
}


@pytest.mark.parametrize(("given", "level", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused_before_any_charge(given, level, message):
    X, y = curved(60)
    levels = None if level is None else np.where(np.arange(60) % 2, level, level / 2)
    witness = Witness()
    with pytest.raises((ValueError, UnsupportedCombinationError), match=message):
        model(ledger=witness, **given).fit(X, y, sample_epsilon=levels)
    assert not witness.charged
    with pytest.raises((ValueError, UnsupportedCombinationError), match=message):
        model(**given).plan(n=60, n_features=3, sample_epsilon=levels)
    model(ledger=witness, solver=SGD(steps=1)).fit(X, y)
    assert witness.charged


# Rows, blocks and containers


@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_predictions_in_blocks_are_those_at_once(bandwidth, monkeypatch):
    X, y = curved()
    fitted = model(bandwidth=bandwidth, solver=SGD(steps=3)).fit(X, y)
    whole = fitted.predict(X)
    monkeypatch.setattr(base, "AT_ONCE", 7)
    np.testing.assert_allclose(fitted.predict(X), whole, atol=1e-5)
    by_hand = fitted.feature_map_.transform(X) @ fitted.coef_ + fitted.intercept_
    np.testing.assert_allclose(whole, by_hand, atol=1e-5)
    assert fitted.predict(X[:0]).shape == (0,)


@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_sparse_rows_and_frames_are_the_same_rows(bandwidth):
    pandas = pytest.importorskip("pandas")
    X, y = curved()
    X[::3, :2] = 0.0
    settings = {"bandwidth": bandwidth, "solver": SGD(steps=20)}
    dense = model(**settings).fit(X, y)
    sparse = model(**settings).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(sparse.predict(sp.csr_array(X)), dense.predict(X), atol=1e-6)
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    named = model(**settings).fit(frame, y)
    np.testing.assert_array_equal(named.coef_, dense.coef_)
    np.testing.assert_array_equal(named.predict(frame), dense.predict(X))
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        named.predict(frame[["b", "a", "c"]])


def test_a_prediction_needs_every_feature():
    fitted = model(solver=SGD(steps=1)).fit(*curved())
    with pytest.raises(ValueError, match="contains NaN"):
        fitted.predict([[1.0, np.nan, 3.0]])
    with pytest.raises(ValueError, match="2 features"):
        fitted.predict([[1.0, 2.0]])


@pytest.mark.parametrize("kind", [KernelRegressor, KernelClassifier])
def test_a_model_keeps_what_is_public_and_survives_a_pickle(kind):
    X, y = curved()
    target = y if kind is KernelRegressor else (y > 0).astype(int)
    fitted = model(kind, solver=SGD(steps=3)).fit(X, target)
    fitted.predict(X)  # which may leave something behind
    kept = {"coef_", "intercept_", "privacy_", "feature_map_", "n_features_in_"}
    kept |= set() if kind is KernelRegressor else {"classes_"}
    assert set(vars(fitted)) == set(fitted.get_params()) | kept
    again = pickle.loads(pickle.dumps(fitted))
    assert set(vars(again.feature_map_)) == {"frequencies", "edges", "ranks", "by_row"}
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    small = len(pickle.dumps(model(kind, solver=SGD(steps=3)).fit(X[:50], target[:50])))
    assert abs(len(pickle.dumps(fitted)) - small) < 200  # no array of rows among it


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_sgd_on_computed_rows_is_sgd_on_stored_ones(bandwidth, relation, monkeypatch):
    X, y = curved(1_500)
    X[5], y[9] = np.nan, np.nan
    ours = model(
        bandwidth=bandwidth, solver=SGD(steps=30), adjacency=relation, on_invalid="drop"
    )  # fmt: skip
    stored = ours.fit(X, y).coef_
    monkeypatch.setattr(sgd, "KEPT", 0)
    monkeypatch.setattr(row_source, "AT_ONCE", 100)
    computed = ours.fit(X, y).coef_
    np.testing.assert_allclose(computed, stored, rtol=0, atol=TOLERANCE[relation])


# Where n is public, features are multiplied in blocks, whose last bits depend on the block.
TOLERANCE = {"zero_out": 1e-5, "replace_one": 1e-5, "add_remove": 1e-12}


@pytest.mark.parametrize("relation", RELATIONS)
def test_output_does_not_depend_on_how_many_rows_are_fetched(relation, monkeypatch):
    X, y = curved(1_500)
    ours = model(solver=OutputPerturbation(epochs=2), adjacency=relation)
    whole = ours.fit(X, y).coef_
    monkeypatch.setattr(row_source, "AT_ONCE", 64)
    np.testing.assert_allclose(ours.fit(X, y).coef_, whole, rtol=0, atol=TOLERANCE[relation])


@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_features_of_a_published_map_do_not_depend_on_the_place(bandwidth):
    X, y = curved(700)
    map_ = model(solver=SGD(steps=1), bandwidth=bandwidth, n_components=400).fit(X, y).feature_map_
    whole = map_.single(X)
    rng = np.random.default_rng(0)
    for size in (1, 2, 3, 31, 699):
        rows = rng.choice(700, size, replace=False)
        np.testing.assert_array_equal(map_.single(X[rows]), whole[rows])


@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_where_n_is_private_features_do_not_depend_on_the_place(bandwidth, monkeypatch):
    """Of training rows, whose neighbours may shift them; elsewhere BLAS may round as it likes."""
    X, y = curved(300)
    made, seen = MappedData.of, {}
    for relation in RELATIONS:
        maps = seen.setdefault(relation, [])
        monkeypatch.setattr(MappedData, "of", lambda *a, maps=maps: maps.append(a[1]) or made(*a))
        model(solver=SGD(steps=1), bandwidth=bandwidth, adjacency=relation).fit(X, y)
        assert {map_.by_row for map_ in maps} == {relation == "add_remove"}
    private = seen["add_remove"][0]
    whole = private.single(X)
    for start in (1, 7, 150):
        np.testing.assert_array_equal(private.single(X[start:]), whole[start:])


def test_mapped_rows_are_the_features_of_bounded_rows():
    """Clipped first, empty where something is missing, in double and single precision alike."""
    X = np.array([[0.5, 0.5, 5.0], [99.0, -99.0, 1e308], [np.nan, 0.5, 5.0]])
    box = Bounds(LOW, HIGH, (-1.0, 1.0), None)
    edges = ranks.edges_of(box, 3, True)
    places = np.tile(np.linspace(-1, 1, ranks.BINS + 1), (3, 1))
    waves = KernelSpec("gaussian", 20, False, 0).frequencies(3, 1.0)
    for map_ in (FeatureMap(waves, edges, places), FeatureMap(waves)):
        source = BoundedData(Table(X, np.array([0.5, 9.0, 0.0])), box, True)
        mapped = MappedData.of(source, map_, Bounds(None, None, (-1.0, 1.0), 2**0.5))
        wanted = map_.transform(np.clip(X[:2], LOW, HIGH))
        for (rows,) in (list(mapped.blocks()), list(mapped.single_blocks())):
            np.testing.assert_allclose(rows.X[:2], wanted, atol=1e-6)
            assert not rows.X[2].any()
            np.testing.assert_array_equal(rows.y, [0.5, 1.0, 0.0])
            np.testing.assert_array_equal(rows.present, [True, True, False])
        (some,) = mapped.take(np.array([1, 0])).blocks()
        np.testing.assert_allclose(some.X, wanted[::-1], atol=1e-6)


# Classes


def rings(n=4_000, classes=2, seed=0):
    """Rings around the middle, which no line tells apart."""
    rng = np.random.default_rng(seed)
    X = LOW + rng.uniform(size=(n, 3)) * (HIGH - LOW)
    middle = np.abs((X - LOW) / (HIGH - LOW) - 0.5)[:, :2].max(axis=1)
    return X, np.digitize(middle, np.sqrt(np.arange(1, classes) / classes) / 2)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("bandwidth", BANDWIDTHS.values(), ids=BANDWIDTHS)
def test_classes_that_no_line_tells_apart(bandwidth, classes):
    X, y = rings(classes=classes)
    given = {"epsilon": 4.0, "C": 10.0, "n_components": 64, "classes": list(range(classes))}
    lengths = None if bandwidth is None else (HIGH - LOW) / 4
    fitted = model(KernelClassifier, bandwidth=lengths, **given).fit(X, y)
    assert fitted.coef_.shape == (1 if classes == 2 else 3, 64 + 3 * (bandwidth is None))
    chances = fitted.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(chances.argmax(axis=1), fitted.predict(X))
    assert fitted.score(X, y) > {2: 0.8, 3: 0.6}[classes]


def test_labels_keep_their_names():
    X, y = rings(300)
    named = np.array(["inside", "outside"])[y]
    fitted = model(KernelClassifier, classes=["inside", "outside"], bandwidth=1.0).fit(X, named)
    assert set(fitted.predict(X)) <= {"inside", "outside"}


def test_levels_of_privacy_with_a_bandwidth():
    X, y = rings(2_000)
    levels = np.where(np.arange(2_000) % 2, 0.2, 1.0)
    fitted = model(KernelClassifier, bandwidth=(HIGH - LOW) / 4).fit(X, y, sample_epsilon=levels)
    assert fitted.privacy_.plan.levels == (0.2, 1.0)
    assert fitted.coef_.shape == (1, 40)


# Which solver, how many features


def set_up(estimator, n, classes=0):
    """The problem with its penalty, and the solver."""
    problem = estimator._problem(n, 3, classes)
    return estimator._solver_for(problem, Budget(estimator.epsilon, estimator.delta))


def chosen(n=1_000, kind=KernelRegressor, classes=0, **given):
    """The solver behind the features."""
    return set_up(model(kind, **given), n, classes)[1].inner.name


def test_auto_takes_the_dual_unless_features_are_too_many():
    assert chosen() == "scd"
    assert chosen(kind=KernelClassifier, classes=2) == "scd"
    assert chosen(kind=KernelClassifier, classes=3) == "sgd"
    size = {"n_components": 1_000, "bandwidth": 1.0}
    assert chosen(int(base.KEPT // 1_000), **size) == "scd"
    assert chosen(int(base.KEPT // 1_000) + 1, **size) == "sgd"
    assert chosen(delta=0.0, bandwidth=1.0) == "one-pass"
    assert chosen(solver="output") == "output"
    assert chosen(solver=SGD()) == "sgd"


def test_an_odd_number_of_features_is_rounded_up():
    """Each frequency has a cosine and a sine."""
    X, y = curved()
    assert model(n_components=7, bandwidth=1.0, solver=SGD(steps=1)).fit(X, y).coef_.shape == (8,)


def test_the_number_of_features_grows_with_the_budget_and_stays_even():
    sizes = [
        set_up(model(n_components=None, alpha=1.0, epsilon=epsilon, delta=1e-12), n)[
            1
        ].spec.n_components
        for n, epsilon in ((100, 0.1), (10_000, 0.1), (10_000, 1.0), (100_000, 1.0), (10**9, 9.0))
    ]
    assert sizes[0] == base.LEAST
    assert sizes[-1] == base.MOST
    assert all(size % 2 == 0 for size in sizes)
    assert all(less <= more for less, more in pairwise(sizes))
    assert len(set(sizes)) == 5


def test_the_penalty_by_rule_is_that_of_the_noise():
    """0.045 sqrt(M) / mu: a smaller budget and more features ask for more; a given one stays."""

    def weight(kind=KernelRegressor, n=1_000, **given):
        return set_up(model(kind, **given), n, 2)[0].penalty.l2

    mu = equivalent_mu(1.0, 1e-6)
    assert weight() == pytest.approx(base.OF_NUMBERS * np.sqrt(40) / mu)
    assert weight(adjacency="replace_one") == pytest.approx(2 * weight())
    assert weight(n_components=160) == pytest.approx(2 * weight())
    assert weight(n=10_000) == weight()
    assert weight(epsilon=0.1) > 5 * weight()
    assert weight(alpha=3.0) == 3.0
    assert weight(alpha=0.0) == 0.0
    assert weight(KernelClassifier) == pytest.approx(base.OF_CLASSES * np.sqrt(40) / mu)
    assert weight(KernelClassifier, C=4.0) == 0.25
    assert weight(KernelClassifier, C=np.inf) == 0.0


def test_pure_privacy_with_a_bandwidth():
    X, y = curved()
    fitted = model(delta=0.0, bandwidth=[2.0, 0.5, 3.0]).fit(X, y)
    assert fitted.privacy_.delta == 0.0
    assert fitted.privacy_.plan.epsilon(0.0) <= 1.0 + 1e-9


def test_default_fits_find_the_curve():
    X, y = curved(20_000)
    fitted = model(n_components=None).fit(X, y)
    linear = Ridge().fit(X, y).score(X, y)
    assert fitted.score(X, y) > 0.85 > 0.7 > linear


# Audits

AUDITED = {"sgd": SGD(steps=12), "output": OutputPerturbation(epochs=1)}
FAST = (("sgd", "add_remove", "estimated"),)  # others are among what is audited for every estimator
CASES = [
    case if case in FAST else pytest.param(*case, marks=pytest.mark.slow)
    for case in product(AUDITED, RELATIONS, BANDWIDTHS)
]


@pytest.mark.parametrize(("solver", "relation", "bandwidth"), CASES)
def test_audits(solver, relation, bandwidth):
    settings = {"adjacency": relation, "n_components": 8, "random_state": None}
    settings["bandwidth"] = BANDWIDTHS[bandwidth]
    audit.check(model(solver=AUDITED[solver], **settings), n_features=3)


@pytest.mark.parametrize("box", [(-1e308, 1e308), (1e307, 1.5e308), (0.0, 1e308)])
def test_bounds_that_fill_the_numbers_do_not_break_ranks(box):
    """Few counts are believed there, and widths of such bounds overflow when they are added."""
    bounds = Bounds(*(np.full(2, end) for end in box), None, None)
    edges = ranks.edges_of(bounds, 2, True)
    assert np.isfinite(edges).all()
    assert (np.diff(edges, axis=1) >= 0).all()
    found = ranks.ranks_from(np.zeros((2, ranks.BINS)), 1.0, edges)
    np.testing.assert_allclose(found[:, [0, -1]], [[-1.0, 1.0]] * 2, atol=1e-9)
    assert (np.diff(found, axis=1) >= 0).all()
