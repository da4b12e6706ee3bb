"""Sums of coefficients, references and ratios: what follows from the matrices, and nothing else."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from privlearn import LinearRegression, LogisticRegression, PoissonRegressor, load
from privlearn.exceptions import MissingFactError
from privlearn.schema import Category, Flag, Number

RNG = np.random.default_rng(0)
N = 6_000
FRAME = pd.DataFrame(
    {
        "age": RNG.uniform(20, 60, N),
        "region": RNG.choice(["north", "south", "west"], N, p=[0.5, 0.3, 0.2]),
        "size": RNG.choice(["1", "2"], N),
        "member": RNG.choice(["yes", "no"], N),
    }
)
SCORE = (FRAME["age"] - 40) / 20 - 0.8 * (FRAME["region"] == "south") + 0.4 * (FRAME["size"] == "2")
SCHEMA = {
    "age": Number(20, 60),
    "region": Category(["north", "south", "west"], other=True),
    "size": Category([1, 2]),
    "member": Flag(),
}
SEEDED = {"intervals": True, "random_state": 0, "epsilon": 3.0, "schema": SCHEMA}
NORTH, SOUTH, WEST = (f"region = {name}" for name in ("north", "south", "west"))
OTHER = "region is another value"


def drawn():
    """The same draws for every test, whichever run before it."""
    return np.random.default_rng(1)


def line(**more):
    y = SCORE + 0.3 * drawn().standard_normal(N)
    return LinearRegression(bounds_y=(-5, 5), **{**SEEDED, **more}).fit(FRAME, y)


def classes():
    y = np.where(drawn().random(N) < 1 / (1 + np.exp(-SCORE)), "yes", "no")
    return LogisticRegression(C=np.inf, classes=["no", "yes"], **SEEDED).fit(FRAME, y)


def counts():
    return PoissonRegressor(bounds_y=(0, 40), **SEEDED).fit(FRAME, drawn().poisson(np.exp(SCORE)))


@pytest.fixture(scope="module", params=[line, classes, counts])
def model(request):
    return request.param()


@pytest.fixture(scope="module")
def straight():
    return line()


def named(table):
    """Each line of a table by its name, as plain numbers."""
    return table.to_frame().T.to_dict("list")


def same(found, known):
    assert found.keys() == known.keys()
    for name, numbers in found.items():
        np.testing.assert_allclose(numbers, known[name], rtol=1e-9, atol=1e-12)


def test_errors_of_a_sum_are_those_of_the_matrices(model):
    weights = {"age": 10, SOUTH: 1, NORTH: -1, "(intercept)": 0.5}
    table, errors = model.contrast(weights, 0.9), model._errors
    places = [model.summary().names.index(name) for name in weights]
    a = np.array([*weights.values()])
    for found, matrix in ((table.noise, errors.noise), (table.std_err, errors.total)):
        hand = sum(
            a[i] * a[j] * matrix[p, q] for i, p in enumerate(places) for j, q in enumerate(places)
        )
        assert found[0] == pytest.approx(np.sqrt(hand), rel=1e-9)
    coef = np.append(np.ravel(model.coef_), model.intercept_)
    assert table.coef[0] == pytest.approx(a @ coef[places])
    row = np.zeros((1, len(coef)))
    row[0, places] = a
    degrees = errors.degrees(row)[0]
    reach = stats.t.ppf(0.95, degrees) * table.std_err[0]
    assert table.high[0] - table.coef[0] == pytest.approx(reach)
    assert table.p_value[0] == pytest.approx(2 * stats.t.sf(abs(table.z[0]), degrees))
    assert table.level == 0.9
    assert table.title == model.summary().title


def test_one_coefficient_alone_is_its_line(model):
    table = model.summary()
    same(named(model.contrast({name: {name: 1} for name in table.names})), named(table))
    by_place = model.contrast({np.int64(k): 1 if k == 2 else 0 for k in range(4)})
    assert named(by_place)[f"({SOUTH})"] == named(table)[SOUTH]


def test_lines_beside_a_reference_are_contrasts(model):
    reference = {"region": "north", "size": 1.0}  # as cells are compared: "1" and 1.0 are one
    table, plain = model.summary(reference=reference), model.summary()
    assert table.names == ("age", SOUTH, WEST, OTHER, "size = 2", "member", "(intercept)")
    contrasts = {name: {name: 1, NORTH: -1} for name in (SOUTH, WEST, OTHER)}
    contrasts["size = 2"] = {"size = 2": 1, "size = 1": -1}
    contrasts["(intercept)"] = {"(intercept)": 1, NORTH: 1, "size = 1": 1}
    known = named(model.contrast(contrasts))
    same(named(table), known | {name: named(plain)[name] for name in ("age", "member")})
    assert f"Relative to {NORTH}, size = 1, which the intercept includes." in str(table)
    half = named(model.summary(reference={"size": "2"}))
    assert half[NORTH] == named(plain)[NORTH]
    same(named(model.summary(reference={})), named(plain))


def test_predictions_stay_beside_a_reference(straight):
    found = named(straight.summary(reference={"region": "west", "size": 2}))
    coef = {name: numbers[0] for name, numbers in found.items()}
    rows = FRAME[FRAME["age"].between(25, 55)]  # inside the range that was estimated
    scores = coef["(intercept)"] + coef["age"] * rows["age"]
    scores += rows["region"].map({"north": coef[NORTH], "south": coef[SOUTH], "west": 0.0})
    scores += rows["size"].map({"1": coef["size = 1"], "2": 0.0})
    scores += (rows["member"] == "yes") * coef["member"]
    np.testing.assert_allclose(scores, straight.predict(rows), rtol=1e-9)


@pytest.mark.parametrize(("fit", "word"), [(classes, "odds ratio"), (counts, "rate ratio")])
def test_ratios_are_exp_of_what_is_told_else(fit, word):
    model = fit()
    for how in ({}, {"reference": {"region": "south", "size": 2}}):
        table, plain = model.summary(ratios=True, **how), model.summary(**how)
        for name in ("coef", "low", "high"):
            np.testing.assert_array_equal(getattr(table, name), np.exp(getattr(plain, name)))
        for name in ("noise", "std_err", "z", "p_value", "names", "title"):
            np.testing.assert_array_equal(getattr(table, name), getattr(plain, name))
        assert table.ratio == word
        assert f"{word.capitalize()}s and their ends are exp" in str(table)
        assert ("geometric mean" in str(table)) == (not how)
    head, plain_head = table.rows()[0], plain.rows()[0]
    assert head[1:4] == [word, "noise s.e. (log)", "std err (log)"]
    assert head[4:] == plain_head[4:]
    assert plain_head[1:4] == ["coef", "noise s.e.", "std err"]
    ten = model.contrast({"age": 10}, ratios=True)
    assert ten.coef[0] == pytest.approx(np.exp(10 * model.summary().coef[0]))
    assert ten.names == ("10 age",)


def test_text_html_frame_and_values_agree():
    table = counts().summary(reference={"region": "north"}, ratios=True)
    values, frame, page = table.to_dict(), table.to_frame(), table._repr_html_()
    assert [*frame.columns] == ["rate_ratio", "noise", "std_err", "z", "p_value", "low", "high"]
    assert [*values] == ["title", "level", "names", *frame.columns, "notes"]
    for name in frame:
        assert frame[name].tolist() == values[name]
    for row in table.rows():
        for cell in row:
            assert cell in str(table)
            assert f">{cell}</t" in page
    for note in table.notes:
        assert note in str(table)
        assert note.replace("'", "&#x27;") in page
    assert table.coef.tolist() == values["rate_ratio"]


def test_a_loaded_model_tells_the_same(model, tmp_path):
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    ratios = not isinstance(model, LinearRegression)
    for ask in (
        lambda one: one.contrast({SOUTH: 1, NORTH: -1}, ratios=ratios),
        lambda one: one.summary(0.9, reference={"region": "south"}, ratios=ratios),
    ):
        assert str(ask(again)) == str(ask(model))
        assert json.dumps(ask(again).to_dict()) == json.dumps(ask(model).to_dict())


def test_lists_that_were_found_have_references_too():
    rows = FRAME[["age", "region"]]
    model = LinearRegression(**{**SEEDED, "schema": "estimate"}).fit(rows, SCORE)
    table = named(model.summary(reference={"region": "north"}))
    assert NORTH not in table
    assert table[SOUTH] == pytest.approx(named(model.contrast({"it": {SOUTH: 1, NORTH: -1}}))["it"])


@pytest.mark.parametrize(
    ("weights", "name"),
    [
        ({SOUTH: 1, NORTH: -1}, "-(region = north) + (region = south)"),
        ({"age": -2.5, "(intercept)": 1}, "-2.5 age + (intercept)"),
        ({k: 1 for k in range(6)}, "sum of 6 coefficients"),
        ({"age": 1, 0: 1, NORTH: 0}, "2 age"),
    ],
)
def test_a_sum_without_a_name_says_what_it_is(straight, weights, name):
    assert straight.contrast(weights).names == (name,)


def test_what_noise_hides_is_not_told():
    twice = np.column_stack([FRAME["age"], FRAME["age"], drawn().uniform(20, 60, N)])
    model = LinearRegression(
        intervals=True, random_state=0, bounds_X=(20, 60), bounds_y=(-5, 5)
    ).fit(twice, SCORE)
    table = model.contrast({"x0": {"x0": 1}, "less": {"x0": 1, 1: -1}, "both": {0: 1, "x1": 1}})
    assert np.isnan(table.std_err).tolist() == [True, True, False]
    assert "nan: noise leaves too little" in str(table)
    assert "nan: noise" not in str(model.contrast({0: 1, 1: 1}))


def test_a_variance_beyond_all_numbers_spoils_no_other_line():
    X = np.column_stack([drawn().uniform(-1e-90, 1e-90, N), FRAME["age"]])
    box = ([-1e-90, 20], [1e-90, 60])
    model = LinearRegression(
        intervals=True, random_state=0, bounds_X=box, bounds_y=(-5e90, 5e90), solver="cd"
    ).fit(X, SCORE * 1e90)
    for table in (model.summary(), model.contrast({"x0": {0: 1}, "x1": {1: 1}, "rest": {2: 1}})):
        assert np.isposinf(table.std_err).tolist() == [True, False, False]
        assert np.isfinite(table.std_err[1:]).all()


WRONG_WEIGHTS = [
    ({"region=south": 1}, r"is called 'region=south', .*; did you mean 'region = south'\?$"),
    ({"region=south": 1}, "there are 'age', 'region = north', "),
    ({0.0: 1}, "called 0.0, .*; give names or positions of summary"),
    ({True: 1}, "called True, "),
    ({9: 1}, "position 9, but there are 9 coefficients, which are numbered from 0"),
    ({-1: 1}, "position -1"),
    ({}, "weights is empty"),
    ([1, -1], "weights is a list"),
    ({"none": {}}, "no coefficient has a weight other than 0"),
    ({"age": 0}, "no coefficient has a weight other than 0"),
    ({"age": np.nan}, "the weight of 'age' is nan, but a finite number"),
    ({"age": np.inf}, "finite number"),
    ({"age": "1"}, "the weight of 'age' is '1'"),
    ({"age": True}, "the weight of 'age' is True"),
    ({"age": 1, "ten": {"age": 10}}, "mixed"),
    ({3: {"age": 10}}, "a name for each sum"),
]


@pytest.mark.parametrize(("weights", "words"), WRONG_WEIGHTS)
def test_wrong_weights(straight, weights, words):
    with pytest.raises(ValueError, match=words):
        straight.contrast(weights)


WRONG_REFERENCES = [
    ({"regoin": "north"}, r"names 'regoin', but .*; did you mean 'region'\?$"),
    (
        {"member": "yes"},
        "names 'member', but columns with a list of categories are 'region', 'size'",
    ),
    ({0: "north"}, "names 0, but columns with a list"),
    ({"region": "nort"}, r"column 'region' has no category 'nort', .*; did you mean 'north'\?$"),
    ({"region": "nort"}, "there are 'north', 'south', 'west', 'is another value'; "),
    ({"region": None}, "has no category None"),
    ({"region": ["north"]}, r"has no category \['north'\]"),
    ("region", "reference is a str, but columns with a category each"),
]


@pytest.mark.parametrize(("reference", "words"), WRONG_REFERENCES)
def test_wrong_references(straight, reference, words):
    with pytest.raises(ValueError, match=words):
        straight.summary(reference=reference)


def test_what_cannot_be_told_is_refused(straight):
    for ask in (straight.summary, lambda ratios: straight.contrast({0: 1}, ratios=ratios)):
        with pytest.raises(ValueError, match="LinearRegression are differences in y"):
            ask(ratios=True)
    with pytest.raises(ValueError, match="level=95"):
        straight.contrast({"age": 1}, 95)
    through = line(fit_intercept=False)
    with pytest.raises(ValueError, match="this model has none; contrast"):
        through.summary(reference={"region": "north"})
    with pytest.raises(ValueError, match=r"no coefficient is called '\(intercept\)'"):
        through.contrast({"(intercept)": 1})
    assert np.isfinite(through.contrast({SOUTH: 1, NORTH: -1}).std_err).all()
    plain = LinearRegression(intervals=True, bounds_X=(20, 60), bounds_y=(-5, 5))
    with pytest.raises(ValueError, match="no column of a schema that is a list"):
        plain.fit(FRAME[["age"]], SCORE).summary(reference={"age": 20})
    with pytest.raises(MissingFactError, match="intervals=True"):
        LinearRegression(bounds_X=(20, 60)).fit(FRAME[["age"]], SCORE).contrast({"age": 1})


def test_names_that_several_coefficients_have_need_positions():
    schema = {"a": Category(["b = c", "x"]), "a = b": Category(["c", "x"])}
    rng = drawn()
    rows = pd.DataFrame({"a": rng.choice(["b = c", "x"], N), "a = b": rng.choice(["c", "x"], N)})
    model = LinearRegression(bounds_y=(-5, 5), **{**SEEDED, "schema": schema}).fit(rows, SCORE)
    with pytest.raises(ValueError, match=r"several coefficients are called 'a = b = c'.* 0, 2"):
        model.contrast({"a = b = c": 1})
    assert model.contrast({0: 1, 2: -1}).coef[0] == model.coef_[0] - model.coef_[2]


def test_odd_names_are_harmless():
    odd = "\x1b[31m<i>"
    schema = {"town": Category([odd, "b"])}
    rows = pd.DataFrame({"town": drawn().choice([odd, "b"], N)})
    model = LinearRegression(bounds_y=(-5, 5), **{**SEEDED, "schema": schema}).fit(rows, SCORE)
    for table in (model.summary(reference={"town": odd}), model.contrast({odd: {0: 1}})):
        assert "\x1b" not in str(table) + table._repr_html_()
        assert "<i>" not in table._repr_html_()


@pytest.mark.parametrize("most", [None, 1, 4])
def test_tables_say_that_rows_of_a_person_may_be_alike(most, tmp_path):
    X = FRAME[["age"]]
    known = {"bounds_X": (20, 60), "bounds_y": (-5, 5), "intervals": True, "random_state": 0}
    ids = None if most is None else np.arange(N) // most
    model = LinearRegression(max_rows_per_person=most, **known).fit(X, SCORE, groups=ids)
    model.save(tmp_path / "model.json")
    for one in (model, load(tmp_path / "model.json")):
        for table in (one.summary(), one.contrast({"age": 10})):
            assert ("rows of one person for independent" in str(table)) == (most == 4)
            assert ("rows of one person for independent" in table._repr_html_()) == (most == 4)
