"""The walk-through in docs/command-line.md can be walked, and prints what the page shows."""

import contextlib
import io
import re
import shlex
from pathlib import Path

from privlearn.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"


def run(command, folder):
    """Run a line of the page; what it would print on the screen comes back."""
    words = shlex.split(command)
    assert words[0] == "privlearn"
    target = words[words.index(">") + 1] if ">" in words else None
    argv = words[1 : words.index(">")] if target else words[1:]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(argv) == 0, command
    if target is None:
        return out.getvalue()
    (folder / target).write_text(out.getvalue())
    return ""


def shape(text):
    """A text without what noise and the clock change."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", text)
    text = re.sub(r" +-?[\d.e+-]+ to -?[\d.e+-]+$", " RANGE", text, flags=re.M)
    return re.sub(r" +[+-][\d.e+-]+$", " COEFFICIENT", text, flags=re.M)


def test_the_walk_through(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    (facts,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    steps = re.findall(r"```console\n\$ (.*?)\n(.*?)```", text, re.S)
    assert len(steps) == 8
    for command, printed in steps:
        if "--schema" in command:
            (tmp_path / "schema.toml").write_text(facts)
        if "others.csv" in command:
            rows = (tmp_path / "people.csv").read_text().splitlines()[:21]
            (tmp_path / "others.csv").write_text("\n".join(row.rsplit(",", 1)[0] for row in rows))
        assert shape(run(command, tmp_path)) == shape(printed)
    assert len((tmp_path / "predictions.csv").read_text().splitlines()) == 21


def test_every_option_on_the_page_exists():
    from privlearn.cli import _parser

    (commands,) = (a for a in _parser()._actions if a.dest == "command")
    known = {
        option
        for command in commands.choices.values()
        for action in command._actions
        for option in action.option_strings
    }
    assert set(re.findall(r"--[a-z][a-z0-9-]*", PAGE.read_text())) <= known
