"""The command itself, its help, plans, progress and the demo."""

import importlib
import io
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import privlearn
from privlearn._core.releaser import Releaser
from privlearn.cli import main
from privlearn.cli.models import MODELS
from privlearn.cli.screen import progress
from privlearn.private_bounds.solver import FEATURES, TARGET

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = ("demo", "plan", "fit", "summary", "predict", "ledger", "verify")


def printed(capsys, *line):
    assert main(line) == 0
    return capsys.readouterr().out


# Help


def test_the_installed_command_is_this_one():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    module, name = project["scripts"]["privlearn"].split(":")
    assert getattr(importlib.import_module(module), name) is main


def test_alone_it_prints_help(capsys):
    text = printed(capsys)
    assert all(f"\n    {command} " in text for command in COMMANDS)


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"privlearn {privlearn.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_the_screen(capsys, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 100


def test_only_the_command_that_is_asked_for_is_filled_in():
    """The others are listed, but their modules are not imported for it."""
    from privlearn.cli import _parser

    (commands,) = (a for a in _parser(["fit", "people.csv"])._actions if a.dest == "command")
    options = {name: len(command._actions) for name, command in commands.choices.items()}
    assert options.pop("fit") > 20
    assert set(options.values()) == {2}  # --help and --traceback


def test_examples_in_help_are_possible(capsys):
    """Whatever the help shows as a command has options that exist."""
    from privlearn.cli import _parser

    texts = [_parser().format_help()]
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        texts.append(capsys.readouterr().out)
    examples = re.findall(
        r"^ +privlearn (\w+ [^[\n]*)$", "\n".join(texts).replace("\\\n", ""), re.M
    )
    examples = [line for line in examples if "DATA" not in line and "..." not in line]
    assert len(examples) >= 8
    for example in examples:
        _parser().parse_args(shlex.split(re.split(r"> |(?<=\w)   ", example)[0]))


def test_help_loads_nothing_heavy():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "privlearn", "--help"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    loaded = set(re.findall(r"\| +([\w.]+)$", done.stderr, re.M))
    assert not loaded & {"sklearn", "pandas", "numba", "sqlite3", "scipy", "numpy"}


# Plans


def test_plan_without_data(capsys):
    text = printed(capsys, "plan", "--rows", "10,000", "--features", "8", "--epsilon", "1")
    assert "nothing has been released" in text
    assert "n = 10,000 rows" in text
    assert re.search(r"cost +epsilon = 1 at delta = 1e-06", text)
    assert "the ranges of the columns for 15% and the range of the target for 10%" in text
    assert re.search(r"varies .* by\n.*\b[\d.]+ % of the target's standard deviation;", text)


def test_plan_is_that_of_the_fit(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,sex,wage\n" + "30,m,900\n" * 500)
    facts = ["--target", "wage", "--bounds", "age=17:90", "--categories", "sex=f,m"]
    facts += ["--bounds-y", "0:2000", "--epsilon", "1"]
    planned = printed(capsys, "plan", "--rows", "500", *facts)
    fitted = printed(capsys, "fit", "people.csv", *facts, "--verbose")
    release = re.search(r"release +(.*)", planned).group(1)
    assert release == re.search(r"release +(.*)", fitted).group(1)


def test_plan_says_how_declared_ranges_are_taken_as_they_are(capsys):
    line = ["plan", "--rows", "5000", "--epsilon", "1", "--bounds", "a=0:100"]
    declared = printed(capsys, *line, "--bounds-y", "0:1")
    assert "columns tell, name the solver: --solver cd." in declared
    named = printed(capsys, *line, "--bounds-y", "0:1", "--solver", "cd")
    assert "stimated privately" not in named
    assert "as they are" not in printed(capsys, *line), "the target's range has to be estimated"


def test_plan_says_what_is_guessed_and_what_is_left_out(capsys):
    line = ["plan", "--rows", "5000", "--epsilon", "1", "--bounds", "a=0:100", "--bounds-y", "0:8"]
    text = printed(capsys, *line)
    assert re.search(r"if that deviation is 1: a guess from the declared range\)", text)
    assert "without what intervals cost" not in text
    assert "kept (that is without what intervals cost)" in printed(capsys, *line, "--intervals")


def test_the_demo_ends_with_a_command_that_can_be_typed(tmp_path, monkeypatch):
    demo = importlib.import_module("privlearn.cli.demo")
    bin_ = tmp_path / "my venv" / "bin"
    bin_.mkdir(parents=True)
    for name in ("python", "privlearn"):
        (bin_ / name).write_text("#!/bin/sh\n")
        (bin_ / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(bin_ / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert demo._this_program() == "'my venv/bin/privlearn'"
    monkeypatch.setenv("PATH", str(bin_))
    assert demo._this_program() == "privlearn"


def test_plan_tells_noise_in_the_units_of_columns(capsys):
    line = ["plan", "--rows", "1000", "--epsilon", "1", "--bounds-y", "0:1"]
    wide = printed(capsys, *line, "--bounds", "a=0:100", "--bounds", "b=0:1")
    noise = {k: float(v) for k, v in re.findall(r"^  ([ab]) +([\d.e-]+)$", wide, re.M)}
    assert noise["b"] == pytest.approx(100 * noise["a"], rel=0.01)
    assert "estimated privately" not in wide


def test_more_privacy_is_more_noise(capsys):
    def noise(epsilon):
        text = printed(capsys, "plan", "--rows", "9999", "--features", "3", "--epsilon", epsilon)
        return float(re.search(r"([\d.]+) % of the target", text).group(1))

    told = [noise(epsilon) for epsilon in ("0.1", "0.2", "0.5", "1")]
    assert told == sorted(told, reverse=True)
    # Noise is 8.6 times as large, errors of usual tables as its power 0.725 (derive/forecast.py).
    assert told[0] / told[-1] == pytest.approx(8.6**0.725, rel=0.05)


@pytest.mark.parametrize("model", sorted(MODELS))
@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
def test_every_model_has_a_plan(capsys, model, relation):
    line = ["plan", "--features", "3", "--epsilon", "1", "--model", model, "--adjacency", relation]
    assert "release " in printed(capsys, *line, "--rows", "5000")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--rows", "10"], "Add --epsilon 1"),
        (["--epsilon", "1"], "how many columns? Add --features"),
        (["--epsilon", "1", "--features", "2", "--bounds", "a=0:1"], "but not both"),
        (["--template", "absent.csv"], "there is no file"),
    ],
)
def test_plans_say_what_is_missing(capsys, line, words):
    assert main(["plan", *line]) == 1
    assert words in capsys.readouterr().err


def test_a_delta_that_is_too_large_gets_a_warning(capsys):
    line = ["plan", "--features", "2", "--epsilon", "1", "--rows", "100", "--delta", "0.1"]
    assert main(line) == 0
    text = capsys.readouterr().err
    assert text.startswith("privlearn: warning: delta=0.1 is above 1/n")
    assert ".py" not in text


# Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def fit_something():
    import numpy as np

    X = np.linspace(0, 1, 300).reshape(-1, 3)
    model = privlearn.LinearRegression(solver="moments", bounds_X=(0, 1), bounds_y=(0, 3))
    model.fit(X, X.sum(axis=1))


def test_progress_on_a_terminal_only():
    terminal, file = Terminal(), io.StringIO()
    for stream in (terminal, file):
        with progress(stream):
            fit_something()
    assert "1 of 1 releases" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    assert file.getvalue() == ""


# Demo


@pytest.mark.slow
def test_demo(capsys, tmp_path, monkeypatch):
    fits, make = [], Releaser.__init__

    def opened(self, plan, *others):
        if type(self) is Releaser:  # what is rehearsed on made-up rows is no fit
            fits.append(plan)
        make(self, plan, *others)

    monkeypatch.setattr(Releaser, "__init__", opened)
    text = printed(capsys, "demo", "--ledger", str(tmp_path / "demo.ledger"))
    assert len(fits) <= 4, "it is short: one private fit for each story, with its facts"
    assert sum(release.count for plan in fits for release in plan.releases) < 2_000
    assert text.count("Privacy plan: nothing has been released") == 2
    assert text.count("Privacy certificate") == 2
    ours, others = map(float, re.search(r"R\^2.*?people +([\d.]+) +([\d.]+)", text).groups())
    assert others - 0.05 < ours < others + 0.01
    ours, others = map(float, re.search(r"right.*?people +([\d.]+)% +([\d.]+)%", text).groups())
    assert others - 4 < ours < others + 2
    assert "and the range of the target for 10% of the budget" in text
    assert float(re.findall(r"R\^2.*?people +([\d.]+)", text)[1]) > 0.4
    spent, total = re.search(r"spent +epsilon = ([\d.]+) together.*sum of ([\d.]+)", text).groups()
    assert 1.7 < float(spent) < 2.0
    assert float(total) == pytest.approx(3, abs=0.01)
    ledger = privlearn.Ledger(tmp_path / "demo.ledger")
    assert len(ledger.history("cps1988")) == 3
    assert len(text.splitlines()) < 100


def test_the_epsilon_of_a_wanted_error_is_found(capsys):
    line = ["plan", "--rows", "10000", "--features", "8"]
    text = printed(capsys, *line, "--for-error", "0.05")
    found = float(re.search(r"an error of 0.05 needs epsilon = ([\d.]+)$", text, re.M)[1])
    assert 0.1 < found < 3
    assert re.search(rf"cost +epsilon = {found:g}", text)
    told = float(re.search(r"([\d.]+) % of the target", text)[1])
    assert 4.5 <= told <= 5


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (["--rows", "1000", "--for-error", "0.05", "--epsilon", "1"], "but not both"),
        (["--for-error", "0.05"], "add --rows N"),
        (["--rows", "500", "--for-error", "1e-5"], "no epsilon up to 10 .* more rows or fewer"),
    ],
)
def test_an_epsilon_that_cannot_be_found(capsys, line, words):
    assert main(["plan", "--features", "8", *line]) == 1
    assert re.search(words, capsys.readouterr().err)


def test_few_rows_are_warned_about_on_stderr(capsys):
    assert main(["plan", "--rows", "50", "--features", "8", "--epsilon", "1"]) == 0
    out, err = capsys.readouterr()
    assert err.startswith("privlearn: warning: n = 50 rows at epsilon=1 are an effective sample")
    assert err.count("\n") == 1
    assert "cannot tell, because" in out
    assert main(["plan", "--rows", "50000", "--features", "8", "--epsilon", "1"]) == 0
    assert not capsys.readouterr().err


def test_a_fit_of_few_rows_warns_and_goes_on(capsys, tmp_path):
    data, model = tmp_path / "people.csv", tmp_path / "model.json"
    data.write_text("a,b\n" + "".join(f"{k},{k % 7}\n" for k in range(50)))
    line = ["fit", str(data), "--target", "b", "--epsilon", "1", "-o", str(model)]
    assert main(line) == 0
    out, err = capsys.readouterr()
    assert "privlearn: warning: n = 50 rows" in err
    assert "model saved" in out
    assert main([*line, "--overwrite", "--adjacency", "add_remove"]) == 0
    assert not capsys.readouterr().err, "there the number of rows is private"


def test_noise_of_a_column_with_gaps_is_in_its_own_units(capsys, tmp_path):
    """The 0/1 column of what is missing has another unit, and a line of its own."""
    noise = {}
    for missing in ("fill", "flag"):
        entry = f'{{ kind = "number", low = 20, high = 70, missing = "{missing}" }}'
        path = tmp_path / f"{missing}.toml"
        path.write_text(f'target = "y"\n[bounds]\ny = [0, 100]\n[schema]\nage = {entry}\n')
        line = ["plan", "--schema", str(path), "--rows", "9000", "--epsilon", "1"]
        assert main(line) == 0
        lines = [one.split() for one in capsys.readouterr().out.splitlines()]
        noise[missing] = {" ".join(w[:-1]): float(w[-1]) for w in lines if w[:1] == ["age"]}
    assert [*noise["fill"]] == ["age"]
    assert [*noise["flag"]] == ["age", "age is missing"]
    assert noise["flag"]["age"] == pytest.approx(noise["fill"]["age"], rel=0.5)
    assert noise["flag"]["age is missing"] > 10 * noise["flag"]["age"]


@pytest.mark.parametrize(
    ("line", "head"),
    [
        (["--features", "2"], "linear model (least squares)"),
        (["--features", "2", "--target", "sick"], "linear model (least squares) of sick"),
        (["--features", "2", "--target", "sick", "--model", "ridge"], "ridge model of sick"),
        (["--features", "2", "--model", "logistic", "--target", "sick"], "logistic model of sick"),
        (
            ["--columns", "a", "--model", "svc", "--target", "sick", "--classes", "yes,no"],
            "svc model of sick = yes",
        ),
    ],
    ids=" ".join,
)
def test_it_begins_with_the_model(capsys, line, head):
    line = ["plan", *line, "--rows", "50000"]
    text = printed(capsys, *line, "--epsilon", "1").splitlines()
    assert text[:2] == [head, "Privacy plan: nothing has been released"]
    text = printed(capsys, *line, "--for-error", "0.5").splitlines()
    assert text[0] == head
    assert text[1].startswith("an error of 0.5")
    assert json.loads(printed(capsys, *line, "--epsilon", "1", "--json"))["model"] in head


def test_help_says_that_ranges_are_looked_for_inside_declared_ones(capsys):
    with pytest.raises(SystemExit):
        main(["plan", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "nothing is estimated" not in told
    assert f"looked for inside them ({100 * FEATURES:.0f} % of the budget, and" in told
    assert f"and {100 * TARGET:.0f} % or more for a target of numbers" in told
