"""Reports in a real browser: nothing is asked for, figures are there, readers of all kinds read."""

import importlib
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privlearn import KernelRegressor, LinearRegression

ROOT = Path(__file__).resolve().parents[3]
AXE = os.environ.get("AXE_CORE", "")  # axe.min.js, from npm's axe-core


@pytest.mark.slow
def test_pages_are_quiet_whole_and_accessible(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    driver = importlib.import_module("browser.driver")
    if reason := driver.missing():
        pytest.skip(reason)
    look = importlib.import_module("browser.report")
    names = ["age", "a name that is much longer than any column of a figure could ever show", "<b>"]
    X = pd.DataFrame(np.random.default_rng(0).uniform(0, 1, (3_000, 3)), columns=names)
    known = {"bounds_X": (0, 1), "bounds_y": (0, 3)}
    LinearRegression(intervals=True, **known).fit(X, X["age"] * 2).report(tmp_path / "line.html")
    KernelRegressor(epsilon=5).fit(X, X["age"] ** 2).report(tmp_path / "curve.html")
    with driver.opened() as browser:
        axe = Path(AXE) if AXE else None
        for page in sorted(tmp_path.glob("*.html")):
            assert look.complaints(browser, page, axe) == []
        broken = tmp_path / "broken.html"
        wide = '<div style="width:3000px">x</div><script>throw Error("no")</script></main>'
        text = (tmp_path / "line.html").read_text(encoding="utf-8").replace("</main>", wide)
        broken.write_text(text, encoding="utf-8")
        found = " ".join(look.complaints(browser, broken, None))
        assert "scrolls sideways" in found  # and the policy of the page runs no script
        assert "Content Security Policy" in found
