"""Standard output that is closed, full or read by `head`: what was paid for is in its file."""

import ast
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import privlearn.cli
from privlearn import LinearRegression
from privlearn._core.progress import Bar, shown
from privlearn.cli import main
from privlearn.cli.outputs import Output
from privlearn.ledger import Ledger

PEOPLE = "age,wage\n" + "".join(f"{20 + k % 50},{10 * (20 + k % 50)}\n" for k in range(400))
CHARGE = ["--ledger", "people.ledger", "--dataset", "people", "--ledger-epsilon", "99"]
FACTS = ["--target", "wage", "--bounds", "age=20:80", "--bounds-y", "0:1000"]
PREDICTED = ["--predict", "people.csv", "--predictions", "found.csv"]
# A command that charges a ledger and writes files, with the names of these.
CHARGING = {
    "fit": (
        [*("people.csv", *FACTS, "-o", "found.json"), *PREDICTED],
        ["found.json", "found.csv"],
    ),
    "evaluate": (["model.json", "people.csv", "-o", "found.json"], ["found.json"]),
}
CLOSED = {
    "its reader left": "| true",
    "is full": "> /dev/full",
    "is closed": ">&-",
    "and stderr: their reader left": "2>&1 | true",
    "and stderr are full": "> /dev/full 2>&1",
    "and stderr are closed": ">&- 2>&-",
}
if not Path("/dev/full").exists():
    pytest.skip("a system without /dev/full", allow_module_level=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("closed")
    (folder / "people.csv").write_text(PEOPLE)
    line = ["fit", str(folder / "people.csv"), *FACTS, "--epsilon", "5"]
    assert main([*line, "-o", str(folder / "model.json")]) == 0
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("people.csv", "model.json"):
        (tmp_path / name).write_text((made / name).read_text())
    return tmp_path


def test_every_command_that_charges_is_here():
    """All that import what opens a ledger to be charged; demo prints, and writes no file."""
    charging = set()
    for path in Path(privlearn.cli.__file__).parent.glob("*.py"):
        imported = [node for node in ast.walk(ast.parse(path.read_text()))]
        names = {a.name for n in imported if isinstance(n, ast.ImportFrom) for a in n.names}
        if "charged_ledger" in names:
            charging.add(path.stem)
    assert charging == {*CHARGING}


def words(command, more=()):
    return [command, *CHARGING[command][0], "--epsilon", "5", *CHARGE, *more]


@pytest.mark.parametrize("way", [*CLOSED])
@pytest.mark.parametrize("command", [*CHARGING])
def test_a_charge_leaves_its_files(folder, command, way):
    """A shell decides what the command's streams are."""
    line = ["-c", f'"$@" {CLOSED[way]}; exit "${{PIPESTATUS[0]}}"', "bash", sys.executable]
    done = subprocess.run(
        ["bash", *line, "-m", "privlearn", *words(command)], capture_output=True, check=False
    )
    assert len(Ledger("people.ledger").history("people")) == 1
    for name in CHARGING[command][1]:
        assert (folder / name).stat().st_size > 0, done.stderr
    assert "certificate" in json.loads((folder / "found.json").read_text())
    assert done.returncode == ("full" in way)
    assert b"Traceback" not in done.stderr
    assert b"unexpected" not in done.stderr
    if way == "is full":
        assert b"No space left on device" in done.stderr
    assert not list(folder.glob(".privlearn*"))


class Gone(io.StringIO):
    """A pipe whose reader left."""

    def write(self, text):
        raise BrokenPipeError(32, "Broken pipe")


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("command", [*CHARGING])
def test_nothing_is_printed_before_the_files_are_there(folder, monkeypatch, command, more):
    monkeypatch.setattr(sys, "stdout", Gone())
    assert main(words(command, more)) == 0
    for name in CHARGING[command][1]:
        assert (folder / name).stat().st_size > 0


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("screen", [lambda: None, closed], ids=["none", "closed"])
@pytest.mark.parametrize("command", [*CHARGING])
def test_a_screen_that_is_not_there_has_printed_nothing(
    folder, monkeypatch, capsys, command, screen
):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Output, "write", full)
    monkeypatch.setattr(sys, "stdout", screen())
    assert main(words(command)) == 1
    assert "lost: standard output cannot be written (Bad file" in capsys.readouterr().err


@pytest.mark.parametrize("command", [*CHARGING])
def test_neither_a_file_nor_a_screen_is_an_error(folder, monkeypatch, capsys, command):
    """What is lost is said to be: a reader that left is no success then."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Output, "write", full)
    monkeypatch.setattr(sys, "stdout", Gone())
    assert main(words(command)) == 1
    assert "lost: standard output cannot be written (Broken pipe)" in capsys.readouterr().err


def test_a_bar_on_a_closed_terminal_ends_no_fit():
    bar = Bar(Gone())
    for done in range(5):
        bar(done, 4)
    terminal = io.StringIO()
    terminal.close()
    Bar(terminal)(1, 4)


def test_a_fit_without_a_terminal_shows_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    with shown(True):
        model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), random_state=0)
        model.fit([[0.0], [1.0]] * 50, [0.0, 1.0] * 50)
    assert model.coef_.shape == (1,)
