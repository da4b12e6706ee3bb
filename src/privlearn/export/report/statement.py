"""The promise in plain words: what somebody can and cannot conclude about one person."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from privlearn._core.certificate import Certificate
from privlearn.export.report.learned import Learned
from privlearn.export.report.markup import Markup, group, name, tag
from privlearn.export.report.tables import table

__all__ = ["at_most", "odds_factor", "percent", "power_at_most", "statement"]

PRIORS = (0.01, 0.1, 0.5)
ALARMS = (0.01, 0.05, 0.1)
HARDLY = 0.95  # certainty from even odds: an epsilon of 3 and more
WHO = {
    "zero_out": "their record is emptied, and everybody else's stays as it is",
    "add_remove": "their record is taken out, and everybody else's stays as it is",
    "replace_one": "their record is exchanged for any other, and everybody else's stays as it is",
}
GROUPS = {
    "row": "groups. Ten relatives together are protected by ten times the epsilon.",
    "person": "groups with several ids. Ten relatives with ids of their own are together protected "
    "by ten times the epsilon; all who share one id, as a household may, by the epsilon itself.",
}
Points = Sequence[tuple[float, float]]


def odds_factor(epsilon: float) -> float:
    """How much odds may change; infinite where that is beyond all numbers.

    Examples
    --------
    >>> round(odds_factor(1.0), 2), odds_factor(1e6)
    (2.72, inf)
    """
    return math.exp(epsilon) if epsilon < 700.0 else math.inf


def at_most(before: float, epsilon: float) -> float:
    """The largest probability after seeing the model, of one before it.

    Examples
    --------
    >>> round(at_most(0.1, 1.0), 3)
    0.232
    """
    return 1.0 / (1.0 + (1.0 - before) / before / odds_factor(epsilon))


def power_at_most(points: Points, alarm: float) -> float:
    """How often a test can be right, of which a part of the alarms is false.

    Every pair (e, d) of the privacy curve limits any test of one neighbour against the other:
    power <= e^e alarm + d, and 1 - alarm <= e^e (1 - power) + d (Wasserman and Zhou 2010; Kairouz,
    Oh and Viswanath 2015). Fewer pairs than there are only make the limit larger.

    Examples
    --------
    >>> power_at_most([(0.0, 0.25)], 0.05)
    0.3
    """
    limits = [1.0]
    for epsilon, delta in points:
        factor = odds_factor(epsilon)
        limits += [factor * alarm + delta, 1.0 - (1.0 - alarm - delta) / factor]
    return min(limits)


def percent(part: float) -> str:
    """A limit on a probability for people: rounded up, and never to certainty.

    Examples
    --------
    >>> percent(0.26841), percent(0.99996), percent(1.0 - 1e-12)
    ('26.9 %', '99.996 %', 'more than 99.999 %')
    """
    if part > 0.99999:
        return "more than 99.999 %"
    digits = 1 if part < 0.995 else math.ceil(-math.log10(1.0 - part)) - 2
    size = 10.0**digits
    return f"{math.ceil(100.0 * part * size - 1e-9) / size:.{digits}f} %"


def statement(learned: Learned, points: Points) -> Markup:
    """All of it, as a section of the page."""
    certificate = learned.certificate
    return group(
        tag("p", *_opening(certificate), class_="lead"),
        *_odds(certificate),
        *_tests(certificate, points),
        tag("h3", "What can be concluded, and what cannot"),
        tag("ul", *(tag("li", *line) for line in _limits(learned))),
    )


def _opening(certificate: Certificate) -> Iterable[str]:
    who = WHO[certificate.adjacency]
    most = certificate.rows_per_person
    record = f"up to {most:,} rows" if most is not None and most > 1 else "one row"
    yield (
        f"Take any one person in the data, with their record of {record}{_left_out(most)}. "
        f"Had the model been learned from data in which {who}, whatever came out would have been "
        "nearly as likely to come out. So whoever studies the model, and all else on this page, "
        "learns hardly anything that depends on that one record. How much \u201chardly\u201d is, "
        "two numbers say: "
    )
    yield tag("strong", f"epsilon = {certificate.epsilon:g}")
    yield " and "
    yield tag("strong", f"delta = {certificate.delta:g}")
    yield "."
    if most is not None:
        yield (
            " A person is, here and below, whatever one id stands for: where the ids are those of "
            "households or firms, read \u201chousehold\u201d or \u201cfirm\u201d for it."
        )


def _left_out(most: int | None) -> str:
    """What became of more rows of a person."""
    if most is None:
        return ""
    if most == 1:
        return " (of people with more rows one was drawn at random, and no other was used)"
    return f" (of people with more rows {most:,} were drawn at random, and no others were used)"


def _odds(certificate: Certificate) -> Iterable[Markup]:
    """The reading by odds, between the worlds that neighbours are, and between two records."""
    once, replaces = certificate.epsilon, certificate.plan.adjacency.replaces
    both = [("is the record of this person in the data at all?", once, certificate.delta)]
    if replaces:
        both = [("which of two records is this person's?", once, certificate.delta)]
    else:
        # From one record to none and on to the other: two neighbours away.
        twice = certificate.delta * (1.0 + odds_factor(once))
        both.append(("which of two records is this person's?", 2.0 * once, min(twice, 1.0)))
    factor = _times(once)
    yield tag("h3", "In odds")
    yield tag(
        "p",
        "Somebody who knows everybody else's record, and suspects something about this person, "
        f"changes the odds of that guess by at most a factor of e^epsilon = {factor} for having "
        "seen the model: ",
        _except(certificate.delta),
    )
    head = ["they were sure before", *(question for question, _, _ in both)]
    body = [
        [f"{p:.0%}", *(f"at most {percent(at_most(p, e))}" for _, e, _ in both)] for p in PRIORS
    ]
    yield table("How sure they may be afterwards (rounded up)", head, body, key="odds")
    if not replaces:
        yield tag(
            "p",
            f"The last column has the factor e^(2 epsilon) = {_times(2.0 * once)}, since between "
            "two records lies the empty one"
            + (f", and delta is {both[1][2]:.2g}." if certificate.delta else "."),
            class_="small",
        )
    if at_most(0.5, once) > HARDLY:
        yield tag(
            "p",
            "An epsilon of this size limits little by itself: the table shows what somebody who "
            "knows everything else may come to be sure of.",
            class_="warning",
        )


def _times(epsilon: float) -> str:
    factor = odds_factor(epsilon)
    return f"{factor:,.3g}" if factor < 1e4 else f"{factor:.1e}"


def _except(delta: float) -> str:
    if delta == 0.0:
        return "always, whatever the noise does."
    return (
        f"always, but for chance events of probability {delta:g} in all, on which nothing is "
        f"promised (one in {1.0 / delta:,.0f})."
    )


def _tests(certificate: Certificate, points: Points) -> Iterable[Markup]:
    guess = 0.5 + points[0][1] / 2.0
    yield tag("h3", "As a test")
    yield tag(
        "p",
        "Nobody can test well which of the two data sets it was, by any method and with any "
        "computer. At even odds, a guess is right with probability at most ",
        tag("strong", percent(guess)),
        " (50 % is a coin). A test that is to raise few false alarms finds a record that is there "
        "at most this often:",
    )
    body = [[f"{a:.0%}", f"at most {percent(power_at_most(points, a))}"] for a in ALARMS]
    yield table("Tests", ["false alarms", "found"], body, key="tests")
    yield tag(
        "p",
        "Odds and test are about the same promise, and both are true: odds are about the most "
        "telling thing that may ever come out, however rare, and a test about how often one is "
        "right over everything that may come out.",
    )
    if certificate.levels:
        yield tag(
            "p",
            "People were promised epsilons of their own; all of this is about those with the "
            "largest, and others are protected better.",
            class_="small",
        )


def _limits(learned: Learned) -> Iterable[Sequence[str]]:
    yield (
        tag("strong", "Not: "),
        "who is in the data, or what one record says, beyond the limits above, even knowing all "
        "others. This holds for attacks that nobody has thought of yet.",
    )
    yield (
        tag("strong", "Yes: "),
        *_in_general(learned),
    )
    yield (tag("strong", "Not covered: "), GROUPS[learned.certificate.unit])
    yield (
        tag("strong", "Not covered: "),
        "other models and tables of the same people. What several of them tell adds up, which is "
        "what a ledger is for.",
    )
    if learned.certificate.rows_per_person is None:
        yield (
            tag("strong", "Not covered: "),
            "people with several rows. One row was taken for one person.",
        )


def _in_general(learned: Learned) -> Iterable[str]:
    """What a model says about everybody, in its own names where there are any."""
    yield "what is true of people in general. If the model says how "
    if learned.target and learned.columns and learned.named:
        yield from (name(learned.target), " goes with ", name(learned.columns[0].name))
    else:
        yield "what it predicts goes with a column"
    yield (
        ", then whoever knows the one of a person expects something of the other, of people who "
        "are not in the data just as well."
    )
