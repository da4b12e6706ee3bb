"""What the reading of a file takes for granted, in the certificate of what was released."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privlearn._core.certificate import Certificate

__all__ = ["DECLARED", "ESTIMATED", "NAMES", "assuming"]

NAMES = "the names of the columns are public"
DECLARED = "the schema of the columns was chosen without looking at the data"
ESTIMATED = (
    "what columns are that nobody described, and their lists of values, is estimated privately; "
    "how cells are read (separator, encoding, names) is told by the header line, or by options "
    "that were chosen without looking at the data"
)


def assuming(certificate: Certificate, texts: Iterable[str]) -> Certificate:
    """The certificate with some more assumptions, each of them once."""
    plan = certificate.plan
    new = [text for text in texts if text not in plan.assumptions]
    return replace(certificate, plan=replace(plan, assumptions=(*plan.assumptions, *new)))
