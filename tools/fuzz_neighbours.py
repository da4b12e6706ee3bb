"""Look for neighbours that move a statistic further than declared, for as long as you like.

python tools/fuzz_neighbours.py --minutes 60 --seed 0 [--processes 1] [--out summary.json]
python tools/fuzz_neighbours.py --seed 0 --only 123      # one configuration again, in words

Every number is one configuration (estimator x solver x relation x declared facts) with some pairs.
Exits with 1 if anything does not hold.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path
from time import monotonic
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import _fuzz_chunks as chunks


class Summary:
    """Counts, the worst ratios, and one example of every kind of violation."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.worst: dict[str, dict[str, Any]] = {}
        self.kinds: dict[str, dict[str, Any]] = {}
        self.by_solver: dict[str, Counter[str]] = defaultdict(Counter)

    def add(self, report: dict[str, Any]) -> None:
        """Take in what one configuration showed."""
        number = report["done"]
        self.counts["configurations"] += 1
        if "crash" in report:
            self._break("crash", "a process died", number, report["crash"], "")
            return
        for what in ("pairs", "refused"):
            self.counts[what] += report.get(what, 0)
        solver = report["solver"]
        self.by_solver[solver][report["relation"]] += report.get("pairs", 0)
        for release, ratio in report["worst"].items():
            known = self.worst.get(f"{solver} | {release}", {"ratio": -1.0})
            if ratio > known["ratio"]:
                self.worst[f"{solver} | {release}"] = {"ratio": ratio, "number": number}
        for found in report["broken"]:
            own = f"{solver} | " if found["kind"] in ("moved", "published", "plan") else ""
            what = found["what"].split(": ")[0]
            self._break(found["kind"], own + what, number, found["story"], found["what"])

    def _break(self, kind: str, what: str, number: int, story: str, detail: str) -> None:
        self.counts["violations"] += 1
        fresh = {"count": 0, "number": number, "story": story, "detail": detail}
        self.kinds.setdefault(f"{kind} | {what}", fresh)["count"] += 1

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **self.counts,
            "kinds": self.kinds,
            "worst": dict(sorted(self.worst.items(), key=lambda item: -item[1]["ratio"])),
            "pairs_by_solver": {name: dict(of) for name, of in sorted(self.by_solver.items())},
        }


def _parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--configurations", type=int, default=None, help="stop after so many")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--only", type=int, default=None)
    parser.add_argument("--worker", type=int, nargs=2, default=None, help=argparse.SUPPRESS)
    return parser.parse_args()


def _serve(args: argparse.Namespace) -> None:
    from fuzz.neighbours import trial

    last = args.configurations
    numbers = (
        itertools.count(*args.worker)
        if last is None
        else range(args.worker[0], last, args.worker[1])
    )
    chunks.serve(iter(numbers), lambda number: trial(args.seed, number))


def _line(summary: Summary, start: float) -> str:
    counts = summary.counts
    return (
        f"{(monotonic() - start) / 60:6.1f} min  {counts['pairs']:8d} pairs  "
        f"{counts['configurations']:6d} configurations  {counts['violations']:5d} violations "
        f"of {len(summary.kinds)} kinds"
    )


def _run(args: argparse.Namespace) -> Summary:
    def command(first: int, step: int) -> list[str]:
        own = [str(Path(__file__).resolve()), "--worker", str(first), str(step)]
        more = [] if args.configurations is None else ["--configurations", str(args.configurations)]
        return [chunks.python(), *own, "--seed", str(args.seed), *more]

    summary, start, said = Summary(), monotonic(), 0
    reports = chunks.run(command, args.processes, args.configurations, 60.0 * args.minutes)
    for report in chunks.until_interrupted(reports):
        summary.add(report)
        if (monotonic() - start) // 60 > said:
            said += 1
            print(_line(summary, start), flush=True)
    print(_line(summary, start), flush=True)
    return summary


def main() -> int:
    """Run, tell, write."""
    args = _parsed()
    if args.worker is not None:
        _serve(args)
        return 0
    if args.only is not None:
        from fuzz.neighbours import trial

        print(json.dumps(trial(args.seed, args.only), indent=1))
        return 0
    summary = _run(args)
    for kind, found in sorted(summary.kinds.items(), key=lambda item: -item[1]["count"]):
        print(f"{found['count']:6d}  {kind}\n        --seed {args.seed} --only {found['number']}")
        print(f"        {found['detail']}  [{found['story']}]")
    if args.out is not None:
        args.out.write_text(json.dumps(summary.as_dict() | {"seed": args.seed}, indent=1))
    return 1 if summary.counts["violations"] else 0


if __name__ == "__main__":
    sys.exit(main())
