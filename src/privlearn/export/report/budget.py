"""What the budget was spent on, release by release, and the privacy curve."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privlearn._core.certificate import Certificate
from privlearn.accounting import compose
from privlearn.accounting.composition import is_closed_form
from privlearn.export.report.drawing.curve import privacy_curve
from privlearn.export.report.drawing.shares import Share, budget_shares
from privlearn.export.report.markup import Markup, group, tag
from privlearn.export.report.tables import table

__all__ = ["curve_points", "spending"]

POINTS, FEW = 41, 21  # where each has a closed form, and where it takes a tenth of a second
HEAD = ["release", "how often", "numbers", "mechanism", "clip", "noise multiplier", "share"]


def curve_points(certificate: Certificate) -> list[tuple[float, float]]:
    """Pairs of epsilon and delta that hold, from epsilon 0 to twice the promised one."""
    exact = is_closed_form(compose(certificate.plan.pairs()).terms)
    found = np.linspace(0.0, 2.0 * certificate.epsilon, POINTS if exact else FEW).tolist()
    return [(epsilon, certificate.delta_at(epsilon)) for epsilon in found]


def spending(certificate: Certificate, points: Sequence[tuple[float, float]]) -> Markup:
    """Shares, all releases, and the curve."""
    shares = [Share(one["name"], one["stage"], one["share"]) for one in certificate.releases]
    return group(
        tag(
            "p",
            "Everything that left the fit is listed here, and was declared before the data were "
            "touched: each release has noise in it, and takes a share of the budget.",
        ),
        budget_shares(shares),
        tag("details", tag("summary", "All releases in numbers"), _releases(certificate)),
        privacy_curve(points, certificate.epsilon, certificate.delta),
    )


def _releases(certificate: Certificate) -> Markup:
    body = [
        [
            one["name"],
            f"{one['count']:,}",
            f"{int(np.prod(one['shape'], dtype=float)):,}",
            f"{one['mechanism']}, {one['sampling']}",
            f"{one['clip']:.4g} ({one['norm']})",
            f"{one['noise_multiplier']:.4g}",
            f"{one['share']:.1%}",
        ]
        for one in certificate.releases
    ]
    return table("Releases", HEAD, body, key="releases")
