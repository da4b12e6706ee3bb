"""`privlearn audit`: promised and measured in plain words, without anybody's data."""

import builtins

import pytest

from privlearn._core.mechanisms import GaussianNoise
from privlearn.cli import main

SHORT = ("--model", "ridge", "--solver", "moments", "--features", "2", "--no-checks")


def test_it_says_what_was_promised_and_measured(capsys):
    assert main(["audit", "--epsilon", "1", *SHORT, "--black-box", "20"]) == 0
    text = capsys.readouterr().out
    for words in (
        "promised    epsilon = 1 at delta = 1e-06",
        "white box   whoever sees every release",
        "(100%)",
        "black box   20 models on each side prove epsilon >= 0",
        "evidence, and no proof",
    ):
        assert words in text


def test_it_reads_no_file(monkeypatch):
    read, opened = builtins.open, []

    def watching(name, *others, **more):
        opened.append(str(name))
        return read(name, *others, **more)

    monkeypatch.setattr(builtins, "open", watching)
    assert main(["audit", "--epsilon", "1", *SHORT]) == 0
    assert not [name for name in opened if name.endswith((".csv", ".parquet", ".npz", ".ledger"))]
    with pytest.raises(SystemExit):
        main(["audit", "people.csv", "--epsilon", "1"])


def test_a_broken_promise_is_said_and_has_a_status(capsys, monkeypatch):
    draw = GaussianNoise.draw
    monkeypatch.setattr(
        GaussianNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, scale / 3, shape),
    )
    assert main(["audit", "--epsilon", "1", *SHORT]) == 1
    text = capsys.readouterr().out
    assert "BROKEN      more was measured than planned" in text
    assert "no proof" not in text


def test_classes_and_relations(capsys):
    line = ["audit", "--epsilon", "1", "--delta", "0", "--model", "logistic", "--features", "1"]
    line += ["--solver", "one-pass", "--adjacency", "replace_one", "--no-checks"]
    assert main(line) == 0
    assert "learns epsilon = " in capsys.readouterr().out


def test_what_is_not_covered_is_said(capsys):
    line = ["audit", "--epsilon", "8", "--solver", "tukey", "--features", "2", "--no-checks"]
    assert main(line) == 0
    text = capsys.readouterr().out
    assert "NOT COVERED" in text
    assert "white box   whoever" not in text


def test_help_fits_the_screen(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stopped:
        main(["audit", "--help"])
    assert stopped.value.code == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 100


@pytest.mark.slow
def test_the_checks_are_run_by_default(capsys):
    line = ["audit", "--epsilon", "1", "--model", "ridge", "--solver", "moments", "--features", "1"]
    assert main(line) == 0
    assert "passed      check_replay" in capsys.readouterr().out
