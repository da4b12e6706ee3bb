"""Adult: accuracy of logistic regression when nothing is declared but the two classes.

`LogisticRegression(epsilon=1, delta=1e-5, classes=[0, 1])` gets ages, years of education, hours,
weights, capital gains and losses as they are in the file, and a 0/1 column for each documented
category (`datasets/adult.py`): 108 columns, no bounds, no row norm, no scales. What it needs to
know it estimates with a share of its budget. Trained on the 32,561 rows of the training file,
scored on the 16,281 of the test file; relation `zero_out`.

Beside it, with public bounds: the same columns as they are in the file, but for the survey's
weights; these columns in [0, 1], dollars in proportion, with a row norm; the same and two flags
more, whether there are gains and losses at all; and the features of `peers/adult`, which take
logarithms of dollars. And scikit-learn without privacy on each; but for logarithms every column is
less its mean and over its deviation on the training rows, which no private model gets.

The flags were added after the first runs: at epsilon 0.1 gains, which 8 % have, are hidden in the
noise of all columns' ranges. In dollars a column of which only zeros are seen becomes the sign, and
tells who has any, with bounds declared or without; in proportion it becomes next to nothing, with
bounds declared or without (the rows "in proportion").

A user gets one fit: at two epsilons there are 100 more of them with nothing declared. One that
keeps less than half of the way from the larger class's share to no privacy is a failure.
"""

import math

import numpy as np

from benchmarks.datasets import adult
from benchmarks.datasets.columns import indicators, matrix
from benchmarks.harness import curves, report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers.adult.component import train_and_test

NEEDS = (dataset("adult"), estimator("LogisticRegression"))
EPSILONS = (0.1, 0.3, 1.0, 3.0)
ASKED, DELTA = 1.0, 1e-5
PUBLIC = {"bounds_X": adult.BOUNDS, "data_norm": adult.DATA_NORM}
ENDS = adult.BOXES | {name: (0, top) for name, top in adult.TOP_CODES.items()}
LONGER = {"data_norm": math.hypot(adult.DATA_NORM, math.sqrt(2.0))}  # two flags more
ITERATIONS = 1_000
NUMBERS = ("age", "fnlwgt", "education_num", "capital_gain", "capital_loss", "hours_per_week")
UNDECLARED = "nothing declared"
IN_DOLLARS, DOLLARS_UNDECLARED = "public bounds", "nothing declared, without weights"
IN_PROPORTION = "in proportion, public bounds and row norm"
UNDECLARED_PROPORTION = "in proportion, nothing declared"
WITH_FLAGS = "public bounds and norm, flags of dollars"
DECLARED = "the same, log dollars"
MANY_EPSILONS, MANY, OTHER_SEEDS = (1.0, 3.0), 100, 1_000


def measure(options):
    makers = (features, in_dollars, in_proportion, with_flags, adult.features)
    raw, dollars, plain, flagged, boxed = (
        train_and_test(make, fetch=options.fetch) for make in makers
    )
    epsilons = (ASKED,) if options.quick else EPSILONS
    seeds = options.repeats(usual=20, quick=2)
    return {
        "epsilons": list(epsilons),
        "curves": {
            UNDECLARED: private_scores(*raw, epsilons, seeds),
            DOLLARS_UNDECLARED: private_scores(*dollars, epsilons, seeds),
            IN_DOLLARS: private_scores(*dollars, epsilons, seeds, bounds_X=box(dollars)),
            IN_PROPORTION: private_scores(*plain, epsilons, seeds, **PUBLIC),
            UNDECLARED_PROPORTION: private_scores(*plain, epsilons, seeds),
            WITH_FLAGS: private_scores(*flagged, epsilons, seeds, **(PUBLIC | LONGER)),
            DECLARED: private_scores(*boxed, epsilons, seeds, **PUBLIC),
        },
        "many": many(*raw, 1 if options.quick else MANY),
        "majority": float(max(np.mean(raw[1][1]), 1.0 - np.mean(raw[1][1]))),
        "references": {
            "no privacy, standardised": plain_score(*standardised(*raw)),
            "no privacy, flags of dollars": plain_score(*standardised(*flagged)),
            "no privacy, log dollars": plain_score(*boxed),
        },
    }


def features(frame):
    """Numbers as they are in the file, then a 0/1 column for each documented category."""
    columns = [frame[column].to_numpy() for column in NUMBERS]
    return matrix(columns + indicators(frame, adult.CATEGORIES))


def in_dollars(frame):
    """The same but for the survey's weights, of which no bounds are public."""
    return matrix(
        [frame[column].to_numpy() for column in ENDS] + indicators(frame, adult.CATEGORIES)
    )


def box(rows):
    """Public bounds of these columns."""
    flags = rows[0][0].shape[1] - len(ENDS)
    sides = zip(*ENDS.values(), strict=True)
    return tuple(np.append(side, np.full(flags, k)) for k, side in enumerate(sides))


def in_proportion(frame):
    """Numbers but for the survey's weights in [0, 1] by public bounds, and the 0/1 columns."""
    columns = [
        np.clip((frame[column].to_numpy(float) - low) / (high - low), 0.0, 1.0)
        for column, (low, high) in ENDS.items()
    ]
    return matrix(columns + indicators(frame, adult.CATEGORIES))


def with_flags(frame):
    """The same, and whether there are gains, and losses, at all."""
    flags = [(frame[column].to_numpy(float) > 0.0).astype(float) for column in adult.TOP_CODES]
    return np.column_stack([in_proportion(frame), *flags])


def many(train, test, fits):
    """Test accuracy of many fits with nothing declared, by epsilon."""
    from privlearn import LogisticRegression

    return {
        f"{epsilon:g}": [
            LogisticRegression(
                epsilon=epsilon, delta=DELTA, classes=[0, 1], random_state=OTHER_SEEDS + seed
            )
            .fit(*train)
            .score(*test)
            for seed in range(fits)
        ]
        for epsilon in MANY_EPSILONS
    }


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
    """Accuracy points below the best without privacy, at the epsilon asked for."""
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
        + f"\n\nAt epsilon = {ASKED:g}, below the best without privacy:\n\n"
        + report.table(header, rows)
        + "\n\nMany fits with nothing declared:\n\n"
        + _table_of_many(results)
    )


def failed(results, scores):
    """How many keep less than half of the way from the larger class's share to no privacy."""
    best = max(results["references"].values())
    return int(np.sum(np.array(scores) < (results["majority"] + best) / 2.0))


def _table_of_many(results):
    rows = [
        [
            epsilon,
            f"{len(scores)}",
            f"{np.median(scores):.4f}",
            f"{min(scores):.4f}",
            f"{failed(results, scores)}",
        ]
        for epsilon, scores in results["many"].items()
    ]
    return report.table(["epsilon", "fits", "median", "worst", "failed"], rows)


def figures(results):
    title = "Adult: nothing declared but the classes"
    half = (results["majority"] + max(results["references"].values())) / 2.0
    floor = {"always the larger class": results["majority"], "below: a failure": half}
    return {"": curves.figure(results, title=title, score="test accuracy", floor=floor)}
