"""What a stream is bound to: one charge, one owner, one seed, and a count of its batches.

A stream is charged once, so whatever could make it release twice for one charge, or with a seed or
under a ledger that its certificate does not tell of, is refused before anything leaves.
"""

from __future__ import annotations

import os
import uuid
import weakref
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from privlearn._core.plan import Plan
from privlearn.solvers.one_pass.stream import Stream

__all__ = ["Bond"]

_ANOTHER = "; start another stream with a clone, which is charged for itself"


@dataclass(eq=False)
class Bond:
    """The one identity of a stream; all models of the stream, batch after batch, share it.

    Attributes
    ----------
    parameters : dict
        Parameters at the first batch, the ledger's place included: none may change.
    learned : dict
        Labels, number and names of features of the stream.
    batches : int
        How many were begun. It only grows: a batch that failed is gone.
    charged : bool
        Whether the stream is paid for.
    """

    parameters: dict[str, Any]
    learned: dict[str, Any]
    batches: int = 0
    charged: bool = False
    head: Any = None  # what the charge returned, for certificates
    name: str = field(default_factory=lambda: uuid.uuid4().hex)
    _owner: Any = None  # a weak reference
    _process: int | None = None
    _copied: bool = False

    @classmethod
    def of(cls, owner: BaseEstimator, learned: dict[str, Any]) -> Bond:
        """A new stream of `owner`, in this process."""
        bond = cls(dict(owner.get_params(deep=False)), learned)
        bond._take(owner)
        return bond

    def _take(self, owner: BaseEstimator) -> None:
        self._owner, self._process = weakref.ref(owner), os.getpid()

    def demand_owner(self, model: BaseEstimator) -> None:
        """Refuse to go on in a copy, in another process, or after a pickle that nothing counts."""
        if self._copied or (self._owner is not None and self._owner() is not model):
            raise ValueError(
                "this model is a copy of one in the middle of a stream, which was charged once: "
                f"it predicts, but only the original may go on{_ANOTHER}"
            )
        if self._process is not None and self._process != os.getpid():
            raise ValueError(
                "this process was forked in the middle of a stream, which was charged once: only "
                f"the process that began it may go on{_ANOTHER}"
            )
        if self._owner is None:
            self._resume(model)

    def _resume(self, model: BaseEstimator) -> None:
        """Go on after a pickle: only a ledger that counts batches can tell that nobody else did."""
        if not _counts(_opened(self.parameters["ledger"])):
            raise ValueError(
                "this model was pickled in the middle of a stream without a ledger that counts its "
                "batches, so nothing tells whether another copy went on: it predicts, but does not "
                f"go on{_ANOTHER}, or give a Ledger to streams that are to be resumed"
            )
        self._take(model)

    def demand_same(self, model: BaseEstimator) -> None:
        """Refuse parameters that are not those of the first batch."""
        now = model.get_params(deep=False)
        same = {"ledger": _same_ledger, "random_state": _same_seed}
        changed = [
            name
            for name, value in self.parameters.items()
            if value is not now[name] and not same.get(name, _equal)(value, now[name])
        ]
        if changed:
            raise ValueError(
                f"parameters were changed in the middle of a stream ({', '.join(changed)}), whose "
                "plan was charged as a whole; set them back, or start another stream with a clone"
            )

    def account(self, model: BaseEstimator, stream: Stream, batch: int) -> SimpleNamespace | None:
        """A ledger for one batch: the stream's own is charged before the first, and counts."""
        ledger: Any = _opened(self.parameters["ledger"])
        if ledger is None:
            return None
        if not callable(getattr(ledger, "charge", None)):
            raise TypeError(
                f"ledger is a {type(ledger).__name__}, but a Ledger, its path, or an object with "
                "charge(plan, dataset) is needed; it is called before anything is released"
            )
        counts = _counts(ledger)

        def charge(plan: Plan, dataset: str | None) -> object:
            """Charge the stream, if that was not done, and count the batch, before it leaves."""
            if not self.charged:
                named = {"stream": self.name} if counts else {}
                self.head = ledger.charge(plan, dataset, **named)
                self.paid(model, stream)
            if counts:
                ledger.advance(self.name, batch)
            return self.head

        return SimpleNamespace(charge=charge)

    def paid(self, model: BaseEstimator, stream: Stream) -> None:
        """From here on the stream exists: a call after a failure goes on with it, uncharged."""
        if not self.charged:
            self.charged = True
            model._stream = stream

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_owner": None, "_process": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> Bond:
        twin = Bond(self.parameters, self.learned, self.batches, self.charged, self.head, self.name)
        twin._copied = True
        memo[id(self)] = twin
        return twin


def _counts(ledger: object) -> bool:
    return callable(getattr(ledger, "advance", None))


def _opened(ledger: object) -> object:
    """The ledger, or the one at a path."""
    if isinstance(ledger, str | os.PathLike):
        from privlearn.ledger import Ledger

        return Ledger(ledger)
    return ledger


def _place(ledger: object) -> str | None:
    """Where a ledger lies, if it is a file."""
    where = ledger if isinstance(ledger, str | os.PathLike) else getattr(ledger, "path", None)
    return None if where is None else os.path.realpath(os.fspath(where))


def _same_ledger(first: object, second: object) -> bool:
    """One file; other ledgers are the same where they are the very same."""
    return _place(first) is not None and _place(first) == _place(second)


def _same_seed(first: object, second: object) -> bool:
    """The same number; generators are the same where they are the very same."""
    numbers = isinstance(first, int | np.integer) and isinstance(second, int | np.integer)
    return numbers and first == second


def _equal(first: object, second: object) -> bool:
    try:
        return bool(np.all(_plain(first) == _plain(second)))
    except (TypeError, ValueError):
        return False


def _plain(value: object) -> object:
    """Something that `==` compares as a whole."""
    if isinstance(value, tuple | list):
        return tuple(_plain(one) for one in value)
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
