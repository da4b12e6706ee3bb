"""Which of the fast tests' audits catches which planted bug?

python tools/mutants.py [--every-item] [--processes 2] [--match WORDS]

Plants each bug of tests/mutants that the generic audits have to catch, and prints the
configuration and the check that met it first; with --every-item, how many more there are. Bugs are
looked for where the fast tests look, in `selection.fast_configurations`. Those that other tests
catch are run, too. Takes minutes, with --every-item an hour.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Run the tests of planted bugs, and print what caught each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every-item", action="store_true", help="do not stop at the first")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--match", default="", help="as pytest's -k")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "caught.tsv"
        table.touch()
        line = [sys.executable, "-m", "pytest", "-n", str(args.processes), "-k", args.match]
        told = {"MUTANT_TABLE": str(table)}
        if args.every_item:
            told["MUTANT_EVERY_ITEM"] = "1"
        status = subprocess.run(
            [*line, "-m", "slow or not slow", str(ROOT / "tests" / "mutants")],
            cwd=ROOT,
            env=os.environ | told,
            check=False,
        ).returncode
        show(table.read_text().splitlines())
    return status


def show(lines: list[str]) -> None:
    """The bugs in order, with what caught each, and how many each check and configuration met."""
    caught = defaultdict(list)
    for line in sorted(lines):
        bug, *how = line.split("\t")
        caught[bug].append(how)
    by_check: dict[str, set[str]] = defaultdict(set)
    for bug, found in caught.items():
        name, check, why = found[0]
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        print(f"{bug}\n    {name}{more}: {check}: {why[:110]}")
        for _, check, _ in found:
            by_check[check].add(bug)
    print(f"\n{len(caught)} bugs were caught by audits:")
    for check, bugs in sorted(by_check.items(), key=lambda item: -len(item[1])):
        print(f"{len(bugs):5d}  {check}")


if __name__ == "__main__":
    raise SystemExit(main())
