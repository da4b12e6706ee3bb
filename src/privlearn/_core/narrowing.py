"""A plan of fewer numbers in the place of what was charged: never at a higher price.

What was released may tell that some numbers of later releases are not needed: categories that
nobody knew of in advance, and of which fewer were found than there was room for. Each later release
then has as much noise beside its clip as was planned, so it costs what was charged or less
(schema/discovery.md, section 4).
"""

from __future__ import annotations

from dataclasses import replace

from privlearn._core.plan import Plan, Release
from privlearn.accounting.shares import no_costlier
from privlearn.exceptions import PlanViolationError

__all__ = ["narrowed", "same_shapes"]


def narrowed(plan: Plan, charged: Plan) -> Plan:
    """The plan with the weights that were charged, or a refusal where it would cost more."""
    if _facts(plan) != _facts(charged):
        raise PlanViolationError("what was released changed more than sizes: a solver bug")
    planned = {release.name: release for release in charged.releases}
    found = tuple(_narrowed(release, planned.get(release.name)) for release in plan.releases)
    plan = replace(plan, releases=found)
    for release in found:
        paid = planned[release.name]
        kept = no_costlier(plan.pair(release), charged.pair(paid))
        if not kept or release.count > paid.count or release.size > paid.size:
            raise PlanViolationError(f"release {release.name!r} costs more than was charged")
    return plan


def _narrowed(release: Release, paid: Release | None) -> Release:
    """What was paid for, of another size; its noise multiplier stays."""
    if paid is None or _kind(paid) != _kind(release):
        raise PlanViolationError(f"release {release.name!r} is of no kind that was charged")
    return replace(paid, shape=release.shape, clip=release.clip, count=release.count)


def same_shapes(plan: Plan, other: Plan) -> bool:
    """Whether the same is released, but for the noise, which is that of what was charged."""
    ours, theirs = (
        [(one.name, one.shape, one.clip, one.count, *_kind(one)) for one in some.releases]
        for some in (plan, other)
    )
    return ours == theirs


def _facts(plan: Plan) -> tuple[object, ...]:
    return plan.adjacency, plan.scale, plan.rows, plan.rows_per_person


def _kind(release: Release) -> tuple[object, ...]:
    return release.mechanism, release.norm, release.sampling, release.level, release.stage
