"""Files of the command: which may be written, what a header is, and that no text quotes a cell."""

import csv
import errno
import json
import os
import shutil
import sys
import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privlearn import Ledger
from privlearn.cli import guard, main, outputs
from privlearn.cli.errors import CommandError
from privlearn.cli.header import looks_like_data
from privlearn.cli.lines import LONGEST_CELL
from privlearn.cli.outputs import Output
from privlearn.cli.tables import open_source

SECRET = "Szymborska"
ROWS = "age,wage\n30,900\n41,700\n52,800\n"
FIT = ["fit", "people.csv", "--target", "wage", "--epsilon", "1"]
FIT += ["--bounds", "age=17:90", "--bounds-y", "0:2000", "--solver", "moments"]
CHARGE = ["--ledger", "l.ledger", "--dataset", "people"]


@pytest.fixture(scope="module")
def empty_ledger(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "l.ledger"
    assert main(["ledger", str(path), "--create", "--epsilon", "3"]) == 0
    return path


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, empty_ledger):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "new.csv").write_text("age\n30\n")
    (tmp_path / "facts.toml").write_text("target = 'wage'\n")
    shutil.copy(empty_ledger, "l.ledger")
    return tmp_path


@pytest.fixture
def refused(capsys, folder):
    """Run a command that must fail without changing a file or charging; what it said."""

    def run(*line, status=1):
        before = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert main([*line]) == status
        after = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        assert after == before
        return capsys.readouterr().err

    return run


def charges():
    return len(Ledger("l.ledger").history("people"))


# No two paths are the same file

INPUTS = ["people.csv", "new.csv", "facts.toml", "l.ledger", "l.ledger-journal", "l.ledger-wal"]


@pytest.mark.parametrize("role", ["model", "predictions"])
@pytest.mark.parametrize("path", INPUTS)
@pytest.mark.parametrize("way", ["name", "dots", "soft", "hard", "upper"])
def test_outputs_are_nothing_that_the_command_needs(refused, folder, role, path, way):
    name = {"name": path, "dots": f"../{folder.name}/./{path}", "upper": path.upper()}.get(way)
    if name is None:
        name = "alias"
        if way == "hard" and not (folder / path).exists():
            pytest.skip("a hard link needs a file")
        (os.symlink if way == "soft" else os.link)(path, name)
    written = {"model": "m.json", "predictions": "p.csv", role: name}
    line = [*FIT, *CHARGE, "--facts", "facts.toml", "--predict", "new.csv", "--overwrite"]
    text = refused(*line, "-o", written["model"], "--predictions", written["predictions"])
    assert "are the same file" in text or "is a ledger" in text


def test_two_outputs_are_two_files(refused):
    line = [*FIT, "--predict", "new.csv", "--predictions", "x", "-o", "./x"]
    assert "the predictions and the model are the same file" in refused(*line)


@pytest.mark.parametrize("path", ["people.csv", "facts.toml", "new.csv"])
def test_a_ledger_is_no_input(refused, path):
    line = [*FIT, "--facts", "facts.toml", "--predict", "new.csv", "--predictions", "p.csv"]
    ledger = ["--ledger", path, "--dataset", "x", "--ledger-epsilon", "1"]
    assert "the ledger and" in refused(*line, *ledger)


def test_a_ledger_is_known_by_its_content(refused, folder):
    """Also one that this command does not charge, under any name, and what lies beside it."""
    os.rename("l.ledger", "notes.json")
    for name in ("notes.json", "notes.json-wal"):
        assert "is a ledger" in refused(*FIT, "-o", name, "--overwrite")
    assert main([*FIT, "-o", "m.json"]) == 0
    line = ["predict", "m.json", "new.csv", "--overwrite", "-o"]
    assert "is a ledger" in refused(*line, "notes.json")
    for name in ("m.json", "new.csv"):
        assert "are the same file" in refused(*line, name)


# Nothing is replaced unasked


def test_only_overwrite_replaces(refused, folder):
    fit = [*FIT, "--predict", "new.csv", "--predictions", "p.csv", *CHARGE]
    for name in ("model.json", "p.csv"):
        (folder / name).write_text("precious")
        assert f"{name} exists and is not replaced unasked" in refused(*fit)
        os.remove(name)
    (folder / "p.csv").write_text("precious")
    assert main([*FIT, "-o", "m.json"]) == 0
    predict = ["predict", "m.json", "new.csv", "-o", "p.csv"]
    assert "p.csv exists" in refused(*predict)
    assert main([*predict, "--overwrite"]) == 0
    assert main([*fit, "--overwrite"]) == 0
    assert "precious" not in (folder / "p.csv").read_text()
    assert charges() == 1


def test_folders_pipes_and_places_that_are_not_there(refused, folder):
    (folder / "sub").mkdir()
    os.mkfifo("pipe")
    for name, words in (
        ("sub", "is a folder"),
        ("no/m.json", "does not exist"),
        ("pipe", "is no ordinary file"),
        ("people.csv/m.json", "does not exist"),
        ("x" * 300, "File name too long"),
    ):
        assert words in refused(*FIT, *CHARGE, "-o", name, "--overwrite")
    assert "is no ordinary file" in refused("fit", "pipe", *FIT[2:])
    assert charges() == 0


# Whole files or none


@pytest.mark.parametrize("call", ["open", "write", "fsync", "truncate"])
def test_a_disk_that_fails(folder, capsys, monkeypatch, call):
    """Before the charge it is an error; after it, the model is printed, and no file is left."""
    original = getattr(os, call)

    def full(*args, **kwargs):
        if call == "open" and not str(args[0]).endswith(".part"):
            return original(*args, **kwargs)
        raise OSError(errno.ENOSPC, "No space left on device")

    before = sorted(folder.iterdir())
    with monkeypatch.context() as patch:
        patch.setattr(outputs.os, call, full)
        assert main([*FIT, *CHARGE]) == 1
    seen = capsys.readouterr()
    assert "No space left on device" in seen.err
    assert charges() == (call in ("fsync", "truncate"))
    assert ("The privacy is spent" in seen.err) == (charges() == 1)
    if charges():
        assert json.loads(seen.out)["target"] == "wage"
    assert sorted(folder.iterdir()) == before


def test_a_name_taken_during_the_fit_is_not_replaced(folder, capsys, monkeypatch):
    from privlearn.cli.model_file import SavedModel

    write = SavedModel.write

    def late(self, output):
        (folder / "model.json").write_text("precious")
        write(self, output)

    monkeypatch.setattr(SavedModel, "write", late)
    assert main(FIT) == 1
    seen = capsys.readouterr()
    assert "File exists" in seen.err
    assert json.loads(seen.out)["target"] == "wage"
    assert (folder / "model.json").read_text() == "precious"


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("room", [0, 10, 200_000])
def test_an_output_is_invisible_until_it_is_whole(folder, monkeypatch, links, room):
    if not links:
        monkeypatch.setattr(outputs.os, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "no")))
    with Output("x.txt", room=room) as output:
        assert not (folder / "x.txt").exists()
        output.write("whole\n")
        assert (folder / "x.txt").read_text() == "whole\n"
    assert not list(folder.glob(".privlearn*"))
    with Output("y.txt", room=room):
        pass
    assert not (folder / "y.txt").exists()
    assert not list(folder.glob(".privlearn*"))


class Died(BaseException):
    """The process is gone: from now on, it touches nothing."""


CALLS = ("open", "write", "fsync", "close", "truncate", "lseek", "replace", "rename", "link")
CALLS += ("unlink",)


def die_at(count, patch):
    """Let the process die before its count-th call of the system; half a write may be done."""
    seen = 0

    def mortal(call):
        original = getattr(os, call)

        def run(*args, **kwargs):
            nonlocal seen
            seen += 1
            if seen == count and call == "write":
                original(args[0], bytes(args[1])[: len(args[1]) // 2])
            if seen >= count:
                raise Died
            return original(*args, **kwargs)

        return run

    for call in CALLS:
        patch.setattr(os, call, mortal(call))


@pytest.mark.parametrize("overwrite", [False, True])
def test_dying_leaves_the_whole_file_or_none(folder, overwrite):
    text, count, done = "whole\n" * 20_000, 0, False
    seen = set()
    while not done and count < 100:
        count += 1
        name = folder / "x.txt"
        name.unlink(missing_ok=True)
        if overwrite:
            name.write_text("old")
        with pytest.MonkeyPatch.context() as patch:
            die_at(count, patch)
            try:
                with Output("x.txt", overwrite=overwrite) as output:
                    output.write(text)
                done = True
            except Died:
                pass
        for stray in folder.glob(".privlearn*"):
            stray.unlink()
        found = name.read_text() if name.exists() else None
        assert found in (text, "old" if overwrite else None)
        seen.add(found)
    assert 8 < count < 100
    assert len(seen) == 2


def test_strays_of_killed_commands_are_in_nobodys_way(folder):
    for k in range(3):
        (folder / f".privlearn-{os.getpid()}-{k}.part").write_text("half")
    with Output("x.txt") as output:
        output.write("whole")
    assert len(list(folder.glob(".privlearn*"))) == 3


def test_everything_is_checked_before_the_outputs_and_the_outputs_before_the_charge(monkeypatch):
    """The order in which files are touched: inputs, then outputs, then the ledger."""
    from privlearn.cli import books

    seen = []
    reserve, charge = Output.__init__, books.charged_ledger
    monkeypatch.setattr(
        Output, "__init__", lambda *a, **k: (seen.append("output"), reserve(*a, **k))[1]
    )
    monkeypatch.setattr(books, "charged_ledger", lambda *a: (seen.append("ledger"), charge(*a))[1])
    line = [*FIT, *CHARGE, "--predict", "new.csv", "--predictions", "p.csv"]
    assert main(line) == 0
    assert seen == ["output", "output", "ledger"]
    seen.clear()
    bad = [*FIT[:1], "none.csv", *FIT[2:], *CHARGE]
    assert main(bad) == 1
    assert seen == []


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


@pytest.mark.parametrize("option", ["--facts", "--predict"])
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

    monkeypatch.setattr("privlearn.cli.models.build", quoting)
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
        ["--facts", "deep.toml"],
        ["--facts", "huge.toml"],
        ["--facts", "norm.toml"],
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


def test_models_that_are_too_deep(refused, folder):
    (folder / "deep.json").write_text("[" * 100_000)
    assert "is no model file" in refused("predict", "deep.json", "new.csv")


def test_fifty_thousand_columns_take_no_time_to_speak_of(folder, capsys):
    """Whatever compares each name with each other takes minutes here."""
    names = [f"c{k}" for k in range(50_000)]
    rows = [",".join(["1"] * 50_000)] * 2
    (folder / "wide.csv").write_text("\n".join([",".join(names), *rows]) + "\n")
    line = ["fit", "wide.csv", "--target", "c0", "--epsilon", "1"]
    assert main([*line, "--bounds", "c1=0:1"]) == 1
    assert "and 49,978 more" in capsys.readouterr().err
    assert main(["plan", "--template", "wide.csv", "--target", "nothing"]) == 1
    assert main([*line, "--columns", "c7,c8", "--solver", "moments"]) == 0
    assert main(["predict", "model.json", "wide.csv", "-o", "p.csv"]) == 0
    assert sys.getsizeof(capsys.readouterr().err) < 10_000
