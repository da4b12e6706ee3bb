"""Forecasts of a prediction's error, against the spread of private fits on real data.

Before a fit `plan(n=..., n_features=...).forecast()` tells from public facts how far the prediction
for a typical row will vary from fit to fit, relative to the target's deviation; for classes, how
far the probability will. Here is what it told over what many fits showed: the deviation of the
prediction for a row over fits, averaged over rows. And after each fit `coef_noise()`, where the
solver knows it, over the spread of the coefficients.

CPS 1988, Adult, California housing and diamonds; wages, prices and values by `LinearRegression`,
whether they are above their median (Adult: the income class) by `LogisticRegression`; with nothing
declared, and with bounds from the documentation of the data. The constants of the forecast were
found by a search on generated tables alone; `python -m benchmarks.derive forecast` tries them, and
others, on more. Its form was not: after first runs on these data, forecasts of classes were put
into probabilities, collinear tables joined the generated ones, and columns declared to be 0 or 1
got a level of their own. That form was seen here too high at epsilon 0.1 and too low at 10 (71 of
80 between 0.5 and 2); tables mixed of blocks then joined the generated ones. On those the limit of
the error got another shape, powers and levels were found anew, and numbers are withheld where such
tables disagree, before this page was run again. From which noise on that is, was chosen knowing
which cells of this page it withholds. So it is no held-out test.

Later Adult's cells (0.31 and 0.49 at epsilon 10) led to a mistake in the scales of rare flags,
found by letting the noise of one release differ at a time and mended on generated tables. The page
was run with a first form of the mend, with this one (71 of 74 within both times), and with models
that are shrunk to a constant. The forecast stayed. Of 234 tables of two classes that were generated
after that 95 % are within a factor of 2, in the median 1.02 (`python -m benchmarks.derive forecast
--only logistic --first 778 --seeds 20`): one cell in twenty outside is what public facts leave.
"""

import warnings

import numpy as np

from benchmarks.datasets import adult, california, manifest
from benchmarks.datasets.columns import indicators, matrix
from benchmarks.harness import report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers.adult_undeclared import features as raw_adult

NEEDS = (
    *(dataset(name) for name in ("adult", "california_housing", "diamonds")),
    *(estimator(name) for name in ("LinearRegression", "LogisticRegression")),
)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
ROWS = 1_500  # that are predicted
# From the documentation of ggplot2, which has the data.
DIAMONDS = {
    "carat": (0.0, 5.1),
    "depth": (43.0, 79.0),
    "table": (43.0, 95.0),
    "x": (0.0, 11.0),
    "y": (0.0, 60.0),
    "z": (0.0, 32.0),
}
QUALITIES = {
    "cut": ("Fair", "Good", "Very Good", "Premium", "Ideal"),
    "color": tuple("DEFGHIJ"),
    "clarity": ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"),
}


def measure(options):
    epsilons = (1.0,) if options.quick else EPSILONS
    fits = options.repeats(usual=30, quick=3)
    cells = []
    for name, (tables, y, facts) in datasets().items():
        for model in ("LinearRegression", "LogisticRegression"):
            for declared, X in zip((False, True), tables, strict=True):
                own, target = settings(model, name, y, facts, declared)
                for epsilon in epsilons:
                    label = {"data": name, "model": model, "declared": declared, "epsilon": epsilon}
                    cells.append(label | cell(model, X, target, fits, epsilon=epsilon, **own))
    return {"epsilons": list(epsilons), "fits": fits, "cells": cells}


def datasets():
    """Features with nothing and with bounds declared, the target, and the bounds."""
    from privlearn.datasets import load_cps1988

    wages = load_cps1988()
    people, homes, stones = (
        manifest.load(name) for name in ("adult", "california_housing", "diamonds")
    )
    places = california.features(homes.features)
    numbers = [stones.features[name].to_numpy(float) for name in DIAMONDS]
    jewels = matrix(numbers + indicators(stones.features, QUALITIES))
    sides = (np.array([ends[side] for ends in DIAMONDS.values()]) for side in (0, 1))
    flags = jewels.shape[1] - len(DIAMONDS)
    box = tuple(np.append(side, np.full(flags, k)) for k, side in enumerate(sides))
    return {
        "CPS 1988": (
            (wages.data,) * 2,
            wages.target,
            {"bounds_X": wages.bounds_X, "bounds_y": wages.bounds_y},
        ),
        "California": (
            (places,) * 2,
            homes.target.astype(float),
            {"bounds_X": california.bounds(), "bounds_y": california.BOUNDS_Y},
        ),
        "diamonds": (
            (jewels,) * 2,
            stones.target.astype(float),
            {"bounds_X": box, "bounds_y": (0, 20_000)},
        ),
        "Adult": (
            (raw_adult(people.features), adult.features(people.features)),
            adult.labels(people.target).astype(float),
            {"bounds_X": adult.BOUNDS, "data_norm": adult.DATA_NORM, "bounds_y": (0, 1)},
        ),
    }


def settings(model, name, y, facts, declared):
    """Parameters of a model, and its target."""
    own = dict(facts) if declared else {}
    if model == "LinearRegression":
        return own, y
    own.pop("bounds_y", None)
    return own, (y > (0.0 if name == "Adult" else np.median(y))).astype(int)


def cell(model, X, y, fits, **parameters):
    """What was told and measured."""
    import privlearn

    made = getattr(privlearn, model)(**parameters)
    rows = X[np.random.default_rng(0).choice(len(X), min(len(X), ROWS), replace=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plan = made.plan(n=len(X), n_features=X.shape[1])
        found, coefs, noises = [], [], []
        for seed in range(fits):
            made.set_params(random_state=seed).fit(X, y)
            classes = hasattr(made, "predict_proba")
            found.append(made.predict_proba(rows)[:, 1] if classes else made.predict(rows))
            coefs.append(np.ravel(made.coef_))
            noises.append(told_noise(made))
    deviations = np.std(found, axis=0, ddof=1) / (1.0 if classes else y.std())
    told = plan.forecast()
    return {
        "solver": plan.solver,
        "told": None if told.withheld else float(told.relative),
        "measured": float(deviations.mean()),
        "root_mean_square": float(np.sqrt(np.mean(deviations**2))),
        "coefficients": [one for one in told_over_seen(coefs, noises).tolist() if np.isfinite(one)],
    }


def told_noise(model):
    """What a fitted model says of its coefficients' noise; NaN where it does not."""
    try:
        return np.ravel(model.coef_noise())
    except AttributeError:
        return np.full(np.size(model.coef_), np.nan)


def told_over_seen(coefs, told):
    """Of each coefficient, over fits; NaN where it did not vary, or half of them told nothing."""
    seen, told = np.std(coefs, axis=0, ddof=1), np.asarray(told)
    known = np.isfinite(told)
    squares = np.where(known, told, 0.0) ** 2
    mean = np.sqrt(squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    usable = (known.mean(axis=0) >= 0.5) & (seen > 0.0)
    return np.divide(mean, seen, out=np.full(len(seen), np.nan), where=usable)


def ratio(one):
    return None if one["told"] is None else one["told"] / one["measured"]


def tables(results):
    epsilons, lines = results["epsilons"], {}
    for one in results["cells"]:
        known = "bounds" if one["declared"] else "nothing"
        label = (one["data"], one["model"], known)
        share = ratio(one)
        lines.setdefault(label, []).append("cannot tell" if share is None else f"{share:.2f}")
    header = ["data", "model", "declared", *(f"epsilon {epsilon:g}" for epsilon in epsilons)]
    ratios = [share for one in results["cells"] if (share := ratio(one)) is not None]
    within = np.mean([0.5 <= share <= 2.0 for share in ratios])
    text = (
        f"Forecast over what {results['fits']} fits showed; {len(ratios)} of "
        f"{len(results['cells'])} are told, {within:.0%} of them between 0.5 and 2, from "
        f"{min(ratios):.2f} to {max(ratios):.2f}:\n\n"
    )
    text += report.table(header, [[*label, *line] for label, line in lines.items()])
    return text + _table_of_coefficients(results)


def _table_of_coefficients(results):
    rows = [
        [
            f"{one['data']}, {one['model']}, {'bounds' if one['declared'] else 'nothing'}",
            f"{one['epsilon']:g}",
            *(f"{value:.2f}" for value in np.quantile(one["coefficients"], [0.0, 0.5, 1.0])),
        ]
        for one in results["cells"]
        if one["coefficients"]
    ]
    if not rows:
        return "\n\n`coef_noise()` is not known of these solvers yet."
    header = [
        "`coef_noise()` over the spread of coefficients",
        "epsilon",
        "least",
        "median",
        "most",
    ]
    return "\n\n" + report.table(header, rows)


def figures(results):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    styles = {"LinearRegression": "o", "LogisticRegression": "^"}
    for place, name in enumerate(dict.fromkeys(one["data"] for one in results["cells"])):
        for one in results["cells"]:
            if one["data"] == name and ratio(one) is not None:
                marker, filled = styles[one["model"]], one["declared"]
                colour = f"C{place}"
                axes.plot(
                    one["epsilon"] * 1.08 ** (place - 1.5),
                    ratio(one),
                    marker,
                    color=colour,
                    fillstyle="full" if filled else "none",
                )
        axes.plot([], [], "o", color=f"C{place}", label=name)
    axes.axhspan(0.5, 2.0, color="0.9", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="forecast / measured")
    axes.set_title("Errors of predictions, told before the fit (filled: bounds declared)")
    axes.legend()
    return {"": figure}
