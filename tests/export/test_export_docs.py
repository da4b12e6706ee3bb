"""Every snippet of the pages about exports and pictures runs as it stands."""

import logging
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "export": ["pandas", "onnx", "duckdb"],
    "plots": ["matplotlib"],
}


@pytest.mark.parametrize("page", sorted(PAGES))
def test_snippets_run(page, tmp_path, monkeypatch):
    for name in PAGES[page]:
        pytest.importorskip(name, reason=f"{name} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(logging, "basicConfig", lambda **_: None)  # other tests' logs stay theirs
    text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    made = {}
    for block in re.findall(r"^```python\n(.*?)^```", text, flags=re.M | re.S):
        exec(compile(block, f"{page}.md", "exec"), made)
    if page == "plots":
        from matplotlib import pyplot

        assert len(pyplot.get_fignums()) == 5
        pyplot.close("all")
