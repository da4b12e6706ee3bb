"""The page: its parts in their order, in one file that needs no other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from privlearn._core.certificate import Certificate
from privlearn._core.certificate_page import block_id
from privlearn._core.harmless import json_text
from privlearn.report.budget import curve_points, spending
from privlearn.report.citing import citations
from privlearn.report.coefficients import coefficients
from privlearn.report.columns import assumed, estimated
from privlearn.report.learned import Learned
from privlearn.report.markup import Markup, group, tag
from privlearn.report.nist import vocabulary
from privlearn.report.scores import Scores, read_scores, refuse_others, shown_scores
from privlearn.report.spent import ledger_state
from privlearn.report.statement import statement
from privlearn.report.top import top

if TYPE_CHECKING:
    from privlearn.ledger import Ledger

__all__ = ["page"]

# Nothing is fetched, nothing is run: a browser refuses both, whatever a text may hold.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(
    learned: Learned,
    *,
    title: str | None = None,
    scores: Any = None,  # noqa: ANN401
    ledger: Ledger | str | os.PathLike[str] | None = None,
    dataset: str | None = None,
    decided_by: str | None = None,
) -> str:
    """A model's report as HTML."""
    certificate, found = learned.certificate, read_scores(scores)
    refuse_others(found, learned.classes)
    points = curve_points(certificate)
    state = ledger_state(ledger, dataset, certificate)
    sections = [
        ("learned", "What was learned", coefficients(learned)),
        ("promise", "What this tells about one person", statement(learned, points)),
        ("nist", "The guarantee in the terms of NIST SP 800-226", vocabulary(certificate)),
        ("budget", "What the budget was spent on", spending(certificate, points)),
        ("assumptions", "What is assumed", assumed(learned)),
        ("estimated", "What was estimated privately", estimated(learned)),
        ("scores", "How good it is", shown_scores(found) if found else None),
        ("ledger", "What was spent on these people", state),
        ("cite", "How to cite it", citations(certificate)),
        ("certificate", "The certificate", _certificates(certificate, found)),
    ]
    named = title or (f"{learned.kind} of {learned.target}" if learned.target else learned.kind)
    body = [tag("section", tag("h2", head), part, id=key) for key, head, part in sections if part]
    return _whole(named, top(named, learned, decided_by), body)


def _whole(title: str, top: Markup, body: Sequence[Markup]) -> str:
    style = files("privlearn.report").joinpath("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", f"{title}: privacy report"),
        tag("style", Markup(style)),
    )
    made = tag("html", head, tag("body", top, tag("main", *body)), lang="en")
    return f"<!DOCTYPE html>\n{made}\n"


def _certificates(certificate: Certificate, scores: Sequence[Scores]) -> Markup:
    """Every certificate as JSON, which `privlearn verify` finds in the page."""
    blocks = [("The certificate of the model as JSON", certificate)]
    blocks += [
        (f"The certificate of scores {k}", one.certificate) for k, one in enumerate(scores, 1)
    ]
    return group(
        tag(
            "p",
            "The promise does not have to be believed: ",
            tag("code", "privlearn verify"),
            " reads it from this file and computes all of it again, without data. What the page "
            "says around the certificate is not checked.",
        ),
        *(
            tag(
                "details",
                tag("summary", words),
                tag("pre", Markup(json_text(one.to_dict())), id=block_id(k)),
            )
            for k, (words, one) in enumerate(blocks)
        ),
    )
