"""What the page about schemas says can be done, can be done."""

import re
import tomllib
from pathlib import Path

import pytest

from privlearn.schema.plain import kind_from

PAGE = Path(__file__).resolve().parents[2] / "docs" / "schema.md"


def test_the_example_runs_and_learns(capsys):
    pytest.importorskip("pandas")
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)
    made = {}
    exec(compile(code, "schema.md", "exec"), made)
    assert "'sex is missing'" in capsys.readouterr().out
    assert made["model"].score(made["people"], "left") > 0.9


def test_the_file_s_words_are_those_of_python():
    text = PAGE.read_text()
    (code,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    kinds = {name: kind_from(entry) for name, entry in tomllib.loads(code)["schema"].items()}
    assert len(kinds) == 5
    for kind in kinds.values():
        assert f"`{type(kind).__name__}(" in text
