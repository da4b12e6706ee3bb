"""What the best models without privacy reach on the same rows.

A private line is compared with a line without privacy elsewhere. Somebody who need not protect
anybody would not stop there: gradient boosted trees of scikit-learn, with its defaults, on the same
training rows and the same test rows, as a limit of what could be had. Adult: the columns of
`peers/adult_undeclared`. California housing: three quarters of the rows, drawn with ten seeds,
scored on the rest, as in `choice/curves`.
"""

import numpy as np

from benchmarks.choice.curves import MOST
from benchmarks.choice.declared import problems
from benchmarks.harness import report
from benchmarks.harness.needs import dataset
from benchmarks.peers import adult_undeclared
from benchmarks.peers.adult.component import train_and_test

NEEDS = (dataset("adult"), dataset("california_housing"))
LINE, TREES = "linear", "boosted trees"


def measure(options):
    return {
        "Adult, accuracy": _adult(options),
        "California housing, R^2": _california(options.repeats(usual=10, quick=1)),
    }


def _adult(options):
    from sklearn.ensemble import HistGradientBoostingClassifier as Trees

    raw = train_and_test(adult_undeclared.features, fetch=options.fetch)
    line = adult_undeclared.plain_score(*adult_undeclared.standardised(*raw))
    return {LINE: [line], TREES: [Trees(random_state=0).fit(*raw[0]).score(*raw[1])]}


def _california(seeds):
    from sklearn.ensemble import HistGradientBoostingRegressor as Trees
    from sklearn.linear_model import LinearRegression

    X, y, _ = problems(("california_housing",), ())["california_housing"]()
    found = {LINE: [], TREES: []}
    for seed in range(seeds):
        order = np.random.default_rng(seed).permutation(len(y))
        n = min(MOST, 3 * len(y) // 4)
        seen, unseen = order[:n], order[n:]
        for name, model in ((LINE, LinearRegression()), (TREES, Trees(random_state=0))):
            found[name].append(model.fit(X[seen], y[seen]).score(X[unseen], y[unseen]))
    return found


def tables(results):
    rows = [
        [name, *(f"{np.median(found[model]):.3f}" for model in (LINE, TREES))]
        for name, found in results.items()
    ]
    return report.table(["no privacy, test rows", LINE, TREES], rows)


def figures(results):
    return {}
