"""Adult: twelve settings, searched privately, at the same total epsilon as one fit of the default.

`PrivateSearchCV(LogisticRegression(schema=SCHEMA), GRID, epsilon=1, delta=1e-5)` draws, fits and
scores settings a secret number of times, all under one promise; the twelve are six weights of the
penalty times ridge or lasso. Beside it one fit with the default setting and one with a poor one
(the strongest ridge penalty of the grid), each with the whole budget. Raw table and schema as in
`peers/adult_frame`; trained on the 32,561 rows of the training file, scored without noise on the
16,281 of the test file; relation `zero_out`, 20 seeds.

Fixed before the first run: the grid, the seeds, and the limits. The median of the searches is to be
at most 0.6 accuracy points below the median of the default's fits, and at least 1 point above that
of the poor setting's.
"""

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers import adult_frame

NEEDS = (dataset("adult"), estimator("LogisticRegression"))
EPSILON, DELTA = 1.0, 1e-5
GRID = {"C": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0], "l1_ratio": [0.0, 1.0]}
POOR = {"C": 1e-5}
BELOW_DEFAULT, ABOVE_POOR = 0.6, 1.0
SEARCH, DEFAULT, BAD = "search over 12 settings", "default setting", "poor setting"


def measure(options):
    train, test = adult_frame.frames(fetch=options.fetch)
    seeds = options.repeats(usual=20, quick=2)
    found = {SEARCH: [], DEFAULT: [], BAD: []}
    chosen = []
    for seed in range(seeds):
        search = searched(train, seed)
        chosen.append(search.best_params_)
        found[SEARCH].append(search.score(*test))
        found[DEFAULT].append(fitted(train, seed, {}).score(*test))
        found[BAD].append(fitted(train, seed, POOR).score(*test))
    return {"scores": found, "chosen": chosen}


def fitted(train, seed, setting):
    """One fit with the whole budget."""
    from privlearn import LogisticRegression

    known = {"schema": adult_frame.schema(), "classes": adult_frame.INCOME, **setting}
    budget = {"epsilon": EPSILON, "delta": DELTA, "random_state": seed}
    return LogisticRegression(**known, **budget).fit(*train)


def searched(train, seed):
    """The search with the same budget."""
    from privlearn import LogisticRegression
    from privlearn.model_selection import PrivateSearchCV

    model = LogisticRegression(schema=adult_frame.schema(), classes=adult_frame.INCOME)
    budget = {"epsilon": EPSILON, "delta": DELTA, "random_state": seed}
    return PrivateSearchCV(model, GRID, **budget).fit(*train)


def gaps(results):
    """Points of the median search below the default, and above the poor setting."""
    median = {name: 100.0 * float(np.median(all_)) for name, all_ in results["scores"].items()}
    return median[DEFAULT] - median[SEARCH], median[SEARCH] - median[BAD]


def tables(results):
    rows = [
        [name, *(f"{value:.4f}" for value in (np.median(all_), min(all_), max(all_)))]
        for name, all_ in results["scores"].items()
    ]
    below, above = gaps(results)
    settings = [f"C = {one['C']:g}, l1_ratio = {one['l1_ratio']:g}" for one in results["chosen"]]
    counted = sorted({(settings.count(one), one) for one in settings}, reverse=True)
    return (
        report.table(["test accuracy", "median", "worst", "best"], rows)
        + f"\n\nThe median search is {below:.2f} points below the default's median (limit "
        f"{BELOW_DEFAULT:g}) and {above:.2f} above the poor one's (at least {ABOVE_POOR:g}).\n\n"
        + report.table(["chosen setting", "times"], [[one, str(times)] for times, one in counted])
    )


def figures(results):
    """One mark per fit."""
    from benchmarks.harness.figures import COLOURS, MARKERS, panels

    plot, axes = panels(1, 1, 6.4, 2.2)
    place = np.ravel(axes)[0]
    for k, scores in enumerate(results["scores"].values()):
        at = np.full(len(scores), float(k))
        place.plot(scores, at, MARKERS[k], color=COLOURS[k], alpha=0.5)
    place.set_yticks(range(len(results["scores"])), labels=list(results["scores"]))
    place.set_xlabel("test accuracy at epsilon = 1, one mark per fit")
    return {"": plot}
