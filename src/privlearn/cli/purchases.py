"""Saying what is bought because nobody declared it, and for which share of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privlearn.plan import Plan

__all__ = ["purchase"]

CHOICE = "relevant features"
RANGES = {
    "the ranges of the columns": " of the features",
    "the range of the target": " of the target",
}


def purchase(plan: Plan) -> str | None:
    """One sentence about what a plan buys; None where everything was declared.

    Examples
    --------
    >>> from privlearn import LinearRegression
    >>> purchase(LinearRegression(bounds_y=(0, 1)).plan(n=10_000, n_features=3))
    'Not declared, and therefore bought: the ranges of the columns (15% of the budget).'
    """
    shares = {what: _share(plan, ending) for what, ending in RANGES.items()}
    parts = [f"{what} ({share:.0%} of the budget)" for what, share in shares.items() if share]
    if not parts:
        return None
    return f"Not declared, and therefore bought: {' and '.join(parts)}{_choice(plan)}."


def _share(plan: Plan, ending: str) -> float:
    return sum(plan.share(release) for release in plan.releases if release.name.endswith(ending))


def _choice(plan: Plan) -> str:
    """There may be too many columns to buy the ranges of them all."""
    for release in plan.releases:
        if release.name == CHOICE:
            count = f"{release.count} of {release.size} columns"
            return f", after a choice of {count} ({plan.share(release):.0%})"
    return ""
