"""Count what a reader would have to walk through to follow a fit: functions, files, depth.

    python tools/walk.py                          # the table of this checkout
    python tools/walk.py --baseline before.json   # writes the file; where it exists: compares

Each walk is a real fit of real data (CPS 1988), traced by `sys.setprofile`, in all threads. It is
run once before it is counted, so that imports, compilation and what is rehearsed once per process
are not part of it. Counted are the library's own Python functions:

functions
    Distinct ones that were entered. Lambdas count, comprehensions and generator expressions belong
    to the function that they stand in. What `dataclass` and `namedtuple` write is not counted. Of
    compiled functions those count that Python enters; what they call in turn no tracer sees.
files
    Distinct files that those functions stand in.
depth
    The largest number of those functions on one thread's stack at one time; what other libraries
    put between them is not counted. Another thread starts from zero.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

import privlearn
from privlearn import KernelClassifier, LinearRegression, LogisticRegression
from privlearn.cli import main as command_line
from privlearn.cli.sample import write_sample
from privlearn.datasets import load_cps1988

HOME = str(Path(privlearn.__file__).parent)
INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"}
COUNTS = ("functions", "files", "depth")
SEED = 0  # the same noise every time: rare branches are taken in every run or in none
ROWS = 3000  # of those walks that take long with all rows
Counts = dict[str, int]


class Tracer:
    """What was entered while it was on."""

    def __init__(self) -> None:
        self.entered: set[tuple[str, str]] = set()
        self.deepest = 0
        self._local = threading.local()
        self._ours: dict[CodeType, bool] = {}

    def _counts(self, code: CodeType) -> bool:
        if code not in self._ours:
            self._ours[code] = code.co_filename.startswith(HOME) and code.co_name not in INLINE
        return self._ours[code]

    def __call__(self, running: FrameType, event: str, _: object) -> None:
        """Called by Python for every call and return."""
        if event not in {"call", "return"} or not self._counts(running.f_code):
            return
        depth = getattr(self._local, "depth", 0) + (1 if event == "call" else -1)
        self._local.depth = depth
        if event == "call":
            self.entered.add((running.f_code.co_filename, running.f_code.co_qualname))
            self.deepest = max(self.deepest, depth)

    def counts(self) -> Counts:
        """The three numbers."""
        files = {file for file, _ in self.entered}
        return {"functions": len(self.entered), "files": len(files), "depth": self.deepest}


def traced(action: Callable[[], object]) -> Tracer:
    """Run once without counting, then once counting."""
    action()
    tracer = Tracer()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return tracer


def walks(folder: Path) -> dict[str, Callable[[], object]]:
    """What is walked, by name."""
    wages = load_cps1988()
    X, y = wages.data, wages.target
    high = (y > np.median(y)).astype(int)
    sheet = folder / "people.csv"
    write_sample(str(sheet))

    def of_command_line() -> None:
        numbers = folder / "numbers.csv"  # without the column of text, which needs a declaration
        if not numbers.exists():
            lines = [line.split(",") for line in sheet.read_text(encoding="utf-8").splitlines()]
            kept = [",".join([*cells[:4], cells[5]]) for cells in lines]
            numbers.write_text("\n".join(kept) + "\n", encoding="utf-8")
        model = folder / "model.json"
        model.unlink(missing_ok=True)
        asked = ["fit", str(numbers), "--target", "wage", "--epsilon", "1", "-o", str(model)]
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = command_line(asked)
        if status:
            raise RuntimeError(f"the command ended with {status}: {said.getvalue()}")

    def of_a_stream() -> None:
        model = LogisticRegression(solver="one-pass", data_norm=10.0, random_state=SEED)
        model.partial_fit(X[:ROWS], high[:ROWS], classes=[0, 1])

    return {
        "`LinearRegression().fit`": lambda: LinearRegression(random_state=SEED).fit(X, y),
        '`LogisticRegression(solver="sgd").fit`': lambda: LogisticRegression(
            solver="sgd", random_state=SEED
        ).fit(X, high),
        "the same with `data_norm=10`": lambda: LogisticRegression(
            solver="sgd", data_norm=10.0, random_state=SEED
        ).fit(X, high),
        "`KernelClassifier().fit`": lambda: KernelClassifier(random_state=SEED).fit(
            X[:ROWS], high[:ROWS]
        ),
        "`partial_fit`": of_a_stream,
        "command line: `fit`": of_command_line,
    }


def table(found: dict[str, Counts], before: dict[str, Counts] | None) -> str:
    """Markdown: one row per walk, before and after where both are known."""
    lines = [f"| walk | {' | '.join(COUNTS)} |", "| --- |" + " ---: |" * len(COUNTS)]
    for name, counts in found.items():
        old = (before or {}).get(name)
        cells = [
            str(counts[what]) if old is None else f"{old[what]} -> {counts[what]}"
            for what in COUNTS
        ]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Walk, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--baseline", type=Path, metavar="FILE.json", help="write, or compare with")
    parser.add_argument("--list", action="store_true", help="name the functions of each walk")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tracers = {name: traced(action) for name, action in walks(Path(folder)).items()}
    found = {name: tracer.counts() for name, tracer in tracers.items()}
    before = None
    if asked.baseline is not None and asked.baseline.exists():
        before = json.loads(asked.baseline.read_text(encoding="utf-8"))
    elif asked.baseline is not None:
        asked.baseline.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(table(found, before))
    if asked.list:
        for name, tracer in tracers.items():
            places = sorted(f"{file[len(HOME) + 1 :]}: {what}" for file, what in tracer.entered)
            print(f"\n{name}\n  " + "\n  ".join(places))


if __name__ == "__main__":
    main()
