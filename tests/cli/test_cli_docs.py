"""The walk-through in docs/command-line.md can be walked, and prints what the page shows."""

import re
import shlex
from pathlib import Path

from snippets import run_command

PAGE = Path(__file__).resolve().parents[2] / "docs" / "command-line.md"


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
        assert shape(run_command(shlex.split(command), tmp_path)) == shape(printed)
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
