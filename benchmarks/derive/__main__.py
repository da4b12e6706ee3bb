"""`python -m benchmarks.derive RULE [options] [NAME=VALUE ...]`: compare numbers of a rule."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys

import benchmarks.derive
from benchmarks.derive import harness

RULES = sorted(
    info.name
    for info in pkgutil.iter_modules(benchmarks.derive.__path__)
    if info.name not in ("__main__", "harness")
)


def main(arguments: list[str] | None = None) -> int:
    """Print how candidates fare on the problems of one rule."""
    arguments = sys.argv[1:] if arguments is None else arguments
    first = argparse.ArgumentParser("python -m benchmarks.derive", add_help=False)
    first.add_argument("rule", choices=RULES)
    if not arguments or arguments[0] in ("-h", "--help"):
        print(f"{__doc__}\n\nRules: {', '.join(RULES)}; RULE --help says more.")
        return 0
    rule = importlib.import_module(f"benchmarks.derive.{first.parse_args(arguments[:1]).rule}")
    harness.derive(rule, harness.options(rule, arguments[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
