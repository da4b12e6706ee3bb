"""Whom does the noise hurt? Errors by sex and by region, with privacy and without.

Adult (`LogisticRegression`, columns as in `peers/adult_undeclared`, the test file's rows) and wages
of CPS 1988 (`LinearRegression` of log wages, three quarters of the rows to learn from); defaults,
nothing declared, delta = 1e-5, 20 seeds. Groups are from public columns: sex, and born in the
United States or not; the four regions of the survey, and whether a man is African American. An
error is the share of wrong labels, or the root mean square of y less its prediction.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness import report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers.adult.component import train_and_test
from benchmarks.peers.adult_undeclared import features, standardised

NEEDS = (
    dataset("adult"),
    *(estimator(name) for name in ("LogisticRegression", "LinearRegression")),
)
EPSILONS = (0.1, 1.0)
DELTA = 1e-5
SPLIT = 7


def measure(options):
    seeds = options.repeats(usual=20, quick=2)
    epsilons = EPSILONS[1:] if options.quick else EPSILONS
    found = [
        one
        for make in (people, workers)
        for one in errors(*make(fetch=options.fetch), epsilons, seeds)
    ]
    return {"seeds": seeds, "epsilons": list(epsilons), "groups": found}


def people(*, fetch):
    """Adult: what to fit, rows to learn from and to score, masks of groups, the error."""
    train, test = train_and_test(features, fetch=fetch)
    frame = train_and_test(lambda frame: frame, fetch=fetch)[1][0]
    sex, country = np.asarray(frame["sex"]), np.asarray(frame["native_country"])
    groups = {
        "women": sex == "Female",
        "men": sex == "Male",
        "born in the United States": country == "United-States",
        "born elsewhere": (country != "United-States") & (country != "?"),
    }
    return "Adult", "LogisticRegression", train, test, groups, wrong


def workers(*, fetch):
    """The same of wages; the logarithm is taken beforehand."""
    from privlearn.datasets import load_cps1988

    wages = load_cps1988()
    X, y = np.asarray(wages.data, dtype=float), np.log(np.asarray(wages.target, dtype=float))
    order = np.random.default_rng(SPLIT).permutation(len(y))
    first = 3 * len(y) // 4
    train, test = ((X[rows], y[rows]) for rows in (order[:first], order[first:]))
    own = dict(zip(wages.feature_names, test[0].T, strict=True))
    places = {f"{name}": own[f"region_{name}"] == 1.0 for name in ("midwest", "south", "west")}
    groups = {
        "northeast": ~np.any(list(places.values()), axis=0),
        **places,
        "African American": own["afam"] == 1.0,
        "others": own["afam"] == 0.0,
    }
    return "CPS 1988", "LinearRegression", train, test, groups, root_mean_square


def wrong(y, predicted):
    return float(np.mean(np.asarray(y) != predicted))


def root_mean_square(y, predicted):
    return float(np.sqrt(np.mean((y - predicted) ** 2)))


def errors(data, model, train, test, groups, error, epsilons, seeds):
    """Errors of each group, without privacy and per epsilon and seed."""
    import sklearn.linear_model as plain

    import privlearn

    settings = {"max_iter": 1_000} if model == "LogisticRegression" else {}
    old, new = standardised(train, test)
    reference = getattr(plain, model)(**settings).fit(*old).predict(new[0])
    predicted = [
        [
            getattr(privlearn, model)(epsilon=epsilon, delta=DELTA, random_state=seed)
            .fit(*train)
            .predict(test[0])
            for seed in range(seeds)
        ]
        for epsilon in epsilons
    ]
    return [
        {
            "data": data,
            "group": name,
            "share": float(np.mean(mask)),
            "plain": error(test[1][mask], reference[mask]),
            "private": [[error(test[1][mask], one[mask]) for one in row] for row in predicted],
        }
        for name, mask in {"everybody": np.ones(len(test[1]), dtype=bool), **groups}.items()
    ]


def tables(results):
    header = ["data", "group", "share of the rows", "no privacy"]
    header += [f"epsilon = {epsilon:g}" for epsilon in results["epsilons"]]
    rows = [
        [
            one["data"],
            one["group"],
            f"{one['share']:.1%}",
            f"{one['plain']:.4f}",
            *(f"{np.median(row):.4f} (worst {max(row):.4f})" for row in one["private"]),
        ]
        for one in results["groups"]
    ]
    return report.table(header, rows) + f"\n\nMedian of {results['seeds']} seeds, and the worst."


def figures(results):
    """What privacy adds to the error of each group, one mark per seed."""
    from benchmarks.harness.figures import COLOURS, MARKERS, legend_below, panels

    groups = results["groups"]
    plot, axes = panels(1, 1, 7.0, 0.32 * len(groups) + 1.4)
    place = np.ravel(axes)[0]
    for k, epsilon in enumerate(results["epsilons"]):
        for row, one in enumerate(groups):
            added = np.divide(one["private"][k], one["plain"]) - 1.0
            label = f"epsilon {epsilon:g}" if row == 0 else None
            at = np.full(len(added), row + 0.2 * k)
            place.plot(100.0 * added, at, MARKERS[k], color=COLOURS[k], alpha=0.4, label=label)
    place.axvline(0.0, color="0.5", linewidth=0.8)
    place.set_yticks(range(len(groups)), labels=[f"{g['data']}: {g['group']}" for g in groups])
    place.set_xlabel("error added by privacy, in % of the error without; one mark per fit")
    legend_below(plot, columns=2)
    return {"": plot}
