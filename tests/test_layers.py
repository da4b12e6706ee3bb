"""Imports go downward only, and randomness has one door."""

import ast
from pathlib import Path

import privlearn

ROOT = Path(privlearn.__file__).parent

# Lower rooms first. A module may import from its own room and from lower ones.
FLOORS = [
    {"_version", "exceptions", "cells"},
    {"losses", "penalties", "numerics", "forecast", "accounting"},
    {"_loops"},
    {"noise", "sampling", "depth"},
    {"mechanisms"},
    {"budget"},
    {"problem"},
    {"plan"},
    {"certificate_file"},
    {"certificate", "certificate_check", "verification", "ledger"},
    {"release"},
    {"frames", "sparse_check", "reading"},
    {"targets"},
    {"clipping", "data", "sparse", "labels", "levels", "kernel_approximation"},
    {"solvers"},
    {"buying"},
    {"linear_model"},
    {"kernel_model"},
    {"feature_selection"},
    {"audit", "datasets", "_show_versions"},
    {"cli"},
    {"__main__"},
]


def rooms():
    for file in ROOT.rglob("*.py"):
        room = file.relative_to(ROOT).with_suffix("").parts[0]
        if room != "__init__":
            yield file, room


def imported(file):
    """Rooms that a file imports, at run time."""
    tree = ast.parse(file.read_text())
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only or not isinstance(node, ast.ImportFrom | ast.Import):
            continue
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
        for name in names:
            assert not (isinstance(node, ast.ImportFrom) and node.level), f"{file}: relative import"
            parts = name.split(".")
            if parts[0] == "privlearn" and len(parts) > 1:
                yield parts[1]


def floor_of(room):
    found = [level for level, names in enumerate(FLOORS) if room in names]
    assert len(found) == 1, f"{room} has no floor; add it to FLOORS where it belongs"
    return found[0]


def test_imports_go_downward():
    for file, room in rooms():
        for other in imported(file):
            if (room, other) == ("certificate", "verification"):
                continue
            assert floor_of(other) <= floor_of(room), f"{file.name} ({room}) imports {other}"


def test_randomness_has_one_door():
    # Random feature maps look at no data, so their seeds are no secret.
    doors = {"noise", "sampling", "release", "audit", "kernel_approximation"}
    # A ledger's key draws no noise: it makes the heads of its chains impossible to guess.
    allowed = {("NoiseSource", "mechanisms"), ("NoiseSource", "depth"), ("urandom", "ledger")}
    for file, room in rooms():
        if room in doors:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
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
                or (name, room) in allowed
            ), f"{file.name} reaches for randomness: {name}"


def test_files_and_functions_stay_small():
    for file in ROOT.rglob("*.py"):
        text = file.read_text()
        assert text.count("\n") <= 400, f"{file.name} is a folder by now"
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = body[-1].end_lineno - body[0].lineno + 1 if body else 0
                assert lines <= 60, f"{file.name}: {node.name} does not fit a screen"
