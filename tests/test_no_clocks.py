"""No test reads a clock: a busy machine must not fail what a quiet one passes.

Times belong to benchmarks/speed. A test may count work instead: modules loaded, functions compiled,
plans evaluated, words drawn, calls made.
"""

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
CLOCKS = {
    "perf_counter", "perf_counter_ns", "process_time", "process_time_ns", "thread_time",
    "thread_time_ns", "monotonic", "monotonic_ns", "time", "time_ns", "timeit", "default_timer",
    "getrusage", "times",
}  # fmt: skip
MODULES = {"time", "timeit", "resource", "os"}
SHORT = 60  # seconds: a limit below is a measurement, one above only ends what hangs

# File and function, with the reason; hang guards that need a clock of their own.
ALLOWED: dict[tuple[str, str], str] = {}


def clocks_in(text):
    """Names of the functions of a source text that read a clock, with the lines that do."""
    tree = ast.parse(text)
    names, modules = _imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _is_clock(node.func, names, modules):
            yield _owner(tree, node.lineno), node.lineno
        if _in_code(_text(node)):
            yield _owner(tree, node.lineno), node.lineno


def _text(node):
    """A string, also one with fields."""
    if isinstance(node, ast.JoinedStr):
        return "".join(getattr(part, "value", None) or "pass" for part in map(_part, node.values))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _part(node):
    return node if isinstance(node, ast.Constant) else None


def _imported(tree):
    names, modules = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            names |= {a.asname or a.name for a in node.names if a.name in CLOCKS}
        elif isinstance(node, ast.Import):
            modules |= {a.asname or a.name for a in node.names if a.name in MODULES}
    return names, modules


def _owner(tree, line):
    """The innermost function around a line."""
    around = [
        function
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and function.lineno <= line <= function.end_lineno
    ]
    return max(around, key=lambda function: function.lineno).name if around else ""


def _is_clock(function, names, modules):
    if isinstance(function, ast.Name):
        return function.id in names
    return (
        isinstance(function, ast.Attribute)
        and function.attr in CLOCKS
        and isinstance(function.value, ast.Name)
        and function.value.id in modules
    )


def _in_code(text):
    """Clocks in a string that is a program for another process."""
    if "import" not in text:
        return []
    try:
        return list(clocks_in(text.replace("{", "(").replace("}", ")")))
    except (SyntaxError, ValueError):
        return []


def limits_in(text):
    """Calls that give up after less than SHORT seconds."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        for word in node.keywords:
            given = getattr(word.value, "value", None)
            if word.arg == "timeout" and isinstance(given, int | float) and given < SHORT:
                yield node.lineno


def test_no_test_reads_a_clock():
    found = []
    for file in sorted(HERE.rglob("*.py")):
        place, text = file.relative_to(HERE).as_posix(), file.read_text(encoding="utf-8")
        if place == Path(__file__).name:
            continue  # its examples are clocks
        found += [f"{place}:{n}" for name, n in clocks_in(text) if (place, name) not in ALLOWED]
        found += [f"{place}:{n}: a limit below {SHORT} s is a clock" for n in limits_in(text)]
    assert not found, "count work, and take times in benchmarks/speed"


@pytest.mark.parametrize(
    "bad",
    [
        "import time\ndef test_it():\n    assert time.perf_counter() < 3",
        "from time import monotonic as now\nassert now() < 3",
        "import time as t\nt.thread_time_ns()",
        "from timeit import default_timer\ndefault_timer()",
        "import os\nos.times()",
        "CODE = '''\nimport time\nprint(time.process_time())\n'''",
        "code = f'import time; {x}; print(time.time())'",
        "code = 'from time import perf_counter as t; s = t()'",
    ],
)
def test_clocks_are_found(bad):
    assert list(clocks_in(bad))


@pytest.mark.parametrize(
    "good",
    [
        "import time\nassert clock is time.perf_counter",
        "import time\ntime.sleep(1)",
        "def time():\n    pass\ntime()",
        "text = 'time.time() is a clock'",
    ],
)
def test_the_rest_passes(good):
    assert not list(clocks_in(good))


def test_tight_limits_are_found():
    assert list(limits_in("queue.get(timeout=5)"))
    assert not list(limits_in("queue.get(timeout=300)\nqueue.get(timeout=HANG)"))
