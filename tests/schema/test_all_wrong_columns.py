"""Whoever has several columns wrong is told of all at once, and not of one more with every try."""

import numpy as np
import pytest

from privlearn import LinearRegression
from privlearn.cli import main
from privlearn.schema import Category, Date, Flag, Ignore, Number

pd = pytest.importorskip("pandas")
N = 400
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(17, 91, N),
        "sex": RNG.choice(["F", "M"], N),
        "since": RNG.choice(["2001-05-17", "2015-02-28"], N),
        "member": RNG.choice(["yes", "no"], N),
        "y": RNG.uniform(size=N),
    }
)
SCHEMA = {
    "age": Number(17, 90),
    "sex": Category(["F", "M"]),
    "since": Date("2000-01-01", "2020-12-31"),
    "member": Flag(),
}
KNOWN = {"bounds_y": (0, 1), "epsilon": 5}
BROKEN = FRAME.assign(sex="X", since="17/05/2001", member="perhaps")


def fitted():
    return LinearRegression(schema=SCHEMA, **KNOWN).fit(FRAME, "y")


def error_of(call):
    with pytest.raises(ValueError, match="column") as caught:
        call()
    return str(caught.value)


def test_columns_that_are_not_there():
    wrong = {"agee": Number(), "sexx": Ignore(), "town": Flag(), "member": Flag()}
    text = error_of(lambda: LinearRegression(schema=wrong, **KNOWN).fit(FRAME, "y"))
    assert "schema has 'agee', 'sexx', 'town', but X has no such columns to predict from" in text
    assert "by 'agee', did you mean 'age'? By 'sexx', did you mean 'sex'?" in text
    one = error_of(lambda: LinearRegression(schema={"agee": Flag()}, **KNOWN).fit(FRAME, "y"))
    assert one.endswith("but X has no such column to predict from; did you mean 'age'?")
    bounds = {"agee": (0, 1), "sinc": (0, 1)}
    text = error_of(lambda: LinearRegression(bounds_X=bounds, **KNOWN).fit(FRAME[["age"]], N * [0]))
    assert "bounds_X has ranges of 2 columns" in text
    plain = FRAME[["age", "y"]].assign(other=1.0)
    text = error_of(lambda: LinearRegression(bounds_X=bounds, **KNOWN).fit(plain, plain["y"]))
    assert "bounds_X has 'agee', 'sinc', but X has no such columns; by 'agee', did you" in text


def test_columns_that_a_model_needs():
    text = error_of(lambda: fitted().predict(FRAME[["member"]].rename(columns={"member": "m"})))
    assert "X lacks the columns 'age', 'sex', 'since', 'member', which the model needs; add" in text
    text = error_of(lambda: fitted().predict(FRAME.rename(columns={"sex": "Sex", "age": "ages"})))
    assert "'age', 'sex', which the model needs; by 'age', did you mean 'ages'? By 'sex'" in text


@pytest.mark.parametrize("how", ["fit", "predict", "dataset"])
def test_columns_that_hold_what_they_should_not(how):
    if how == "fit":
        text = error_of(lambda: LinearRegression(schema=SCHEMA, **KNOWN).fit(BROKEN, "y"))
        assert "or pass on_invalid='drop'" in text
    elif how == "predict":
        text = error_of(lambda: fitted().predict(BROKEN))
        assert "for a prediction needs every cell" in text
    else:
        pa = pytest.importorskip("pyarrow")
        import pyarrow.dataset as ds

        source = ds.dataset(pa.Table.from_pandas(BROKEN))
        text = error_of(lambda: LinearRegression(schema=SCHEMA, **KNOWN).fit(source, y="y"))
    assert text.startswith("3 columns of X hold NaN, an empty cell or something that is not what")
    assert "'sex' (no category), 'since' (no date; texts are read as 2020-01-31" in text
    assert "'member' (no flag); " in text
    assert "'age'" not in text
    for cell in ("17/05/2001", "perhaps", "X'"):
        assert cell not in text


def test_where_something_is_still_to_be_found():
    open_ = {**SCHEMA, "town": Category()}
    text = error_of(
        lambda: LinearRegression(schema=open_, **KNOWN).fit(BROKEN.assign(town=None), "y")
    )
    assert text.startswith("4 columns of X hold NaN")


def test_very_many_are_cut():
    many = {f"c{k}": Flag() for k in range(1_000)}
    text = error_of(lambda: LinearRegression(schema=many, **KNOWN).fit(FRAME, "y"))
    assert "'c8', 'c9' and 990 more, but X has no such columns" in text
    assert len(text) < 2_000
    wide = pd.DataFrame({name: ["?"] * 9 for name in many})
    text = error_of(lambda: LinearRegression(schema=many, **KNOWN).fit(wide, np.zeros(9)))
    assert text.startswith("1,000 columns of X hold NaN")
    assert "'c9' (no flag) and 990 more; " in text


def test_the_command_line_names_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("rows.csv", index=False)
    fit = ["fit", "rows.csv", "--target", "y", "--epsilon", "1"]
    assert main([*fit, "--bounds", "agee=0:1", "--categories", "sexx=F,M"]) == 1
    said = capsys.readouterr().err
    assert "the schema has 'agee', 'sexx', but rows.csv has no such columns; by 'agee', did" in said
    assert main([*fit, "--ignore", "foo", "--bounds", "agee=0:1"]) == 1
    assert "--ignore or the schema has 'agee', 'foo', but rows.csv" in capsys.readouterr().err
    assert main([*fit, "--columns", "foo,sexx"]) == 1
    assert "rows.csv has no columns 'foo', 'sexx'; by 'sexx', did you" in capsys.readouterr().err
    assert main([*fit, "--bounds", "foo=0:1", "--bounds", "zzz=0:1"]) == 1
    assert "no such columns; there are: age, sex, since, member, y" in capsys.readouterr().err
