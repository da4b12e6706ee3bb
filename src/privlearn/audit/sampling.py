"""Are rows drawn as declared: by coins of their own, once, once per epoch, or with replacement?"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from privlearn._core.sampling import Arriving, Disjoint, Permuted, Sampling, WithReplacement
from privlearn.audit.adversary import audited, base_data
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.tape import Deal, Series, Tape, record

__all__ = ["check_sampling", "coins_agree", "drawn_as_declared"]

SIGNIFICANCE = 1e-6  # false alarms of one comparison
Counts = NDArray[np.int64]


def _members(tape: Tape, n: int) -> dict[str, Counts]:
    """For each sampled release, how often each row (column) was in each batch (row).

    A release of some people only counts those; where rows are drawn at once, all of them come.
    """
    found: dict[str, list[Counts]] = defaultdict(list)
    for item in tape.made:
        if not isinstance(item, Series):
            continue
        rows, starts = item.steps.batches
        width = n if item.release.level is None else int(rows.max(initial=-1)) + 1
        if int(rows.max(initial=-1)) >= width:
            raise AuditFailure(f"batches of {item.release.name!r} are not drawn among people")
        for first, last in pairwise(starts):
            found[item.release.name].append(np.bincount(rows[first:last], minlength=width))
    return {name: np.array(members) for name, members in found.items()}


def coins_agree(members: Counts, rate: float) -> bool:
    """Whether batch sizes and the rows' numbers of visits vary as independent coins would.

    Both sums of squared standard scores are nearly chi-squared; shuffled epochs make both far too
    small, a wrong rate makes them too large.
    """
    steps, n = members.shape
    spread = rate * (1.0 - rate)
    sizes, visits = members.sum(axis=1), members.sum(axis=0)
    return _in_the_middle(np.sum((sizes - n * rate) ** 2) / (n * spread), steps) and _in_the_middle(
        np.sum((visits - steps * rate) ** 2) / (steps * spread), n
    )


def _in_the_middle(squares: float, freedom: int) -> bool:
    tail = min(stats.chi2.cdf(squares, freedom), stats.chi2.sf(squares, freedom))
    return bool(tail > SIGNIFICANCE)


def _drawn_with_replacement(members: Counts, sampling: WithReplacement) -> bool:
    """Whether every draw was made, and rows came as unevenly as independent draws let them."""
    visits = members.sum(axis=0)
    if members.sum() != sampling.epochs * sampling.population:
        return False
    expected = members.sum() / len(visits)
    return _in_the_middle(float(np.sum((visits - expected) ** 2) / expected), len(visits) - 1)


def _dealt(members: Counts) -> bool:
    """Whether sizes of batches vary as they do when every row draws its own."""
    sizes = members.sum(axis=1)
    if len(sizes) == 1:
        return True
    expected = max(float(sizes.mean()), 1e-9)
    return _in_the_middle(float(np.sum((sizes - expected) ** 2) / expected), len(sizes) - 1)


def drawn_as_declared(members: Counts, sampling: Sampling) -> bool:
    """Whether batches (rows of `members`) hold rows of data (columns) as the sampler declares."""
    if isinstance(sampling, WithReplacement):
        return _drawn_with_replacement(members, sampling)
    if isinstance(sampling, Arriving):
        return bool((members == 1).all())
    if isinstance(sampling, Disjoint | Permuted) and sampling.dealt and not _dealt(members):
        return False
    if isinstance(sampling, Permuted):
        epochs = members.reshape(sampling.epochs, sampling.blocks, -1).sum(axis=1)
        return bool((epochs == 1).all())
    if isinstance(sampling, Disjoint):
        return bool((members.sum(axis=0) == 1).all()) and len(members) == sampling.batches
    return coins_agree(members, sampling.rate)


def check_sampling(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Refute the declared sampling of every sampled release, or pass."""
    model = audited(estimator, random_state=seed)
    _, data, _ = base_data(model, n_features, np.random.default_rng(seed))
    tape = record(model, data.X, data.y, **data.named)
    members = _members(tape, data.units)
    for release in tape.plan.releases:
        if release.sampling.rate == 1.0 and not release.sampling.at_once:
            continue
        dealt = getattr(release.sampling, "dealt", True)
        if not (tape.plan.adjacency.n_is_public or dealt):
            raise AuditFailure(
                f"rows of {release.name!r} are not assigned one by one, although n is private"
            )
        if not drawn_as_declared(members[release.name], release.sampling):
            raise AuditFailure(f"batches of {release.name!r} are not drawn as they are accounted")
    _check_deals(tape, data.units)


def _check_deals(tape: Tape, n: int) -> None:
    """Groups of rows: each row in one, dealt one by one where the number of rows is private."""
    for item in tape.made:
        if not isinstance(item, Deal):
            continue
        rows, starts = item.batches
        groups = np.repeat(np.arange(item.sampling.batches), np.diff(starts))
        members = np.zeros((item.sampling.batches, n), dtype=np.int64)
        np.add.at(members, (groups, rows), 1)
        dealt = not tape.plan.adjacency.n_is_public
        if item.sampling.dealt != dealt or not drawn_as_declared(members, item.sampling):
            raise AuditFailure("rows are not assigned to groups as the adjacency needs it")
