"""The site: pages of the repository find their place, and links and formulas come along."""

import ast
import importlib
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch):
    """Modules of tools/site, by name; they are not a package."""
    monkeypatch.syspath_prepend(str(ROOT / "tools" / "site"))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(ROOT / "tools") in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("README.md", "index.md"),
        ("docs/ledger.md", "ledger.md"),
        ("docs/tutorials/wages.py", "tutorials/wages.md"),
        ("docs/adr/", "adr/index.md"),
        ("src/privlearn/solvers/sgd/proof.md", "proofs/solvers/sgd/proof.md"),
        ("benchmarks/results/peers/adult.png", "benchmarks/peers/adult.png"),
        ("src/privlearn/solvers/auto.py", "source/src/privlearn/solvers/auto.py.md"),
        (".github/workflows/release.yml", "source/github/workflows/release.yml.md"),
    ],
)
def test_every_file_has_a_place(tool, path, page):
    assert tool("layout").page_of(path) == page


def test_links_of_the_repository_become_links_of_the_site(tool):
    text = (
        "[a](../src/privlearn/solvers/sgd/proof.md#x) ![b](../benchmarks/results/peers/adult.png)"
    )
    moved = tool("links").on_site(f"{text}\n```\n[c](../README.md)\n```\n", "docs/ledger.md")
    assert "[a](proofs/solvers/sgd/proof.md#x) ![b](benchmarks/peers/adult.png)" in moved
    assert "[c](../README.md)" in moved  # code stays as it is
    deep = tool("links").on_site("[d](../ledger.md)", "docs/start/install.md")
    assert deep == "[d](../ledger.md)"
    assert tool("links").on_site("[e](https://example.org/x.md)", "README.md").endswith("org/x.md)")


def test_pages_that_do_not_exist_are_left_out_and_new_ones_come_in(tool):
    nav = tool("layout").complete([{"Start": ["index.md", "no-such-page.md"]}, "adr/*"])
    assert {"Start": ["index.md"]} in nav
    assert "ledger.md" in nav[-1]["More"]
    assert any("adr/0001-sums-in-blocks.md" in entry.values() for entry in nav[1:-1])


def test_plain_formulas_are_set(tool):
    pytest.importorskip("latex2mathml")
    set_plain = tool("mathematics").set_plain
    assert (
        set_plain("<p>mu^2 &lt;= eps_1</p>") == "<p><i>μ</i><sup>2</sup> ≤ <i>ε</i><sub>1</sub></p>"
    )
    assert set_plain("<code>mu^2</code> a row's") == "<code>mu^2</code> a row's"
    assert set_plain("D' and S_{t+k}") == "<i>D</i>′ and <i>S</i><sub>t+k</sub>"


def test_formulas_between_dollars_become_mathml(tool):
    pytest.importorskip("latex2mathml")
    drawn = tool("mathematics").drawn(r'<span class="arithmatex">\(e^{\varepsilon}\)</span>')
    assert drawn.startswith("<math")
    assert "<msup>" in drawn


def test_the_reference_has_every_public_name(tool):
    import privlearn

    reference = tool("reference")
    shown = "\n".join(reference.pages().values())
    modules = [name for name in privlearn.__all__ if name in ("audit", "datasets", "metrics")]
    for home in (privlearn, *(getattr(privlearn, name) for name in modules)):
        for name in home.__all__:
            if not name.startswith("__") and type(getattr(home, name)).__name__ != "module":
                assert f"::: {home.__name__}.{name}\n" in shown
    for name in privlearn.__all__:
        if type(getattr(privlearn, name)).__name__ == "module":
            assert f"reference/{name}.md" in reference.pages()


def test_tutorials_are_programs_with_cells(tool):
    notebooks = tool("notebooks")
    assert len(notebooks.found()) >= 7
    for path in notebooks.found():
        cells = notebooks.cells((ROOT / path).read_text(encoding="utf-8"))
        assert cells[0][0] == "text"
        assert cells[0][1].startswith("# ")
        for kind, text in cells:
            if kind == "code":
                ast.parse(text)


def test_cells_show_what_they_print_and_their_last_value(tool):
    notebooks, names = tool("notebooks"), {}
    assert (
        notebooks._shown("code", "x = 2\nprint('hello')\nx + 1", names)["printed"] == "hello\n3\n"
    )
    assert notebooks._shown("text", "words", names)["printed"] == ""


@pytest.mark.parametrize(
    ("repository", "expected"),
    [
        ("", "see the ledger and  end"),
        (
            "https://example.org/p",
            "see [the ledger](https://example.org/p/blob/v1/docs/ledger.md) and "
            "![figure](https://example.org/p/raw/v1/a.png) end",
        ),
    ],
)
def test_links_on_a_package_index(monkeypatch, repository, expected):
    pytest.importorskip("hatchling")
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    for_index = importlib.import_module("pypi_readme").for_index
    text = "see [the ledger](docs/ledger.md) and ![figure](a.png) end"
    assert for_index(text, repository, "1") == expected
    assert for_index("<!-- run first\nx\n-->\n[a](https://b)", repository, "1") == "[a](https://b)"
