"""Models with a schema are scored on frames, as they predict them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from privlearn import LinearRegression, LogisticRegression
from privlearn.metrics import evaluate, plan
from privlearn.schema import Category, Number

RELATIONS = ("zero_out", "add_remove", "replace_one")
MUCH = {"epsilon": 1e7, "delta": 1e-6, "random_state": 0}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}
FIT = {"epsilon": 1e4, "delta": 1e-6, "random_state": 0}


def columns(n=1_500, seed=0):
    """Ranges that are far from 0 to 1, so that units matter."""
    rng = np.random.default_rng(seed)
    age, sex = rng.uniform(100, 200, n), rng.choice(["F", "M"], n)
    cost = age / 2 + 10 * (sex == "F") + rng.normal(0, 3, n)
    return {"age": age, "sex": sex, "cost": cost, "high": np.where(cost > 80, "yes", "no")}


def schema(missing="raise"):
    return {"age": Number(100, 200, missing=missing), "sex": Category(["F", "M"])}


def line(frame, missing="raise", **more):
    known = {"schema": schema(missing), "bounds_y": (0, 150)}
    return LinearRegression(**known, **FIT, **more).fit(frame, "cost")


def without_certificate(model):
    content = model.to_dict()
    del content["certificate"]
    return type(model).from_dict(content)


@pytest.fixture(scope="module", params=FRAMES)
def made(request):
    frame = FRAMES[request.param]
    held = columns()
    return frame, line(frame({name: held[name] for name in ("age", "sex", "cost")}))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("certified", [True, False])
def test_scores_are_those_of_the_model(made, relation, certified):
    frame, model = made
    held = columns(seed=1)
    rows = frame({name: held[name] for name in ("age", "sex", "cost")})
    model = model if certified else without_certificate(model)
    planned = {"adjacency": relation, "bounds_y": (0, 150), "epsilon": 1e7, "delta": 1e-6}
    true = model.score(rows, "cost")
    assert true > 0.9
    for X, y in ((rows, "cost"), (rows[["age", "sex"]], held["cost"]), (rows, rows["cost"])):
        found = evaluate(model, X, y, random_state=0, **planned)
        assert found.r2.value == pytest.approx(true, abs=1e-3)
        assert found.r2.low < true < found.r2.high
        assert found.privacy.plan == plan(model, 1_500, **planned)


def test_labels_by_the_name_of_their_column():
    held = columns()
    for make in FRAMES.values():
        rows = make({name: held[name] for name in ("age", "sex", "high")})
        model = LogisticRegression(schema=schema(), classes=["no", "yes"], **FIT).fit(rows, "high")
        found = evaluate(model, rows, "high", **MUCH)
        assert found.accuracy.value == pytest.approx(model.score(rows, "high"), abs=1e-3)
        with pytest.raises(ValueError, match="X has no such column"):
            evaluate(model, rows, "hihg", **MUCH)
        with pytest.raises(ValueError, match="X lacks the column 'age'"):
            evaluate(model, rows[["sex", "high"]], "high", **MUCH)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("missing", ["raise", "drop", "fill", "flag"])
@pytest.mark.parametrize("kind", FRAMES)
def test_missing_cells(kind, missing, relation):
    """Refused, empty or filled in, as schema and on_invalid say; never quoted."""
    make, held = FRAMES[kind], columns(600)
    names = ("age", "sex", "cost")
    model = line(make({name: held[name] for name in names}), missing)
    gaps = {name: held[name].tolist() for name in names}
    for k in range(0, 600, 4):
        gaps["age"][k] = None
    kept = make({name: [cell for k, cell in enumerate(gaps[name]) if k % 4] for name in names})
    rows, given = make(gaps), {"adjacency": relation, **MUCH}
    for on_invalid in ("raise", "drop"):
        if (missing, on_invalid) == ("raise", "raise"):
            with pytest.raises(ValueError, match="column 'age' of X holds NaN, an empty cell"):
                evaluate(model, rows, "cost", **given)
            continue
        found = evaluate(model, rows, "cost", on_invalid=on_invalid, **given)
        empty = missing in ("raise", "drop")
        true = model.score(kept if empty else rows, "cost")
        assert found.r2.value == pytest.approx(true, abs=2e-3)
        assert found.rows == pytest.approx(450 if empty else 600, abs=1)
        gaps["cost"] = [None if k == 1 else cell for k, cell in enumerate(gaps["cost"])]
    if missing != "raise":
        with pytest.raises(ValueError, match="Input y contains NaN"):
            evaluate(model, make(gaps), "cost", **given)


def test_a_frame_of_a_model_without_schema_may_hold_the_target_too():
    held = columns()
    rows = pd.DataFrame({name: held[name] for name in ("age", "cost")})
    model = LinearRegression(bounds_X=(100, 200), bounds_y=(0, 150), **FIT)
    model.fit(rows, "cost")
    found = evaluate(model, rows, "cost", **MUCH)
    assert found.r2.value == pytest.approx(model.score(rows, "cost"), abs=1e-3)


def test_where_one_row_is_not_one_person_the_certificate_says_what_is_taken_for_granted():
    held, own = columns(), "one row is one person here"
    rows = pd.DataFrame({name: held[name] for name in ("age", "sex", "cost")})
    people = LinearRegression(max_rows_per_person=3, schema=schema(), bounds_y=(0, 150), **FIT)
    people.fit(rows, "cost", groups=np.arange(1_500) // 3)
    for model, told in ((people, True), (line(rows), False)):
        found = evaluate(model, rows, "cost", **MUCH).privacy
        assert any(own in one for one in found.assumptions) == told
