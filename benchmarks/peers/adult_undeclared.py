"""Adult: accuracy of logistic regression when nothing is declared but the two classes.

`LogisticRegression(epsilon=1, delta=1e-5, classes=[0, 1])` gets ages, years of education, hours,
weights, capital gains and losses as they are in the file, and a 0/1 column for each documented
category (`datasets/adult.py`): 108 columns, no bounds, no row norm, no scales. What it needs to
know it estimates with a share of its budget. Trained on the 32,561 rows of the training file,
scored on the 16,281 of the test file; relation `zero_out`.

Beside it: the same with public bounds and norm as in `peers/adult`, and scikit-learn without
privacy on those features in [0, 1]. scikit-learn gets the same columns, too, each less its mean and
over its deviation on the training rows, which no private model gets.
"""

import numpy as np

from benchmarks.datasets import adult
from benchmarks.datasets.columns import indicators, matrix
from benchmarks.harness import curves, report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers.adult.component import train_and_test

NEEDS = (dataset("adult"), estimator("LogisticRegression"))
EPSILONS = (0.3, 1.0, 3.0)
ASKED, DELTA = 1.0, 1e-5
PUBLIC = {"bounds_X": adult.BOUNDS, "data_norm": adult.DATA_NORM}
ITERATIONS = 1_000
NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
UNDECLARED, DECLARED = "nothing declared", "public bounds and row norm"


def measure(options):
    raw, boxed = (train_and_test(make, fetch=options.fetch) for make in (features, adult.features))
    epsilons = (ASKED,) if options.quick else EPSILONS
    seeds = options.repeats(usual=20, quick=2)
    return {
        "epsilons": list(epsilons),
        "curves": {
            UNDECLARED: private_scores(*raw, epsilons, seeds),
            DECLARED: private_scores(*boxed, epsilons, seeds, **PUBLIC),
        },
        "references": {
            "no privacy, the same columns standardised": plain_score(*standardised(*raw)),
            "no privacy, features in [0, 1]": plain_score(*boxed),
        },
    }


def features(frame):
    """Numbers as they are in the file, then a 0/1 column for each documented category."""
    columns = [frame[column].to_numpy() for column in NUMBERS]
    return matrix(columns + indicators(frame, adult.CATEGORIES))


def private_scores(train, test, epsilons, seeds, **facts):
    """Test accuracy per epsilon and seed."""
    common = {"delta": DELTA, "classes": [0, 1]} | facts
    return curves.over_epsilons("LogisticRegression", train, test, epsilons, seeds, **common)


def standardised(train, test):
    """Columns less their mean and over their deviation on the training rows."""
    centre, scale = train[0].mean(axis=0), train[0].std(axis=0)
    scale[scale == 0.0] = 1.0
    return [((X - centre) / scale, y) for X, y in (train, test)]


def plain_score(train, test):
    """Test accuracy of scikit-learn's logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return float(LogisticRegression(max_iter=ITERATIONS).fit(*train).score(*test))


def gaps(results, label=UNDECLARED):
    """Accuracy points below the better of the two without privacy, at the epsilon asked for."""
    place = results["epsilons"].index(ASKED)
    best = max(results["references"].values())
    return 100.0 * (best - np.array(results["curves"][label][place]))


def tables(results):
    rows = [
        [label, *(f"{value:.2f}" for value in curves.summary(gaps(results, label)))]
        for label in results["curves"]
    ]
    header = ["accuracy points below no privacy", "median", "first quartile", "third quartile"]
    return (
        curves.table(results)
        + f"\n\nAt epsilon = {ASKED:g}, below the better of the two without privacy:\n\n"
        + report.table(header, rows)
    )


def figures(results):
    title = "Adult: nothing declared but the classes, delta = 1e-5"
    return {"": curves.figure(results, title=title, score="test accuracy")}
