"""What the page about schemas says can be done, can be done."""

import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from benchmarks.harness import report
from benchmarks.peers import adult_frame

from privlearn.schema.plain import kind_from

PAGE = Path(__file__).resolve().parents[2] / "docs" / "schema.md"


def test_the_example_runs_and_learns(capsys):
    pytest.importorskip("pandas")
    declared, nothing, written, blank, coded = re.findall(
        r"```python\n(.*?)```", PAGE.read_text(), re.S
    )
    made = {}
    exec(compile(declared, "schema.md", "exec"), made)
    assert "'sex is missing'" in capsys.readouterr().out
    learned = made["model"].score(made["people"], "left")
    with pytest.warns(UserWarning, match="'id' looks like an identifier"):
        exec(compile(nothing, "schema.md", "exec"), made)
    told = capsys.readouterr().out
    assert "'sex = F'" in told
    assert "'since'" in told
    assert learned > 0.9
    exec(compile(written, "schema.md", "exec"), made)
    capsys.readouterr()
    new = made["pd"].DataFrame({"staff": ["5.380", "900"]})
    assert made["model"].predict(new) == pytest.approx([16_140, 2_700], rel=0.1)
    exec(compile(blank, "schema.md", "exec"), made)
    assert made["new"]["predicted"].isna().tolist() == (made["new"]["since"].str[2] == "/").tolist()
    exec(compile(coded, "schema.md", "exec"), made)
    assert made["coded"]["age"].max() == 999
    assert np.isfinite(made["model"].coef_).all()
    assert "age is missing" in made["model"].feature_names_out_
    assert set(made["model"].predict(made["people"])) <= {"no", "yes"}


def test_the_file_s_words_are_those_of_python():
    text = PAGE.read_text()
    (code,) = re.findall(r"```toml\n(.*?)```", text, re.S)
    kinds = {name: kind_from(entry) for name, entry in tomllib.loads(code)["schema"].items()}
    assert len(kinds) == 5
    for kind in kinds.values():
        assert f"`{type(kind).__name__}(" in text


def test_the_page_s_figures_are_those_of_the_kept_run():
    kept = json.loads((report.RESULTS / "peers/adult_frame.json").read_text(encoding="utf-8"))
    gaps = adult_frame.gaps(kept["results"])
    assert len(gaps) == 20
    assert np.median(gaps) < adult_frame.LIMIT
    said = f"{np.median(gaps):.2f} accuracy points below the scikit-learn pipeline"
    assert said in " ".join(PAGE.read_text().split())
    assert f"the worst {max(gaps):.1f}" in " ".join(PAGE.read_text().split())
