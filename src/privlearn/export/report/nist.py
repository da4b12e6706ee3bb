"""The promise in the vocabulary of NIST SP 800-226 (Near, Darais, Lefkovitz, Howarth 2025)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from privlearn._core.certificate import Certificate
from privlearn.accounting import compose
from privlearn.accounting.composition import is_closed_form
from privlearn.export.report.markup import Markup, group, tag
from privlearn.export.report.tables import terms

__all__ = ["REFERENCE", "vocabulary"]

REFERENCE = (
    "J. P. Near, D. Darais, N. Lefkovitz, G. S. Howarth. Guidelines for Evaluating Differential "
    "Privacy Guarantees. NIST Special Publication 800-226, 2025. doi:10.6028/NIST.SP.800-226"
)
NEIGHBOURS = {
    "zero_out": "Unbounded in kind, with a public number of records: SP 800-226 names data sets "
    "that differ by one record that is there or not (unbounded), or by the change of one "
    "(bounded). Here a record is blanked out and its place is kept.",
    "add_remove": "Unbounded, in the words of SP 800-226: one record is there or not.",
    "replace_one": "Bounded, in the words of SP 800-226: one record is changed.",
}


def vocabulary(certificate: Certificate) -> Markup:
    """Terms and what they are here."""
    return group(
        tag(
            "p",
            "The same promise in the terms of NIST Special Publication 800-226, for those who "
            "evaluate it.",
        ),
        terms([*_guarantee(certificate), *_mechanisms(certificate), *_around(certificate)]),
    )


def _guarantee(certificate: Certificate) -> Iterable[tuple[str, list[str]]]:
    pure = certificate.delta == 0.0
    epsilon, delta = certificate.epsilon, certificate.delta
    kind = "pure" if pure else "approximate"
    spent = f"Spent: epsilon = {certificate.spent():.6g} at delta = {delta:g}."
    yield (
        "Privacy guarantee",
        [f"({epsilon:g}, {delta:g})-differential privacy, {kind}. {spent}"],
    )
    yield (
        "Privacy loss",
        [
            "Limited for all outputs together by the privacy curve below, of which the promised "
            "pair is one point."
        ],
    )
    level = "user-level" if certificate.unit == "person" else "record-level"
    yield ("Unit of privacy", [f"{certificate.plan.unit_in_words().capitalize()} ({level})."])
    own = certificate.relation().partition(": ")[2]
    yield (
        "Neighbouring data sets",
        [f"{own.capitalize()}. {NEIGHBOURS[certificate.adjacency]}"],
    )


def _mechanisms(certificate: Certificate) -> Iterable[tuple[str, list[str]]]:
    counts = Counter[str]()
    for release in certificate.releases:
        counts[release["mechanism"]] += release["count"]
    listed = ", ".join(f"{name} ({count:,} times)" for name, count in counts.items())
    yield ("Mechanisms", [f"{listed}. Every release is listed below, with its noise."])
    yield (
        "Sensitivity",
        [
            "Enforced, not assumed: what one record adds to any sum is clipped to a public bound "
            "before noise is added. Rounding on a computer is counted in."
        ],
    )
    exact = is_closed_form(compose(certificate.plan.pairs()).terms)
    how = (
        "in closed form (Gaussian differential privacy)"
        if exact
        else "numerically, by privacy loss distributions that are rounded up"
    )
    yield ("Composition", [f"All releases are composed {how}."])
    yield (
        "Privacy budget",
        [f"epsilon = {certificate.epsilon:g} for this model, divided as the figure below shows."],
    )


def _around(certificate: Certificate) -> Iterable[tuple[str, list[str]]]:
    yield (
        "Trust model",
        [
            "Central: a curator who may see the records ran the fit. Everybody who sees what was "
            "released may be an adversary, and may know all other records."
        ],
    )
    yield (
        "Post-processing",
        ["Predictions, figures and tables made from what was released cost no more privacy."],
    )
    noise = (
        "drawn by a cryptographic generator that the operating system keys, on a grid and with "
        "exact distributions, so that no floating-point digits leak."
        if certificate.private
        else "NOT secret in this fit, since random_state was set: the guarantee does not hold "
        "against whoever knows or guesses the seed."
    )
    yield ("Randomness", [f"Noise is {noise}"])
    yield (
        "Outside of the guarantee",
        [
            "Who may read the records, how they were collected, how long a computation took, and "
            "whether assumptions below are true."
        ],
    )
