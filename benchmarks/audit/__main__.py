"""`python -m benchmarks.audit`: measure, or redraw, benchmarks/results/audit.md."""

from __future__ import annotations

import argparse
import sys

from benchmarks.audit import promises
from benchmarks.harness import report
from benchmarks.harness.components import Component
from benchmarks.harness.needs import Options

NAME = "audit"


def main(arguments: list[str] | None = None) -> int:
    """0 when nothing was above its promise and every planted bug was found."""
    parser = argparse.ArgumentParser("python -m benchmarks.audit", description=promises.__doc__)
    parser.add_argument("--quick", action="store_true", help="a minute, into results/quick")
    parser.add_argument("--redraw", action="store_true", help="the page again, from stored results")
    asked = parser.parse_args(arguments)
    options = Options(quick=asked.quick, redraw=asked.redraw)
    component = Component(NAME, promises)
    stored = report.read(NAME, options) if asked.redraw else None
    if stored is None:
        for reason in component.reasons(options, "WELCOME"):
            print(f"audit: a part is left out, because {reason}", flush=True)
        made = report.provenance(NAME, component.packages, options)
        made["command"] = "python -m benchmarks.audit" + (" --quick" if asked.quick else "")
        stored = report.store(NAME, made, promises.measure(options), options)
    print(f"audit: wrote {report.write(component, stored, options)}")
    return 0 if passed(stored["results"]) else 1


def passed(results: dict) -> bool:
    """Whether no promise was broken and no planted bug missed."""
    cells = results["white"] + results["black"] + results["planted"]
    return not any(cell["verdict"] in ("ABOVE", "MISSED", "ERROR") for cell in cells)


if __name__ == "__main__":
    sys.exit(main())
