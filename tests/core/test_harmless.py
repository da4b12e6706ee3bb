"""Texts of others are harmless wherever they are shown, and JSON gives them back unchanged."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privlearn._core.harmless import harmless, json_text

PIECES = ["=", "+", "-", "@", "\t", "\r", "\n", " ", "'", '"', ",", ";", "<script>", "&lt;", "\\"]
PIECES += ["\x1b[31m", "\u202e", "\u2028", "\x00", "\udcff", "\ufeff", "cmd|' /C calc'!A0", "1e3"]
PIECES += ["</td>", "é", "1", "yes", "{{", "}}", "-1", "javascript:", "\u00a0", "\u3000"]
texts = st.lists(st.sampled_from(PIECES), max_size=6).map("".join) | st.text(max_size=12)
examples = settings(max_examples=300, derandomize=True, deadline=None, database=None)


class Tags(HTMLParser):
    """Counts what a browser would take for markup."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)

    handle_endtag = handle_comment = handle_decl = handle_pi = lambda self, tag: self.found.append(
        tag
    )


@examples
@given(texts)
@example("=1+1")
@example("@x")
@example("+1")
@example("\t=1")
@example("\u00a0=1")
def test_texts_are_harmless(text):
    shown = harmless(text, "terminal")
    assert shown.isprintable()
    assert shown == text or not text.isprintable()
    cell = harmless(text, "csv")
    assert cell.isprintable()
    if cell.strip().startswith(("=", "+", "-", "@")):
        assert float(cell) <= 0  # a number, which nothing is computed from
    page = Tags()
    page.feed(f"<b title='{harmless(text, 'html')}'>{harmless(text, 'html')}</b>")
    page.close()
    assert page.found == ["b", "b"]


@examples
@given(st.dictionaries(texts, texts | st.floats(allow_nan=False) | st.none(), max_size=4))
def test_json_is_the_same_when_read_and_no_markup(value):
    for indent in (2, None):
        text = json_text(value, indent)
        assert json.loads(text) == value
        assert re.fullmatch(r"[ -~\n]*", text)
        assert not re.search("[<>&]", text)


@examples
@given(st.lists(texts, min_size=1, max_size=4))
def test_a_line_of_csv_stays_one(cells):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerow([harmless(cell, "csv") for cell in cells])
    assert out.getvalue().count("\n") == 1
    assert len(next(csv.reader([out.getvalue()]))) == len(cells)


@pytest.mark.parametrize("label", ["-1", "-0.5", "1", "yes", "a=b", "x@y", "-1e-3"])
def test_ordinary_labels_stay_as_they_are(label):
    assert harmless(label, "csv") == label
