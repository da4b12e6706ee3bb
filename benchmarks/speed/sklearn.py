"""Logistic regression: a private fit against scikit-learn's.

The whole of `fit` of `privlearn.LogisticRegression`, from validation through calibration to the
certificate, against the whole of `fit` of `sklearn.linear_model.LogisticRegression` without
privacy, both with their defaults (epsilon = 1, delta = 1e-6; at most 100 iterations of lbfgs). The
promised epsilon differs by a thousandth from round to round, so that no calibration is remembered.
Generated data: 40,000 rows, 100 columns, isotropic, and with a condition number of 1,000 (see
`datasets/generated.py`). The accuracy on the training rows is there to show that both did learn.
"""

import warnings
from itertools import count

from benchmarks.datasets import adult, generated, manifest
from benchmarks.harness import races, report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.harness.timing import race

ADULT = dataset("adult")
NEEDS = (estimator("LogisticRegression"),)
WELCOME = (ADULT,)
NORM_OF_GENERATED = 2.0  # rows have norm 1 on average, and the intercept adds 1 under the root


def measure(options):
    n, p = (4_000, 20) if options.quick else (40_000, 100)
    rounds = options.repeats(usual=7, quick=2)
    isotropic = (*generated.logistic(n, p), {"data_norm": NORM_OF_GENERATED})
    stretched = (*generated.logistic(n, p, condition=1e3), {"data_norm": NORM_OF_GENERATED})
    cases = {"isotropic": isotropic, "ill-conditioned": stretched}
    if not ADULT.missing(options):
        cases = {"Adult": _adult(options)} | cases
    return {name: _race(*case, rounds, options.clock) for name, case in cases.items()}


def _adult(options):
    train = manifest.load("adult", fetch=options.fetch).part("train")
    facts = {"bounds_X": adult.BOUNDS, "data_norm": adult.DATA_NORM}
    return adult.features(train.features), adult.labels(train.target), facts


def _race(X, y, facts, rounds, clock):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    import privlearn

    promises = (1.0 + 0.001 * k for k in count())
    fitted = {}

    def private():
        model = privlearn.LogisticRegression(solver="sgd", epsilon=next(promises), **facts)
        fitted["privlearn"] = model.fit(X, y)

    def plain():
        fitted["scikit-learn"] = LogisticRegression().fit(X, y)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its default number of iterations
        contestants = {"privlearn": private, "scikit-learn": plain}
        seconds = race(contestants, rounds=rounds, clock=clock)
    accuracy = {name: float(model.score(X, y)) for name, model in fitted.items()}
    return {"seconds": seconds, "accuracy": accuracy}


def tables(results):
    names = ["privlearn", "scikit-learn"]
    rows = [
        [case, *(f"{found['accuracy'][name]:.3f}" for name in names)]
        for case, found in results.items()
    ]
    accuracy = report.table(["accuracy on training rows", *names], rows)
    return races.table(_seconds(results), *names) + "\n\n" + accuracy


def figures(results):
    return {"": races.figure(_seconds(results), "Time of one fit of logistic regression")}


def _seconds(results):
    return {case: found["seconds"] for case, found in results.items()}
