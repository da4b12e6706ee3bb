"""Count what makes the house hard to enter, in one source tree or in several side by side.

    python tools/house.py [SRC ...] [--list]

SRC is a folder `src/privlearn` of any checkout (default: this one's), one column each. `--list`
names what was counted. Nothing is imported: files are parsed. The rules, all about code (comments
and docstrings count nowhere but in the last two rows):

top-level modules
    Files, and folders with Python files, directly in SRC, less those whose names begin with two
    underscores. Private ones count, `_version` among them.
files in solvers/ outside packages
    Python files directly in SRC/solvers, less `__init__`.
files that mention Huber's scale
    Files with an identifier `HUBER`, `huber` or one of SCALE_WORDS, or with a comparison of
    `.degree` and 1. To name the class `Huber`, the estimator or its threshold is not enough.
... of these, by the code HUBER
    Files with the identifier `HUBER` alone: the narrower count.
files that take (l1, l2, low, high) apart
    Files that use `l1` or `l2` as a variable, a parameter, an attribute or a keyword, or an
    attribute `_l1`, `_l2`. Building a penalty, `Penalty(l1=...)`, is not taking it apart.
formulas from share to weight
    Functions that divide by, or take a root of, something named like a share, and that name a
    weight or make a release (`..._release(...)`, `Release(...)`).
layers
    Entries of the list LAYERS (before: FLOORS) in the test `test_layers.py`.
late imports
    Import statements inside functions; `ours` are those of privlearn itself.
isinstance on mechanisms
    Calls of `isinstance` with a class that `mechanisms` (a file or a package) defines, not with
    one of the same name that the file has from elsewhere.
ANN401 exceptions
    Comments `noqa` that name ANN401: a parameter or result that may be anything.
lines of code; lines with comments and docstrings
    Lines that hold code; all lines but blank ones. Tests are not counted.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parents[1] / "src" / "privlearn"
SCALE_WORDS = {
    "scale_unit",
    "along_scale",
    "SCALE_UNIT",
    "SCALE_SHARE",
    "LEAST_SCALE",
    "LARGEST_SCALE",
    "has_scale",
    "learns_scale",
    "scale_index",
    "scale_weight",
}
SPACE = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
Function = ast.FunctionDef | ast.AsyncFunctionDef
Rule = Callable[[Path], list[str]]


@cache
def parsed(file: Path) -> ast.Module:
    """The file's syntax tree."""
    return ast.parse(file.read_text(encoding="utf-8"))


def python_files(source: Path) -> list[Path]:
    """All Python files of a source tree, in order."""
    return sorted(source.rglob("*.py"))


def within(source: Path, wanted: Callable[[ast.Module], bool]) -> list[str]:
    """Files whose syntax tree has what is wanted."""
    return [str(f.relative_to(source)) for f in python_files(source) if wanted(parsed(f))]


def identifiers(node: ast.AST) -> Iterator[str]:
    """Names in code: of variables, attributes, parameters, keywords, functions and imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr
        elif isinstance(part, ast.arg | ast.keyword):
            yield part.arg or ""
        elif isinstance(part, Function | ast.ClassDef | ast.alias):
            yield part.name


def functions(tree: ast.Module) -> Iterator[Function]:
    """Every function and method of a file."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def called(node: ast.Call) -> str:
    """Name of what is called, without the object it belongs to."""
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


# The rules, one function each; what they return is counted.


def top_level_modules(source: Path) -> list[str]:
    """Files and packages on the ground floor."""
    entries = [p for p in source.iterdir() if p.suffix == ".py" or any(p.glob("*.py"))]
    return sorted(p.name for p in entries if not p.name.startswith("__"))


def top_level_files(source: Path) -> list[str]:
    """Those among them that are files."""
    return [name for name in top_level_modules(source) if name.endswith(".py")]


def loose_solver_files(source: Path) -> list[str]:
    """Files of solvers that are in no package of their own."""
    return sorted(p.name for p in (source / "solvers").glob("*.py") if p.stem != "__init__")


def knows_scale(tree: ast.Module) -> bool:
    """Whether code treats Huber's scale apart."""
    for name in identifiers(tree):
        if name in SCALE_WORDS or name in {"HUBER", "huber"}:
            return True
    return any(
        isinstance(node, ast.Compare)
        and getattr(node.left, "attr", getattr(node.left, "id", "")) == "degree"
        and ast.unparse(node.comparators[0]) == "1"
        for node in ast.walk(tree)
    )


def scale_files(source: Path) -> list[str]:
    """Files that mention Huber's scale, by any of its names."""
    return within(source, knows_scale)


def huber_code_files(source: Path) -> list[str]:
    """Files that mention the loss's code."""
    return within(source, lambda tree: "HUBER" in identifiers(tree))


def takes_apart(tree: ast.Module) -> bool:
    """Whether code handles the parts of a penalty."""
    built = {
        id(keyword)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node) == "Penalty"
        for keyword in node.keywords
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in {"l1", "l2", "_l1", "_l2"}:
            return True
        name = getattr(node, "id", getattr(node, "arg", ""))
        named = isinstance(node, ast.Name | ast.arg | ast.keyword) and name in {"l1", "l2"}
        if named and id(node) not in built:
            return True
    return False


def penalty_files(source: Path) -> list[str]:
    """Files that take a penalty apart."""
    return within(source, takes_apart)


def _divides_by_share(function: Function) -> bool:
    def share(part: ast.AST) -> bool:
        return any("share" in name.lower() for name in identifiers(part))

    for node in ast.walk(function):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and share(node.right):
            return True
        if isinstance(node, ast.Call) and called(node) == "sqrt" and any(map(share, node.args)):
            return True
    return False


def _makes_weight(function: Function) -> bool:
    if any(re.search(r"(^|_)weight(ed|_|$)", name) for name in identifiers(function)):
        return True
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call))
    return any(called(node).endswith(("_release", "Release")) for node in calls)


def share_formulas(source: Path) -> list[str]:
    """Functions that turn a share of the budget into a weight of noise."""
    return [
        f"{file.relative_to(source)}: {function.name}"
        for file in python_files(source)
        for function in functions(parsed(file))
        if _divides_by_share(function) and _makes_weight(function)
    ]


def layers(source: Path) -> list[str]:
    """Entries of the list that the test of imports reads."""
    for file in sorted((source.parents[1] / "tests").rglob("test_layers.py")):
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in (
                "LAYERS",
                "FLOORS",
            ):
                return [ast.unparse(floor) for floor in node.value.elts]
    return []


def late_imports(source: Path) -> list[str]:
    """Import statements inside functions."""
    found = {}  # by place, since a function may be inside another
    for file in python_files(source):
        for function in functions(parsed(file)):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    found[file, node.lineno] = f"{file.relative_to(source)}: {ast.unparse(node)}"
    return list(found.values())


def late_imports_of_ours(source: Path) -> list[str]:
    """Those among them that import the library's own modules."""
    return [line for line in late_imports(source) if re.search(r": (from|import) privlearn", line)]


def _foreign(tree: ast.Module) -> set[str]:
    """Names that a file defines, or imports from a room that is not that of the mechanisms."""
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and "mechanisms" not in (node.module or "").split("."):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def isinstance_on_mechanisms(source: Path) -> list[str]:
    """Questions about a mechanism's class; other classes may have the name of one."""
    homes = [f for f in python_files(source) if "mechanisms" in (f.stem, f.parent.name)]
    nodes = [node for file in homes for node in parsed(file).body]
    classes = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    found = []
    for file in python_files(source):
        meant = classes if file in homes else classes - _foreign(parsed(file))
        found += [
            f"{file.relative_to(source)}: {ast.unparse(node)}"
            for node in ast.walk(parsed(file))
            if isinstance(node, ast.Call)
            and called(node) == "isinstance"
            and meant & set(identifiers(node.args[1]))
        ]
    return found


def tokens(file: Path) -> Iterator[tokenize.TokenInfo]:
    """The file's tokens that are neither space nor line ends."""
    text = io.StringIO(file.read_text(encoding="utf-8"))
    return (token for token in tokenize.generate_tokens(text.readline) if token.type not in SPACE)


def unknown_types(source: Path) -> list[str]:
    """Places that are let off saying a type."""
    return [
        f"{file.relative_to(source)}:{token.start[0]}"
        for file in python_files(source)
        for token in tokens(file)
        if token.type == tokenize.COMMENT and re.search(r"noqa:.*ANN401", token.string)
    ]


def _docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and ast.get_docstring(node):
            lines.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return lines


def code_lines(source: Path) -> list[str]:
    """Lines that hold code."""
    found = []
    for file in python_files(source):
        lines: set[int] = set()
        for token in tokens(file):
            if token.type != tokenize.COMMENT:
                lines.update(range(token.start[0], token.end[0] + 1))
        kept = lines - _docstring_lines(parsed(file))
        found += [f"{file.relative_to(source)}:{number}" for number in sorted(kept)]
    return found


def written_lines(source: Path) -> list[str]:
    """Lines that are not blank."""
    return [
        f"{file.relative_to(source)}:{number}"
        for file in python_files(source)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip()
    ]


ROWS: dict[str, Rule] = {
    "top-level modules": top_level_modules,
    "... of these, files": top_level_files,
    "files in `solvers/` outside packages": loose_solver_files,
    "files that mention Huber's scale": scale_files,
    "... of these, by the code `HUBER`": huber_code_files,
    "files that take `(l1, l2, low, high)` apart": penalty_files,
    "formulas from share to weight": share_formulas,
    "layers in the import test": layers,
    "late imports": late_imports,
    "... of these, ours": late_imports_of_ours,
    "`isinstance` on mechanisms": isinstance_on_mechanisms,
    "ANN401 exceptions": unknown_types,
    "files": lambda source: [str(file) for file in python_files(source)],
    "lines of code": code_lines,
    "lines with comments and docstrings": written_lines,
}
UNLISTED = {"files", "lines of code", "lines with comments and docstrings"}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="*", type=Path, default=[HERE], metavar="SRC")
    parser.add_argument("--list", action="store_true", help="name what was counted")
    asked = parser.parse_args()
    sources = [source.resolve() for source in asked.sources]
    for source in sources:
        if not (source / "__init__.py").exists():
            parser.error(f"{source} is no package; give a folder src/privlearn")
    heads = [""] if len(sources) == 1 else [f" {i}" for i in range(1, len(sources) + 1)]
    print("| what | " + " | ".join(f"count{head}" for head in heads) + " |")
    print("| --- |" + " ---: |" * len(sources))
    found = {name: [rule(source) for source in sources] for name, rule in ROWS.items()}
    for name, columns in found.items():
        print(f"| {name} | " + " | ".join(f"{len(column):,}" for column in columns) + " |")
    if asked.list:
        for name in [name for name in found if name not in UNLISTED]:
            for head, column in zip(heads, found[name], strict=True):
                print(f"\n{name}{head}\n  " + "\n  ".join(column))


if __name__ == "__main__":
    main()
