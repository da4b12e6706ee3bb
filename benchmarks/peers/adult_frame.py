"""Adult as a raw data frame: text, gaps and dollars in, a private model out.

`LogisticRegression(epsilon=1, delta=1e-5, schema=SCHEMA).fit(frame, "income")` gets the columns as
they are in the file, words and gaps included. The schema holds public knowledge alone: ranges of
the survey, lists of the documentation (`datasets/adult.py`), and which columns have gaps; a gap is
a category of its own. Weights of the survey are ignored. Trained on the 32,561 rows of the training
file, scored on the 16,281 of the test file; relation `zero_out`.

Beside it the same lists with no range of any number: those are estimated. And the pipeline that a
scikit-learn user would write, without privacy: the same lists as 0/1 columns, numbers less their
mean and over their deviation, logistic regression.

Cells, seeds and limits (0.7 points in the median of 20 seeds) were fixed before the first run; one
fit of the first cell, with seed 0, had been made on the way, to see that it runs.
"""

import numpy as np

from benchmarks.datasets import adult, manifest
from benchmarks.harness import curves, report
from benchmarks.harness.needs import dataset, estimator

NEEDS = (dataset("adult"), estimator("LogisticRegression"))
EPSILONS = (0.3, 1.0, 3.0)
ASKED, DELTA, LIMIT = 1.0, 1e-5, 0.7
INCOME = ["<=50K", ">50K"]
ITERATIONS = 1_000
GAP = "?"
DECLARED, LISTS = "declared schema", "lists alone, ranges estimated"
PLAIN = "scikit-learn pipeline, no privacy"


def schema(*, ranges=True):
    """What is public about the columns."""
    from privlearn.schema import Category, Ignore, Number

    ends = adult.BOXES | {name: (0, top) for name, top in adult.TOP_CODES.items()}
    lists = {
        name: Category(
            [value for value in values if value != GAP],
            missing="flag" if GAP in values else "raise",
        )
        for name, values in adult.CATEGORIES.items()
    }
    numbers = {name: Number(*pair) if ranges else Number() for name, pair in ends.items()}
    return numbers | lists | {"fnlwgt": Ignore()}


def measure(options):
    train, test = frames(fetch=options.fetch)
    epsilons = (ASKED,) if options.quick else EPSILONS
    seeds = options.repeats(usual=20, quick=2)
    common = {"delta": DELTA, "classes": INCOME}
    return {
        "epsilons": list(epsilons),
        "curves": {
            label: curves.over_epsilons(
                "LogisticRegression", train, test, epsilons, seeds, schema=known, **common
            )
            for label, known in ((DECLARED, schema()), (LISTS, schema(ranges=False)))
        },
        "references": {PLAIN: plain_score(train[0], test[0])},
    }


def frames(*, fetch=False):
    """The two files as frames, and the name of the target among their columns."""
    table = manifest.load("adult", fetch=fetch)
    parts = [table.part(which) for which in ("train", "test")]
    return [
        (part.features.assign(income=np.asarray(part.target, dtype=str)), "income")
        for part in parts
    ]


def plain_score(train, test):
    """Test accuracy of what a scikit-learn user would write."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    lists = OneHotEncoder(
        categories=[list(values) for values in adult.CATEGORIES.values()], handle_unknown="ignore"
    )
    columns = make_column_transformer(
        (StandardScaler(), [*adult.BOXES, *adult.TOP_CODES]), (lists, [*adult.CATEGORIES])
    )
    model = make_pipeline(columns, LogisticRegression(max_iter=ITERATIONS))
    return float(model.fit(train, train["income"]).score(test, test["income"]))


def gaps(results, label=DECLARED):
    """Accuracy points below the pipeline without privacy, at the epsilon asked for."""
    scores = results["curves"][label][results["epsilons"].index(ASKED)]
    return 100.0 * (results["references"][PLAIN] - np.array(scores))


def tables(results):
    rows = [
        [label, f"{np.median(gaps(results, label)):.2f}", f"{max(gaps(results, label)):.2f}"]
        for label in results["curves"]
    ]
    header = ["accuracy points below no privacy", "median", "worst"]
    return (
        curves.table(results)
        + f"\n\nAt epsilon = {ASKED:g}, delta = {DELTA:g} (limit of the median: {LIMIT:g}):\n\n"
        + report.table(header, rows)
    )


def figures(results):
    title = "Adult as a raw data frame, delta = 1e-5"
    return {"": curves.figure(results, title=title, score="test accuracy")}
