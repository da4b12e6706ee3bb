"""Write certificates and models of this version, which later versions must read and believe.

python tools/make_fixtures.py

The rows are generated, so nobody is in them. A fixture is never written over: a new version adds
its own folder, and the tests read all of them.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

import numpy as np

from privlearn import (
    HuberRegressor,
    KernelRegressor,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
)
from privlearn._core import version as _version
from privlearn.cli import main as command
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.solvers import SGD, CoordinateDescent, OnePassSGD, OutputPerturbation, Tukey

HERE = Path(__file__).resolve().parents[1] / "tests" / "fixtures"
BOX = {"bounds_X": (-1.0, 1.0), "random_state": 1}
TWO = {"classes": [0, 1], **BOX}
PURE = {"delta": 0.0, **TWO}


def people() -> tuple[np.ndarray, np.ndarray]:
    """Rows inside the declared box."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (600, 3))
    return X, np.clip(X @ [0.4, -0.2, 0.1] + 0.05 * rng.standard_normal(600), -1, 1)


def estimators() -> dict[str, object]:
    """One for each kind of mechanism, sampling and relation that a certificate can hold."""
    found: dict[str, object] = {
        f"moments-{relation}": LinearRegression(
            solver="moments", bounds_y=(-1, 1), adjacency=relation, **BOX
        )
        for relation in ("zero_out", "add_remove", "replace_one")
    }
    return found | {
        "nothing-declared": LinearRegression(random_state=1),
        "sgd": LogisticRegression(solver=SGD(steps=40), **TWO),
        "sgd-replace-one": LogisticRegression(solver=SGD(steps=40), adjacency="replace_one", **TWO),
        "scd": LinearSVC(solver="scd", **TWO),
        "cd-greedy": LogisticRegression(
            solver=CoordinateDescent(passes=6, selection="greedy"), **TWO
        ),
        "huber": HuberRegressor(bounds_y=(-1, 1), **BOX),
        "one-pass": LogisticRegression(solver=OnePassSGD(batch_size=100), **PURE),
        "one-pass-add-remove": LogisticRegression(
            solver="one-pass", adjacency="add_remove", **PURE
        ),
        "output": LogisticRegression(solver=OutputPerturbation(epochs=2), **TWO),
        "output-with-replacement": LogisticRegression(
            solver=OutputPerturbation(epochs=1, sampling="with_replacement"), **TWO
        ),
        "tukey": LinearRegression(solver=Tukey(models=60), epsilon=30.0, random_state=1),
        "kernel": KernelRegressor(n_components=20, bounds_y=(-1, 1), **BOX),
        "kendall": KendallSelector(k=2, random_state=1),
        "sub-lasso": SubLassoSelector(k=2, models=20, random_state=1),
    }


def certificates(folder: Path) -> None:
    """Fit each and keep what it says it cost."""
    X, y = people()
    for name, model in estimators().items():
        labels = (y > 0).astype(int) if hasattr(model, "classes") else y
        fitted = model.fit(X, labels)
        (folder / f"{name}.json").write_text(fitted.privacy_.to_json() + "\n", encoding="utf-8")
    levels = np.where(np.arange(len(X)) % 2, 0.2, 1.0)
    fitted = LogisticRegression(solver="one-pass", **PURE)
    fitted.fit(X, (y > 0).astype(int), sample_epsilon=levels)
    (folder / "levels.json").write_text(fitted.privacy_.to_json() + "\n", encoding="utf-8")


def models(folder: Path) -> None:
    """The command line's models: numbers, lists of text, classes, limits."""
    X, y = people()
    with tempfile.TemporaryDirectory() as place:
        table = Path(place) / "people.csv"
        with table.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file)
            rows.writerow(["hours", "town", "wage", "owner"])
            for (a, b, _), target in zip(X, y, strict=True):
                town = "north" if b > 0 else "south"
                rows.writerow([f"{40 + 20 * a:.3f}", town, f"{target:.4f}", int(target > 0)])
        facts = ["--columns", "hours,town", "--bounds", "hours=20:60"]
        facts += ["--categories", "town=north,south"]
        owner = ["--target", "owner", "--model", "logistic", "--classes", "0,1"]
        _fit(table, folder / "wage.json", [*facts, "--target", "wage", "--bounds-y", "-1:1"])
        _fit(table, folder / "owner.json", [*facts, *owner])
        alone = ["--columns", "hours", "--target", "wage"]
        _fit(table, folder / "nothing-declared.json", alone)


def _fit(table: Path, model: Path, options: list[str]) -> None:
    line = ["fit", str(table), *options, "--epsilon", "1", "-o", str(model)]
    if command(line) != 0:
        sys.exit(f"could not make {model.name}")


def main() -> None:
    """Make the folders of this version."""
    for kind, write in (("certificates", certificates), ("models", models)):
        folder = HERE / kind / _version.__version__
        if folder.exists():
            sys.exit(f"{kind} of {folder.name} are there already; they are never written over")
        folder.mkdir(parents=True)
        write(folder)


if __name__ == "__main__":
    main()
