"""Are rows drawn as declared: each by a coin of its own, afresh for every release?"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from privlearn.audit.adversary import audited, base_data
from privlearn.audit.failure import AuditFailure
from privlearn.audit.tape import Series, Tape, record

__all__ = ["check_sampling", "coins_agree"]

SIGNIFICANCE = 1e-6  # false alarms of one comparison


def _members(tape: Tape, n: int) -> dict[str, NDArray[np.bool_]]:
    """For each sampled release, which rows (columns) were in which batch (rows)."""
    found: dict[str, list[NDArray[np.bool_]]] = defaultdict(list)
    for item in tape.made:
        if not isinstance(item, Series):
            continue
        rows, starts = item.steps.batches
        for first, last in pairwise(starts):
            found[item.release.name].append(np.isin(np.arange(n), rows[first:last]))
    return {name: np.array(members) for name, members in found.items()}


def coins_agree(members: NDArray[np.bool_], rate: float) -> bool:
    """Whether batch sizes and the rows' numbers of visits vary as independent coins would.

    Both sums of squared standard scores are nearly chi-squared; shuffled epochs make both far too
    small, a wrong rate makes them too large.
    """
    steps, n = members.shape
    spread = rate * (1.0 - rate)
    sizes, visits = members.sum(axis=1), members.sum(axis=0)
    scores = (
        (np.sum((sizes - n * rate) ** 2) / (n * spread), steps),
        (np.sum((visits - steps * rate) ** 2) / (steps * spread), n),
    )
    tails = [min(stats.chi2.cdf(x, k), stats.chi2.sf(x, k)) for x, k in scores]
    return bool(min(tails) > SIGNIFICANCE)


def check_sampling(estimator: Any, *, n_features: int, seed: int = 0) -> None:  # noqa: ANN401
    """Refute the declared sampling of every sampled release, or pass."""
    model = audited(estimator, random_state=seed)
    _, data, _ = base_data(model, n_features, np.random.default_rng(seed))
    tape = record(model, data.X, data.y)
    assert tape.plan is not None
    members = _members(tape, len(data.y))
    for release in tape.plan.releases:
        if release.sampling.rate == 1.0:
            continue
        if not coins_agree(members[release.name], release.sampling.rate):
            raise AuditFailure(f"batches of {release.name!r} are not drawn as they are accounted")
