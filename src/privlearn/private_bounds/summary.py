"""Saying which ranges are estimated, and for which share of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["what_is_estimated"]

RANGES = {"the ranges of the columns": "features", "the range of the target": "target"}


def what_is_estimated(plan: Plan) -> str | None:
    """One sentence about what a plan estimates privately; None where nothing is.

    Examples
    --------
    >>> from privlearn import LinearRegression
    >>> model = LinearRegression(solver="cd", bounds_y=(0, 1))
    >>> what_is_estimated(model.plan(n=10_000, n_features=3))
    'Estimated privately: the ranges of the columns for 15% of the budget.'
    """
    from privlearn.private_bounds.solver import range_releases
    from privlearn.schema.discovery import KINDS, LISTS

    parts = [  # there may be too many columns to estimate the ranges of them all
        f"a choice of {release.count} among {release.size} features for {plan.share(release):.0%}"
        for release in plan.releases
        if release.stage == "bounds" and release.mechanism.kind == "selection"
    ]
    found = {KINDS: "the kinds of columns", LISTS: "lists of categories"}
    parts += [
        f"{found[release.name]} for {plan.share(release):.0%}"
        for release in plan.releases
        if release.name in found
    ]
    ranges = []
    for what, kind in RANGES.items():
        names = range_releases(kind)
        share = sum(plan.share(release) for release in plan.releases if release.name in names)
        ranges += [f"{what} for {share:.0%}"] if share else []
    if not parts + ranges:
        return None
    *others, last = parts + ranges
    all_of_it = f"{', '.join(others)} and {last}" if others else last
    return f"Estimated privately: {all_of_it} of the budget."
