"""The glossary: every word that it must explain, briefly, with a link to a heading that exists."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
TEXT = (DOCS / "glossary.md").read_text(encoding="utf-8")
ENTRIES = re.findall(r"^\*\*(.+?)\.?\*\*\.? ?(.*?)(?=\n\n|\Z)", TEXT, flags=re.M | re.S)
WORDS = """
epsilon delta adjacency sensitivity clipping zcdp gdp mu composition filter certificate ledger
release plan forecast empty\\srow personal\\sepsilon canary replay estimated\\sprivately
private\\sbounds row\\ssource scaling objective schema solver
"""
OURS = ("bou" + "ght", "octave", "neighb" + "ors=", "levels per", "frame")


@pytest.mark.parametrize("word", WORDS.split())
def test_the_word_is_explained(word):
    heads = [head for head, _ in ENTRIES if re.search(rf"\b{word}\b", head, flags=re.I)]
    assert heads


@pytest.mark.parametrize("relation", ["zero_out", "add_remove", "replace_one"])
def test_the_three_adjacencies_are_explained(relation):
    assert len(re.findall(rf"^- \*\*{relation}\*\*: \w.*\.$", TEXT, flags=re.M)) == 1


@pytest.mark.parametrize(("head", "text"), ENTRIES, ids=[head for head, _ in ENTRIES])
def test_an_entry_is_short_and_leads_on(head, text):
    plain = re.sub(r"\[[^]]*\]\([^)]*\)\.?", "", text)
    assert 1 <= len(re.findall(r"[.;](?:\s|$)", plain)) <= 5
    assert len(plain.split()) <= 75
    assert re.search(r"\]\([\w.-]+\.md[)#]", text), f"{head} leads nowhere"


def anchors(page):
    """Headings as links name them."""
    heads = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(encoding="utf-8"), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_links_lead_to_headings_that_exist():
    for page, anchor in re.findall(r"\]\(([\w.-]*)#([^)]+)\)", TEXT):
        assert anchor in anchors(page or "glossary.md"), f"{page}#{anchor}"


def test_it_uses_the_words_that_it_explains():
    for word in OURS:
        assert word not in TEXT
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    assert "docs/glossary.md" in readme
