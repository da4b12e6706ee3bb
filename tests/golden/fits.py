"""Seeded fits of every estimator with every solver that takes it, and what each published.

The numbers that came out are kept in `golden.json`: moving code must not move them. A commit that
moves them on purpose writes the file anew (``python -m tests.golden.fits``) and says why.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import warnings
from itertools import cycle
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import privlearn
from privlearn import exceptions, solvers
from privlearn.feature_selection import KendallSelector, SubLassoSelector

FILE = Path(__file__).with_name("golden.json")
ROWS, FEATURES = 240, 3
MANY = 8_000  # what Tukey's test of privacy needs to pass
LINES = ("LinearRegression", "Ridge", "Lasso", "ElasticNet", "HuberRegressor")
LABELS = ("LogisticRegression", "LinearSVC")
KERNELS = ("KernelRegressor", "KernelClassifier")
RELATIONS = ("zero_out", "add_remove", "replace_one")
BOX = {"bounds_X": ([-1.0, 0.5, 2.0], [3.0, 1.5, 9.0]), "bounds_y": (-2.0, 6.0)}
FACTS = {
    "nothing": {},
    "box": BOX,
    "norm": {"data_norm": 9.0, "bounds_y": (-2.0, 6.0)},
    "box and norm": {**BOX, "data_norm": 8.0},
    "box and scales": {**BOX, "scale_X": [1.5, 1.0, 5.0]},
}
OTHER = {  # settings that lead to code which no rule takes here
    "cd cyclic": solvers.CoordinateDescent(selection="cyclic", passes=4),
    "cd greedy": solvers.CoordinateDescent(selection="greedy", passes=12),
    "cd clip": solvers.CoordinateDescent(clip=1.0, smoothness=[2.0, 1.0, 20.0]),
    "sgd momentum": solvers.SGD(steps=30, momentum=0.5, average=0),
    "sgd all rows": solvers.SGD(steps=10, batch_size=ROWS),
    "scd clip": solvers.DualCoordinateDescent(clip=1.0, epochs=3),
    "one-pass gaussian": solvers.OnePassSGD(noise="gaussian", batch_size=20),
    "output replaced": solvers.OutputPerturbation(epochs=2, sampling="with_replacement"),
    "moments adassp": solvers.SufficientStatistics(ridge="adassp"),
    "boosted clip": solvers.BoostedStatistics(rounds=8, clip=9.0),
    "tukey 400": solvers.Tukey(models=400),
}


def people(rng, *, classes=0, rows=ROWS):
    """Rows within the bounds of `FACTS`, and a few outside."""
    X = rng.uniform([-1.2, 0.4, 1.8], [3.2, 1.6, 9.2], (rows, FEATURES))
    y = 0.8 * X[:, 0] - X[:, 1] + 0.4 * X[:, 2] + 0.3 * rng.standard_normal(rows)
    return X, np.digitize(y, np.quantile(y, np.arange(1, classes) / classes)) if classes else y


def fits():
    """Names, and functions that fit."""
    turns = {name: cycle(RELATIONS) for name in ("every", "other")}
    facts = cycle(FACTS)
    for name in (*LINES, *LABELS, *KERNELS):
        for solver in ("auto", *solvers.SOLVERS):
            for _ in range(2 if name not in KERNELS else 1):
                known = next(facts)
                yield _fit(name, solver, next(turns["every"]), known)
    for other in OTHER:
        for name in ("LinearRegression", "ElasticNet", "LogisticRegression"):
            yield _fit(name, other, next(turns["other"]), "box and norm")
    for relation in RELATIONS:
        yield _fit("LinearRegression", "auto", relation, "nothing")
        yield _fit("LogisticRegression", "auto", relation, "box", classes=3)
        yield _fit("LogisticRegression", "sgd", relation, "box", classes=3)
        yield _fit("LinearSVC", "auto", relation, "nothing", classes=3)
        yield _fit("Ridge", "auto", relation, "norm", sparse=True)
        yield _fit("LogisticRegression", "scd", relation, "norm", sparse=True)
    yield from _others()
    yield from _counts()


def _fit(name, solver, relation, known, *, classes=2, sparse=False):
    estimator = getattr(privlearn, name)
    classifies = hasattr(estimator, "predict_proba") or name in (*LABELS, "KernelClassifier")
    story = f"{name}, {solver}, {relation}, {known}, {classes if classifies else 'numbers'}"

    def run():
        rows = MANY if "tukey" in solver else ROWS
        X, y = people(np.random.default_rng(7), classes=classes * classifies, rows=rows)
        accepted = estimator().get_params()
        given = {key: value for key, value in FACTS[known].items() if key in accepted}
        given |= {"classes": range(classes)} if classifies else {}
        given |= {"n_components": 8} if "n_components" in accepted else {}
        given |= {"positive": True} if name == "Lasso" and known == "box" else {}
        model = estimator(
            epsilon=3.0,
            delta=1e-5,
            adjacency=relation,
            solver=OTHER.get(solver, solver),
            fit_intercept="scales" not in known,
            random_state=5,
            **given,
        )
        return model.fit(sp.csr_array(X) if sparse else X, y)

    return f"{story}, sparse" if sparse else story, run


def _others():
    rng = np.random.default_rng(7)
    X, y = people(rng)
    labels = (y > 2).astype(int)
    own = np.where(np.arange(ROWS) % 2, 1.0, 3.0)
    seeded = {"epsilon": 3.0, "random_state": 5}

    def streamed():
        model = privlearn.LogisticRegression(
            solver="one-pass", delta=1e-5, **BOX_X, **seeded, classes=[0, 1]
        )
        for part in np.array_split(np.arange(ROWS), 3):
            model.partial_fit(X[part], labels[part])
        return model

    def levelled():
        return privlearn.LogisticRegression(
            solver="one-pass", delta=1e-5, **BOX_X, **seeded, classes=[0, 1]
        ).fit(X, labels, sample_epsilon=own)

    yield "levels", levelled
    yield "Kendall", lambda: KendallSelector(2, **seeded).fit(X, y)
    yield "SubLasso", lambda: SubLassoSelector(2, **seeded).fit(X, y)
    yield "a stream", streamed


def _counts():
    known = {
        "nothing": {},
        "box": {**BOX_X, "bounds_y": (0.0, 12.0)},
        "box and scales": {**BOX_X, "bounds_y": (0.0, 12.0), "scale_X": [1.5, 1.0, 5.0]},
    }
    named = ("auto", "cd", "sgd", "one-pass", "cd cyclic", "cd greedy", "sgd all rows")
    for k, solver in enumerate(named):
        for j, relation in enumerate(RELATIONS):
            name = [*known][(j + k) % len(known)]
            yield _fit_counts(solver, relation, name, known[name])


def _fit_counts(solver, relation, known, facts):
    def run():
        rng = np.random.default_rng(7)
        X, y = people(rng)
        model = privlearn.PoissonRegressor(
            alpha=0.01,
            epsilon=3.0,
            delta=1e-5,
            adjacency=relation,
            solver=OTHER.get(solver, solver),
            fit_intercept=solver != "cd",
            random_state=5,
            **facts,
        )
        return model.fit(X, rng.poisson(np.exp(0.3 * y)))

    return f"PoissonRegressor, {solver}, {relation}, {known}", run


BOX_X = {"bounds_X": BOX["bounds_X"]}


def published(run):
    """All that a fit published as numbers, or that it was refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = run()
        except (exceptions.PrivacyError, ValueError, TypeError) as error:
            return type(error).__name__.removesuffix("Error")
    found = {}
    for name in ("coef_", "intercept_", "bounds_y_"):
        if hasattr(model, name):
            found[name] = np.ravel(np.asarray(getattr(model, name), dtype=float)).tolist()
    if hasattr(model, "bounds_X_"):
        found["bounds_X_"] = np.ravel(model.bounds_X_).tolist()
    if hasattr(model, "get_support"):
        found["support"] = [float(kept) for kept in model.get_support()]
    if hasattr(model, "privacy_"):
        releases = model.privacy_.releases
        found["noise"] = [float(release["noise_multiplier"] or 0.0) for release in releases]
        found["spent"] = [float(model.privacy_.spent(1e-5))]
    return found


def versions():
    """What last digits depend on."""
    import numba
    import scipy
    import sklearn

    found = {package.__name__: package.__version__ for package in (np, scipy, numba, sklearn)}
    table = np.random.default_rng(0).standard_normal((257, 33))
    sums = (table.T @ table, np.exp(table).sum(axis=0), table.astype(np.float32) @ table[0])
    digits = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in sums))
    return found | {
        "python": platform.python_version()[:4],
        "processor's last digits": digits.hexdigest()[:16],
    }


def main() -> None:
    """Write what comes out today."""
    found = {name: published(run) for name, run in fits()}
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found)
    FILE.write_text(
        f'{{"versions": {json.dumps(versions())},\n"fits": {{\n{lines}\n}}}}\n', encoding="utf-8"
    )
    refused = sum(isinstance(value, str) for value in found.values())
    print(f"{len(found)} fits, {refused} of them refused", file=sys.stderr)


if __name__ == "__main__":
    main()
