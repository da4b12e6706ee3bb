"""Does anything but the loop come after the charge?

Once a ledger was charged, budget is gone. What fails, imports, compiles or overflows afterwards
costs a budget and gives no model, so all of it has to come before.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from privlearn._core.plan import Plan
from privlearn.audit.adversary import Data, audited, few_rows
from privlearn.audit.protocols import AuditFailure, Model
from privlearn.exceptions import PlanViolationError, PrivacyError, PrivacyTestFailedError

__all__ = ["Observed", "check_nothing_after_charge", "observed_fit"]

REFUSALS = (PrivacyError, ValueError, TypeError)  # before the charge: how bad input ends


class Observed:
    """A ledger that charges nothing, and sees what happens between a charge and its end.

    Attributes
    ----------
    charged : bool
        Whether `charge` was called.
    imported, compiled : sets of str
        Modules that were loaded, and what compiled or loaded compiled code, since the charge.
    """

    def __init__(self) -> None:
        self.charged = False
        self.imported: set[str] = set()
        self.compiled: set[str] = set()
        self._before: set[str] = set()
        self._listener: Any = None

    def charge(self, plan: Plan, dataset: str | None, **_: object) -> None:
        """Look around; from here on nothing may change."""
        self.charged = True
        self._before = set(sys.modules)
        self._listen()

    def close(self) -> None:
        """Note what has changed, and stop listening."""
        if self.charged:
            self.imported = set(sys.modules) - self._before
        if self._listener is not None:
            from numba.core import event

            event.unregister("numba:compiler_lock", self._listener)
            self._listener = None

    def _listen(self) -> None:
        """Compiling takes this lock, and so does loading compiled code from a cache."""
        if "numba" not in sys.modules:
            return  # whatever compiles has to import it first, which is seen
        from numba.core import event

        seen = self.compiled

        class Listener(event.Listener):
            def on_start(self, event: object) -> None:
                seen.add(_compiling())

            def on_end(self, event: object) -> None:
                pass

        self._listener = Listener()
        event.register("numba:compiler_lock", self._listener)

    def __deepcopy__(self, memo: object) -> Observed:
        return self  # a clone of the estimator reports to the same ledger


def _compiling() -> str:
    """The function of this library that called a compiler."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("privlearn.") and not name.startswith("privlearn.audit"):
            return f"{name}.{frame.f_code.co_name}"
        frame = frame.f_back
    return "unknown"


def observed_fit(model: Model, X: object, y: object, **named: object) -> str | None:
    """Fit, and say in words what came after the charge but should not have; None if nothing did.

    Parameters
    ----------
    model : estimator
        It is fitted; its ledger is replaced.
    X, y : array-like
        Made-up data.
    **named : array-like
        What else `fit` gets.
    """
    error = None
    with closing(Observed()) as ledger:
        model.set_params(ledger=ledger, dataset="audit")
        try:
            model.fit(X, y, **named)
        except Exception as raised:
            error = raised
    if error is not None and not ledger.charged:
        proper = isinstance(error, REFUSALS) and not isinstance(error, PlanViolationError)
        return None if proper else f"refused by {type(error).__name__}, which says nothing: {error}"
    if error is not None and not isinstance(error, PrivacyTestFailedError):
        return f"{type(error).__name__} after the charge: {error}"
    if ledger.imported:
        return f"modules were imported after the charge: {sorted(ledger.imported)[:5]}"
    if ledger.compiled:
        return f"something was compiled after the charge, in {sorted(ledger.compiled)[:5]}"
    if error is None and not ledger.charged:
        return "a fit ended without a charge"
    unfit = [] if error is not None else _not_finite(model)
    return f"numbers that are not finite were published in {unfit}" if unfit else None


def _not_finite(model: Model) -> list[str]:
    """Published numbers that are none."""
    names = [name for name in ("coef_", "intercept_", "bounds_y_") if hasattr(model, name)]
    return [name for name in names if not np.isfinite(getattr(model, name)).all()]


def check_nothing_after_charge(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """Nothing fails, imports or compiles after the charge, and no published number is NaN.

    A privacy test that is planned and noisy may fail. What was compiled before in this process
    compiles no more, so a fresh process sees most.

    Parameters
    ----------
    estimator : estimator
        It is cloned, not changed.
    n_features : int
        Number of columns of the adversarial data.
    seed : int, default=0
        For the data and for reproducible noise.

    Examples
    --------
    >>> from privlearn import Ridge
    >>> check_nothing_after_charge(Ridge(bounds_X=(0, 1), bounds_y=(0, 1)), n_features=2)
    """
    for data in _tables(estimator, n_features, seed):
        model = audited(estimator, random_state=seed)
        wrong = observed_fit(model, data.X, data.y, **data.named)
        if wrong is not None:
            raise AuditFailure(f"{wrong} ({data.story})")


def _tables(estimator: Model, n_features: int, seed: int) -> Iterator[Data]:
    """Few rows, dense and sparse, and one row: how many there are decides nothing else."""
    from scipy.sparse import csr_array

    model = audited(estimator)
    data = few_rows(model, n_features, seed)
    yield data
    yield replace(data, X=csr_array(data.X), story=f"{data.story}, sparse")
    one = None if data.groups is None else data.groups[:1]
    yield Data(data.X[:1], data.y[:1], f"one of the {data.story}", groups=one)
