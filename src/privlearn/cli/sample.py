"""The demo's data as a CSV file, to try the other commands on."""

from __future__ import annotations

import csv
import io

from privlearn.cli.outputs import Output
from privlearn.datasets import load_cps1988

__all__ = ["write_sample"]

REGIONS = ("midwest", "south", "west")
HEADER = ("education", "experience", "smsa", "parttime", "region", "wage")


def write_sample(path: str) -> None:
    """Write the wages of CPS 1988 with the region as text, one line per person."""
    cps = load_cps1988()
    place = {name: k for k, name in enumerate(cps.feature_names)}
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for row, wage in zip(cps.data.tolist(), cps.target.tolist(), strict=True):
        numbers = [f"{row[place[name]]:g}" for name in HEADER[:4]]
        inside = [name for name in REGIONS if row[place[f"region_{name}"]]]
        writer.writerow([*numbers, *(inside or ["northeast"]), f"{wage:.2f}"])
    with Output(path, size=text.tell()) as output:
        output.write(text.getvalue())
