"""Every snippet of README and docs runs as it stands."""

import re

import pytest

from privlearn.cli import _parser
from snippets import ROOT, commands, program, run_command, with_snippets

SLOW = {"docs/audits.md", "docs/feature-selection.md", "docs/kernels.md"}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))


def marked(pages):
    names = [page.relative_to(ROOT).as_posix() for page in pages]
    return [
        pytest.param(ROOT / name, id=name, marks=[pytest.mark.slow] if name in SLOW else [])
        for name in names
    ]


@pytest.mark.parametrize("page", marked(with_snippets("code")))
def test_python(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for kind, text in program(page):
        if kind == "code" or (kind == "hidden" and not text.startswith("$")):
            exec(compile(text, page.name, "exec"), names)


@pytest.mark.parametrize("page", marked(with_snippets("shell")))
def test_shell(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for kind, text in program(page):
        if kind == "hidden" and text.startswith("$"):
            exec(compile(text[1:], page.name, "exec"), {})
        elif kind == "shell":
            for words in commands(text):
                _check(words, tmp_path)


def _check(words, folder):
    """Commands of privlearn are run; targets of make and files of Python have to exist."""
    if words[:2] == ["privlearn", "audit"]:  # takes minutes, and makes its own data
        _parser().parse_args(words[1:])
    elif words[0] == "privlearn":
        run_command(words, folder)
    elif words[0] == "make":
        assert {word for word in words[1:] if "=" not in word} <= TARGETS
    else:
        assert words[0] in ("pip", "python", "git", ".ci/run", ".venv/bin/python"), words
