"""What runs on other machines is what runs here: workflows and hooks against `.ci/run` and make."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
CHECKS = (ROOT / ".github/workflows/checks.yml").read_text(encoding="utf-8")
RELEASE = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))
YAML = [ROOT / ".pre-commit-config.yaml", *sorted((ROOT / ".github").rglob("*.yml"))]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def variable(name):
    """The value that the Makefile gives to a name."""
    return re.search(rf"^{name} :?= (.*)$", MAKEFILE, re.M).group(1)


def recipe(target):
    """The commands of a target, with the values of variables put in, and `.venv/bin/` left out."""
    lines = re.search(rf"^{target}:.*\n((?:\t.*\n)+)", MAKEFILE, re.M).group(1).splitlines()
    text = "\n".join(line.strip() for line in lines)
    for _ in range(3):
        text = re.sub(r"\$\((\w+)\)", lambda found: variable(found.group(1)), text)
    return text.replace(".venv/bin/", "").splitlines()


def runs(workflow):
    """The one-line commands of a workflow."""
    return re.findall(r"^\s*(?:- )?run: (.+)$", workflow, re.M)


def test_the_recipe_is_read_as_make_reads_it():
    assert recipe("test") == [f"{variable('ONE_THREAD')} python -m pytest -n 2 --dist worksteal"]


def test_linux_runs_everything_as_it_runs_here():
    assert "bash .ci/run" in runs(CHECKS)
    assert (ROOT / ".ci/run").is_file()


def test_other_systems_run_the_fast_tests_as_make_does():
    (command,) = recipe("test")
    settings, python, rest = command.partition("python ")
    assert python + rest in runs(CHECKS)
    for setting in settings.split():
        variable_name, value = setting.split("=")
        assert f'      {variable_name}: "{value}"\n' in CHECKS


def test_other_systems_install_as_make_does():
    installs = re.search(r"^define install\n(.*?)^endef", MAKEFILE, re.M | re.S).group(1)
    flags = re.findall(r"\$\(PIP_INSTALL\) (.*)$", installs, re.M)
    assert len(flags) == 2
    for line in flags:
        line = line.replace("$(2)", variable("LOCK_TEST"))
        assert f"python -m pip install {line}" in runs(CHECKS)


def test_every_python_that_is_named_is_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    tried = re.search(r"^ +python: \[(.*)\]$", CHECKS, re.M).group(1)
    assert tried == ", ".join(f'"{version}"' for version in named)
    assert project["requires-python"] == f">={named[0]}"


@pytest.mark.parametrize("command", recipe("lint"))
def test_hooks_run_what_make_lint_runs(command):
    bare = command.removesuffix(" .")
    assert re.search(rf"entry: \.venv/bin/{re.escape(bare)}( --force-exclude)?$", HOOKS, re.M)


def test_hooks_fetch_nothing():
    assert re.findall(r"repo: (.*)", HOOKS) == ["local"]
    assert set(re.findall(r"language: (.*)", HOOKS)) == {"system", "pygrep"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=name_of)
def test_workflows_may_do_little_and_end(path):
    text = path.read_text(encoding="utf-8")
    assert re.search(r"^permissions:( \{\}|\n  contents: read)$", text, re.M)
    assert "\nconcurrency:\n" in text
    assert text.count("runs-on:") == text.count("timeout-minutes:")
    assert "secrets." not in text


def test_only_the_last_job_of_a_release_may_publish():
    assert RELEASE.count("id-token: write") == 1
    before, publish = RELEASE.split("\n  publish:\n")
    assert "id-token: write" in publish
    assert "run:" not in publish
    assert "needs: checks" in before


@pytest.mark.parametrize("path", FORMS, ids=name_of)
def test_forms_ask_for_no_data(path):
    text = " ".join(path.read_text(encoding="utf-8").split()).lower()
    assert "paste no data about people, not even one row, one name or one value" in text
    assert "there is no data about people in this report. required: true" in text


def test_there_is_a_form_for_bugs_ideas_and_privacy():
    assert [path.stem for path in FORMS] == ["bug", "idea", "privacy"]


@pytest.mark.parametrize("path", YAML, ids=name_of)
def test_yaml_is_laid_out_as_yaml(path):
    """No parser of it is installed here; this finds tabs, odd indents and lines without a key."""
    inside = None  # indent of the line that began a block of text
    for line in path.read_text(encoding="utf-8").splitlines():
        indent = len(line) - len(line.lstrip(" "))
        if not line.strip() or (inside is not None and indent > inside):
            continue
        inside = indent if re.search(r": [|>]-?$", line) else None
        assert "\t" not in line, line
        assert indent % 2 == 0, line
        assert re.match(r" *(#|(- )?[\w-]+:( |$))", line), line
