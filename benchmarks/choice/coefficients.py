"""The noise of each coefficient, told after the fit, against the spread of private fits.

`coef_noise()` tells from what a fit released how far its coefficients would differ in another fit
of the same rows. Here is what it told (the root mean square over fits) over the deviation of each
coefficient from fit to fit: how many coefficients lie between 0.5 and 2, the least and the most,
and for how many nothing is told.

CPS 1988, Adult, California housing and diamonds, as in `choice/forecasts`: wages, prices and values
by `LinearRegression`, classes by `LogisticRegression`, nothing declared, and bounds.
"""

import warnings

import numpy as np

from benchmarks.choice import forecasts
from benchmarks.harness import report

NEEDS = forecasts.NEEDS
EPSILONS = (0.3, 1.0, 3.0, 10.0)
FACTOR = 2.0


def measure(options):
    epsilons = (1.0,) if options.quick else EPSILONS
    fits = options.repeats(usual=30, quick=3)
    cells = []
    for name, (tables, y, facts) in forecasts.datasets().items():
        for model in ("LinearRegression", "LogisticRegression"):
            for declared, X in zip((False, True), tables, strict=True):
                own, target = forecasts.settings(model, name, y, facts, declared)
                for epsilon in epsilons:
                    label = {"data": name, "model": model, "declared": declared, "epsilon": epsilon}
                    cells.append(label | cell(model, X, target, fits, epsilon=epsilon, **own))
    return {"epsilons": list(epsilons), "fits": fits, "cells": cells}


def cell(model, X, y, fits, **parameters):
    """What was told over what was seen, of each coefficient; None where nothing is told."""
    import privlearn

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ratios(getattr(privlearn, model)(**parameters), X, y, fits)
    return {"ratios": [float(one) if np.isfinite(one) else None for one in found]}


def ratios(model, X, y, fits):
    """Told over seen, of each coefficient that varied; NaN where nothing is told."""
    coefs, told = [], []
    for seed in range(fits):
        model.set_params(random_state=seed).fit(X, y)
        coefs.append(np.ravel(model.coef_))
        told.append(forecasts.told_noise(model))
    return forecasts.told_over_seen(coefs, told)


def shares(one):
    """Coefficients that are told, those within the factor, the least and the most."""
    known = np.array([value for value in one["ratios"] if value is not None])
    good = (known >= 1 / FACTOR) & (known <= FACTOR)
    return len(known), int(good.sum()), known.min(initial=np.inf), known.max(initial=0.0)


def tables(results):
    rows, told, good, every, whole = [], 0, 0, 0, 0
    for one in results["cells"]:
        known, within, least, most = shares(one)
        told, good, every = told + known, good + within, every + len(one["ratios"])
        whole += known == within
        rows.append(
            [
                one["data"],
                one["model"],
                "bounds" if one["declared"] else "nothing",
                f"{one['epsilon']:g}",
                f"{within} of {known}",
                f"{least:.2f}",
                f"{most:.2f}",
                str(len(one["ratios"]) - known),
            ]
        )
    header = ["data", "model", "declared", "epsilon", "within 0.5 to 2", "least", "most", "untold"]
    return (
        f"Told over seen, {results['fits']} fits: {good} of {told} coefficients lie between 0.5 "
        f"and 2 ({good / max(told, 1):.1%}), all of them in {whole} of {len(rows)} cells; of "
        f"{every - told} of {every} nothing is told.\n\n" + report.table(header, rows)
    )


def figures(results):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for place, name in enumerate(dict.fromkeys(one["data"] for one in results["cells"])):
        for one in results["cells"]:
            known = [value for value in one["ratios"] if value is not None]
            if one["data"] == name and known:
                at = one["epsilon"] * 1.08 ** (place - 1.5)
                quantiles = np.quantile(known, [0.0, 0.5, 1.0])
                axes.plot([at, at], quantiles[[0, 2]], color=f"C{place}", linewidth=1)
                axes.plot(at, quantiles[1], "o", color=f"C{place}")
        axes.plot([], [], "o", color=f"C{place}", label=name)
    axes.axhspan(0.5, 2.0, color="0.9", zorder=0)
    axes.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="told / seen")
    axes.set_title("Noise of coefficients, told after the fit (least, median, most)")
    axes.legend()
    return {"": figure}
