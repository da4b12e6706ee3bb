"""Checks that try to prove a model's guarantee wrong, for every solver by the same means.

Each check takes a configured estimator, makes its own adversarial data, runs the real `fit` and
raises `AuditFailure` when something does not hold. A check that passes proves nothing: the proof is
the note beside the solver. Audits see statistics without noise, so never run them on real data.

>>> from privlearn import LinearRegression, audit
>>> model = LinearRegression(solver="moments", bounds_X=(0, [1, 2]), bounds_y=(0, 5))
>>> audit.check(model, n_features=2)
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

from privlearn.audit.after_charge import check_nothing_after_charge
from privlearn.audit.black_box import BlackBox, black_box
from privlearn.audit.bounds import Bound, bound_from_outputs
from privlearn.audit.charge import check_ledger
from privlearn.audit.contract import check_empty_rows, check_grid, check_plan, check_price
from privlearn.audit.draws import check_draws
from privlearn.audit.fork import check_fork
from privlearn.audit.law import check_noise_law
from privlearn.audit.levels import check_levels
from privlearn.audit.people import check_people
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.audit.replay import check_replay
from privlearn.audit.row_locality import check_row_locality
from privlearn.audit.sampling import check_sampling
from privlearn.audit.white_box import WhiteBox, white_box
from privlearn.exceptions import FewRowsWarning, NotPrivateWarning

__all__ = [
    "CHECKS",
    "AuditFailure",
    "BlackBox",
    "Bound",
    "WhiteBox",
    "black_box",
    "bound_from_outputs",
    "check",
    "check_draws",
    "check_empty_rows",
    "check_fork",
    "check_grid",
    "check_ledger",
    "check_levels",
    "check_noise_law",
    "check_nothing_after_charge",
    "check_people",
    "check_plan",
    "check_price",
    "check_replay",
    "check_row_locality",
    "check_sampling",
    "white_box",
]

CHECKS: tuple[Callable[..., None], ...] = (
    check_row_locality,
    check_price,
    check_plan,
    check_ledger,
    check_nothing_after_charge,
    check_empty_rows,
    check_sampling,
    check_fork,
    check_replay,
    check_levels,
    check_people,
    check_noise_law,
    check_draws,
    check_grid,
)


def check(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Run every check on an estimator that can be fitted to `n_features` columns.

    Parameters
    ----------
    estimator : estimator
        Configured with epsilon, delta, bounds and relation; it is cloned, not changed.
    n_features : int
        Number of columns of the adversarial data.
    seed : int, default=0
        For the adversarial data and for reproducible noise.
    """
    with warnings.catch_warnings():
        for category in (FewRowsWarning, NotPrivateWarning):  # an attack has few rows, and a seed
            warnings.simplefilter("ignore", category)
        for one in CHECKS:
            one(estimator, n_features=n_features, seed=seed)
