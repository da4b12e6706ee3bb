"""How often a fit fails: hostile tables, offsets and scales.

A user gets one fit, not a median. `Ridge` and `LogisticRegression` with defaults and nothing
declared (`zero_out`, delta = 1e-6) are fitted many times to each of the tables of
`datasets/hostile.py`: rare flags, one-hot groups, offsets, scales, imbalance, heavy tails, few
rows, many columns, zeros nearly everywhere, rare categories beside a rare class.

**What is kept** is the share of the way from the best constant to scikit-learn's fit on the same
rows, standardised, by squared error or log-loss on 4,000 fresh rows. Tables on which that fit saves
less than a twentieth of the constant's loss are passed over.

**A failure** is one of these:

- *collapsed*: a fit keeps 1 % or less of the way on a table where the 10th percentile of the fits
  keeps half of it;
- *flat*: all coefficients, times the deviations of their features, are below a millionth of
  scikit-learn's largest;
- *wild*: a coefficient is above 30 times scikit-learn's where that is well determined (over five
  standard errors from zero), or, times the feature's deviation, above 30 times the largest of all.
  Scikit-learn gets columns without the outermost 0.5 % on either side, beyond which one value may
  outweigh all others. Columns of which nothing but zeros was seen are left out: their published
  range is [-1, 1], and the coefficient is that of the sign.

Beside failures stands how many fits are *behind*: they keep less than a third of what the median
fit of the same table keeps, where that is 0.3 or more. Few rows for their budget make such fits by
noise alone; elsewhere they are what a collapse looks like before it is one.

**Offsets and scales**: six normal columns with 10,000 rows, as they are, and then shifted or in
other units, or the target is. What is shown is the difference in R^2 to the fit of the same rows
as they are.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.datasets.hostile import FRESH, KINDS, Table, table
from benchmarks.harness import report
from benchmarks.harness.needs import estimator, one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from matplotlib.figure import Figure

__all__ = ["NEEDS", "figures", "measure", "tables"]

NEEDS = (estimator("Ridge"), estimator("LogisticRegression"))
EPSILONS = (0.3, 1.0, 3.0)
REPEATS = 10  # fits of one table with one epsilon
WORTH_LEARNING = 0.05  # of a constant's loss
HALF, COLLAPSED, LEARNABLE = 0.5, 0.01, 10.0
FLAT, WILD, DETERMINED = 1e-6, 30.0, 5.0
KEPT_BY_MOST, BEHIND = 0.3, 1.0 / 3.0
ROWS = 10_000
UNITS = 10.0 ** np.array([-9.0, 9.0, -5.0, 5.0, 0.0, -2.0])
MOVED: dict[str, Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]] = {
    "as they are": lambda X, y: (X, y),
    "columns times 10^-9 to 10^9": lambda X, y: (X * UNITS, y),
    "all columns times 10^-9": lambda X, y: (1e-9 * X, y),
    "all columns times 10^9": lambda X, y: (1e9 * X, y),
    "columns 30 deviations away": lambda X, y: (X + 30.0, y),
    "columns 10^3 deviations away": lambda X, y: (X - 1e3, y),
    "columns 10^6 deviations away": lambda X, y: (1e9 + 1e3 * X, y),
    "columns at 10^4, deviation 0.01": lambda X, y: (1e4 + 0.01 * X, y),
    "target times 10^9": lambda X, y: (X, 1e9 * y),
    "target times 10^-9": lambda X, y: (X, 1e-9 * y),
    "target 10^6 deviations away": lambda X, y: (X, y - 1e6),
    "target at 1024, deviation 0.001": lambda X, y: (X, 1024.0 + 1e-3 * y),
    "target at 10^6, deviation 0.001": lambda X, y: (X, 1e6 + 1e-3 * y),
    "both in other units and 10^6 away": lambda X, y: (1e-3 * (1e6 + X), 1e5 * (y - 1e6)),
}


def measure(options):
    seeds = options.repeats(usual=4, quick=2)
    repeats = 3 if options.quick else REPEATS
    epsilons = EPSILONS[1:2] if options.quick else EPSILONS
    moves = 1 if options.quick else 30
    tried = [(kind, seed, epsilons, repeats) for kind in KINDS for seed in range(seeds)]
    shifts = [(epsilon, seed) for epsilon in epsilons for seed in range(moves)]
    found = _each(fits, tried, here=options.quick)
    return {
        "tables": [one for one in found if one is not None],
        "passed over": sum(one is None for one in found),
        "moved": _each(moved, shifts, here=options.quick),
        "epsilons": list(epsilons),
        "repeats": repeats,
    }


def _each(work: Callable, tasks: list[tuple], *, here: bool) -> list:
    """Results in the order of the tasks, from as many processes as there are CPUs, or from here."""
    if here:
        return [work(*task) for task in tasks]
    print(f"choice/failures: {len(tasks)} sets of fits", flush=True)
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=one_thread) as pool:
        return list(pool.map(work, *zip(*tasks, strict=True)))


def fits(kind: str, seed: int, epsilons: Iterable[float], repeats: int) -> dict | None:
    """What every fit of one table keeps, and whether its coefficients are flat or wild."""
    import privlearn

    one = table(kind, seed)
    number = one.task == "number"
    reference = Reference(one)
    constant, optimum = of_constant(one), loss(one, reference.model)
    if optimum > (1.0 - WORTH_LEARNING) * constant:
        return None
    cls = privlearn.Ridge if number else privlearn.LogisticRegression
    cells = []
    for epsilon in epsilons:
        kept, flat, wild = [], [], []
        for repeat in range(repeats):
            model = cls(epsilon=epsilon, random_state=1_000 * seed + repeat)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(one.X[: one.n], one.y[: one.n])
            kept.append((constant - loss(one, model)) / (constant - optimum))
            flat.append(reference.flat(model.coef_.ravel()))
            wild.append(reference.wild(model.coef_.ravel(), *model.bounds_X_))
        cells.append({"epsilon": epsilon, "kept": kept, "flat": flat, "wild": wild})
    where = {"kind": kind, "seed": seed, "task": one.task, "n": one.n, "p": one.X.shape[1]}
    return where | {"cells": cells}


class Reference:
    """scikit-learn's fit of standardised columns: coefficients per deviation, standard errors."""

    def __init__(self, one: Table) -> None:
        from sklearn.linear_model import LinearRegression, LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        X, y = _without_tails(one.X[: one.n]), one.y[: one.n]
        number = one.task == "number"
        last = LinearRegression() if number else LogisticRegression(max_iter=1_000)
        self.model = make_pipeline(StandardScaler(), last).fit(X, y)
        self.deviation = X.std(axis=0)
        self.effect = np.ravel(last.coef_)
        Z = self.model[0].transform(X)
        if number:
            weight = np.full(one.n, 1.0 / max(np.var(y - self.model.predict(X)), 1e-300))
        else:
            share = self.model.predict_proba(X)[:, 1]
            weight = share * (1.0 - share)
        information = (Z.T * weight) @ Z
        information += 1e-6 * np.trace(information) / len(information) * np.eye(len(information))
        error = np.sqrt(np.diag(np.linalg.inv(information)))
        self.determined = (np.abs(self.effect) > DETERMINED * error) & (self.deviation > 0)

    def flat(self, coef: np.ndarray) -> bool:
        """Whether nothing was learned."""
        return bool(np.abs(coef * self.deviation).max() < FLAT * np.abs(self.effect).max())

    def wild(self, coef: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
        """Whether some coefficient of a column that was seen is out of all proportion."""
        own = np.where((low == -1.0) & (high == 1.0), 0.0, np.abs(coef * self.deviation))
        beside = own[self.determined] > WILD * np.abs(self.effect[self.determined])
        return bool(beside.any() or own.max() > WILD * np.abs(self.effect).max())


def _without_tails(X: np.ndarray) -> np.ndarray:
    """Columns clipped to their inner 99 %, but for those of which that is one value."""
    low, high = np.quantile(X, [0.005, 0.995], axis=0)
    return np.where(high > low, np.clip(X, low, high), X)


def of_constant(one: Table) -> float:
    y, fresh = one.y[: one.n], one.y[-FRESH:]
    if one.task == "number":
        return float(np.mean((fresh - y.mean()) ** 2))
    return _log_loss(fresh, np.full(FRESH, np.clip(y.mean(), 1e-6, 1.0 - 1e-6)))


def loss(one: Table, model: object) -> float:
    X, y = one.X[-FRESH:], one.y[-FRESH:]
    if one.task == "number":
        return float(np.mean((y - model.predict(X)) ** 2))
    return _log_loss(y, model.predict_proba(X)[:, 1])


def _log_loss(y: np.ndarray, share: np.ndarray) -> float:
    share = np.clip(share, 1e-6, 1.0 - 1e-6)
    return float(-np.mean(np.where(y > 0.5, np.log(share), np.log1p(-share))))


def moved(epsilon: float, seed: int) -> dict:
    """R^2 of the same rows in every place and unit."""
    from privlearn import Ridge

    rng = np.random.default_rng([seed, 17])
    X = rng.standard_normal((ROWS + FRESH, len(UNITS)))
    y = X @ np.linspace(1.0, 0.2, len(UNITS)) + 0.5 * rng.standard_normal(len(X))
    reached = {}
    for name, move in MOVED.items():
        A, b = move(X, y)
        model = Ridge(epsilon=epsilon, random_state=seed).fit(A[:ROWS], b[:ROWS])
        error = b[ROWS:] - model.predict(A[ROWS:])
        reached[name] = float(1.0 - np.mean(error**2) / np.var(b[ROWS:]))
    return {"epsilon": epsilon, "seed": seed, "reached": reached}


def collapsed(cell: dict) -> int:
    """How many of the fits of one table collapsed; 0 where too many are bad to tell."""
    kept = np.array(cell["kept"])
    return int(np.sum(kept <= COLLAPSED)) if np.percentile(kept, LEARNABLE) >= HALF else 0


def behind(cell: dict) -> int:
    """How many of the fits of one table keep far less than its median fit."""
    kept, median = np.array(cell["kept"]), np.median(cell["kept"])
    return int(np.sum(kept < BEHIND * median)) if median >= KEPT_BY_MOST else 0


def tables(results: dict) -> str:
    """Failures by kind, then what offsets and scales cost."""
    return "\n\n".join(
        [
            "## Hostile tables",
            f"{results['repeats']} fits of each table; {results['passed over']} tables are passed "
            "over, for there is nothing to learn.",
            _failures(results),
            "## Offsets and scales",
            "Differences in R^2 to the fit as they are: the median and the worst.",
            _moves(results),
        ]
    )


def _failures(results: dict) -> str:
    header = ["kind", "epsilon", "fits", "kept, median", "10th percentile", "worst", "collapsed"]
    lines = []
    for kind in (*KINDS, "everything"):
        for epsilon in results["epsilons"]:
            own = [
                cell
                for one in results["tables"]
                if kind in (one["kind"], "everything")
                for cell in one["cells"]
                if cell["epsilon"] == epsilon
            ]
            if own:
                lines.append([kind, f"{epsilon:g}", *_line(own)])
    return report.table([*header, "flat", "wild", "behind"], lines)


def _line(cells: list[dict]) -> list[str]:
    kept = np.concatenate([cell["kept"] for cell in cells])
    return [
        f"{len(kept)}",
        f"{np.median(kept):.2f}",
        f"{np.percentile(kept, LEARNABLE):.2f}",
        f"{kept.min():.2f}",
        f"{sum(map(collapsed, cells))}",
        f"{sum(sum(cell['flat']) for cell in cells)}",
        f"{sum(sum(cell['wild']) for cell in cells)}",
        f"{sum(map(behind, cells))}",
    ]


def _moves(results: dict) -> str:
    lines = []
    for name in MOVED:
        line = [name]
        for epsilon in results["epsilons"]:
            own = [one["reached"] for one in results["moved"] if one["epsilon"] == epsilon]
            found = np.array([one[name] for one in own])
            if name == next(iter(MOVED)):
                line.append(f"R^2 {np.median(found):.4f}, worst {found.min():.4f}")
            else:
                change = found - np.array([one[next(iter(MOVED))] for one in own])
                line.append(f"{np.median(change):+.4f}, {change.min():+.4f}")
        lines.append(line)
    return report.table(["", *(f"epsilon {e:g}" for e in results["epsilons"])], lines)


def figures(results: dict) -> dict[str, Figure]:
    """What every fit keeps, by kind."""
    from benchmarks.harness.figures import COLOURS, MARKERS, panels

    epsilons = results["epsilons"]
    figure, axes = panels(1, len(epsilons), 3.0 + 3.0 * len(epsilons), 4.0, sharey=True)
    for place, epsilon in zip(axes[0], epsilons, strict=True):
        for line, kind in enumerate(KINDS):
            kept = [
                share
                for one in results["tables"]
                if one["kind"] == kind
                for cell in one["cells"]
                if cell["epsilon"] == epsilon
                for share in cell["kept"]
            ]
            place.plot(
                np.clip(kept, -0.5, 1.2),
                np.full(len(kept), line),
                linestyle="none",
                marker=MARKERS[0],
                color=COLOURS[0],
                alpha=0.3,
            )
        place.set_title(f"epsilon {epsilon:g}")
        place.set_xlabel(
            "share of the way kept, one mark per fit\n(ends: -0.5 or less, 1.2 or more)"
        )
        place.set_yticks(range(len(KINDS)), labels=list(KINDS))
    return {"": figure}
