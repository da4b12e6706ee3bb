"""A plan of fewer numbers in the place of what was charged: never at a higher price.

What was released may tell that some numbers of later releases are not needed: categories that
nobody knew of in advance, and of which fewer were found than there was room for. Each later release
then has as much noise beside its clip as was planned, so it costs what was charged or less
(schema/discovery.md, section 4).
"""

from __future__ import annotations

from privlearn._core.plan import Plan, Release
from privlearn.accounting.shares import no_costlier
from privlearn.exceptions import PlanViolationError

__all__ = ["demand_within"]


def demand_within(plan: Plan, charged: Plan) -> None:
    """Refuse unless every release was charged for, at the price that it has here or more."""
    if _facts(plan) != _facts(charged):
        raise PlanViolationError("what was released changed more than sizes: a solver bug")
    planned = {release.name: release for release in charged.releases}
    for release in plan.releases:
        paid = planned.get(release.name)
        if paid is None or _kind(paid) != _kind(release):
            raise PlanViolationError(f"release {release.name!r} is of no kind that was charged")
        kept = no_costlier(plan.pair(release), charged.pair(paid))
        if not kept or release.count > paid.count or release.size > paid.size:
            raise PlanViolationError(f"release {release.name!r} costs more than was charged")


def _facts(plan: Plan) -> tuple[object, ...]:
    return plan.adjacency, plan.scale, plan.rows, plan.rows_per_person


def _kind(release: Release) -> tuple[object, ...]:
    return release.mechanism, release.norm, release.sampling, release.level, release.stage
