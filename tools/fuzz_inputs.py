"""Call every public entry with inputs of every kind, and count what must not happen.

python tools/fuzz_inputs.py --examples 100000 --seed 0 --processes 2 [--out summary.json]
python tools/fuzz_inputs.py --seed 0 --only 123          # one example again, in words

What must not happen: an exception of a kind that is not documented, a crash, a hang, a cell or a
label in any text or file, an estimator that changed although its fit failed, a charge before an
exception, numbers that are not finite. Exits with 1 if anything did.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import _fuzz_chunks as chunks


class Summary:
    """Counts by entry, and one example of every kind of violation."""

    def __init__(self) -> None:
        self.examples = 0
        self.entries: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()
        self.kinds: dict[tuple[str, str], dict[str, Any]] = {}

    def add(self, report: dict[str, Any]) -> None:
        """Take in one example."""
        self.examples += 1
        number = report["done"]
        if "crash" in report:
            place = report["crash"].split(":")[0]
            self._break(number, "any", "crash", place, report["crash"], "")
            return
        self.entries[report["entry"]] += 1
        self.outcomes[report["outcome"]] += 1
        for entry, kind, place, detail in report["broken"]:
            self._break(number, entry, kind, place, detail, report["story"])

    def _break(
        self, number: int, entry: str, kind: str, place: str, detail: str, story: str
    ) -> None:
        first = {"number": number, "detail": detail, "story": story}
        known = self.kinds.setdefault((kind, place), {"count": 0, "entries": Counter(), **first})
        known["count"] += 1
        known["entries"][entry] += 1

    @property
    def violations(self) -> int:
        """How many there were in all."""
        return sum(found["count"] for found in self.kinds.values())

    def lines(self, seed: int) -> list[str]:
        """The report, the most frequent kind first."""
        said = []
        for (kind, place), found in sorted(self.kinds.items(), key=lambda x: -x[1]["count"]):
            entries = ", ".join(f"{name} {n}" for name, n in found["entries"].most_common(3))
            said.append(f"{found['count']:6d}  {kind} | {place} | {entries}")
            said.append(f"        --seed {seed} --only {found['number']}: {found['detail']}")
            said.append(f"        {found['story']}")
        return said

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "examples": self.examples,
            "violations": self.violations,
            "entries": dict(self.entries),
            "outcomes": dict(self.outcomes.most_common()),
            "kinds": [
                {"kind": kind, "place": place, **found}
                for (kind, place), found in self.kinds.items()
            ],
        }


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--entry", default=None, help="fit, partial_fit, after, plan, map, ...")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--worker", type=int, nargs=2, default=None, help=argparse.SUPPRESS)
    return parser.parse_args()


def _trial(args: argparse.Namespace, number: int) -> dict[str, Any]:
    from fuzz.entries import seeded_example

    entry, broken, outcome, story = seeded_example(args.seed, number, args.entry)
    said = story if broken else ""
    return {"entry": entry, "broken": broken, "outcome": outcome, "story": said}


def _command(args: argparse.Namespace, first: int, step: int) -> list[str]:
    own = [str(Path(__file__).resolve()), "--worker", str(first), str(step)]
    more = [] if args.entry is None else ["--entry", args.entry]
    numbers = ["--seed", str(args.seed), "--examples", str(args.examples)]
    return [chunks.python(), *own, *numbers, *more]


def _run(args: argparse.Namespace) -> Summary:
    summary, start, said = Summary(), monotonic(), 0

    def line() -> str:
        took = monotonic() - start
        return (
            f"{took / 60:6.1f} min  {summary.examples:7d} examples  "
            f"{summary.examples / took:6.1f}/s  "
            f"{summary.violations:6d} violations of {len(summary.kinds)} kinds"
        )

    forever = 1e9
    reports = chunks.run(
        lambda first, step: _command(args, first, step), args.processes, args.examples, forever
    )
    for report in chunks.until_interrupted(reports):
        summary.add(report)
        if (monotonic() - start) // 60 > said:
            said += 1
            print(line(), flush=True)
    print(line(), flush=True)
    return summary


def main() -> int:
    """Run, tell, write."""
    import json

    args = _parsed()
    if args.worker is not None:
        numbers = iter(range(args.worker[0], args.examples, args.worker[1]))
        chunks.serve(numbers, lambda number: _trial(args, number))
        return 0
    if args.only is not None:
        from fuzz.entries import seeded_example

        names = ("entry", "broken", "outcome", "story")
        found = seeded_example(args.seed, args.only, args.entry)
        print(json.dumps(dict(zip(names, found, strict=True)), indent=1))
        return 0
    summary = _run(args)
    print(", ".join(f"{name} {count}" for name, count in summary.outcomes.most_common(8)))
    print("\n".join(summary.lines(args.seed)))
    if args.out is not None:
        args.out.write_text(json.dumps(summary.as_dict() | {"seed": args.seed}, indent=1))
    return 1 if summary.violations else 0


if __name__ == "__main__":
    sys.exit(main())
