"""`Ledger`: the handle that users hold, and the protocol of a charge."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from privlearn._version import __version__
from privlearn.exceptions import BudgetExceeded, InvalidBudget, MissingFact, UnsupportedCombination
from privlearn.ledger import price, store
from privlearn.ledger.history import Charge
from privlearn.ledger.moments import Terms, lost_mass
from privlearn.ledger.room import Room, left, refusal
from privlearn.ledger.serial import terms_to_text
from privlearn.ledger.store import Row, State, Store
from privlearn.problem import Budget

if TYPE_CHECKING:
    from privlearn.plan import Plan

__all__ = ["Ledger"]

_CONFLICTS = 3  # lost races after which a charge is priced while nobody else can write
_CHECKPOINT_AFTER = 16  # charges since the last checkpoint: it takes as long as pricing 17 charges

_named: ContextVar[dict[str, str] | None] = ContextVar("privlearn_ledger_dataset", default=None)


@dataclass(frozen=True)
class _Asked:
    """One charge on its way."""

    plan: Plan
    pairs: Terms
    dataset: str
    row: Row


class Ledger:
    """A privacy budget per data set, kept in one file that many people and processes share.

    Parameters
    ----------
    path : str or path-like
        The file. It is made if it is not there; then `epsilon` and `delta` are needed.
    epsilon, delta : float or None, default=None
        The budget of every data set in this ledger, for ever. An existing file keeps its own, and
        other numbers are refused.

    Examples
    --------
    >>> import os, tempfile
    >>> from privlearn import Ledger
    >>> folder = tempfile.mkdtemp()
    >>> ledger = Ledger(os.path.join(folder, "clinic.ledger"), epsilon=2, delta=1e-6)
    >>> ledger.spent("patients-2026")
    0.0
    >>> ledger.remaining("patients-2026")
    2.0
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        epsilon: float | None = None,
        delta: float | None = None,
    ) -> None:
        self._store = Store(os.path.abspath(os.path.expanduser(os.fspath(path))))
        if not os.path.exists(self.path) or os.path.getsize(self.path) == 0:
            self._store.create(_new_budget(self.path, epsilon, delta))
        self._budget = self._store.budget()
        store.refuse_other_budget(self.path, self._budget, epsilon, delta)

    @property
    def path(self) -> str:
        """The file, as an absolute path."""
        return self._store.path

    @property
    def epsilon(self) -> float:
        """The budget of each data set."""
        return self._budget.epsilon

    @property
    def delta(self) -> float:
        """The delta at which everything is priced."""
        return self._budget.delta

    @contextmanager
    def dataset(self, name: str) -> Iterator[Ledger]:
        """Book charges that name no data set under `name`, in this thread or task.

        Examples
        --------
        >>> import os, tempfile
        >>> from privlearn import Ledger
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger(path, epsilon=2, delta=1e-6)
        >>> with ledger.dataset("patients-2026"):
        ...     pass
        """
        names = {**(_named.get() or {}), self.path: _checked_name(name)}
        token = _named.set(names)
        try:
            yield self
        finally:
            _named.reset(token)

    def charge(self, plan: Plan, dataset: str | None = None) -> None:
        """Write a plan down as spent, or refuse it. When this returns, the charge is on the disk.

        Parameters
        ----------
        plan : Plan
            What is going to be released.
        dataset : str or None, default=None
            The name of the data set; None takes the one of the surrounding `with ledger.dataset`.

        Raises
        ------
        BudgetExceeded
            When it does not fit; nothing is charged.
        """
        name = self._name(dataset)
        pairs = tuple(plan.pairs())
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = Row(now, terms_to_text(pairs), json.dumps(plan.describe()), __version__)
        asked = _Asked(plan, pairs, name, row)
        for attempt in range(_CONFLICTS + 1):
            if self._charged_at_once(asked) or self._charged_after_pricing(asked):
                return
            if attempt < _CONFLICTS:
                self._checkpoint(name)
        with self._store.writing() as link:
            state = store.read_state(link, store.read_orders(link), name)
            fits = price.fits(price.merged(store.read_terms(link, state.id), pairs), self._budget)
            if fits:
                _book(link, state, asked)
        if not fits:
            raise self._refusal(asked)

    def _charged_at_once(self, asked: _Asked) -> bool:
        """Charge if the running bound shows that it fits; refuse what was refused before."""
        with self._store.writing() as link:
            orders = store.read_orders(link)
            state = store.read_state(link, orders, asked.dataset)
            _refuse_other_relation(state, asked)
            if orders.budget.delta == 0:
                return False
            moments = orders.moments(asked.pairs)
            if state.account.after(moments, lost_mass(asked.pairs)).fits(orders.budget):
                _book(link, state, asked)
                return True
            hopeless = any((moments >= known).all() for known in state.refused)
        if hopeless:
            raise self._refusal(asked)
        return False

    def _charged_after_pricing(self, asked: _Asked) -> bool:
        """Compose exactly while others may write; False if they did and it has to be done again."""
        with self._store.reading() as link:
            orders = store.read_orders(link)
            seen = store.read_state(link, orders, asked.dataset)
            past = store.read_terms(link, seen.id)
        if not price.fits(price.merged(past, asked.pairs), orders.budget):
            if seen.id is not None and orders.budget.delta > 0:
                with self._store.writing() as link:
                    store.write_refusal(link, seen.id, orders.moments(asked.pairs))
            raise self._refusal(asked)
        with self._store.writing() as link:
            state = store.read_state(link, orders, asked.dataset)
            if (state.id, state.version) != (seen.id, seen.version):
                return False
            _book(link, state, asked)
        self._checkpoint(asked.dataset)
        return True

    def _checkpoint(self, name: str) -> None:
        """Sharpen the running bound with exact compositions, when it is worth the time."""
        with self._store.writing() as link:
            orders = store.read_orders(link)
            state = store.read_state(link, orders, name)
            if state.id is None or state.version - state.checked < _CHECKPOINT_AFTER:
                return
            past = store.read_terms(link, state.id)
            if price.is_closed(past) or orders.budget.delta == 0:
                return
            # Marked as done before it is, so that no other process makes the same one.
            store.write_checkpoint(link, state.id, state.version, state.account.offsets)
        tilt = float(orders.t[state.account.log_delta().argmin()])
        points = price.curve(past, orders.budget, tilt)
        better = state.account.checked(orders, points)
        with self._store.writing() as link:
            store.write_checkpoint(link, state.id, state.version, better.offsets)

    def spent(self, dataset: str | None = None) -> float:
        """Epsilon of everything charged to a data set so far, at the ledger's delta.

        It is the epsilon of the composition, rounded up: less than the sum over the fits.
        """
        return self._room(self._name(dataset)).spent()

    def remaining(self, dataset: str | None = None) -> float:
        """Epsilon of the largest fit that still fits, if it is one with Gaussian noise.

        At the ledger's delta, and rounded down. With delta = 0, of one with pure noise.
        """
        return left(self._room(self._name(dataset)))

    def history(self, dataset: str | None = None) -> list[Charge]:
        """Every charge to a data set, oldest first."""
        name = self._name(dataset)
        with self._store.reading() as link:
            budget = store.read_orders(link).budget
            rows = store.read_charges(link, name)
        return [Charge.read(name, relation, row, budget) for relation, row in rows]

    def datasets(self) -> list[str]:
        """Names of the data sets that something was charged to."""
        with self._store.reading() as link:
            return store.read_names(link)

    def _room(self, name: str) -> Room:
        with self._store.reading() as link:
            orders = store.read_orders(link)
            state = store.read_state(link, orders, name)
            past = store.read_terms(link, state.id)
        return Room(past, orders.budget, orders, state.account)

    def _refusal(self, asked: _Asked) -> BudgetExceeded:
        room = self._room(asked.dataset)
        exact = room.budget.delta == 0 or price.is_cheap(price.merged(room.past, asked.pairs))
        return refusal(replace(room, exact=exact), asked.plan, asked.dataset)

    def _name(self, dataset: str | None) -> str:
        name = (_named.get() or {}).get(self.path) if dataset is None else dataset
        if name is None:
            raise MissingFact(
                "dataset is missing, but a ledger books every charge under the name of a data set; "
                "pass dataset='...', or work inside `with ledger.dataset('...'):`"
            )
        return _checked_name(name)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, epsilon={self.epsilon:g}, delta={self.delta:g})"

    def __str__(self) -> str:
        lines = [f"Privacy ledger {self.path}"]
        lines.append(f"  budget      epsilon = {self.epsilon:g}, delta = {self.delta:g}")
        for name in self.datasets():
            spent, count = self.spent(name), len(self.history(name))
            lines.append(
                f"  {name}: {count} charge{'s' if count > 1 else ''}, spent epsilon = {spent:.4g}"
            )
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)


def _new_budget(path: str, epsilon: float | None, delta: float | None) -> Budget:
    if epsilon is None or delta is None:
        raise InvalidBudget(
            f"there is no ledger at {path} yet, and a new one needs its budget; "
            "pass epsilon and delta, for example epsilon=2, delta=1e-6, or check the path"
        )
    return Budget(float(epsilon), float(delta))


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or not name.strip():
        raise MissingFact(
            f"dataset={name!r}, but a data set needs a name; pass a text such as 'patients-2026'"
        )
    return name


def _refuse_other_relation(state: State, asked: _Asked) -> None:
    relation = asked.plan.neighbors.value
    if state.neighbors is not None and state.neighbors != relation:
        raise UnsupportedCombination(
            f"neighbors={relation!r}, but data set {asked.dataset!r} was charged with "
            f"neighbors={state.neighbors!r} before; guarantees for different relations do not add "
            f"up to one, so nothing was charged: pass neighbors={state.neighbors!r}"
        )


def _book(link: sqlite3.Connection, state: State, asked: _Asked) -> None:
    """Write the charge with its moments; the caller knows that it fits."""
    moments = store.read_orders(link).moments(asked.pairs)
    after = state.account.after(moments, lost_mass(asked.pairs))
    relation = asked.plan.neighbors.value
    store.write_charge(link, asked.dataset, relation, state, after, asked.row)
