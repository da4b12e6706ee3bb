"""Imports go downward only, and randomness has one door."""

import ast
from functools import cache
from pathlib import Path

import privlearn

ROOT = Path(privlearn.__file__).parent

# Lower rooms first. A module may import from its own layer and from lower ones, never in a circle.
LAYERS = [
    {"exceptions", "_core.version", "_core.lazy", "_core.docstrings", "_core.jit", "_core.numerics"}
    | {"_core.forecast", "_core.threads", "_data.cells"},
    {"accounting", "noise", "_objective", "_core.sampling"},
    {"_core", "ledger"},
    {"_data", "schema"},
    {"solvers"},
    {"private_bounds"},
    {"linear_model", "kernel_model", "kernel_approximation", "feature_selection"}
    | {"export", "plotting"},
    {"metrics"},
    {"model_selection"},
    {"audit", "datasets"},
    {"cli", "__main__"},
]


def modules():
    """Every file with the name of its module, without "privlearn."."""
    for file in ROOT.rglob("*.py"):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            yield file, name


def rooms():
    """Every file with the folder or file of the ground floor that it belongs to."""
    for file, name in modules():
        yield file, name.split(".")[0]


@cache
def parsed(file):
    """The syntax tree of a file; nobody may change it."""
    return ast.parse(file.read_text())


@cache
def imported(file, *, late=True):
    """Modules of ours that a file imports, at run time; without `late`, at its own import."""
    return tuple(_imported(parsed(file), file, late))


def _imported(tree, file, late):
    ignored = {
        id(node)
        for block in ast.walk(tree)
        if (isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test))
        or (not late and isinstance(block, ast.FunctionDef))
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in ignored or not isinstance(node, ast.ImportFrom | ast.Import):
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            assert not node.level, f"{file}: relative import"
            names = [_module(node.module, alias.name) for alias in node.names]
        for name in names:
            if name.startswith("privlearn."):
                yield name.removeprefix("privlearn.")


def _module(package, name):
    """The module that `from package import name` needs."""
    path = ROOT.joinpath(*package.split(".")[1:], name)
    return f"{package}.{name}" if path.with_suffix(".py").exists() or path.is_dir() else package


def layer_of(name):
    """The layer of the longest entry that the module's name begins with."""
    found = [
        (len(entry), level)
        for level, entries in enumerate(LAYERS)
        for entry in entries
        if name == entry or name.startswith(f"{entry}.")
    ]
    assert found, f"{name} has no layer; add it to LAYERS where it belongs"
    return max(found)[1]


def test_imports_go_downward():
    for file, name in modules():
        for other in imported(file):
            assert layer_of(other) <= layer_of(name), f"{name} imports {other}"


def test_no_module_imports_itself_by_way_of_others():
    needs = {name: set(imported(file, late=False)) for file, name in modules()}
    left = dict(needs)
    while left:
        free = {name for name, others in left.items() if not (others - {name}) & left.keys()}
        assert free, f"these import each other in a circle: {sorted(left)}"
        left = {name: others for name, others in left.items() if name not in free}


def test_randomness_has_one_door():
    # Random feature maps look at no data, so their seeds are no secret.
    doors = {"noise", "_core.sampling", "_core.releaser", "audit", "kernel_approximation"}
    # A ledger's key draws no noise: it makes the heads of its chains impossible to guess.
    mechanisms = "_core.mechanisms"
    allowed = {
        ("NoiseSource", mechanisms),
        ("NoiseSource", f"{mechanisms}.tukey_boxes"),
        ("NoiseSource", f"{mechanisms}.tries"),
        ("urandom", "ledger.ledger"),
    }
    for file, name_of_file in modules():
        if any(name_of_file == door or name_of_file.startswith(f"{door}.") for door in doors):
            continue
        for node in ast.walk(parsed(file)):
            name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
            assert (
                name
                not in {
                    "default_rng",
                    "RandomState",
                    "secrets",
                    "urandom",
                    "NoiseSource",
                }
                or (name, name_of_file) in allowed
            ), f"{file.name} reaches for randomness: {name}"


def test_files_and_functions_stay_small():
    for file in ROOT.rglob("*.py"):
        assert file.read_text().count("\n") <= 400, f"{file.name} is a folder by now"
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= 60, f"{file.name}: {node.name} does not fit a screen"


def test_solvers_share_nothing_but_what_is_common():
    """A solver is a package that knows no other: what two of them need is in `_common`."""
    packages = {file.parent.name for file in (ROOT / "solvers").glob("*/solver.py")}
    assert len(packages) > 5
    shared = {
        (name, wanted)
        for file, name in modules()
        if (own := name.split(".")[1:2]) and name.startswith("solvers.") and own[0] in packages
        for wanted in imported(file)
        if wanted.startswith("solvers.") and wanted.split(".")[1] in packages - set(own)
    }
    assert not shared
