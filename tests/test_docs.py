"""What the documents say can be done, can be done."""

import doctest
import re
from pathlib import Path

import pytest

import privlearn
from support import modules, solvers_for

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("src/**/*.md")])


@pytest.mark.parametrize("module", list(modules()), ids=lambda module: module.__name__)
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_the_readme_example_prints_its_certificate(capsys):
    text = (ROOT / "README.md").read_text()
    code, printed = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", text, re.S).groups()
    assert len(code.strip().splitlines()) <= 8
    exec(compile(code, "README.md", "exec"), {})
    out = capsys.readouterr().out
    said = iter(out[out.index("Privacy certificate") :].splitlines())
    shown = [line for line in printed.splitlines() if line.strip() not in ("", "...")]
    assert len(shown) > 10
    assert all(line in said for line in shown)  # in their order


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_readme_names_the_solvers_of_every_model():
    text = (ROOT / "README.md").read_text()
    rows = dict(re.findall(r"^\| (`[A-Z].*?) \| (`\".*?) \|$", text, re.MULTILINE))
    assert len(rows) >= 6
    for models, solvers in rows.items():
        classes = 3 if "more classes" in models else 2
        able = set()
        for name in re.findall(r"`(\w+)`", models):
            able |= set(solvers_for(getattr(privlearn, name), classes))
        assert set(re.findall(r'`"([\w-]+)"`', solvers)) == able, models
