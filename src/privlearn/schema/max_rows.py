"""How many rows of a person should count, estimated privately before a fit: one noisy histogram.

Every person is a 1 in one bin, by how many rows the person has: 1, 2, 3 to 4, 5 to 8, and so on up
to a public limit. So one person moves the histogram by 1, however many rows there are. The rule is
post-processing: the smallest power of two that half of the people do not exceed. Proof:
_core/people.md, section 7.
"""

from __future__ import annotations

import math
from collections.abc import Sized
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.budget import budget_of, warn_of_delta
from privlearn._core.calibration import calibrate
from privlearn._core.certificate import Certificate
from privlearn._core.norms import ONE_BIN
from privlearn._core.plan import FACTS, Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.releaser import charge_and_open
from privlearn.exceptions import InvalidBudgetError

__all__ = ["MaxRows", "estimate_max_rows"]

PEOPLE = "people by their number of rows"
METHOD = "a noisy histogram of people by their number of rows; each person counts once"
IDS = "groups tells people apart, and each person has one id"
NUMBER = "the number of people is public"
LARGEST = 2**20
TYPICAL = 0.5  # of all people, who have no more rows than count (benchmarks/derive/max_rows.py)

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MaxRows:
    """A number of rows per person, with what it rests on.

    Attributes
    ----------
    value : int
        For `max_rows_per_person`.
    people : dict of int to float
        Noisy numbers of people by the largest number of rows of their bin.
    noise : float
        Standard deviation of the noise on each of them.
    privacy : Certificate
        What the estimate promised; a fit promises its own, beside it.
    """

    value: int
    people: dict[int, float]
    noise: float
    privacy: Certificate

    def __str__(self) -> str:
        lines = [f"max_rows_per_person = {self.value}"]
        last = max(self.people, default=0)
        lines += [
            f"  {_rows(most, last)}: about {max(0.0, count):,.0f} people (+- {self.noise:,.0f})"
            for most, count in self.people.items()
        ]
        return "\n".join(lines)


def _rows(most: int, last: int) -> str:
    """Numbers of rows of a bin, of which the last has everybody with more.

    Examples
    --------
    >>> [_rows(most, 8) for most in (1, 2, 4, 8)]
    ['1 row', '2 rows', '3 to 4 rows', '5 or more rows']
    """
    least = most // 2 + 1
    if most == last:
        return f"{least} or more rows"
    if least == most:
        return f"{most} row{'s' if most > 1 else ''}"
    return f"{least} to {most} rows"


def estimate_max_rows(
    groups: object,
    *,
    epsilon: float,
    delta: float = 1e-6,
    adjacency: str = "zero_out",
    limit: int = 64,
    on_invalid: str = "raise",
    ledger: Any = None,  # noqa: ANN401
    dataset: str | None = None,
    random_state: Any = None,  # noqa: ANN401
) -> MaxRows:
    """Estimate privately how many rows of a person should count in a fit.

    It is a release of its own, and costs its own epsilon beside that of the fit; a ledger adds
    both up. A twentieth of the fit's epsilon is enough from some thousand people on.

    Parameters
    ----------
    groups : array-like of shape (n_samples,)
        Whose each row is, as in `fit`.
    epsilon, delta : float
        What the estimate promises; delta must be above 0.
    adjacency : {"zero_out", "add_remove", "replace_one"}, default="zero_out"
        As in the fit: which two data sets are hard to tell apart, of people with all rows.
    limit : int, default=64
        The largest answer, a power of two that is chosen without looking at the data.
    on_invalid : {"raise", "drop"}, default="raise"
        Whether rows without an id are refused or count for nothing.
    ledger : Ledger, path or None, default=None
        What is charged before anything is released.
    dataset : str or None, default=None
        Name of the data set that the ledger charges.
    random_state : int, RandomState, Generator or None, default=None
        For tests only: a reproducible run is not private, and the certificate says so.

    Returns
    -------
    MaxRows
        `value` is the number for `max_rows_per_person`, `privacy` the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn.schema import estimate_max_rows
    >>> rng = np.random.default_rng(0)
    >>> ids = np.repeat(np.arange(5_000), rng.integers(2, 7, 5_000))
    >>> estimate_max_rows(ids, epsilon=0.1).value
    4
    """
    from privlearn._data.people import read_people

    budget, relation = budget_of(epsilon, delta), _relation(adjacency)
    bins = _bins(limit)
    if on_invalid not in ("raise", "drop"):
        raise ValueError("on_invalid is neither 'raise' nor 'drop'; pass one of these")
    people = read_people(groups, _length(groups), strict=on_invalid == "raise")
    number = people.count if relation.n_is_public else None
    if number == 0:
        raise ValueError("groups holds no id, so there is nobody; give the id of a person per row")
    warn_of_delta(budget, number)
    plan = replace(plan_of(budget, relation, bins, number), person=people.name)
    counts = people_in_bins(people.of_row, people.count, bins)
    charge = {"ledger": ledger, "dataset": dataset, "random_state": random_state}
    with charge_and_open(plan, budget, **charge) as release:
        noisy = release(PEOPLE, counts, clip=1.0)
    largest = [2**place for place in range(bins)]
    told = dict(zip(largest, noisy.tolist(), strict=True))
    noise = plan.noise_scale(plan.releases[0])
    return MaxRows(rule(noisy), told, noise, release.certificate())


def plan_of(budget: Budget, relation: Adjacency, bins: int, people: int | None) -> Plan:
    """One histogram of people, for the whole budget."""
    if budget.delta == 0.0:
        raise InvalidBudgetError(
            "delta=0, but numbers of people get Gaussian noise, which needs delta > 0; set delta, "
            "for example delta=1e-6"
        )
    release = Release(PEOPLE, (bins,), 1.0, norm=ONE_BIN, stage=FACTS)
    assumed = (IDS, NUMBER) if people is not None else (IDS,)
    blank = Plan((release,), relation, 1.0, people, assumed, METHOD, rows_per_person=1)
    return calibrate(lambda scale: replace(blank, scale=scale), budget)


def people_in_bins(of_row: NDArray[np.int64], people: int, bins: int) -> Array:
    """How many people have 1, 2, 3 to 4, 5 to 8, ... rows; who has more is in the last bin."""
    sizes = np.bincount(of_row[of_row >= 0], minlength=people)
    edges = 2 ** np.arange(bins - 1)
    places = np.searchsorted(edges, sizes[sizes > 0], side="left")
    return np.bincount(places, minlength=bins).astype(np.float64)


def rule(noisy: Array) -> int:
    """The smallest power of two that half of the people do not exceed, by noisy numbers.

    Examples
    --------
    >>> rule(np.array([10.0, 20.0, 300.0, 100.0, -5.0]))
    4
    """
    counts = np.maximum(noisy, 0.0)
    reached = np.cumsum(counts) >= TYPICAL * counts.sum()
    return 2 ** int(np.argmax(reached))


def _relation(adjacency: str) -> Adjacency:
    try:
        return Adjacency(adjacency)
    except ValueError:
        known = ", ".join(one.value for one in Adjacency)
        raise ValueError(f"adjacency is none of {known}; pass one of these") from None


def _bins(limit: object) -> int:
    whole = isinstance(limit, int | np.integer) and not isinstance(limit, bool)
    number = int(limit) if whole else 0  # type: ignore[call-overload]
    if not 2 <= number <= LARGEST or number & (number - 1):
        shown = limit if isinstance(limit, int | float) else f"a {type(limit).__name__}"
        raise ValueError(f"limit={shown}, but a power of two from 2 to {LARGEST} is needed")
    return round(math.log2(number)) + 1


def _length(groups: object) -> int:
    if not isinstance(groups, Sized):
        raise TypeError(
            f"groups is a {type(groups).__name__}, but one id per row is needed, in a list, an "
            "array or a column"
        )
    return len(groups)
