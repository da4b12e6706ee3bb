"""Texts of the command: what a header is, and that no error quotes a cell or is a surprise."""
# ruff: noqa: F811 (fixtures of another file)

import csv
import io
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.test_cli_files import (  # noqa: F401 (fixtures)
    CHARGE,
    FIT,
    ROWS,
    charges,
    empty_ledger,
    folder,
    refused,
)
from privlearn.cli import guard, main
from privlearn.cli.errors import CommandError
from privlearn.cli.header import looks_like_data
from privlearn.cli.lines import LONGEST_CELL
from privlearn.cli.tables import open_source

SECRET = "Szymborska"

# Headers

RECORDS = ["30,900", "Smith,30", "Smith,1e5", "Smith,1999-12-31", "Smith,31.12.1999 10:00"]
RECORDS += ["Smith,nan", "Smith,0x1F", "Smith,$1.200", "Smith,12:30", "a@b.org,north", "Smith,٣"]
RECORDS += ["Smith,,north", "Smith,,", "Smith,45%", "Smith,+49 30 1234", "Smith,TRUE", "-inf,x"]
RECORDS += ["Smith,12-Jan-2020", f"Smith,{'word ' * 60}", '"Smith","30"']


@pytest.mark.parametrize("record", RECORDS)
def test_a_record_is_no_header(refused, folder, record):
    (folder / "bare.csv").write_text(f"{record}\n{record}\n")
    for line in (
        ["fit", "bare.csv", *FIT[2:]],
        ["plan", "--template", "bare.csv", "--target", "wage"],
    ):
        text = refused(*line)
        assert "looks like a record and not like column names" in text
        for cell in next(csv.reader([record])):
            assert not cell or len(cell) < 3 or cell not in text


def test_names_that_may_be_a_record_are_not_listed(refused, folder):
    (folder / "bare.csv").write_text(f"{SECRET},north\n{SECRET},south\n")
    assert main([*FIT, "-o", "m.json"]) == 0
    for line in (
        ["fit", "bare.csv", *FIT[2:]],
        ["plan", "--template", "bare.csv", "--target", "wage"],
        ["predict", "m.json", "bare.csv"],
    ):
        text = refused(*line)
        assert "is its first line a header" in text
        assert SECRET not in text


@pytest.mark.parametrize(
    "header",
    ["age,wage", "hours a week,y2020", "x_1,x-2,(a)", ",age,wage", "age,wage,,", "é,ß", "a.b,c/d"],
)
def test_names_are_a_header(folder, header):
    (folder / "named.csv").write_text(f"{header}\n")
    assert len(open_source("named.csv").names) == header.count(",") + 1


def test_twice_the_same_name_is_told_by_place(refused, folder):
    (folder / "twice.csv").write_text(f"age,{SECRET},wage,{SECRET}\n1,2,3,4\n")
    text = refused("fit", "twice.csv", *FIT[2:])
    assert "columns 2 and 4 of twice.csv have the same name" in text
    assert SECRET not in text


def test_names_can_be_printed(refused, folder):
    (folder / "odd.csv").write_text("age,wa\x1b[31mge\n1,2\n")
    assert "cannot be printed" in refused("fit", "odd.csv", *FIT[2:])


@settings(max_examples=100, derandomize=True, database=None)
@given(st.floats() | st.integers() | st.dates() | st.datetimes() | st.times() | st.booleans())
def test_what_looks_like_data(cell):
    assert looks_like_data(str(cell))


@pytest.mark.parametrize("reader", ["polars", "pyarrow"])
def test_columns_that_are_neither_numbers_nor_text(refused, folder, monkeypatch, reader):
    """They are refused by their type, which is no cell; unless they are not used."""
    pytest.importorskip(reader)
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet as writer

    from privlearn.cli import parquet

    monkeypatch.setattr(parquet, "READERS", (getattr(parquet, f"_by_{reader}"),))
    odd = {"day": [date(2020, 1, 7), None], "list": [[7], None], "nested": [{"a": 7}, None]}
    columns = {"age": [30, None], "wage": [900, 800], **odd}
    writer.write_table(pyarrow.table(columns), "odd.parquet")
    line = ["fit", "odd.parquet", *FIT[2:], "--on-invalid", "drop", "--overwrite"]
    for name in odd:
        text = refused(*[word for word in line if word not in ("--bounds", "age=17:90")])
        assert "which is neither a number nor text" in text
        text = refused(*line, "--bounds", f"{name}=0:9", "--columns", f"age,{name}")
        assert f"column '{name}'" in text
        assert "7" not in text.replace("age=17", "")
    assert main([*line, "--columns", "age"]) == 0


# No text quotes a cell

S = SECRET.encode()
BROKEN = [
    b'30,"' + S,
    b"30," + S + b"\0",
    b"30," + S + b"\xff",
    b"30," + S + b"\r1",
    b"30," + S * LONGEST_CELL,
    b"30,1," + S,
    S,
    b"30," + S,
    S + b",900",
]


@pytest.mark.parametrize("line", BROKEN, ids=range(len(BROKEN)))
@pytest.mark.parametrize("first", [True, False])
def test_errors_quote_no_cell(folder, capsys, line, first):
    """Neither the sentence nor the traceback, with all causes and contexts."""
    (folder / "odd.csv").write_bytes((b"" if first else ROWS.encode()) + line + b"\n")
    assert main(["fit", "odd.csv", *FIT[2:]]) == 1
    seen = capsys.readouterr()
    with pytest.raises(CommandError) as caught:
        main(["--traceback", "fit", "odd.csv", *FIT[2:]])
    errors = [caught.value]
    while errors[-1].__context__ or errors[-1].__cause__:
        errors.append(errors[-1].__context__ or errors[-1].__cause__)
    texts = [seen.out, seen.err, *traceback.format_exception(caught.value)]
    texts += [repr(error) + repr(vars(error)) + repr(error.args) for error in errors]
    assert SECRET not in "".join(texts)
    if not first:
        assert main(["fit", "odd.csv", *FIT[2:], "--on-invalid", "drop"]) == 0
        seen = capsys.readouterr()
        assert SECRET not in seen.out + seen.err + (folder / "model.json").read_text()


@pytest.mark.parametrize("option", ["--schema", "--predict"])
def test_data_in_the_place_of_another_file_is_not_quoted(capsys, folder, option):
    (folder / "wrong").write_text(f"{SECRET}={SECRET}\n{SECRET},1\n")
    more = ["--predictions", "p.csv"] if option == "--predict" else []
    assert main([*FIT, option, "wrong", *more]) == 1
    assert main(["predict", "wrong", "new.csv"]) == 1
    assert SECRET not in capsys.readouterr().err


def test_errors_of_libraries_are_not_shown(capsys, monkeypatch):
    """Whether a text is shown is decided by who raised it, not by its kind."""

    def quoting(*_, **__):
        return float(SECRET)

    monkeypatch.setattr("privlearn.cli.fit.build", quoting)
    assert main(FIT) == 1
    assert main(["--traceback", *FIT]) == 1
    text = capsys.readouterr().err
    assert "unexpected ValueError" in text
    assert "quoting" in text  # where it comes from
    assert SECRET not in text


def test_what_privlearn_says_itself_is_shown(capsys):
    from privlearn import Ridge

    with pytest.raises((ValueError, TypeError)) as caught:
        Ridge(epsilon="much").plan(n=3, n_features=1)
    assert guard.on_purpose(caught.value)
    assert main([*FIT, "--solver", "magic"]) == 1
    assert "solver='magic' is unknown" in capsys.readouterr().err


# Sentences for whatever is too large, too small or too deep


@pytest.mark.parametrize(
    "more",
    [
        ["--bounds", "age=0:1e200"],
        ["--bounds", "age=0:5e-324"],
        ["--bounds-y", "0:1e-310"],
        ["--bounds-y", "-1e308:1e308"],
        ["--data-norm", "1e200"],
        ["--data-norm", "1e-200"],
        ["--schema", "deep.toml"],
        ["--schema", "huge.toml"],
        ["--schema", "norm.toml"],
        ["--columns", ","],
        ["--columns", "age,age"],
    ],
    ids=" ".join,
)
def test_extremes_are_refused_in_a_sentence(refused, folder, more):
    (folder / "deep.toml").write_text("a = " + "[" * 10_000)
    (folder / "huge.toml").write_text(f"[bounds]\nage = [0, {'9' * 400}]\n")
    (folder / "norm.toml").write_text(f"data_norm = {'9' * 400}\n")
    base = [word for word in FIT if more[0] != "--bounds" or word not in ("--bounds", "age=17:90")]
    if more == ["--columns", ","]:
        assert main([*base, *more]) == 0  # nothing named means all
        return
    text = refused(*base, *CHARGE, *more)
    assert "unexpected" not in text
    assert charges() == 0


PIECES = [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"age", b"wage", b"30", b"[", b"]", b"=", b"{"]
PIECES += [
    b"bounds",
    b"'",
    b"#",
    b"nan",
    b"1e999",
    b"9" * 500,
    b"target",
    b"columns",
    b"[bounds]\n",
]
PIECES += [b"classes", b"data_norm", b"[categories]\n", b"age = [0, 99]\n", b"true", b"\n", S]


@settings(max_examples=40, derandomize=True, database=None, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join), st.booleans())
def test_any_file_gets_a_sentence(tmp_path_factory, text, named):
    """Bytes in the place of data, facts or a model: an exit status, and no surprise."""
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "x.csv").write_bytes(b"age,wage\n" * named + text)
    (folder / "x.toml").write_bytes(text)
    line = [*FIT[2:], "-o", str(folder / "m.json"), "--overwrite"]
    complaints = io.StringIO()
    with redirect_stderr(complaints), redirect_stdout(io.StringIO()):
        assert main(["fit", str(folder / "x.csv"), *line]) in (0, 1)
        assert main(["fit", str(folder / "x.csv"), *line, "--on-invalid", "drop"]) in (0, 1)
        quoted = SECRET in complaints.getvalue()
        assert main(["fit", "people.csv", *line, "--schema", str(folder / "x.toml")]) in (0, 1)
        assert main(["predict", str(folder / "x.toml"), "new.csv"]) == 1
    assert not (named and quoted)
    assert "unexpected" not in complaints.getvalue()


def test_models_that_are_too_deep(refused, folder):
    (folder / "deep.json").write_text("[" * 100_000)
    assert "is no model file" in refused("predict", "deep.json", "new.csv")


def test_fifty_thousand_columns_take_no_time_to_speak_of(folder, capsys):
    """Whatever compares each name with each other takes minutes here."""
    names = [f"c{k}" for k in range(50_000)]
    rows = [",".join(["1"] * 50_000)] * 2
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    line = ["fit", "wide.csv", "--target", "c0", "--epsilon", "1"]
    assert main([*line, "--bounds", "c1=0:1", "--delta", "0"]) == 1
    assert "and so on for 49,978 more" in capsys.readouterr().err
    assert main(["plan", "--template", "wide.csv", "--target", "nothing"]) == 1
    assert main([*line, "--columns", "c7,c8", "--solver", "moments"]) == 0
    assert main(["predict", "model.json", "wide.csv", "-o", "p.csv"]) == 0
    assert sys.getsizeof(capsys.readouterr().err) < 10_000
