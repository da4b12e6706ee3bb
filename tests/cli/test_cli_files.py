"""Files of the command: which may be written, and that they are there as a whole or not at all."""

import errno
import json
import os
import shutil
import subprocess
import sys

import pytest

from privlearn import Ledger
from privlearn.cli import main, outputs
from privlearn.cli.outputs import Output

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
    (tmp_path / "schema.toml").write_text("target = 'wage'\n")
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

INPUTS = ["people.csv", "new.csv", "schema.toml", "l.ledger", "l.ledger-journal", "l.ledger-wal"]


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
    line = [*FIT, *CHARGE, "--schema", "schema.toml", "--predict", "new.csv", "--overwrite"]
    text = refused(*line, "-o", written["model"], "--predictions", written["predictions"])
    assert "are the same file" in text or "is a ledger" in text


def test_two_outputs_are_two_files(refused):
    line = [*FIT, "--predict", "new.csv", "--predictions", "x", "-o", "./x"]
    assert "the predictions and the model are the same file" in refused(*line)


@pytest.mark.parametrize("path", ["people.csv", "schema.toml", "new.csv"])
def test_a_ledger_is_no_input(refused, path):
    line = [*FIT, "--schema", "schema.toml", "--predict", "new.csv", "--predictions", "p.csv"]
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
@pytest.mark.parametrize("size", [0, 10, 200_000])
def test_an_output_is_invisible_until_it_is_whole(folder, monkeypatch, links, size):
    if not links:
        monkeypatch.setattr(outputs.os, "link", lambda *_: (_ for _ in ()).throw(OSError(1, "no")))
    with Output("x.txt", size=size) as output:
        assert not (folder / "x.txt").exists()
        output.write("whole\n")
        assert (folder / "x.txt").read_text() == "whole\n"
    assert not list(folder.glob(".privlearn*"))
    with Output("y.txt", size=size):
        pass
    assert not (folder / "y.txt").exists()
    assert not list(folder.glob(".privlearn*"))


def test_names_that_the_terminal_lacks_do_not_stop_the_report(folder):
    (folder / "odd.csv").write_text(ROWS.replace("wage", "löhne"), encoding="utf-8")
    line = ["fit", "odd.csv", "--target", "löhne", *FIT[4:], "-o", "odd.json"]
    done = subprocess.run(
        [sys.executable, "-m", "privlearn", *line],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "1"},
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.startswith(b"privlearn: warning: n = 3 rows")  # and nothing else
    assert done.stderr.count(b"\n") == 1
    assert b"l\\xf6hne" in done.stdout


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


def test_a_refused_charge_leaves_nothing_behind(refused):
    line = [*FIT[:5], "9", *FIT[6:], *CHARGE, "--predict", "new.csv", "--predictions", "p.csv"]
    assert line[4:6] == ["--epsilon", "9"]
    assert "epsilon" in refused(*line, status=3)


def test_strays_of_killed_commands_are_in_nobodys_way(folder):
    for k in range(3):
        (folder / f".privlearn-{os.getpid()}-{k}.part").write_text("half")
    with Output("x.txt") as output:
        output.write("whole")
    assert len(list(folder.glob(".privlearn*"))) == 3


def test_everything_is_checked_before_the_outputs_and_the_outputs_before_the_charge(monkeypatch):
    """The order in which files are touched: inputs, then outputs, then the ledger."""
    from privlearn.cli import fit

    seen = []
    reserve, charge = Output.__init__, fit.charged_ledger
    monkeypatch.setattr(
        Output, "__init__", lambda *a, **k: (seen.append("output"), reserve(*a, **k))[1]
    )
    monkeypatch.setattr(fit, "charged_ledger", lambda *a: (seen.append("ledger"), charge(*a))[1])
    line = [*FIT, *CHARGE, "--predict", "new.csv", "--predictions", "p.csv"]
    assert main(line) == 0
    assert seen == ["output", "output", "ledger"]
    seen.clear()
    bad = [*FIT[:1], "none.csv", *FIT[2:], *CHARGE]
    assert main(bad) == 1
    assert seen == []
