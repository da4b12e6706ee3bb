"""What ships, how little it imports, and what must never be written into a file."""

import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pytest

from privlearn._core.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
HEAVY = ("sklearn", "scipy", "numba", "mpmath", "pandas", "dp_accounting", "randomgen", "polars")


def fresh_python(code):
    """Run code in a new interpreter and return what it printed."""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def loaded_by(statement, after="pass"):
    """Return the modules that one import loads in a new interpreter, beyond what `after` loads."""
    code = (
        f"import sys; {after}; before = set(sys.modules); {statement}; "
        "print(*set(sys.modules) - before)"
    )
    return set(fresh_python(code).split())


# Imports


def test_import_loads_little():
    """Counted in modules: times depend on what else the machine does (benchmarks/speed/start)."""
    loaded = loaded_by("import privlearn")
    ours = {name for name in loaded if name.startswith("privlearn")}
    assert ours <= {
        "privlearn",
        "privlearn._core",
        "privlearn._core.lazy",
        "privlearn._core.version",
    }
    assert len(loaded) <= 60
    assert "numpy" not in loaded


def test_import_loads_nothing_heavy():
    code = f"import sys, privlearn; print([m for m in {HEAVY!r} if m in sys.modules])"
    assert fresh_python(code) == "[]"


def test_estimators_load_little_more_than_scikit_learn():
    loaded = loaded_by("from privlearn import LinearRegression", "import sklearn.linear_model")
    foreign = {name for name in loaded if not name.startswith("privlearn")}
    assert not foreign & set(HEAVY)
    assert len(foreign) <= 10
    assert len(loaded) <= 138


FIRST_FITS = """
import gc, sys
import numpy as np
from privlearn import LinearRegression, LogisticRegression
X = np.linspace(0, 1, 3000).reshape(-1, 3)
y = X.sum(axis=1)
known = dict(bounds_X=(0, 1), bounds_y=(0, 3))
LinearRegression(solver="moments", **known).fit(X, y)
loaded = "numba" in sys.modules
LogisticRegression(bounds_X=(0, 1), solver="sgd").fit(X, (y > 1.5).astype(int))
LinearRegression(solver="cd", **known).fit(X, y)
from numba.core.dispatcher import Dispatcher
compiled = sum(
    sum(item.stats.cache_misses.values())
    for item in gc.get_objects() if isinstance(item, Dispatcher)
)
print(compiled, loaded)
"""


@pytest.mark.slow
def test_a_second_process_compiles_nothing_and_fits_at_once():
    """Whatever is compiled is kept for the next process; "moments" does not even load numba."""
    fresh_python(FIRST_FITS)
    assert fresh_python(FIRST_FITS).split() == ["0", "False"]


# What ships


def test_types_are_declared():
    assert files("privlearn").joinpath("py.typed").is_file()


def test_the_archive_of_the_source_holds_what_it_names_and_no_environment():
    """hatchling packs every folder that the root's .gitignore lets pass, `.venv-oldest` too."""
    named = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"]
    assert {"src/privlearn", "tests"} <= set(named)
    assert all((ROOT / name).exists() and not name.startswith(".") for name in named)


def test_data_file_is_small():
    assert files("privlearn.datasets").joinpath("cps1988.npz").stat().st_size < 200_000


def test_one_version_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.*)$", citation, flags=re.M) == [__version__]
    assert version("privlearn") == __version__


def test_citation_names_the_five_papers():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    first_authors = re.findall(r"authors:\n      - \{family-names: ([^,]*),", citation)
    assert first_authors == ["Song", "Damaskinos", "Mangold", "Wang", "Dick"]


# Dependencies


def requirement_name(requirement):
    return re.match(r"[A-Za-z0-9-]+", requirement).group().lower()


LOCKS = sorted(path.name for path in ROOT.glob("requirements-*.txt"))


def locked(file_name):
    """Yield (name, version, marker, hashes) of every entry of a lock."""
    text = (ROOT / file_name).read_text(encoding="utf-8").replace("\\\n", "")
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            entry = re.fullmatch(r"([a-z0-9-]+)==([\w.]+)(?: ; (.*?))?((?: +--hash=\S+)*) *", line)
            name, pinned, marker, hashes = entry.groups()
            yield name, pinned, marker, hashes.split()


def pins(file_name):
    """Return {name: {version, ...}} of a lock; one name may have a version per Python."""
    found = {}
    for name, pinned, *_ in locked(file_name):
        found.setdefault(name, set()).add(pinned)
    return found


def direct_requirements(*extras):
    lines = list(PROJECT["dependencies"])
    for extra in extras:
        lines += PROJECT["optional-dependencies"][extra]
    return [line for line in lines if requirement_name(line) != "privlearn"]


def test_base_install_is_small():
    """dp-accounting holds back attrs, so it may be asked for but never forced on anyone."""
    allowed = {"numpy", "scipy", "scikit-learn", "numba", "randomgen", "mpmath", "narwhals"}
    assert {requirement_name(line) for line in PROJECT["dependencies"]} <= allowed


def test_lock_pins_every_direct_dependency():
    for file_name, extras in {
        "requirements-run.txt": [],
        "requirements-test.txt": ["verify", "test"],
        "requirements-dev.txt": ["verify", "test", "bench", "dev"],
        "requirements-oldest.txt": ["verify", "test"],
    }.items():
        wanted = {requirement_name(line) for line in direct_requirements(*extras)}
        assert wanted <= pins(file_name).keys(), file_name


@pytest.mark.parametrize("file_name", LOCKS)
def test_locks_name_what_builds_the_package_and_hash_everything(file_name):
    """So nothing else is fetched: pip refuses other files, and builds with what is installed."""
    build = {requirement_name(line) for line in PYPROJECT["build-system"]["requires"]}
    assert build < {requirement_name(line) for line in PYPROJECT["dependency-groups"]["build"]}
    assert build | {"editables"} <= pins(file_name).keys()
    for name, _, _, hashes in locked(file_name):
        assert hashes, name
        assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", item) for item in hashes), name


def test_smaller_locks_are_parts_of_the_largest():
    run, test, whole = (
        {(name, pinned, *hashes) for name, pinned, _, hashes in locked(f"requirements-{part}.txt")}
        for part in ("run", "test", "dev")
    )
    assert run < test < whole


@pytest.mark.parametrize("requirement", direct_requirements("verify", "test"))
def test_lower_bounds_are_the_versions_tested(requirement):
    """`make test-oldest` installs these pins, so a lower bound that differs would be a guess."""
    lowest = re.search(r">=([\d.]+)", requirement).group(1)
    (pinned,) = pins("requirements-oldest.txt")[requirement_name(requirement)]
    assert f"{pinned}.".startswith(f"{lowest}.")


# What must not be written into a file

FORBIDDEN = re.compile(
    r"(?<![\w.])/(?:work|root|home|opt|Users)/"  # a path on somebody's machine
    r"|pypi\.(?:org|python)|pythonhosted\."  # a registry
    r"|(?<!emit-)index[-_]url|find[-_]links|file:/{2}",  # where packages are taken from
    flags=re.I,
)


@pytest.mark.parametrize(
    "bad",
    [
        "/".join(["", "work", "x"]),
        "/".join(["'", "home", "me"]),
        "https://" + "pypi" + ".org/simple",
        "--extra-" + "index" + "-url x",
        "PIP_INDEX" + "_URL",
        "file:" + "//x",
    ],
)
def test_scan_finds_what_it_should(bad):
    assert FORBIDDEN.search(bad)


@pytest.mark.parametrize(
    "good", ["a/work/b", "docs/home/x", "--no-emit-" + "index-" + "url", "index"]
)
def test_scan_lets_the_rest_pass(good):
    assert not FORBIDDEN.search(good)


def test_no_file_names_a_machine_path_or_a_registry():
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: cannot tell the project's files from others")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    found = []
    for name in filter(None, listed.split("\0")):
        path = ROOT / name
        if path.is_file() and b"\0" not in (raw := path.read_bytes()):
            for number, line in enumerate(raw.decode("utf-8").splitlines(), start=1):
                if FORBIDDEN.search(line):
                    found.append(f"{name}:{number}: {line.strip()[:80]}")
    assert not found
