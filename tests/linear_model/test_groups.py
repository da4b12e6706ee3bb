"""`fit(X, y, groups=ids)`: people of several rows, of whom so many count."""

import json
import pickle
import warnings
from dataclasses import replace
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import csr_array

from privlearn import (
    KernelRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Ridge,
)
from privlearn._core.certificate import Certificate
from privlearn._core.certificate_check import check_certificate
from privlearn._core.problem import Adjacency
from privlearn._data.bounded import watch_rows
from privlearn._data.people import read_people, rows_that_count
from privlearn.exceptions import (
    DeltaWarning,
    FewRowsWarning,
    InvalidBudgetError,
    MissingFactError,
    NotPrivateWarning,
    UnsupportedCombinationError,
)
from privlearn.solvers import SOLVERS, Tukey
from support import regression

N = 400
X, Y = regression(n=N, p=3)
IDS = np.random.default_rng(1).integers(0, 90, N)
FACTS = {"bounds_X": (-1, 1), "bounds_y": (-1, 1)}
FEW = pytest.mark.filterwarnings("ignore::privlearn.exceptions.FewRowsWarning")
pytestmark = FEW


def model(most=2, **given):
    return LinearRegression(max_rows_per_person=most, random_state=3, **FACTS | given)


def rows_reached(estimator, X, y, groups):
    """The rows that a fit hands to its solver."""
    seen = []
    with watch_rows(seen.append):
        estimator.fit(X, y, groups=groups)
    return seen[0]


# One row of each person: nothing else than rows.


SLOWER = [pytest.param(one, marks=pytest.mark.slow) for one in ("add_remove", "replace_one")]


@pytest.mark.parametrize("adjacency", ["zero_out", *SLOWER])
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_one_row_each_is_what_rows_are_to_the_last_bit(solver, adjacency):
    known = {"solver": solver, "adjacency": adjacency, "random_state": 5, **FACTS}
    if solver == "tukey":
        known |= {"solver": Tukey(models=79), "epsilon": 50.0}
        known.pop("bounds_y")
    ids = np.random.default_rng(0).permutation(N).astype(str)
    rows = LinearRegression(**known).fit(X, Y)
    people = LinearRegression(max_rows_per_person=1, **known).fit(X, Y, groups=ids)
    assert rows.coef_.tobytes() == people.coef_.tobytes()
    assert rows.intercept_ == people.intercept_
    assert rows.privacy_.spent() == people.privacy_.spent()
    assert (rows.privacy_.unit, people.privacy_.unit) == ("row", "person")


def test_one_row_each_leaves_the_rest_out():
    found = rows_reached(model(1, solver="moments"), X, Y, IDS)
    assert found.n == len(set(IDS))
    assert found.person_starts is None


# Ids.

SAME = [
    ("numbers", IDS),
    ("floats", IDS.astype(float)),
    ("single precision", IDS.astype(np.float32)),
    ("objects of all kinds", [int(one) if one % 2 else float(one) for one in IDS]),
    ("a list", IDS.tolist()),
    ("pandas", pd.Series(IDS, name="person")),
    ("pandas with room for NA", pd.Series(IDS, dtype="Int64")),
    ("polars", pl.Series("person", IDS)),
    ("Arrow", pa.array(IDS)),
    ("a column", IDS[:, None]),
]
TEXTS = [f"p{one}" for one in IDS]
SAME_TEXTS = [
    ("a list", TEXTS),
    ("numpy", np.array(TEXTS)),
    ("objects", np.array(TEXTS, dtype=object)),
    ("pandas", pd.Series(TEXTS)),
    ("categories", pd.Series(TEXTS, dtype="category")),
    ("polars", pl.Series(TEXTS)),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
@pytest.mark.parametrize("ids", [ids for _, ids in SAME], ids=[name for name, _ in SAME])
def test_ids_are_compared_by_value(ids):
    expected = model().fit(X, Y, groups=IDS).coef_
    assert model().fit(X, Y, groups=ids).coef_.tobytes() == expected.tobytes()


@pytest.mark.parametrize("ids", [ids for _, ids in SAME_TEXTS], ids=[n for n, _ in SAME_TEXTS])
def test_texts_are_compared_by_value(ids):
    expected = model().fit(X, Y, groups=TEXTS).coef_
    assert model().fit(X, Y, groups=ids).coef_.tobytes() == expected.tobytes()


def test_what_is_the_same_person_and_what_is_not():
    one = UUID(int=1)
    ids = [1, 1.0, True, "1", "a", one, str(one), b"a"]
    people = read_people(ids, 8, strict=False)
    assert people.of_row.tolist() == [0, 0, 0, 1, 2, 3, 3, 4]
    assert people.count == 5


@pytest.mark.parametrize("odd", [None, float("nan"), pd.NA, 2**53, -(2.0**60), object()])
def test_a_row_without_an_id_is_refused_or_nobodys(odd):
    ids = [*IDS.tolist()[:-1], odd]
    with pytest.raises(ValueError, match=r"None, NaN or something else.*on_invalid='drop'"):
        model().fit(X, Y, groups=ids)
    dropping = model(on_invalid="drop")
    expected = rows_reached(dropping, X[:-1], Y[:-1], IDS[:-1])
    found = rows_reached(dropping, X, Y, ids)
    assert found.table.X.tobytes() == expected.table.X.tobytes()
    assert found.person_starts.tolist() == expected.person_starts.tolist()


def test_somebody_spelled_in_two_ways_would_be_two_people():
    ids = [*IDS.tolist()[:-1], str(IDS[-1])]
    with pytest.raises(ValueError, match=r"1 and '1' are different people.*spell all ids alike"):
        model().fit(X, Y, groups=ids)


def test_nobody_at_all():
    with pytest.raises(ValueError, match="nobody"):
        model(on_invalid="drop").fit(X, Y, groups=[None] * N)
    nobody = model(on_invalid="drop", adjacency="add_remove").fit(X, Y, groups=[None] * N)
    assert np.isfinite(nobody.coef_).all()


# Which rows count.


def test_at_most_so_many_rows_of_each_side_by_side():
    for most in (1, 2, 7, N):
        rows, starts = rows_that_count(read_people(IDS, N, strict=True), most, key=12)
        sizes = np.diff(starts)
        order = list(dict.fromkeys(IDS.tolist()))
        assert sizes.tolist() == [min(most, np.sum(one == IDS)) for one in order]
        assert IDS[rows].tolist() == np.repeat(order, sizes).tolist()
        assert len(set(rows.tolist())) == len(rows)


def test_a_choice_depends_on_that_persons_rows_alone():
    """Others come, go and change places; of this person the same rows count."""
    rng, own = np.random.default_rng(0), "me"

    def chosen(ids, key):
        rows, _ = rows_that_count(read_people(ids, len(ids), strict=True), 3, key)
        places = np.flatnonzero(np.array(ids, dtype=object) == own)
        return np.flatnonzero(np.isin(places, rows)).tolist()

    for key in range(20):
        alone = chosen([own] * 8, key)
        assert len(alone) == 3
        for _ in range(10):
            ids = rng.permutation([own] * 8 + [f"p{k}" for k in rng.integers(0, 9, 40)]).tolist()
            assert chosen(ids, key) == alone


def test_every_row_of_a_person_is_as_likely_and_people_choose_on_their_own():
    people = read_people(["a"] * 5 + ["b"] * 5, 10, strict=True)
    keys = np.random.default_rng(0).integers(0, 2**63, 4_000)
    counted = np.zeros((len(keys), 10))
    for k, key in enumerate(keys):
        counted[k, rows_that_count(people, 2, int(key))[0]] = 1.0
    assert np.abs(counted.mean(axis=0) - 0.4).max() < 0.04  # five standard deviations
    assert np.abs(np.corrcoef(counted[:, :5].T, counted[:, 5:].T)[:5, 5:]).max() < 0.08


def test_fits_without_a_seed_choose_anew():
    private = LinearRegression(max_rows_per_person=1, solver="moments", **FACTS)
    found = {rows_reached(private, X, Y, IDS).table.X.tobytes() for _ in range(3)}
    assert len(found) == 3


def test_sparse_rows_are_chosen_alike():
    dense = rows_reached(model(), X, Y, IDS).table.X
    sparse = rows_reached(model(), csr_array(X), Y, IDS).table.X
    assert np.array_equal(sparse.toarray(), dense)


# What is public.


def test_plans_and_certificates_know_people_and_not_rows():
    more = np.concatenate([IDS, IDS])
    for solver in ("cd", "scd", "sgd", "moments", "boosted"):
        own = model(3, solver=solver)
        few = own.fit(X, Y, groups=IDS).privacy_
        many = own.fit(np.vstack([X, X]), np.concatenate([Y, Y]), groups=more).privacy_
        assert few == many
        assert few.plan.rows is None
        assert few.plan == own.plan(n=len(set(IDS)), n_features=3)
    assert "rows" not in json.dumps(few.to_dict()["assumptions"][-2])


def test_errors_tell_no_number_of_rows():
    own = model()
    for given in ((X, Y[:-1], IDS), (X[:-1], Y, IDS), (X, Y, IDS[:-1])):
        with pytest.raises(ValueError, match="inconsistent numbers") as raised:
            own.fit(given[0], given[1], groups=given[2])
        assert not any(digits in str(raised.value) for digits in ("400", "399"))


def test_nothing_of_the_ids_is_published():
    ids = [f"secret{one}" for one in IDS]
    fitted = model(solver="moments").fit(X, Y, groups=ids)
    plain = LinearRegression(solver="moments", **FACTS).fit(X, Y)
    assert vars(fitted).keys() == vars(plain).keys()
    assert b"secret" not in pickle.dumps(fitted)


def test_warnings_speak_of_people():
    with pytest.warns(FewRowsWarning, match="n = 90 people"):
        model(epsilon=0.1).fit(X, Y, groups=np.arange(N) % 90)
    with pytest.warns(DeltaWarning, match="1/n"):
        model(delta=0.1).fit(X, Y, groups=IDS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", NotPrivateWarning)
        model(adjacency="add_remove", epsilon=0.1).fit(X, Y, groups=IDS)


# What is refused.


def test_ids_and_their_limit_come_together():
    with pytest.raises(MissingFactError, match=r"max_rows_per_person is missing.*public knowledge"):
        LinearRegression(**FACTS).fit(X, Y, groups=IDS)
    with pytest.raises(MissingFactError, match=r"groups is missing.*fit\(X, y, groups=ids\)"):
        model().fit(X, Y)


@pytest.mark.parametrize("most", [0, -1, 1.5, "3", 2**31, True, False])
def test_a_limit_is_a_whole_number(most):
    with pytest.raises(ValueError, match="max_rows_per_person"):
        model(most).fit(X, Y, groups=IDS)


WITHOUT_PROOF = [name for name, one in SOLVERS.items() if not one.support.people]


@pytest.mark.parametrize("solver", WITHOUT_PROOF)
def test_solvers_without_a_proof_are_refused_before_the_charge(solver):
    charged = []

    class Book:
        def charge(self, plan, dataset):
            charged.append(plan)

    with pytest.raises(UnsupportedCombinationError, match=r"person=2 \(use solver='auto'"):
        model(solver=solver, ledger=Book()).fit(X, Y, groups=IDS)
    assert not charged


def test_what_has_no_proof_is_refused():
    with pytest.raises(UnsupportedCombinationError, match="sample_epsilon together"):
        model().fit(X, Y, groups=IDS, sample_epsilon=np.ones(N))
    with pytest.raises(UnsupportedCombinationError, match="sample_epsilon together"):
        model().plan(n=90, n_features=3, sample_epsilon=np.ones(90))
    with pytest.raises(InvalidBudgetError, match=r"delta=0.*max_rows_per_person=2.*1e-6"):
        model(delta=0).fit(X, Y, groups=IDS)
    with pytest.raises(UnsupportedCombinationError, match="partial_fit"):
        LogisticRegression(max_rows_per_person=2, classes=[0, 1]).partial_fit(X, Y > 0)
    with pytest.raises(UnsupportedCombinationError, match="kernels"):
        KernelRegressor(max_rows_per_person=2, **FACTS).fit(X, Y, groups=IDS)
    assert KernelRegressor(max_rows_per_person=1, **FACTS).fit(X, Y, groups=IDS)


def test_auto_takes_what_has_a_proof_and_keeps_all_features():
    for adjacency in Adjacency:
        for loss in (LinearSVC(), LogisticRegression(), Ridge(), LinearRegression()):
            loss.set_params(adjacency=adjacency.value, max_rows_per_person=4)
            plan = loss.plan(n=50_000, n_features=5)
            assert SOLVERS[plan.solver].support.people
    wide = LinearRegression().plan(n=500, n_features=900)
    people = LinearRegression(max_rows_per_person=2).plan(n=500, n_features=900)
    assert any(release.name == "relevant features" for release in wide.releases)
    assert not any(release.name == "relevant features" for release in people.releases)


# What it costs.


def test_noise_grows_with_the_limit():
    plans = [model(most, solver="moments").plan(n=5_000, n_features=3) for most in (1, 2, 5)]
    noise = np.array([plan.noise_scale(plan.releases[0]) for plan in plans])
    assert np.allclose(noise / noise[0], [1, 2, 5], rtol=1e-3)
    assert [plan.epsilon(1e-6) for plan in plans] == pytest.approx([1.0] * 3, rel=1e-5)


def test_plans_print_people_and_what_a_person_contributes():
    plan = model(5, solver="moments").plan(n=5_000, n_features=3)
    assert "with n = 5,000 people" in str(plan)
    release, line = plan.releases[0], plan.describe()[0]
    clip = float(line.split("clip ")[1].split()[0])
    multiplier = float(line.split("multiplier ")[1].split(",")[0])
    assert clip * multiplier == pytest.approx(plan.noise_scale(release), rel=1e-4)
    assert "of 5 rows together" in line
    with pytest.raises(ValueError, match="n = 5,000 people"):
        plan.for_accuracy(1e-9)


def test_many_people_are_learned_from():
    rng = np.random.default_rng(0)
    n = 30_000
    features = rng.uniform(-1, 1, (n, 3))
    y = np.clip(features @ [0.5, -0.3, 0.1] + 0.1 * rng.standard_normal(n), -1, 1)
    ids = rng.integers(0, 10_000, n)
    for solver in ("auto", "cd", "scd", "sgd", "moments", "boosted"):
        found = model(4, solver=solver).fit(features, y, groups=ids)
        assert np.abs(found.coef_ - [0.5, -0.3, 0.1]).max() < 0.08, solver


# The certificate.


def test_certificates_tell_the_unit_and_are_read_again():
    certificate = model(3).fit(X, Y, groups=IDS).privacy_
    assert (certificate.unit, certificate.rows_per_person) == ("person", 3)
    assert "record of up to 3 rows becomes the empty record" in str(certificate)
    assert "at most 3 rows count" in str(certificate)
    assert "the number of people with at least one row is public" in certificate.assumptions
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert check_certificate(certificate.to_dict()).holds


@pytest.mark.parametrize("adjacency", ["zero_out", *SLOWER])
def test_another_limit_in_a_file_is_noticed(adjacency):
    written = model(3, adjacency=adjacency).fit(X, Y, groups=IDS).privacy_.to_dict()
    forged = check_certificate(written | {"rows_per_person": 2})
    assert not forged.holds
    cheaper = {key: value for key, value in written.items() if key != "rows_per_person"}
    with pytest.raises(ValueError, match="contradict"):
        check_certificate(cheaper)
    with pytest.raises(ValueError, match="contradict"):
        check_certificate(written | {"unit": "row"})
    assert not check_certificate(cheaper | {"unit": "row"}).holds
    with pytest.raises(ValueError, match="'unit'"):
        check_certificate(written | {"unit": "household"})
    with pytest.raises(ValueError, match="rows_per_person"):
        check_certificate(written | {"rows_per_person": 0})


def test_a_saved_model_keeps_its_unit():
    fitted = model(3).fit(X, Y, groups=IDS)
    again = LinearRegression.from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert again.privacy_ == fitted.privacy_
    assert replace(again.privacy_.plan, rows_per_person=None).unit == "row"
