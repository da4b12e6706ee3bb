"""`privlearn demo`: three private models of the same people, charged to one ledger."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.errors import CommandError
from privlearn.cli.open_ledger import create_ledger, existing_ledger
from privlearn.cli.sample import write_sample
from privlearn.cli.screen import in_short, progress
from privlearn.datasets import load_cps1988
from privlearn.private_bounds.summary import what_is_estimated

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from privlearn.ledger import Ledger
    from privlearn.linear_model.base import PrivateEstimator

    Scores = dict[str, Callable[[Any], str]]  # in words, of a fitted model

__all__ = ["add_options", "run"]

Array = NDArray[np.float64]
EPSILON, DELTA = 1.0, 1e-6
TOTAL = 3.0
THRESHOLD = 522.0  # dollars a week; a number fixed beforehand, not read off the data
DATASET = "cps1988"
EVERY = 5  # each fifth person is held out

INTRO = """\
Wages of 28,155 men in the United States in March 1988 (Current Population Survey, it ships with
privlearn). Three models learn from four fifths of them, and are tried on the rest beside models of
scikit-learn that keep nothing private. Each promises epsilon = 1: whatever anyone concludes from
the model about a person is hardly more likely than if that person's row had been empty.
All are charged to one ledger, which allows epsilon = 3 in all."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Learn the wages of 28,155 people three times with privacy, compare the models "
        "with scikit-learn's and show what they cost together."
    )
    parser.add_argument("--ledger", metavar="FILE", help="keep the ledger in this file")
    parser.add_argument(
        "--csv",
        metavar="FILE",
        help="write the data to this file to try the other commands, and stop",
    )


@dataclass(frozen=True, eq=False)
class Wages:
    """People to learn from and people held out, with ranges that are public knowledge."""

    X: Array
    wage: Array
    X_test: Array
    wage_test: Array
    bounds_X: tuple[Array, Array]
    bounds: tuple[float, float]


def run(args: argparse.Namespace) -> int:
    """Tell the story from top to bottom."""
    if args.csv is not None:
        return _export(args.csv)
    print(INTRO)
    with tempfile.TemporaryDirectory() as folder:
        _all(_load(), Path(args.ledger or f"{folder}/demo.ledger"))
    return 0


def _export(path: str) -> int:
    if Path(path).exists():
        raise CommandError(f"{path} exists and is not replaced; choose another name")
    write_sample(path)
    print(f"wrote {path}; next: privlearn plan --template {path} --target wage")
    return 0


def _load() -> Wages:
    """Split by position; experience gets a square.

    The square is taken around the middle of the range, so that it does not repeat what the
    column itself says: that would cost accuracy under noise.
    """
    cps = load_cps1988()
    place = cps.feature_names.index("experience")
    low, high = (float(end[place]) for end in cps.bounds_X)
    square = ((2 * cps.data[:, place] - low - high) / (high - low)) ** 2
    X = np.column_stack([cps.data, square])
    held_out = np.arange(len(X)) % EVERY == 0
    return Wages(
        X=X[~held_out],
        wage=cps.target[~held_out],
        X_test=X[held_out],
        wage_test=cps.target[held_out],
        bounds_X=(np.append(cps.bounds_X[0], 0.0), np.append(cps.bounds_X[1], 1.0)),
        bounds=cps.bounds_y,
    )


def _all(wages: Wages, path: Path) -> None:
    ledger = existing_ledger(str(path)) if path.exists() else create_ledger(str(path), TOTAL, DELTA)
    common = {"epsilon": EPSILON, "delta": DELTA, "ledger": ledger, "dataset": DATASET}
    _regression(wages, common)
    _nothing_declared(wages, common)
    _classification(wages, common)
    _account(ledger)


def _regression(wages: Wages, common: dict[str, Any]) -> None:
    from sklearn.linear_model import LinearRegression as NonPrivate

    from privlearn import LinearRegression

    _title("1. How much does a year of education add? Log weekly wage, by linear regression")
    low, high = map(float, np.log(wages.bounds))
    model = LinearRegression(bounds_X=wages.bounds_X, bounds_y=(low, high), **common)
    y, y_test = np.log(wages.wage), np.log(wages.wage_test)
    _fit(model, wages, y, explain=True)
    scores: Scores = {
        f"R^2, {len(y_test):,} people": lambda m: f"{m.score(wages.X_test, y_test):.3f}",
        "a year of education": lambda m: f"{np.expm1(m.coef_[0]):+.1%} wage",
    }
    _compare(scores, model, NonPrivate().fit(wages.X, y))


def _nothing_declared(wages: Wages, common: dict[str, Any]) -> None:
    from privlearn import LinearRegression

    _title("2. The same without a word about ranges")
    model = LinearRegression(**common)
    with progress():
        model.fit(wages.X, np.log(wages.wage))
    print(f"{what_is_estimated(model.privacy_.plan)}\n")
    score = model.score(wages.X_test, np.log(wages.wage_test))
    print(f"  {f'R^2, {len(wages.wage_test):,} people':<24}{score:.3f}")


def _classification(wages: Wages, common: dict[str, Any]) -> None:
    from sklearn.linear_model import LogisticRegression as NonPrivate
    from sklearn.metrics import roc_auc_score

    from privlearn import LogisticRegression

    _title(f"3. Who earns above {THRESHOLD:.0f} dollars a week? Logistic regression")
    model = LogisticRegression(classes=[0, 1], bounds_X=wages.bounds_X, **common)
    y, y_test = ((wage > THRESHOLD).astype(int) for wage in (wages.wage, wages.wage_test))
    _fit(model, wages, y, explain=False)
    X = wages.X_test
    scores: Scores = {
        f"right, {len(y_test):,} people": lambda m: f"{m.score(X, y_test):.1%}",
        "area under the curve": lambda m: f"{roc_auc_score(y_test, m.decision_function(X)):.3f}",
    }
    _compare(scores, model, NonPrivate(max_iter=1000).fit(wages.X, y))


def _fit(model: PrivateEstimator, wages: Wages, y: Array, *, explain: bool) -> None:
    """Show the plan, then fit, then show the certificate."""
    if explain:
        print("Before any data is touched, the plan says what will be released, and how noisy:\n")
    plan = str(model.plan(n=len(y), n_features=wages.X.shape[1]))
    print(plan if explain else _in_short(plan))
    with progress():
        model.fit(wages.X, y)
    if explain:
        print("\nThe fitted model carries a certificate of what was promised, spent and assumed:")
    print(f"\n{_in_short(str(model.privacy_))}\n\nOn people that neither model has seen:")


def _in_short(text: str) -> str:
    """A plan or certificate with one line for its releases, which the first plan lists."""
    return in_short(text, "as in the plan of the first model")


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def _compare(scores: Scores, model: PrivateEstimator, other: BaseEstimator) -> None:
    print(f"  {'':<24}{'privlearn, epsilon = 1':<26}scikit-learn, no privacy")
    for words, score in scores.items():
        print(f"  {words:<24}{score(model):<26}{score(other)}")


def _account(ledger: Ledger) -> None:
    _title("4. What they cost together")
    charges = ledger.history(DATASET)
    for charge in charges:
        names = ", ".join(release.split(":")[0] for release in charge.releases)
        print(f"  charged    epsilon = {charge.epsilon:.4g}  {names}")
    spent, total = ledger.spent(DATASET), sum(charge.epsilon for charge in charges)
    print(f"  spent      epsilon = {spent:.4g} together, less than their sum of {total:.4g}")
    print(
        f"  remaining  epsilon = {ledger.remaining(DATASET):.4g} of {ledger.epsilon:g} at delta = "
        f"{ledger.delta:g}, for one more fit"
    )
    print("\nScores are shown because this data set is public: they are not part of the promise.")
    print(f"Your own data: {_this_program()} fit --help")


def _this_program() -> str:
    """How the command can be called from here, in an environment that is active or not."""
    beside = shutil.which("privlearn", path=str(Path(sys.executable).parent))
    if beside is None or shutil.which("privlearn") is not None:
        return "privlearn"
    place = Path(beside)
    here = place.is_relative_to(Path.cwd())
    return shlex.quote(str(place.relative_to(Path.cwd()) if here else place))
