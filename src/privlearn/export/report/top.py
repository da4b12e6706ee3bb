"""The top of the page: title, what it is, the promise in a few cards, and how strong it is."""

from __future__ import annotations

from collections.abc import Iterable

from privlearn._core.budget import SAYS_SOMETHING, WEAK
from privlearn._core.certificate import Certificate
from privlearn.export.report.coefficients import what_it_is
from privlearn.export.report.learned import Learned
from privlearn.export.report.markup import Markup, name, tag
from privlearn.export.report.statement import at_most, percent

__all__ = ["top"]

NOT_PRIVATE = (
    "This model is NOT private. It was fitted with random_state, so whoever knows or guesses the "
    "seed can subtract the noise. Do not publish it: fit again without random_state."
)
HIDDEN = {
    "zero_out": "what the record says; it could as well be empty",
    "add_remove": "whether the record is there at all",
    "replace_one": "what the record says; it could be any other",
}
EVEN = 0.5
# The scale of docs/start/choosing-epsilon.md: up to which epsilon, and what it is called there.
SCALE = (
    (0.1, "a strong promise: hardly anything can be learned about one person"),
    (1.0, "a sound default"),
    (3.0, "weaker than the default, for cases in which less would be useless"),
    (10.0, "a weak promise, which takes reasons that are written down"),
    (
        SAYS_SOMETHING,
        "a very weak promise: the worst case says little. Official statistics have used such "
        "values, with other protections around",
    ),
)
BEYOND = f"{WEAK}. No official statistics that we know of promise so little"


def top(title: str, learned: Learned, decided_by: str | None) -> Markup:
    """All of it, as the header of the page."""
    certificate = learned.certificate
    cards = [
        tag(
            "div",
            tag("dt", word),
            tag("dd", told),
            *(tag("dd", code, class_="code") for code in of),
        )
        for word, told, *of in _facts(certificate)
    ]
    alarm = [] if certificate.private else [tag("p", NOT_PRIVATE, class_="alarm", role="alert")]
    return tag(
        "header",
        tag("p", "Privacy report", class_="over"),
        tag("h1", title),
        tag("p", what_it_is(learned)),
        *alarm,
        tag("dl", *cards, class_="cards"),
        tag("p", *_placed(certificate, decided_by), class_="placed"),
    )


def _facts(certificate: Certificate) -> Iterable[tuple[str, ...]]:
    """Names, what they are here, and words of programs for it."""
    once = certificate.epsilon
    twice = once if certificate.plan.adjacency.replaces else 2.0 * once
    yield "epsilon", f"{once:g}"
    yield "delta", f"{certificate.delta:g}"
    yield "protected", _unit(certificate)
    yield "hidden", HIDDEN[certificate.adjacency], f"adjacency {certificate.adjacency}"
    if not certificate.plan.adjacency.replaces:
        there = "50 % sure that the record is there? Then at most"
        yield there, percent(at_most(EVEN, once))
    which = "50 % sure which of two records is theirs? Then at most"
    yield which, percent(at_most(EVEN, twice))


def _unit(certificate: Certificate) -> str:
    most = certificate.rows_per_person
    if most is None:
        return "one row, taken for one person"
    rows = "one row" if most == 1 else f"up to {most:,} rows"
    return f"a person, or whatever one id stands for (a household, a firm), with {rows} of theirs"


def _placed(certificate: Certificate, decided_by: str | None) -> Iterable[str]:
    """How strong an epsilon is, and who decided on it."""
    word = next((word for most, word in SCALE if certificate.epsilon <= most), BEYOND)
    yield (
        f"On the scale of privlearn's documentation epsilon = {certificate.epsilon:g} is {word}. "
        "It is about this model; what else is released about the same people adds up. "
    )
    if decided_by:
        yield "Who decided on it: "
        yield name(decided_by)
    else:
        yield "Who decided on it, and why, this page was not told; it belongs written down."
