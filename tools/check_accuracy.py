"""Are the published medians still those of the code? Ours are seeded, so they can be run again.

    python tools/check_accuracy.py [--splits 10] [--seeds 20]

Runs ours on the data sets of Dick et al. (nothing declared, epsilon = ln 3) and on Adult
(epsilon = 1) with the seeds of the committed results, and prints both medians and the largest
difference of a single fit.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]
Scores = tuple[str, list[float], list[float]]


def committed(page: str) -> dict[str, Any]:
    """The results behind a page."""
    found: dict[str, Any] = json.loads(
        (ROOT / "benchmarks" / "results" / f"{page}.json").read_text()
    )["results"]
    return found


def dick(splits: int) -> Iterator[Scores]:
    """Per data set: the committed scores and those of now."""
    from benchmarks.papers.dick import data
    from benchmarks.papers.dick.methods import automatic

    known = committed("papers/dick")["parts"]["ours"]["scores"]
    for name in data.NAMES:
        X, y = data.load(name)
        now = [automatic(data.split(X, y, seed), seed) for seed in range(splits)]
        yield name, known[name]["ours"][:splits], now


def adult(seeds: int) -> Iterator[Scores]:
    """The same for Adult, with nothing and with bounds declared."""
    from benchmarks.datasets import adult
    from benchmarks.peers import adult_undeclared as page

    raw, boxed = (page.train_and_test(make) for make in (page.features, adult.features))
    known = committed("peers/adult_undeclared")
    place = known["epsilons"].index(page.ASKED)
    for label, rows, facts in ((page.UNDECLARED, raw, {}), (page.DECLARED, boxed, page.PUBLIC)):
        (now,) = page.private_scores(*rows, (page.ASKED,), seeds, **facts)
        yield f"adult, {label}", known["curves"][label][place][:seeds], now


def main() -> None:
    """Print a line per data set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    print(f"{'data set':<40} {'committed':>10} {'now':>10} {'largest difference':>20}")
    for source, count in ((adult, options.seeds), (dick, options.splits)):
        for name, known, now in source(count):
            known, now = np.array(known, dtype=float), np.array(now, dtype=float)
            print(
                f"{name:<40} {np.median(known):>10.4f} {np.median(now):>10.4f} "
                f"{np.abs(known - now).max():>20.2g}",
                flush=True,
            )


if __name__ == "__main__":
    main()
