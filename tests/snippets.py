"""The snippets of a page, and running them as they stand.

A page's Python snippets are one program, in their order and in one name space. What they need and a
reader need not see, such as data, stands in a comment before them:

    <!-- run first
    X, y = ...
    -->

Lines of shell snippets that call `privlearn` are run, too; a comment whose code begins with $ makes
their files.
"""

import contextlib
import io
import re
import shlex
from pathlib import Path

from privlearn.cli import main

__all__ = ["ROOT", "commands", "pages", "program", "run_command", "with_snippets"]

ROOT = Path(__file__).resolve().parents[1]
PART = re.compile(
    r"^<!-- run first\n(?P<hidden>.*?)^-->$|^ *```python\n(?P<code>.*?)^ *```$"
    r"|^ *```(?:sh)?\n(?P<shell>.*?)^ *```$|^ *```\w+\n.*?^ *```$",
    re.M | re.S,
)


def pages():
    """Every page that a reader may copy from."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "adr" not in page.parts]


def program(page):
    """Hidden and shown parts of a page, in their order: [(kind, text), ...]."""
    parts = []
    for match in PART.finditer(page.read_text(encoding="utf-8")):
        kind = match.lastgroup
        if kind is not None and match.group(kind).strip():
            parts.append((kind, match.group(kind)))
    return parts


def with_snippets(kind):
    """Pages that have shown parts of a kind."""
    return [page for page in pages() if any(one == kind for one, _ in program(page))]


def commands(text):
    """Lines of a shell snippet, comments taken off and continued lines joined."""
    joined = text.replace("\\\n", " ")
    lines = [shlex.split(line, comments=True) for line in joined.splitlines()]
    return [words for words in lines if words]


def run_command(words, folder):
    """Run a line that begins with `privlearn`; what it would print on the screen comes back."""
    assert words[0] == "privlearn"
    target = words[words.index(">") + 1] if ">" in words else None
    argv = words[1 : words.index(">")] if target else words[1:]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(argv) == 0, words
    if target is None:
        return out.getvalue()
    (folder / target).write_text(out.getvalue())
    return ""
