"""`privlearn demo`: three private models of the same people, charged to one ledger."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privlearn.cli.errors import CommandError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

__all__ = ["add_options", "run"]

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
    bounds: tuple[float, float]


def run(args: argparse.Namespace) -> int:
    """Tell the story from top to bottom."""
    if args.csv is not None:
        return _export(args.csv)
    print(INTRO)
    wages = _load()
    if args.ledger is not None:
        _all(wages, Path(args.ledger))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        _all(wages, Path(folder) / "demo.ledger")
    return 0


def _export(path: str) -> int:
    from privlearn.cli.sample import write_sample

    if Path(path).exists():
        raise CommandError(f"{path} exists and is not replaced; choose another name")
    write_sample(path)
    print(f"wrote {path}; next: privlearn plan --template {path} --target wage")
    return 0


def _load() -> Wages:
    """Split by position and scale to [0, 1] by public ranges; experience gets a square.

    The square is taken around the middle of the range, so that it does not repeat what the
    column itself says: that would cost accuracy under noise.
    """
    import numpy as np

    from privlearn.datasets import load_cps1988

    cps = load_cps1988()
    low, high = cps.bounds_X
    X = (cps.data - low) / (high - low)
    experience = X[:, list(cps.feature_names).index("experience")]
    X = np.column_stack([X, (2 * experience - 1) ** 2])
    held_out = np.arange(len(X)) % EVERY == 0
    return Wages(
        X=X[~held_out],
        wage=cps.target[~held_out],
        X_test=X[held_out],
        wage_test=cps.target[held_out],
        bounds=cps.bounds_y,
    )


def _all(wages: Wages, path: Path) -> None:
    from privlearn.cli.open_ledger import create_ledger, existing_ledger

    ledger = existing_ledger(str(path)) if path.exists() else create_ledger(str(path), TOTAL, DELTA)
    _regression(wages, ledger)
    _nothing_declared(wages, ledger)
    _classification(wages, ledger)
    _account(ledger)


def _regression(wages: Wages, ledger: object) -> None:
    import numpy as np
    from sklearn.linear_model import LinearRegression as NonPrivate

    from privlearn import LinearRegression

    _title("1. How much does a year of education add? Log weekly wage, by linear regression")
    low, high = np.log(wages.bounds)
    model = LinearRegression(
        bounds_X=(0.0, 1.0), bounds_y=(float(low), float(high)), **_common(ledger)
    )
    y, y_test = np.log(wages.wage), np.log(wages.wage_test)
    _fit(model, wages, y, explain=True)
    others = NonPrivate().fit(wages.X, y)
    year = 1 / 18  # education is scaled from 0..18 years to 0..1
    _compare(
        [
            (
                f"R^2, {len(y_test):,} people",
                f"{model.score(wages.X_test, y_test):.3f}",
                f"{others.score(wages.X_test, y_test):.3f}",
            ),
            (
                "a year of education",
                f"{np.expm1(model.coef_[0] * year):+.1%} wage",
                f"{np.expm1(others.coef_[0] * year):+.1%} wage",
            ),
        ]
    )


def _nothing_declared(wages: Wages, ledger: object) -> None:
    import numpy as np

    from privlearn import LinearRegression
    from privlearn.cli.private_bounds_summary import what_is_estimated
    from privlearn.cli.progress import progress

    _title("2. The same without a word about ranges")
    model = LinearRegression(**_common(ledger))
    with progress():
        model.fit(wages.X, np.log(wages.wage))
    print(f"{what_is_estimated(model.privacy_.plan)}\n")
    score = model.score(wages.X_test, np.log(wages.wage_test))
    print(f"  {f'R^2, {len(wages.wage_test):,} people':<24}{score:.3f}")


def _classification(wages: Wages, ledger: object) -> None:
    from sklearn.linear_model import LogisticRegression as NonPrivate
    from sklearn.metrics import roc_auc_score

    from privlearn import LogisticRegression

    _title(f"3. Who earns above {THRESHOLD:.0f} dollars a week? Logistic regression")
    model = LogisticRegression(classes=[0, 1], bounds_X=(0.0, 1.0), **_common(ledger))
    y, y_test = ((wage > THRESHOLD).astype(int) for wage in (wages.wage, wages.wage_test))
    _fit(model, wages, y, explain=False)
    others = NonPrivate(max_iter=1000).fit(wages.X, y)
    rows = []
    for words, score in (
        (f"right, {len(y_test):,} people", lambda m: f"{m.score(wages.X_test, y_test):.1%}"),
        (
            "area under the curve",
            lambda m: f"{roc_auc_score(y_test, m.decision_function(wages.X_test)):.3f}",
        ),
    ):
        rows.append((words, score(model), score(others)))
    _compare(rows)


def _common(ledger: object) -> dict[str, Any]:
    return {"epsilon": EPSILON, "delta": DELTA, "ledger": ledger, "dataset": DATASET}


def _fit(model: Any, wages: Wages, y: Any, *, explain: bool) -> None:  # noqa: ANN401
    """Show the plan, then fit, then show the certificate."""
    from privlearn.cli.progress import progress

    if explain:
        print("Before any data is touched, the plan says what will be released, and how noisy:\n")
    print(model.plan(n=len(y), n_features=wages.X.shape[1]))
    with progress():
        model.fit(wages.X, y)
    if explain:
        print("\nThe fitted model carries a certificate of what was promised, spent and assumed:")
    print(f"\n{model.privacy_}\n\nOn people that neither model has seen:")


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


def _compare(rows: list[tuple[str, str, str]]) -> None:
    print(f"  {'':<24}{'privlearn, epsilon = 1':<26}scikit-learn, no privacy")
    for words, private, other in rows:
        print(f"  {words:<24}{private:<26}{other}")


def _account(ledger: Any) -> None:  # noqa: ANN401
    _title("4. What they cost together")
    charges = ledger.history(DATASET)
    total = sum(charge.epsilon for charge in charges)
    spent = ledger.spent(DATASET)
    for charge in charges:
        names = ", ".join(release.split(":")[0] for release in charge.releases)
        print(f"  charged    epsilon = {charge.epsilon:.4g}  {names}")
    print(f"  spent      epsilon = {spent:.4g} together, less than their sum of {total:.4g}")
    left = ledger.remaining(DATASET)
    room = f"epsilon = {left:.4g} of {ledger.epsilon:g} at delta = {ledger.delta:g}"
    print(f"  remaining  {room}, for one more fit")
    print("\nScores are shown because this data set is public: they are not part of the promise.")
    print("Your own data: privlearn fit --help")
