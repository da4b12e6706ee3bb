"""Saying what is bought because nobody declared it, and for which share of the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

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
    'Not declared, and therefore bought: the ranges of the columns for 15% of the budget.'
    """
    shares = {what: _share(plan, ending) for what, ending in RANGES.items()}
    parts = [f"{what} for {share:.0%}" for what, share in shares.items() if share]
    if not parts:
        return None
    *others, last = _choice(plan) + parts
    bought = f"{', '.join(others)} and {last}" if others else last
    return f"Not declared, and therefore bought: {bought} of the budget."


def _share(plan: Plan, ending: str) -> float:
    return sum(plan.share(release) for release in plan.releases if release.name.endswith(ending))


def _choice(plan: Plan) -> list[str]:
    """There may be too many columns to buy the ranges of them all."""
    return [
        f"a choice of {release.count} among {release.size} features for {plan.share(release):.0%}"
        for release in plan.releases
        if release.name == CHOICE
    ]
