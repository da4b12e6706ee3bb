"""The names of the package: what `dir`, a star import and a type checker see, and no more."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import privlearn

ROOT = Path(__file__).resolve().parents[1]
ESTIMATORS = {
    "ElasticNet",
    "HuberRegressor",
    "KernelClassifier",
    "KernelRegressor",
    "Lasso",
    "LinearRegression",
    "LinearSVC",
    "LogisticRegression",
    "PoissonRegressor",
    "Ridge",
}
MODULES = {"audit", "datasets", "exceptions", "metrics", "model_selection", "plotting"}
MODULES |= {"schema", "solvers"}
PUBLIC = ESTIMATORS | MODULES | {"Ledger", "check_pipeline", "load", "show_versions"}
PUBLIC |= {"__version__"}


def for_checkers():
    """{name: where it comes from} of the imports that only type checkers see."""
    tree = ast.parse(Path(privlearn.__file__).read_text())
    (block,) = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {alias.name: node.module for node in block.body for alias in node.names}


def test_dir_shows_exactly_the_public_names():
    assert set(dir(privlearn)) == PUBLIC
    assert set(privlearn.__all__) == PUBLIC


def test_dir_does_not_grow_with_use():
    for name in sorted(PUBLIC):
        assert getattr(privlearn, name) is not None
    importlib.import_module("privlearn.linear_model")
    assert set(dir(privlearn)) == PUBLIC


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="'privlearn' has no attribute 'LinearRegresion'"):
        privlearn.LinearRegresion  # noqa: B018


def test_checkers_see_what_there_is_at_run_time():
    """Two lists that a reader keeps alike: what is imported on use, and what checkers are told."""
    seen = for_checkers()
    assert set(seen) | {"__version__"} == PUBLIC
    for name, home in seen.items():
        found = getattr(importlib.import_module(home), name)
        assert found is getattr(privlearn, name)
        if name not in MODULES:
            assert privlearn._HOMES[name].startswith(home)


SCRATCH = """
import privlearn
from privlearn import KernelRegressor, Ledger, LinearRegression, audit, solvers
reveal_type(LinearRegression(epsilon=1.0).fit([[0.0]], [0.0]))
reveal_type(KernelRegressor().alpha)
reveal_type(Ledger.create)
reveal_type(solvers.SGD)
reveal_type(audit.check_replay)
reveal_type(privlearn.show_versions)
LinearRegression(epsilon="much")
privlearn.LinearRegresion
from privlearn import NothingOfThisName
"""


@pytest.mark.slow
def test_mypy_sees_every_name_and_no_other(tmp_path):
    pytest.importorskip("mypy")
    (tmp_path / "scratch.py").write_text(SCRATCH)
    command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml")]
    command += ["--no-error-summary", "--hide-error-context", str(tmp_path / "scratch.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = dict.fromkeys(range(1, 13), "")
    for line in done.stdout.splitlines():
        place, _, text = line.partition(": ")
        if place.partition(":")[0].endswith("scratch.py"):
            said[int(place.split(":")[1])] += text
    assert 'Revealed type is "privlearn.linear_model' in said[4], done.stdout
    assert "float | None" in said[5] or "Union[" in said[5]
    assert "privlearn.ledger" in said[6]
    assert "privlearn.solvers" in said[7]
    assert all(said[k] and '"Any"' not in said[k] for k in range(4, 10))
    assert 'incompatible type "str"; expected "float"' in said[10]
    assert 'no attribute "LinearRegresion"' in said[11]
    assert 'no attribute "NothingOfThisName"' in said[12]
