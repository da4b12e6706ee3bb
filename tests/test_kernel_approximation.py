"""Feature maps: the right kernels at the right rate, rows of length at most 1, the contract."""

import math
import pickle
import tracemalloc
import warnings
from numbers import Integral
from typing import ClassVar

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.stats import chi, kstest
from sklearn.base import clone
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils._param_validation import Interval
from sklearn.utils.estimator_checks import parametrize_with_checks

from privlearn import LogisticRegression
from privlearn.kernel_approximation import RandomFourierFeatures, RandomProjection
from privlearn.solvers._common.fourier_map import FourierMap
from privlearn.solvers._common.loops import fourier_features as waves

WIDTH = 1.7
EXACT = {
    "gaussian": lambda X: rbf_kernel(X, gamma=0.5),
    "laplacian": lambda X: laplacian_kernel(X, gamma=1.0),
    "matern12": Matern(nu=0.5),
    "matern32": Matern(nu=1.5),
    "matern52": Matern(nu=2.5),
}
ISOTROPIC = sorted(set(EXACT) - {"laplacian"})
HOSTILE = [np.nan, np.inf, -np.inf, 1e308, -1e308, 1e155, 1e38, 1e19, 1e8, 1e4, 1.0, 0.0, 5e-324]


def rows(n=10, p=3, scale=2.0, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p)) * scale


def standard_errors(phi, exact, X):
    """(Approximation - kernel) over its standard deviation, for all pairs of different rows.

    The mean of h cosines cos(w'd) has variance (1 + k(2d) - 2 k(d)^2) / (2 h).
    """
    pairs = np.triu_indices(len(X), 1)
    K, doubled = exact(X)[pairs], exact(2 * X)[pairs]
    deviation = np.sqrt((1 + doubled - 2 * K**2) / phi.shape[1])
    return ((phi @ phi.T)[pairs] - K) / deviation


@pytest.mark.parametrize("kernel", EXACT)
def test_kernel_is_approximated_and_a_bandwidth_off_by_a_tenth_is_not(kernel):
    X = rows()
    model = RandomFourierFeatures(100_000, kernel=kernel, bandwidth=WIDTH, random_state=1)
    phi = model.fit_transform(X)
    assert np.abs(standard_errors(phi, EXACT[kernel], X / WIDTH)).max() < 4.5
    for wrong in (0.9, 1.1):
        assert np.abs(standard_errors(phi, EXACT[kernel], X / (wrong * WIDTH))).max() > 9


@pytest.mark.parametrize("n_components", [16, 256])
@pytest.mark.parametrize("kernel", EXACT)
def test_error_has_the_monte_carlo_law(kernel, n_components):
    X = rows(6)
    squares = [
        standard_errors(
            RandomFourierFeatures(n_components, kernel=kernel, random_state=s).fit_transform(X),
            EXACT[kernel],
            X,
        )
        ** 2
        for s in range(100)
    ]
    assert 0.75 < np.mean(squares) < 1.33


def test_one_bandwidth_per_feature():
    X, lengths = rows(), [0.5, 2.0, 30.0]
    for orthogonal in (False, True):
        model = RandomFourierFeatures(40_000, bandwidth=lengths, orthogonal=orthogonal)
        phi = model.set_params(random_state=2).fit_transform(X)
        errors = standard_errors(phi, EXACT["gaussian"], X / lengths)
        assert np.abs(errors).max() < 4.5
        swapped = standard_errors(phi, EXACT["gaussian"], X / lengths[::-1])
        assert np.abs(swapped).max() > 9


@pytest.mark.parametrize("kernel", ISOTROPIC)
def test_orthogonal_features_have_the_same_kernel_and_a_smaller_error(kernel):
    X = rows(8, 6, 0.6)
    model = RandomFourierFeatures(60_006, kernel=kernel, orthogonal=True, random_state=3)
    assert np.abs(standard_errors(model.fit_transform(X), EXACT[kernel], X)).max() < 4.5
    few = [
        standard_errors(
            model.set_params(n_components=24, random_state=s).fit_transform(X), EXACT[kernel], X
        )
        for s in range(120)
    ]
    # Heavy tails leave less to gain: the shared scale of a frequency is drawn all the same.
    assert np.mean(np.square(few)) < {"gaussian": 0.65, "matern52": 0.85}.get(kernel, 0.95)


def test_orthogonal_directions_and_their_lengths():
    p, count = 7, 3_000  # the last group is cut short
    model = RandomFourierFeatures(2 * count, orthogonal=True, random_state=4).fit(rows(2, p))
    w = model.frequencies_
    assert w.shape == (p, count)
    for start in (0, p, count - count % p):
        gram = w[:, start : start + p].T @ w[:, start : start + p]
        assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12
    assert abs(w[:, :p].T @ w[:, p : 2 * p]).max() > 0.1  # groups are independent
    assert kstest(np.linalg.norm(w, axis=0), chi(p).cdf).pvalue > 1e-3
    assert kstest(w[0], "norm").pvalue > 1e-3


def test_projection_keeps_squared_lengths_on_average():
    X = rows(4, 30)
    ratios = [
        (RandomProjection(5, random_state=s).fit_transform(X) ** 2).sum(1) / (X**2).sum(1)
        for s in range(500)
    ]
    assert abs(np.mean(ratios) - 1) < 4.5 * math.sqrt(2 / 5 / 500)
    entries = RandomProjection(40, random_state=5).fit(rows(1, 200)).components_
    assert entries.shape == (40, 200)
    assert kstest(entries.ravel() * math.sqrt(40), "norm").pvalue > 1e-3


def lengths(features):
    """Exact to the last bit: squares of float32 are float64 numbers, and fsum rounds once."""
    return np.array([math.fsum(np.square(row, dtype=np.float64)) for row in features])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_no_row_is_longer_than_one_whatever_it_holds(kernel, by_row, dtype):
    with np.errstate(over="ignore"):
        values = np.array(HOSTILE).astype(dtype)
    mixed = np.array([[a, b, 0.3] for a in values for b in values], dtype=dtype)
    X = np.vstack([mixed, rows(300).astype(dtype)])
    for n_components in (2, 6, 10, 1000, 1024):
        model = RandomFourierFeatures(n_components, kernel=kernel, random_state=6).fit(X)
        mapping = FourierMap(model.frequencies_, by_row=by_row)
        out = np.full((len(X), n_components), np.nan, dtype=np.float32)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            mapping.write(X, out, mapping.workspace(len(X)))
        squares = lengths(out)
        assert squares.max() <= 1.0
        assert squares.min() > 1 - 2**-15


def test_length_holds_for_every_number_of_frequencies_and_phase():
    phases = np.linspace(-1, 1, 999)[:, None]
    for half in range(1, 200, 7):
        mapping = FourierMap(np.full((1, half), 2 * math.pi))
        out = np.empty((len(phases), 2 * half), dtype=np.float32)
        mapping.write(phases, out, mapping.workspace(len(phases)))
        assert 1 - 2**-16 < lengths(out).max() <= 1.0


def test_waves_are_accurate():
    """Phases that are exact in single precision: what is left is the error of the polynomials."""
    phases = np.concatenate(
        [np.linspace(-1, 1, 400_001), np.linspace(-16, 16, 100_001), np.arange(-64, 65) / 4]
    ).astype(np.float32)[:, None]
    mapping = FourierMap(np.array([[2 * math.pi]]))
    out = np.empty((len(phases), 2), dtype=np.float32)
    mapping.write(phases, out, mapping.workspace(len(phases)))
    turned = 2 * math.pi * (phases.astype(float)[:, 0] % 1.0)
    exact = np.stack([np.cos(turned), np.sin(turned)], axis=1)
    assert np.abs(out / (1 - 2.0**-18) - exact).max() < 2**-21


def test_polynomials_leave_room_for_rounding():
    f = np.linspace(0, 0.25, 100_001)
    cosine = np.polyval(
        [float(c) for c in (waves.C4, waves.C3, waves.C2, waves.C1, waves.C0)], f**2
    )
    sine = f * np.polyval(
        [float(s) for s in (waves.S4, waves.S3, waves.S2, waves.S1, waves.S0)], f**2
    )
    assert np.abs(cosine - np.cos(2 * math.pi * f)).max() < 1.1e-7
    assert np.abs(sine - np.sin(2 * math.pi * f)).max() < 1.1e-7


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize(
    ("scale", "kernel"), [(0.3, "gaussian"), (3e3, "gaussian"), (1e6, "gaussian"), (3, "matern12")]
)
def test_single_precision_agrees_with_double_also_for_long_phases(scale, kernel, by_row):
    X = rows(50, 12, scale)
    model = RandomFourierFeatures(400, kernel=kernel, random_state=7).fit(X)
    mapping = FourierMap(model.frequencies_, by_row=by_row)
    out = np.empty((50, 400), dtype=np.float32)
    mapping.write(X, out, mapping.workspace(64))
    unit = math.sqrt(200)
    assert np.abs(unit * (out - model.transform(X))).max() < 3e-5
    single = X.astype(np.float32)
    answer = model.transform(single)
    assert answer.dtype == np.float32
    assert np.abs(unit * (answer - model.transform(single.astype(float)))).max() < 3e-5


@pytest.mark.parametrize("p", [1, 3, 20, 130])
def test_by_row_features_do_not_depend_on_place_or_block(p):
    X = rows(300, p, 0.5)  # heavy tails bring phases both short and long
    model = RandomFourierFeatures(70, kernel="matern12", bandwidth=0.3, random_state=8).fit(X)
    mapping = FourierMap(model.frequencies_, by_row=True)

    def mapped(part):
        out, workspace = np.empty((len(part), 70), dtype=np.float32), mapping.workspace(300)
        mapping.write(part, out, workspace)
        return out

    whole = mapped(X)
    for start, stop in [(0, 1), (1, 300), (7, 12), (100, 131)]:
        np.testing.assert_array_equal(mapped(X[start:stop]), whole[start:stop])
    backwards = mapped(X[::-1])
    np.testing.assert_array_equal(backwards[::-1], whole)


def test_write_allocates_nothing():
    X = rows(256, 20)
    mapping = FourierMap(RandomFourierFeatures(2048, random_state=9).fit(X).frequencies_)
    out, workspace = np.empty((256, 2048), dtype=np.float32), mapping.workspace(256)
    mapping.write(X, out, workspace)
    tracemalloc.start()
    mapping.write(X, out, workspace)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16_000  # the rows alone would be 20,480 bytes, the phases a megabyte


MODELS = {
    "fourier": RandomFourierFeatures(8, bandwidth=2.0, random_state=10),
    "orthogonal": RandomFourierFeatures(8, kernel="matern32", orthogonal=True, random_state=10),
    "projection": RandomProjection(4, random_state=10),
}


@pytest.fixture(params=MODELS)
def model(request):
    return clone(MODELS[request.param])


def drawn(model):
    return getattr(model, "components_", getattr(model, "frequencies_", None))


def test_seeds_reproduce_and_nothing_but_the_width_is_read(model):
    first = drawn(model.fit(rows(5)))
    others = [rows(9, seed=1), rows(1) * np.nan, np.empty((0, 3)), csr_array(rows(4))]
    for other in others:
        np.testing.assert_array_equal(drawn(clone(model).fit(other)), first)
    fresh = [drawn(clone(model).set_params(random_state=None).fit(rows(5))) for _ in range(2)]
    assert not np.array_equal(*fresh)
    assert set(vars(model)) - set(model.get_params()) <= {
        "frequencies_",
        "components_",
        "n_features_in_",
    }


def test_clones_and_pickles(model):
    X = rows()
    answer = model.fit_transform(X)
    assert clone(model).get_params() == model.get_params()
    assert not hasattr(clone(model), "n_features_in_")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(X), answer)


def test_every_container_gives_the_same(model):
    X = np.round(rows(600, 3))  # more rows than are mapped at once
    X[np.abs(X) < 1.5] = 0.0
    answer = model.fit_transform(X)
    assert answer.dtype == np.float64
    single = model.transform(X.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, answer, atol=1e-5, rtol=1e-5)
    for container in (csr_array, csr_matrix, pd.DataFrame, np.asfortranarray, np.ndarray.tolist):
        given = clone(model).fit_transform(container(X))
        np.testing.assert_allclose(given, answer, atol=1e-14)
    given = model.transform(csr_array(X.astype(np.float32)))
    np.testing.assert_allclose(given, single, atol=1e-6)
    given = clone(model).fit_transform(pl.DataFrame(X, schema=["a", "b", "c"]))
    np.testing.assert_allclose(given, answer, atol=1e-14)
    assert model.transform(X[:0]).shape == (0, answer.shape[1])


def test_names_go_in_and_come_out(model):
    frame = pd.DataFrame(rows(), columns=["age", "height", "weight"])
    table = model.set_output(transform="pandas").fit(frame).transform(frame)
    assert list(model.feature_names_in_) == ["age", "height", "weight"]
    stem = type(model).__name__.lower()
    assert list(table.columns) == [f"{stem}{k}" for k in range(model.n_components)]
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame.rename(columns={"age": "years"}))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_cells_that_are_no_numbers_are_refused(model, bad):
    X = rows()
    model.fit(X)
    X[2, 1] = bad
    for container in (np.array, csr_array, np.float32):
        with pytest.raises(ValueError, match="Input X contains"):
            model.transform(container(X))


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_components": 7}, "n_components=7 is odd.*use 6 or 8"),
        ({"n_components": 0}, "n_components"),
        ({"kernel": "cosine"}, "kernel"),
        ({"bandwidth": 0.0}, "bandwidth=0.0.*above 0"),
        ({"bandwidth": math.nan}, "bandwidth=nan"),
        ({"bandwidth": [1.0, 2.0]}, r"shape \(2,\), but X has 3 features"),
        ({"bandwidth": [1.0, -2.0, 1.0]}, "above 0"),
        ({"orthogonal": True, "kernel": "laplacian"}, "kernel='matern12'"),
    ],
)
def test_refusals(parameters, words):
    with pytest.raises(ValueError, match=words):
        RandomFourierFeatures(**parameters).fit(rows())


def test_pipelines_learn():
    rng = np.random.default_rng(11)
    X = rng.uniform(-1, 1, size=(4_000, 2))
    y = (X**2).sum(axis=1) > 0.64  # a circle: no line does better than chance
    fourier = RandomFourierFeatures(60, bandwidth=0.7, random_state=0)
    circle = make_pipeline(fourier, LogisticRegression(epsilon=4.0, data_norm=2**0.5))
    assert circle.fit(X, y).score(X, y) > 0.85
    wide = rng.normal(size=(4_000, 50)) / math.sqrt(50)
    wide[:, 0] *= 20
    project = RandomProjection(10, random_state=0)
    line = make_pipeline(project, LogisticRegression(epsilon=4.0, data_norm=4.0))
    assert line.fit(wide, wide[:, 0] > 0).score(wide, wide[:, 0] > 0) > 0.85


class PairsOfFourierFeatures(RandomFourierFeatures):
    """Counts pairs, for scikit-learn's checks set n_components = 1."""

    _parameter_constraints: ClassVar = {
        **RandomFourierFeatures._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    @property
    def _n_features_out(self):
        return 2 * self.n_components

    def _draw(self, n_features):
        whole = {**self.get_params(), "n_components": 2 * self.n_components}
        self.frequencies_ = RandomFourierFeatures(**whole).fit(rows(1, n_features)).frequencies_


EXPECTED_FAILURES = {
    "check_estimators_nan_inf": "fit reads no row; transform refuses NaN and infinity",
    "check_estimators_empty_data_messages": "fit reads no row; there may be none",
}
ODD = {
    f"check_{name}": "sets n_components = 1, which is refused"
    for name in (
        "dont_overwrite_parameters",
        "methods_sample_order_invariance",
        "methods_subset_invariance",
        "fit2d_1sample",
        "fit2d_1feature",
        "fit2d_predict1d",
    )
}


@parametrize_with_checks(
    [
        RandomFourierFeatures(6),
        PairsOfFourierFeatures(3, kernel="matern32", orthogonal=True),
        RandomProjection(3),
    ],
    expected_failed_checks=lambda model: {
        **EXPECTED_FAILURES,
        **(ODD if type(model) is RandomFourierFeatures else {}),
    },
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
