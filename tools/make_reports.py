"""Reports of three models, looked at in a browser and photographed for the documentation.

    python tools/make_reports.py --data ../shared/data --pictures docs/figures --axe axe.min.js

Wages of the demo with intervals; Adult as it is, with nothing declared; a kernel model. Without
`--data` the second is left out. Needs Chromium and its driver for everything but the pages.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from browser.driver import missing, opened
from browser.report import complaints, photograph

from privlearn import KernelRegressor, LinearRegression, LogisticRegression, metrics
from privlearn.datasets import load_cps1988
from privlearn.schema import Category, Number

HEIGHTS = {"desk": 1900, "phone": 2300}
REGIONS = ("northeast", "midwest", "south", "west")


def wages(folder: Path) -> Path:
    """The demo's model, with intervals and scores of people who were held out."""
    people, wage, bounds = _people()
    schema = {"education": Number(0, 18), "experience": Number(-6, 64), "smsa": Number(0, 1)}
    schema |= {"afam": Number(0, 1), "parttime": Number(0, 1), "region": Category(REGIONS)}
    held = np.arange(len(wage)) % 5 == 0
    model = LinearRegression(epsilon=1, intervals=True, schema=schema, bounds_y=bounds)
    model.fit(people[~held], wage[~held])
    scores = metrics.evaluate(
        model, people[held], wage[held], epsilon=1, delta=1e-6, bounds_y=bounds
    )
    path = folder / "wages.html"
    decided = "the authors of privlearn: the data are public, and 1 shows what the default does"
    title = "Weekly wages of men, March 1988"
    model.report(path, title=title, scores=scores, decided_by=decided)
    return path


def _people() -> tuple[pd.DataFrame, np.ndarray, tuple[float, float]]:
    cps = load_cps1988()
    table = pd.DataFrame(cps.data, columns=[str(name) for name in cps.feature_names])
    listed = [f"region_{name}" for name in REGIONS[1:]]  # the first is the base level
    code = table[listed].to_numpy() @ np.arange(1, len(REGIONS))
    people = table.drop(columns=listed)
    people["region"] = [REGIONS[int(k)] for k in code]
    low, high = cps.bounds_y
    return people, cps.target, (float(low), float(high))


def adult(folder: Path, data: Path) -> Path:
    """Adult as it is in the file: nothing declared but target, epsilon and delta."""
    people = pd.read_parquet(data / "adult.parquet").rename(columns={"target": "income"})
    people = people[people["split"] == "train"].drop(columns="split")
    model = LogisticRegression(epsilon=1, delta=1e-5, schema="estimate").fit(people, "income")
    path = folder / "adult.html"
    model.report(path, title="Who earns more than 50,000 dollars? (Adult)")
    return path


def kernel(folder: Path) -> Path:
    """Wages again, as a curve."""
    cps = load_cps1988()
    people = pd.DataFrame(cps.data[:, :2], columns=["education", "experience"])
    model = KernelRegressor(epsilon=1).fit(people, cps.target)
    path = folder / "kernel.html"
    model.report(path, title="Wages over education and experience, as a curve")
    return path


def main() -> int:
    """Write, check and photograph; what is wrong is printed and makes the exit status 1."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--axe", type=Path)
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--pages", type=Path, help="where the pages go; left there")
    args = parser.parse_args()
    folder = args.pages or Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    pages = [wages(folder), kernel(folder)]
    pages += [adult(folder, args.data)] if args.data else []
    if reason := missing():
        print(f"pages were written, the browser was left out: {reason}")
        return 0
    wrong = []
    with opened() as browser:
        for page in pages:
            wrong += complaints(browser, page, args.axe)
            if args.pictures:
                photograph(browser, page, args.pictures, HEIGHTS)
    print("\n".join(wrong))
    print(f"{len(pages)} pages, {len(wrong)} complaints")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
