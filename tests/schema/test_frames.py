"""A raw table in, a model out: frames of every kind, targets by name, gaps, names and files."""

import copy
import datetime
import json
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

import privlearn
from privlearn import KernelRegressor, LinearRegression, LogisticRegression, PoissonRegressor, Ridge
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.schema import Category, Date, Flag, Ignore, Number
from privlearn.schema.encoding import EncodedRows
from support import without_noise

pd = pytest.importorskip("pandas")
N = 3_000
SCHEMA = {
    "age": Number(20, 70, missing="flag"),
    "pay": Number(0, 4_000, missing="fill", fill=2_000, currency="$", thousands=","),
    "sex": Category(["F", "M"], missing="flag"),
    "here": Flag(missing="fill"),
    "since": Date("2000-01-01", "2020-01-01"),
    "id": Ignore(),
}
FEATURES = ["age", "age is missing", "pay", "sex = F", "sex = M", "sex is missing", "here", "since"]
KNOWN = {"epsilon": 50.0, "schema": SCHEMA, "bounds_y": (-10, 10), "random_state": 0}


def people(n=N, seed=0):
    """Columns as lists of cells, with gaps, and a target that follows from them."""
    rng = np.random.default_rng(seed)
    age, pay = rng.integers(20, 71, n), rng.integers(0, 4_000, n)
    sex, here = rng.integers(0, 2, n), rng.integers(0, 2, n)
    day = rng.integers(0, 7_305, n)
    y = 0.1 * (age - 45) + 2.0 * sex - here + pay / 2_000 + rng.normal(0, 0.1, n)
    gaps = rng.uniform(size=(3, n)) < 0.05
    start = datetime.date(2000, 1, 1)
    return {
        "age": [None if gap else int(a) for a, gap in zip(age, gaps[0], strict=True)],
        "pay": ["n/a" if gap else f"${p:,}" for p, gap in zip(pay, gaps[1], strict=True)],
        "sex": ["" if gap else " M" if s else "F" for s, gap in zip(sex, gaps[2], strict=True)],
        "here": ["yes" if h else "no" for h in here],
        "since": [start + datetime.timedelta(days=int(d)) for d in day],
        "id": [f"person {k}" for k in range(n)],
        "y": y.tolist(),
    }


def as_pandas(columns):
    return pd.DataFrame(columns)


def as_objects(columns):
    return pd.DataFrame(columns, dtype=object)


def as_polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


def as_lazy(columns):
    return as_polars(columns).lazy()


def as_arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def as_batch(columns):
    return as_arrow(columns).to_batches()[0]


class Relation:
    """What offers its columns through Arrow, as relations of DuckDB do."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OlderRelation:
    def __init__(self, table):
        self._table = table

    def fetch_arrow_table(self):
        return self._table


def as_relation(columns):
    return Relation(as_arrow(columns))


def as_older_relation(columns):
    return OlderRelation(as_arrow(columns))


CONTAINERS = [as_pandas, as_objects, as_polars, as_lazy, as_arrow, as_batch]
CONTAINERS += [as_relation, as_older_relation]
PEOPLE = people()


@pytest.fixture(scope="module")
def fitted():
    return Ridge(**KNOWN).fit(as_pandas(PEOPLE), "y")


@pytest.mark.parametrize("made", CONTAINERS)
def test_every_frame_gives_the_same_model(fitted, made):
    frame = made(PEOPLE)
    model = Ridge(**KNOWN).fit(frame, "y")
    assert np.array_equal(model.coef_, fitted.coef_)
    assert np.array_equal(model.predict(frame), fitted.predict(as_pandas(PEOPLE)))
    assert model.score(frame, "y") == model.score(frame, PEOPLE["y"]) > 0.93


def test_coefficients_have_names_and_own_units(fitted):
    assert fitted.feature_names_out_.tolist() == FEATURES
    assert fitted.feature_names_in_.tolist() == [name for name in SCHEMA if name != "id"]
    assert fitted.n_features_in_ == 5
    by_name = dict(zip(FEATURES, fitted.coef_, strict=True))
    assert by_name["age"] == pytest.approx(0.1, abs=0.01)
    assert by_name["pay"] == pytest.approx(1 / 2_000, rel=0.1)
    assert by_name["sex = M"] - by_name["sex = F"] == pytest.approx(2.0, abs=0.2)
    assert by_name["here"] == pytest.approx(-1.0, abs=0.2)
    lists = [by_name[name] for name in FEATURES if name.startswith("sex")]
    assert sum(lists) == pytest.approx(0.0, abs=1e-9)


def test_the_certificate_names_the_schema(fitted):
    assert "the names of the columns are public" in fitted.privacy_.assumptions
    assert "schema and bounds_y were chosen without looking at the data" in str(fitted.privacy_)
    assert "bounds_X" not in str(fitted.privacy_)


def test_nothing_is_spent_on_the_ranges_of_indicators():
    """Three columns of numbers and a flag's filler are looked at; no list, no flag."""
    plan = LinearRegression(**KNOWN).plan(n=N)
    (powers,) = [r for r in plan.releases if r.name == "histogram in powers of two of the features"]
    assert powers.shape[0] == 3  # age, pay and since
    assert powers.clip == pytest.approx(np.sqrt(3))
    lists = {"a": Category(["x", "y"]), "b": Flag()}
    only = LogisticRegression(schema=lists, classes=[0, 1]).plan(n=N)
    assert not [r for r in only.releases if "of the features" in r.name]


def test_the_plan_is_that_of_the_fit(fitted):
    plan = Ridge(**KNOWN).plan(n=N)
    assert plan.releases == fitted.privacy_.plan.releases
    assert Ridge(**KNOWN).plan(n=N, n_features=5).releases == plan.releases
    more = Ridge(**KNOWN).plan(n=N, n_features=7)
    assert more.releases != plan.releases
    with pytest.raises(ValueError, match="the schema has 5 columns"):
        Ridge(**KNOWN).plan(n=N, n_features=4)
    with pytest.raises(ValueError, match="n_features is missing"):
        Ridge().plan(n=N)


def test_a_plan_after_a_fit_is_that_of_the_parameters():
    frame = pd.DataFrame({"a": np.linspace(0, 1, N), "c": ["x", "y"] * (N // 2)})
    model = Ridge(schema={"a": Number(0, 1), "c": Category(["x", "y"])}, bounds_y=(0, 1))
    model.fit(frame, np.linspace(0, 1, N))
    new = {"a": Number(0, 1), "c": Number(0, 9)}
    fresh = Ridge(schema=new, bounds_y=(0, 1)).plan(N)
    assert model.set_params(schema=new).plan(N).releases == fresh.releases


def test_columns_are_found_by_name(fitted):
    frame = as_pandas(PEOPLE)
    mixed = frame[["since", "here", "sex", "pay", "age"]].assign(more="text")
    assert np.array_equal(fitted.predict(mixed), fitted.predict(frame))
    with pytest.raises(ValueError, match="X lacks the column 'sex'"):
        fitted.predict(frame.drop(columns="sex"))


def test_copies_pickles_and_files(fitted):
    frame = as_pandas(PEOPLE)
    expected = fitted.predict(frame)
    plain = json.loads(json.dumps(fitted.to_dict()))
    for model in (
        copy.deepcopy(fitted),
        pickle.loads(pickle.dumps(fitted)),
        Ridge.from_dict(plain),
    ):
        assert np.array_equal(model.predict(frame), expected)
        assert model.feature_names_out_.tolist() == FEATURES
    again = clone(fitted).fit(frame, "y")
    assert np.array_equal(again.coef_, fitted.coef_)
    plain["schema"]["columns"].pop()
    with pytest.raises(ValueError, match="one coefficient for each feature of its schema"):
        Ridge.from_dict(plain)


def test_in_a_pipeline():
    frame = as_pandas(PEOPLE)
    made = Pipeline([("model", Ridge(**KNOWN))])
    assert made.fit(frame.drop(columns="y"), frame["y"]).score(frame, frame["y"]) > 0.93


def test_classes_and_counts_and_streams():
    frame = as_pandas(PEOPLE)
    frame["rich"] = np.where(frame["y"] > 0, "yes", "no")
    schema = SCHEMA | {"y": Ignore()}
    model = LogisticRegression(epsilon=50, schema=schema, classes=["no", "yes"], random_state=0)
    assert model.fit(frame, "rich").score(frame, "rich") > 0.9
    frame["count"] = np.maximum(frame["y"].round(), 0)
    counts = PoissonRegressor(
        epsilon=50, schema=schema | {"rich": Ignore()}, bounds_y=(0, 20), random_state=0
    )
    assert counts.fit(frame, "count").score(frame, "count") > 0.2
    stream = LogisticRegression(
        epsilon=50,
        schema=schema | {"count": Ignore(), "age": Number(20, 70, missing="drop")},
        classes=["no", "yes"],
        solver="one-pass",
        random_state=0,
    )
    for start in range(0, N, 1_000):
        stream = stream.partial_fit(frame.iloc[start : start + 1_000], "rich")
    assert "age is missing" not in stream.feature_names_out_
    there = frame[frame["age"].notna()]
    assert stream.score(there, "rich") > 0.6


def test_rows_are_dropped_where_the_schema_says_so():
    """They are the empty row: as if those rows held NaN, which the guarantee covers."""
    frame = as_pandas(PEOPLE)[["age", "here", "y"]]
    numbers = frame.assign(here=(frame["here"] == "yes").astype(float))
    drop = {"age": Number(20, 70, missing="drop"), "here": Flag()}
    known = {"epsilon": 10.0, "bounds_y": (-10, 10), "solver": "moments", "random_state": 0}
    found = LinearRegression(schema=drop, **known).fit(frame, "y")
    box = {"bounds_X": ([0.0, 0.0], [1.0, 1.0]), "on_invalid": "drop"}
    numbers["age"] = (numbers["age"] - 20) / 50
    plain = LinearRegression(**known, **box).fit(numbers.drop(columns="y"), numbers["y"])
    assert found.coef_[0] == pytest.approx(plain.coef_[0] / 50)
    assert found.coef_[1] == pytest.approx(plain.coef_[1])
    with pytest.raises(ValueError, match="for a prediction needs every cell"):
        found.predict(frame)
    strict = LinearRegression(schema={**drop, "age": Number(20, 70)}, **known)
    with pytest.raises(ValueError, match=r"column 'age' of X holds NaN.*missing='drop'"):
        strict.fit(frame, "y")
    lenient = strict.set_params(on_invalid="drop").fit(frame, "y")
    assert np.array_equal(lenient.coef_, found.coef_)


def test_without_an_intercept_zero_stays_zero():
    frame = pd.DataFrame({"x": np.linspace(5, 10, N)}).assign(y=lambda f: 3 * f["x"])
    given = {"schema": {"x": Number(5, 10)}, "bounds_y": (0, 40), "epsilon": 50.0}
    model = LinearRegression(fit_intercept=False, solver="moments", random_state=0, **given)
    model.fit(frame, "y")
    assert model.intercept_ == 0.0
    assert model.coef_[0] == pytest.approx(3.0, rel=0.02)


def test_positive_coefficients_are_not_centred():
    frame = as_pandas(PEOPLE)[["sex", "y"]]
    model = Ridge(
        schema={"sex": SCHEMA["sex"]}, bounds_y=(-10, 10), positive=True, epsilon=50, random_state=0
    )
    assert (model.fit(frame, "y").coef_ >= 0.0).all()


def test_a_model_shortens_new_rows_as_it_did_those_it_learned_from():
    """Lengths are those of scaled rows, so they are taken there, and lists are not centred."""
    from privlearn.solvers import BoostedStatistics

    frame = as_pandas(PEOPLE)[["age", "sex", "y"]]
    schema = {"age": SCHEMA["age"], "sex": SCHEMA["sex"]}
    known = {"bounds_y": (-10, 10), "epsilon": 50.0, "random_state": 0}
    solver = BoostedStatistics(clip=0.5)
    model = LinearRegression(schema=schema, solver=solver, **known).fit(frame, "y")
    encoding = model._encoding
    values = EncodedRows(
        encoding, encoding.encode({n: frame[n].to_numpy(object) for n in schema}, N)
    )
    array = encoding.scaled(values.values)
    facts = {"bounds_X": (0, 1), "data_norm": encoding.row_norm(None)}
    plain = LinearRegression(solver=solver, **facts, **known).fit(array, frame["y"])
    np.testing.assert_allclose(model.predict(frame), plain.predict(array), rtol=1e-9, atol=1e-9)
    assert np.array_equal(model.predict(values), model.predict(frame))


def test_noise_of_a_list_is_not_told():
    model = LinearRegression(**{**KNOWN, "solver": "moments"}).fit(as_pandas(PEOPLE), "y")
    lists = np.array([name.startswith("sex") for name in FEATURES])
    assert np.array_equal(np.isnan(model.coef_noise()), lists)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"schema": [("age", Number())]}, "schema is a list"),
        ({"schema": {"age": Number}}, "write it with brackets"),
        ({"schema": {"age": (0, 1)}}, r"schema\['age'\] is a tuple"),
        ({"schema": {1: Number()}}, "no text"),
        ({"schema": {"agee": Number()}}, "did you mean 'age'"),
        ({"schema": {name: Ignore() for name in PEOPLE if name != "y"}}, "nothing can be learned"),
        ({"schema": {**SCHEMA, "id": Number(0, 1)}}, "a column of text needs a Category"),
        ({"schema": SCHEMA, "bounds_X": (0, 1)}, "bounds_X is given by place"),
        ({"schema": SCHEMA, "bounds_X": {"age": (0, 1)}}, "leave one of the two out"),
        ({"schema": SCHEMA, "scale_X": 1.0}, "scale_X is given by place"),
        ({"schema": SCHEMA, "coef_bounds": (0, 1)}, "coef_bounds is given by place"),
    ],
)
def test_schemas_that_cannot_be_used(given, said):
    with pytest.raises((ValueError, UnsupportedCombinationError), match=said):
        Ridge(bounds_y=(0, 1), **given).fit(as_pandas(PEOPLE), "y")


def test_targets_that_cannot_be_found():
    frame = as_pandas(PEOPLE)
    with pytest.raises(ValueError, match="but X has no such column"):
        Ridge(**KNOWN).fit(frame, "wage")
    with pytest.raises(ValueError, match="did you mean 'age'"):
        Ridge(**KNOWN).fit(frame, "agee")
    with pytest.raises(ValueError, match="did you mean 'yearly_cost'"):
        Ridge().fit(pd.DataFrame({"age": [1.0], "yearly_cost": [2.0]}), "Cost")
    with pytest.raises(ValueError, match="whose columns have no names"):
        Ridge(**KNOWN).fit(np.zeros((3, 2)), [1, 2, 3])
    with pytest.raises(ValueError, match="y is a str"):
        Ridge().fit(np.zeros((3, 2)), "wage")
    twice = pd.concat([frame[["age"]], frame[["age"]]], axis=1)
    with pytest.raises(ValueError, match="the same name"):
        Ridge(schema={"age": Number(0, 1)}).fit(twice, frame["y"])
    with pytest.raises(UnsupportedCombinationError, match="schema is not used by kernels"):
        KernelRegressor(schema=SCHEMA).fit(frame, "y")


def test_a_lazy_frame_that_fails_quotes_nothing():
    pl = pytest.importorskip("polars")
    lazy = pl.LazyFrame({"age": ["secret"], "y": [1.0]}).with_columns(pl.col("age").cast(pl.Int64))
    with pytest.raises(ValueError, match="X could not be computed") as caught:
        Ridge(schema={"age": Number(0, 1)}).fit(lazy, "y")
    error = caught.value
    while error is not None:
        assert "secret" not in str(error)
        error = error.__cause__ or error.__context__


def test_targets_by_name_without_a_schema():
    frame = pd.DataFrame({"a": np.linspace(0, 1, N), "y": np.linspace(0, 2, N)})
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 2), random_state=0)
    by_name = model.fit(frame, "y").coef_
    assert np.array_equal(by_name, model.fit(frame[["a"]], frame["y"]).coef_)
    assert model.feature_names_out_.tolist() == ["a"]


NASTY = [
    "<script>alert(1)</script>",
    '=cmd|"/C calc"!A0',
    "a\x1b[31mb",
    "x\n\r\0y",
    "\"'`,;",
    "é\u202e",
]


def test_names_and_values_of_any_kind_are_harmless():
    """In errors, JSON and HTML: quoted, escaped, and read back as they were."""
    rng = np.random.default_rng(0)
    values = rng.choice(NASTY, N)
    frame = pd.DataFrame({name: values for name in NASTY}).assign(y=rng.normal(size=N))
    schema = {name: Category(NASTY) for name in NASTY}
    model = Ridge(schema=schema, bounds_y=(-3, 3), random_state=0).fit(frame, "y")
    text = json.dumps(model.to_dict())
    again = Ridge.from_dict(json.loads(text))
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert again.feature_names_out_.tolist() == model.feature_names_out_.tolist()
    for page in (model.privacy_._repr_html_(), model._repr_html_()):
        assert "<script>alert" not in page
        assert "\x1b" not in page
    odd = frame.copy()
    for name in NASTY:
        odd[name] = "not listed"
        with pytest.raises(ValueError, match="no category of the schema") as caught:
            model.predict(odd)
        assert str(caught.value).isprintable()
        with pytest.raises(ValueError, match="lacks the column") as caught:
            model.predict(frame.drop(columns=name))
        assert str(caught.value).isprintable()
        odd[name] = frame[name]
    for make in (
        lambda: Ridge(schema={"a\x1b[31m": Number()}).fit(frame, "y"),
        lambda: Ridge(bounds_X={"a\x1b[31m": (0, 1)}).fit(frame[["y"]], values),
        lambda: Ridge().fit(frame, "a\x1b[31m"),
        lambda: Category(["\x1b", "\x1b"]),
    ):
        with pytest.raises(ValueError, match=r"\S") as caught:
            make()
        assert str(caught.value).isprintable()


def test_noise_off_it_is_the_model_of_the_encoded_table():
    """A fit of the frame is a fit of its features: nothing is added on the way."""
    from sklearn.linear_model import LinearRegression as LeastSquares

    frame = as_pandas(PEOPLE)
    with without_noise():
        model = LinearRegression(**{**KNOWN, "solver": "moments", "epsilon": 1e3}).fit(frame, "y")
    array = model._encoding.encode(
        {n: frame[n].to_numpy(object) for n in model.feature_names_in_}, N
    )
    exact = LeastSquares().fit(array, frame["y"])
    np.testing.assert_allclose(model.predict(frame), exact.predict(array), atol=0.02)


@pytest.mark.parametrize("kind", [Flag(), Category(["True", "False"])], ids=["flag", "list"])
def test_truth_values_are_the_same_in_every_type_of_column(kind):
    """Plain, with room for missing ones, and as objects: what a gap makes of them says nothing."""
    values = np.arange(N) % 3 == 0
    column, y = pd.Series(values), values.astype(float)
    models = [
        Ridge(schema={"x": kind}, bounds_y=(0, 1), random_state=0).fit(pd.DataFrame({"x": made}), y)
        for made in (column, column.astype("boolean"), column.astype(object), column.map(str))
    ]
    for model in models[1:]:
        assert np.array_equal(model.coef_, models[0].coef_)


def test_the_package_offers_it():
    assert privlearn.schema.Number is Number


def test_gaps_of_a_frame_are_told_by_column_and_with_what_a_schema_says():
    frame = pd.DataFrame({"age": [30.0, 40.0], "pay": [1.0, np.nan]})
    with pytest.raises(ValueError, match=r"contains NaN in column 'pay'.*schema=.*on_invalid"):
        Ridge().fit(frame, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"Input X contains NaN\. Clean"):
        Ridge().fit(frame.to_numpy(), [1.0, 2.0])
    model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1)).fit(frame.fillna(0.0), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"NaN in column 'pay'.*fit with a schema"):
        model.predict(frame)
    with pytest.raises(ValueError, match="in column 'pay'") as told:
        KernelRegressor().fit(frame, [1.0, 2.0])
    assert "schema" not in str(told.value)
