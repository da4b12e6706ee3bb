"""Kill `privlearn fit` at random moments, and look at what it leaves behind.

python tools/kill_cli.py [--kills 1000] [--seed 0] [--folder FOLDER]

Each run charges a ledger and writes a model and predictions, half of the time over old ones. It is
a fork of this process, which has everything imported and compiled, and dies by SIGKILL, so nothing
can tidy up. After each, every file that is there must be complete, the ledger must open and hold
all charges of before, and no new file may be there without its charge.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep

from privlearn import Ledger
from privlearn.cli import main as privlearn
from privlearn.cli.model_file import read_model

ROWS, NEW_ROWS = 50, 7
OLD_MODEL, OLD_PREDICTIONS = '{"an": "old model"}\n', "old predictions\n"
PER_LEDGER = 10  # runs: reading a charge takes as long as there are data sets, and all are read
FACTS = ["--target", "wage", "--bounds", "age=0:99", "--bounds-y", "0:1000", "--epsilon", "0.1"]


@dataclass
class Trial:
    """A folder with data, and what was found in it so far."""

    folder: Path
    found: Counter[str] = field(default_factory=Counter)
    charged: set[str] = field(default_factory=set)
    prepared: int = 0

    def __post_init__(self) -> None:
        people = "".join(f"{20 + k},{10 * k}\n" for k in range(ROWS))
        (self.folder / "people.csv").write_text(f"age,wage\n{people}")
        new = "".join(f"{20 + k}\n" for k in range(NEW_ROWS))
        (self.folder / "new.csv").write_text(f"age\n{new}")

    def path(self, name: str) -> str:
        """A file of the folder."""
        return str(self.folder / name)

    def command(self, dataset: str, *, overwrite: bool = False) -> list[str]:
        """A fit with everything that a fit can write."""
        line = ["fit", self.path("people.csv"), *FACTS, "-o", self.path("model.json")]
        line += ["--predict", self.path("new.csv"), "--predictions", self.path("out.csv")]
        line += ["--ledger", self.path("a.ledger"), "--dataset", dataset]
        return [*line, "--overwrite"] if overwrite else line

    def prepare(self, *, overwrite: bool) -> None:
        """Old files, or none; and now and then a new ledger."""
        if self.prepared % PER_LEDGER == 0:
            self._new_ledger()
        self.prepared += 1
        for name, text in (("model.json", OLD_MODEL), ("out.csv", OLD_PREDICTIONS)):
            (self.folder / name).unlink(missing_ok=True)
            if overwrite:
                (self.folder / name).write_text(text)

    def _new_ledger(self) -> None:
        """An empty ledger, and nothing of the one before it."""
        for old in self.folder.glob("a.ledger*"):
            old.unlink()
        self.charged.clear()
        with open(os.devnull, "w") as quiet, redirect_stdout(quiet):
            status = privlearn(["ledger", self.path("a.ledger"), "--create", "--epsilon", "1"])
        assert status == 0

    def inspect(self, dataset: str, *, overwrite: bool) -> None:
        """Count what is wrong, and what is there."""
        try:
            ledger = Ledger(self.path("a.ledger"))
            charged = {name for name in ledger.datasets() if ledger.history(name)}
        except Exception:
            self.found["damaged ledgers"] += 1
            return
        self.found["lost charges"] += len(self.charged - charged)
        self.charged |= charged
        self.found["charged"] += dataset in charged
        model = self._state("model.json", OLD_MODEL, _whole_model)
        predictions = self._state("out.csv", OLD_PREDICTIONS, _whole_predictions)
        states = {model, predictions}
        self.found["truncated files"] += [model, predictions].count("broken")
        self.found["old files lost"] += overwrite and "absent" in states
        self.found["outputs without a charge"] += "new" in states and dataset not in charged
        self.found["models written"] += model == "new"
        self.found["predictions written"] += predictions == "new"
        for part in self.folder.glob(".privlearn-*.part"):
            self.found["stray parts (harmless)"] += 1
            part.unlink()

    def _state(self, name: str, old: str, whole: Callable[[Path], bool]) -> str:
        path = self.folder / name
        if not path.exists():
            return "absent"
        if path.read_text() == old:
            return "old"
        return "new" if whole(path) else "broken"

    @property
    def wrong(self) -> int:
        """How many things are not as they must be."""
        return sum(self.found[key] for key in WRONG)


WRONG = (
    "truncated files",
    "old files lost",
    "outputs without a charge",
    "damaged ledgers",
    "lost charges",
)


def _whole_model(path: Path) -> bool:
    try:
        json.loads(path.read_text())
        read_model(path)
    except Exception:
        return False
    return True


def _whole_predictions(path: Path) -> bool:
    text = path.read_text()
    lines = text.splitlines()
    return text.endswith("\n") and len(lines) == 1 + NEW_ROWS and all(map(_is_number, lines[1:]))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def forked(run: Callable[[], int]) -> int:
    """Run in a child, silently; returns the child's number."""
    gc.freeze()  # else the child's collector would touch, and so copy, all memory of the parent
    child = os.fork()
    if child:
        gc.unfreeze()
        return child
    status = 70
    try:
        sys.stdout = sys.stderr = quiet = open(os.devnull, "w")  # noqa: SIM115 (for the child's life)
        os.dup2(quiet.fileno(), 1)
        os.dup2(quiet.fileno(), 2)
        status = run()
    finally:
        os._exit(status)


def warm_up(trial: Trial) -> None:
    """Import and compile everything that the children will need."""
    trial.prepare(overwrite=False)
    with open(os.devnull, "w") as quiet, redirect_stdout(quiet):
        assert privlearn(trial.command("warm up")) == 0


def kill_at_random(trial: Trial, kills: int, seed: int) -> None:
    """Start, wait for a random part of a whole run's time, kill, inspect; as often as asked."""
    draw = random.Random(seed)
    trial.prepare(overwrite=False)
    start = perf_counter()
    os.waitpid(forked(lambda: privlearn(trial.command("whole"))), 0)
    whole = perf_counter() - start
    for k in range(kills):
        dataset, overwrite = f"people {k}", bool(k % 2)
        trial.prepare(overwrite=overwrite)
        line = trial.command(dataset, overwrite=overwrite)
        child = forked(lambda line=line: privlearn(line))
        sleep(draw.uniform(0, 1.1 * whole))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        trial.found["kills"] += 1
        trial.inspect(dataset, overwrite=overwrite)


def main() -> int:
    """Run the trial and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to work (default: a temporary folder)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        trial = Trial(Path(folder))
        warm_up(trial)
        kill_at_random(trial, args.kills, args.seed)
    order = ("kills", "charged", "models written", "predictions written", *WRONG)
    for key in (*order, "stray parts (harmless)"):
        print(f"{key:<26} {trial.found[key]:,}")
    return int(trial.wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
