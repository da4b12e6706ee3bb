"""What was learned: a sentence, the figure of the coefficients, and all of them in a table."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from privlearn.export.report.drawing.canvas import number
from privlearn.export.report.drawing.coefficients import (
    MOST,
    MOST_OUTPUTS,
    NOT_TOLD,
    Effects,
    drawn_effects,
    standing_out,
)
from privlearn.export.report.learned import Learned
from privlearn.export.report.markup import Markup, group, name, tag
from privlearn.export.report.tables import table
from privlearn.schema.categories import ABOUT_OTHERS

__all__ = ["coefficients", "what_it_is"]

Array = NDArray[np.float64]
MOST_LINES = 10_000  # of the table
HOLLOW = {
    "intervals": " Hollow marks have none, because noise leaves too little to tell it: they are "
    "least sure.",
    "noise": " Hollow marks have none: of categories of a list only a fit with intervals=True "
    "tells it, and of others noise leaves too little to tell it.",
}
OTHER = " All are as the fit has them; the table has the references or ratios that were asked for."
AT_ONCE = 60  # more lines than that are folded away
MODELS = {
    "LinearRegression": "a linear regression",
    "Ridge": "a ridge regression",
    "Lasso": "a lasso regression",
    "ElasticNet": "an elastic net",
    "HuberRegressor": "a robust linear regression (Huber)",
    "PoissonRegressor": "a Poisson regression",
    "LogisticRegression": "a logistic regression",
    "LinearSVC": "a linear support vector classifier",
    "KernelRegressor": "a kernel regression",
    "KernelClassifier": "a kernel classifier",
}


def what_it_is(learned: Learned) -> Markup:
    """One sentence."""
    made = MODELS.get(learned.kind, learned.kind)
    what = ["of ", name(learned.target)] if learned.target else []
    if learned.classes is not None:
        labels = [part for label in learned.classes[:20] for part in (", ", name(label))][1:]
        what += [" with the classes " if what else "of the classes ", *labels]
    size = len(learned.columns)
    rows = learned.certificate.plan.rows
    public = learned.certificate.rows_per_person is None and rows is not None
    from_ = f" from {size:,} column{'s' if size > 1 else ''}"
    from_ += f" and {rows:,} rows (a number that is public)" if public else ""
    return group(f"This is {made} ", *what, from_, ".")


def coefficients(learned: Learned) -> Markup:
    """Figure and table; of kernels, what their columns are."""
    if learned.waves:
        return _kernel(learned)
    return group(*_figure(learned), _folded(_table(learned), learned.coef.shape[1]))


def _kernel(learned: Learned) -> Markup:
    words = ", ".join(learned.word(j) for j in range(min(len(learned.features), 60)))
    about = tag(
        "p",
        f"It predicts by {learned.waves:,} random features, waves in all columns at once, with a "
        "weight each. These weights say nothing one by one, and are not shown: they are in the "
        "model's file. It predicts from ",
        name(words),
        ".",
    )
    if not learned.coef.shape[1]:
        return about
    line = tag(
        "p",
        "A straight line was fitted first, and is shown here; the waves bend what it leaves over.",
    )
    return group(about, line, *_figure(learned), _folded(_table(learned), learned.coef.shape[1]))


def _figure(learned: Learned) -> Iterable[Markup]:
    if len(learned.coef) > MOST_OUTPUTS:
        yield tag(
            "p",
            f"There are {len(learned.coef)} classes, too many for a figure; the table has them.",
        )
        return
    low, high, what = learned.ends()
    scale = np.ones(learned.coef.shape[1]) if learned.spans is None else learned.spans
    places = standing_out(np.abs(learned.coef * scale).max(axis=0))
    estimates, lows, highs = [(values * scale)[:, places] for values in (learned.coef, low, high)]
    unit = "change over the range of the column"
    unit = "coefficient, per unit" if learned.spans is None else unit
    words = [learned.word(int(j)) for j in places]
    bars = bool(what)
    effects = Effects(words, estimates, lows, highs, bars, outputs=learned.outputs, unit=unit)
    untold = bars and not np.isfinite(lows).all()
    yield drawn_effects(effects, _caption(learned, len(places), what, untold=untold))


def _caption(learned: Learned, shown: int, what: str, *, untold: bool) -> list[str]:
    some = "" if shown == learned.coef.shape[1] else f"The {MOST} largest of all. "
    scaled = (
        "Coefficients, per unit of each column. "
        if learned.spans is None
        else "Coefficients times the range of their column: what it changes from its lowest to its "
        "highest value. "
    )
    level = 0.95 if learned.summary is None else learned.summary.level
    bars = {
        "intervals": f"Lines are {level:.0%} intervals, of privacy noise and the sampling of "
        "people together.",
        "noise": "Lines are two standard deviations of the privacy noise on either side; that the "
        "rows are a sample of people is not in them.",
        "": "How large the noise on them is, this fit does not tell.",
    }
    per_class = "Log-odds of the second class. " if _log_odds(learned) else ""
    hollow = HOLLOW.get(what, "") if untold else ""
    other = "" if learned.table is None else OTHER
    return [f"{scaled}{per_class}{some}{bars[what]}{hollow}{other}"]


def _log_odds(learned: Learned) -> bool:
    return learned.kind == "LogisticRegression" and len(learned.coef) == 1


def _folded(made: Markup, lines: int) -> Markup:
    if lines <= AT_ONCE:
        return made
    return tag("details", tag("summary", f"All {lines:,} coefficients"), made)


def _table(learned: Learned) -> Markup:
    head, body = _with_intervals(learned) if learned.summary is not None else _plain(learned)
    found = learned.summary if learned.table is None else learned.table
    what = found.ratio if found is not None else ""
    caption = f"{f'{what}s' if what else 'coefficients'}, per unit of each column".capitalize()
    if len(body) > MOST_LINES:
        caption += f" (the first {MOST_LINES:,}; all are in the model's file)"
    notes = [] if found is None else [*found.notes]
    notes += [ABOUT_OTHERS] if any(getattr(c.kind, "other", False) for c in learned.columns) else []
    told = [tag("p", " ".join(notes), class_="small")] if notes else []
    return group(table(caption, head, body[:MOST_LINES], key="coefficients"), *told)


def _with_intervals(learned: Learned) -> tuple[list[str], list[list[str]]]:
    found = learned.summary if learned.table is None else learned.table
    log = " (log)" if found.ratio else ""
    errors = f"noise s.e.{log}", f"std. error{log}"
    head = ["", found.ratio or "estimate", *errors, f"{found.level:.0%} interval", "p"]
    every = len(found.names) == len(learned.summary.names)  # else the categories are left out
    body = []
    for j, word in enumerate(found.names):
        label = learned.word(j) if every and j < len(learned.features) else word
        ends = f"{number(found.low[j])} to {number(found.high[j])}"
        ends = NOT_TOLD if np.isnan(found.low[j]) else ends
        told = (number(value[j]) for value in (found.coef, found.noise, found.std_err))
        body.append([name(label), *told, ends, _p_value(found.p_value[j])])
    return head, body


def _p_value(value: float) -> str:
    if np.isnan(value):
        return number(value)
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _plain(learned: Learned) -> tuple[list[str], list[list[str]]]:
    noise = learned.noise if len(learned.coef) == 1 else None
    heads: list[str] = [name(label) for label in learned.outputs] or ["coefficient"]
    head = ["", *heads, *(["noise s.e."] if noise is not None else [])]
    body = []
    for j in range(learned.coef.shape[1]):
        told = [number(value) for value in learned.coef[:, j]]
        told += [] if noise is None else [number(noise[0, j])]
        body.append([name(learned.word(j)), *told])
    last = [number(value) for value in learned.intercept] + ([] if noise is None else [""])
    return head, [*body, ["(intercept)", *last]]
