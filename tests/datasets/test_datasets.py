"""The data set is that of its source, its bounds are public, and loading it is cheap."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from privlearn.datasets import load_cps1988
from privlearn.datasets._cps1988 import PUBLIC_BOUNDS


@pytest.fixture(scope="module")
def cps():
    return load_cps1988()


def r_squared(X, y):
    from sklearn.linear_model import LinearRegression

    return LinearRegression().fit(X, y).score(X, y)


def test_shapes_and_types(cps):
    assert cps.data.shape == (28155, 8)
    assert cps.data.dtype == np.float64
    assert cps.target.shape == (28155,)
    assert cps.target.dtype == np.float64
    assert len(cps.feature_names) == 8
    assert cps["target"] is cps.target
    assert np.isfinite(cps.data).all()
    assert np.isfinite(cps.target).all()


def test_first_row_is_that_of_the_source(cps):
    # wage 354.94, education 7, experience 45, cauc, smsa, northeast, full time
    assert cps.target[0] == 354.94
    assert dict(zip(cps.feature_names, cps.data[0], strict=True)) == {
        "education": 7, "experience": 45, "afam": 0, "smsa": 1, "parttime": 0,
        "region_midwest": 0, "region_south": 0, "region_west": 0,
    }  # fmt: skip


def test_column_totals(cps):
    # Counts of the categories in the R package AER's CPS1988.
    totals = dict(zip(cps.feature_names, cps.data.sum(axis=0), strict=True))
    assert totals["afam"] == 2232
    assert totals["smsa"] == 20932
    assert totals["parttime"] == 2524
    assert totals["region_midwest"] == 6863
    assert totals["region_south"] == 8760
    assert totals["region_west"] == 6091


def test_mincer_equation_explains_a_third(cps):
    """The formula called `mincer` in the R documentation of CPS1988."""
    education, experience, afam = cps.data[:, :3].T
    X = np.column_stack([education, experience, experience**2, afam])
    assert r_squared(X, np.log(cps.target)) == pytest.approx(0.335, abs=0.0005)


def test_all_features_with_squared_experience_explain_46_percent(cps):
    X = np.column_stack([cps.data, cps.data[:, 1] ** 2])
    assert r_squared(X, np.log(cps.target)) == pytest.approx(0.4572, abs=0.0005)


def test_features_lie_inside_their_bounds(cps):
    low, high = cps.bounds_X
    assert low.shape == high.shape == (8,)
    assert (cps.data >= low).all()
    assert (cps.data <= high).all()


def test_bounds_are_not_the_sample_range(cps):
    """A bound equal to the sample's extreme wage or experience would have been peeked at."""
    low, high = cps.bounds_X
    assert low[1] < cps.data[:, 1].min()
    assert high[1] > cps.data[:, 1].max()
    assert cps.bounds_y[0] < cps.target.min()
    assert cps.bounds_y[1] != pytest.approx(cps.target.max(), rel=0.1)


def test_wage_bounds_clip_less_than_one_wage_in_a_thousand(cps):
    low, high = cps.bounds_y
    outside = (cps.target < low) | (cps.target > high)
    assert outside.mean() < 0.001


def test_every_bound_has_a_reason(cps):
    assert set(cps.bounds_reasons) == {*cps.feature_names, cps.target_name}
    assert set(PUBLIC_BOUNDS) == set(cps.bounds_reasons)
    assert all(len(reason) > 20 for reason in cps.bounds_reasons.values())


def test_a_pair_of_arrays_on_request(cps):
    X, y = load_cps1988(return_X_y=True)
    assert np.array_equal(X, cps.data)
    assert np.array_equal(y, cps.target)


def test_as_frame(cps):
    pytest.importorskip("pandas")
    bunch = load_cps1988(as_frame=True)
    assert list(bunch.data.columns) == cps.feature_names
    assert list(bunch.frame.columns) == [*cps.feature_names, cps.target_name]
    assert bunch.target.name == "wage"
    assert np.array_equal(bunch.data.to_numpy(), cps.data)
    X, y = load_cps1988(return_X_y=True, as_frame=True)
    assert X.equals(bunch.data)
    assert y.equals(bunch.target)


def test_loads_are_independent(cps):
    other = load_cps1988()
    other.data[:] = 0
    other.bounds_X[0][:] = 0
    assert cps.data[0, 0] == 7
    assert load_cps1988().data[0, 0] == 7
    assert load_cps1988().bounds_X[0][1] == -6


def test_bunch_behaves(cps):
    with pytest.raises(AttributeError, match="no entry 'colour'"):
        _ = cps.colour
    assert "data" in dir(cps)
    assert pickle.loads(pickle.dumps(cps)).bounds_y == cps.bounds_y
    assert "28,155 men" in cps.DESCR


def test_loading_takes_no_work_per_row():
    """Counted in calls of functions: 28,155 rows one by one would take more than one each."""
    load_cps1988()
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(1) if "call" in event else None)
    try:
        load_cps1988()
    finally:
        sys.setprofile(None)
    assert len(calls) < 10_000


def test_loading_imports_neither_pandas_nor_sklearn():
    code = (
        "import sys; from privlearn.datasets import load_cps1988; load_cps1988();"
        "print([m for m in ('pandas', 'sklearn', 'scipy', 'numba') if m in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
