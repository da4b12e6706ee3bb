"""Does a certificate add up? Everything that it derives, computed again from what it declares.

The file alone is needed: no data, no model, no ledger. What is shown is that the releases, as they
are declared, cost what the file says and fit the promise. That a fit made these releases and no
others is for its code and its audits to show, and a forger who rewrites *all* numbers consistently
describes another plan, whose price is then the one that is checked.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from privlearn._core.certificate import Certificate
from privlearn._core.certificate_file import FIRST_FORMAT, certificate_of
from privlearn._core.plan import Release
from privlearn._core.sampling import Disjoint
from privlearn._core.verification import TOLERANCE, Verification
from privlearn.accounting import compose
from privlearn.accounting.composition import is_closed_form
from privlearn.exceptions import UnsupportedCombinationError

__all__ = ["Checked", "check_certificate"]

EXACT = 1e-12  # of sensitivities and noise: the same few operations on doubles
CLOSED = 1e-6  # of prices and shares in closed form
GRID = 1e-3  # of prices that come from a grid of losses, always rounded up
DERIVED = dict.fromkeys(("noise_multiplier", "noise_scale", "sensitivity", "grid"), EXACT)
DERIVED["share"] = CLOSED
STEEP = 30.0  # a delta may be off by so many times more than an epsilon

Values = Mapping[str, Any]


@dataclass(frozen=True)
class Checked:
    """What came of checking one certificate.

    Attributes
    ----------
    certificate : Certificate
        Rebuilt from what the file declares.
    problems : tuple of str
        What does not add up, in sentences; empty if the certificate holds.
    spent : float
        The price by our accountant, at the promised delta.
    second : Verification or None
        The price by `dp_accounting`, or None where it has none to tell.
    no_second : str
        Why there is no second opinion; empty if there is one.
    """

    certificate: Certificate
    problems: tuple[str, ...]
    spent: float
    second: Verification | None
    no_second: str

    @property
    def holds(self) -> bool:
        """Whether everything adds up."""
        return not self.problems


def check_certificate(content: Values, *, second_opinion: bool = True) -> Checked:
    """Compute everything that a certificate derives again, and compare.

    Parameters
    ----------
    content : dict
        What `Certificate.to_dict` gave, or JSON gave back; or the content of a model file.
    second_opinion : bool, default=True
        Whether `dp_accounting` is asked as well, where it is installed.

    Raises
    ------
    ValueError
        If it cannot be read at all: a missing field, an unknown mechanism, a newer format.

    Examples
    --------
    >>> from privlearn._core.plan import Plan, Release
    >>> from privlearn._core.problem import Budget, Adjacency
    >>> plan = Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale=4.3)
    >>> written = Certificate(plan, Budget(1.0, 1e-6), private=True, made={"sum": 1}).to_dict()
    >>> check_certificate(written).holds
    True
    >>> check_certificate(written | {"spent_epsilon": 0.5}).problems[0]
    'the file says that epsilon = 0.5 was spent, but its releases cost 0.981397 at delta = 1e-06'
    """
    content = certificate_of(content)
    certificate = Certificate.from_dict(content)
    spent = certificate.spent()
    second, reason = _second_opinion(certificate) if second_opinion else (None, "not asked")
    problems = [
        *_problems_of_releases(certificate, content),
        *_problems_of_levels(certificate, content),
        *_problems_of_price(certificate, content, spent),
        *_problems_of_opinion(second),
    ]
    return Checked(certificate, tuple(problems), spent, second, reason)


def _near(stated: float, found: float, tolerance: float) -> bool:
    return math.isclose(stated, found, rel_tol=tolerance, abs_tol=0.0)


def _problems_of_releases(certificate: Certificate, content: Values) -> Iterator[str]:
    both = zip(certificate.releases, content["releases"], strict=True)
    for release, (found, stated) in zip(certificate.plan.releases, both, strict=True):
        where = f"release {release.name!r}"
        for key in ("mechanism", "sampling"):
            said, true = stated[key], found[key]
            if said != true:
                yield f"{key} of {where} is {said!r} in the file, but {true!r} is declared"
        for key, tolerance in DERIVED.items():
            said, true = stated[key], found[key]
            old = key == "share" and content["format"] == FIRST_FORMAT  # told in mu^2 always
            if not old and not _near(said, true, tolerance):
                yield (
                    f"{key} of {where} is {said!r} in the file, but {true!r} follows from what the "
                    "file declares"
                )
        if not _near(stated.get("threshold", -1.0), found.get("threshold", -1.0), EXACT):
            yield f"threshold of {where} is not the one that follows from what the file declares"
        yield from _counts(release, stated, where)


def _counts(release: Release, stated: Values, where: str) -> Iterator[str]:
    if not 0 <= stated["released"] <= release.count:
        yield f"{where} was planned {release.count} times and made {stated['released']} times"
    if not release.sampling.at_once:
        return
    paid = release.sampling.batches if isinstance(release.sampling, Disjoint) else 1
    if release.count != paid:  # they are paid for together, once
        yield f"{where} is made {release.count} times, but its rows are drawn for {paid}"


def _problems_of_levels(certificate: Certificate, content: Values) -> Iterator[str]:
    stated = {}
    for each in content["levels"]:
        numbers = [each.get(key) for key in ("promised", "spent_epsilon")] if each else []
        if len(numbers) != 2 or not all(type(number) in (int, float) for number in numbers):
            yield "'levels' is not a list of what was promised to people, and what was spent"
            return
        stated[numbers[0]] = numbers[1]
    found = certificate.levels
    if list(stated) != list(found) or len(stated) != len(content["levels"]):
        yield "the epsilons that were promised to people are not those of the releases"
        return
    for level, spent in found.items():
        if not _near(stated[level], spent, GRID):
            yield (
                f"the file says that people promised {level:g} spent {stated[level]:g}, but what "
                f"they enter costs {spent:.6g}"
            )
        if spent > level * (1 + GRID):
            yield f"people were promised {level:g}, but what they enter costs {spent:.6g}"


def _problems_of_price(certificate: Certificate, content: Values, spent: float) -> Iterator[str]:
    # Closed forms are exact; a grid rounds up, by other amounts on other machines.
    exact = is_closed_form(compose(certificate.plan.pairs()).terms)
    tolerance, stated = CLOSED if exact else GRID, content["spent_epsilon"]
    at = f"at delta = {certificate.delta:g}"
    if not _near(stated, spent, tolerance):
        yield (
            f"the file says that epsilon = {stated:.6g} was spent, but its releases cost "
            f"{spent:.6g} {at}"
        )
    delta, wrong = content["spent_delta"], certificate.delta_at(certificate.epsilon)
    if not _near(delta, wrong, STEEP * tolerance):
        yield (
            f"the file says that delta = {delta:.6g} was spent, but its releases cost {wrong:.6g} "
            f"at epsilon = {certificate.epsilon:g}"
        )
    if not spent <= certificate.epsilon * (1 + tolerance):
        promised = f"epsilon = {certificate.epsilon:g} was promised"
        yield f"{promised}, but the releases cost {spent:.6g} {at}"


def _second_opinion(certificate: Certificate) -> tuple[Verification | None, str]:
    try:
        return certificate.verify(), ""
    except (ImportError, UnsupportedCombinationError) as error:
        return None, str(error)


def _problems_of_opinion(second: Verification | None) -> Iterator[str]:
    if second is None:
        return
    if not second.holds:
        yield (
            f"epsilon = {second.promised:g} was promised, but the releases cost "
            f"{second.recomputed:.6g} by dp_accounting"
        )
    elif second.recomputed > second.ours * (1 + 5 * TOLERANCE):
        yield (
            f"the releases cost {second.recomputed:.6g} by dp_accounting, which is more than "
            f"{second.ours:.6g} by our accountant"
        )
