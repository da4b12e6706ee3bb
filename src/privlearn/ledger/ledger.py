"""`Ledger`: the handle that users hold, and the protocol of a charge."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from privlearn._core.problem import budget_of
from privlearn.exceptions import MissingFactError
from privlearn.ledger import verify
from privlearn.ledger.context import Signature, context_of, within_context
from privlearn.ledger.entries import Asked, decide, write_entries
from privlearn.ledger.family import declare_in
from privlearn.ledger.history import Charge
from privlearn.ledger.migrate import migrate
from privlearn.ledger.names import normal_name
from privlearn.ledger.records import Records
from privlearn.ledger.remaining import Remaining
from privlearn.ledger.serial import FORMAT
from privlearn.ledger.store import Store, absolute
from privlearn.ledger.streams import advance_in
from privlearn.ledger.units import Protected

if TYPE_CHECKING:
    from privlearn._core.plan import Plan

__all__ = ["Ledger"]

_KEY_BYTES = 32


class Ledger:
    """A privacy budget per data set, kept in one file that many people and processes share.

    It is a privacy filter: the next fit may be chosen after seeing the last.

    Parameters
    ----------
    path : str or path-like
        A file that `Ledger.create` made. One that is missing, empty or damaged is a `LedgerError`,
        never a new budget.

    Examples
    --------
    >>> import os, tempfile
    >>> from privlearn import Ledger
    >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
    >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
    >>> ledger.spent("patients-2026")
    0.0
    >>> Ledger(path).remaining("patients-2026")
    2.0
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._store = Store(absolute(path))
        if self._store.format() < FORMAT:
            migrate(self._store, _new_key())
        with self._open() as records:
            verify.check_chains(records)
            self._budget = records.budget

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, epsilon: float, delta: float) -> Ledger:
        """Make a new ledger; whatever is at the path already is left alone and refused.

        Parameters
        ----------
        path : str or path-like
            The new file. Only its owner may read and write it.
        epsilon, delta : float
            The budget of every data set in this ledger, for ever.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
        >>> ledger.epsilon
        2.0
        """
        budget = budget_of(epsilon, delta)
        key = _new_key()
        Store(absolute(path)).create(lambda link: Records.begin(link, budget, key))
        return cls(path)

    @contextmanager
    def _open(self, write: bool = False) -> Iterator[Records]:
        """The records, read or to be written in one transaction."""
        with self._store.writing() if write else self._store.reading() as link:
            yield Records(link, self.path)

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
        """The delta at which everything is accounted."""
        return self._budget.delta

    @contextmanager
    def dataset(self, name: str) -> Iterator[Ledger]:
        """Record charges that name no data set under `name`, in this thread or task.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
        >>> with ledger.dataset("patients-2026"):
        ...     pass
        """
        with within_context(self.path, dataset=normal_name(name)):
            yield self

    @contextmanager
    def signed(self, by: str | None = None, note: str | None = None) -> Iterator[Ledger]:
        """Record with all charges, in this thread or task, who makes them and for what.

        Parameters
        ----------
        by : str or None, default=None
            A person or a team.
        note : str or None, default=None
            What it is for, such as the name of a model; never anything about data.

        Examples
        --------
        >>> import os, tempfile
        >>> from privlearn import LinearRegression
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
        >>> plan = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).plan(n=1000, n_features=3)
        >>> with ledger.signed(by="ana", note="costs of a stay"):
        ...     head = ledger.charge(plan, "patients-2026")
        >>> [(charge.by, charge.note) for charge in ledger.history()]
        [('ana', 'costs of a stay')]
        """
        with within_context(self.path, signature=Signature.checked(by, note)):
            yield self

    def charge(self, plan: Plan, dataset: str | None = None, *, stream: str | None = None) -> str:
        """Write a plan down as spent, or refuse it. When this returns, the charge is on the disk.

        Parameters
        ----------
        plan : Plan
            What is going to be released.
        dataset : str or None, default=None
            The name of the data set; None takes the one of the surrounding `with ledger.dataset`.
        stream : str or None, default=None
            Id of a stream whose batches this plan covers; its counter starts at 0 (`advance`).

        Returns
        -------
        str
            The head of the data set's chain right after the charge, for the certificate.

        Raises
        ------
        BudgetExceededError
            When it does not fit, here or in a parent data set; nothing is charged.
        """
        return self._charge(Asked.of_plan(plan, self._name(dataset), stream))

    def reserve(
        self, plans: Iterable[Plan], dataset: str | None = None, *, person: str | None = None
    ) -> str:
        """Charge several plans together, composed exactly; each may then be fitted once, for free.

        A grid search uses it: after the first charge of a data set only what is chosen without
        looking at results is composed exactly. What is reserved and not used is not refunded.

        Parameters
        ----------
        plans : iterable of Plan
            All of them, each as often as it will be fitted: `estimator.plan(n, n_features)`.
        dataset : str or None, default=None
            As in `charge`.
        person : str or None, default=None
            Name of the column of ids, where people may have several rows.

        Returns
        -------
        str
            The head of the data set's chain right after it.

        Examples
        --------
        >>> import os, tempfile
        >>> from privlearn import LinearRegression
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
        >>> small, large = (
        ...     LinearRegression(epsilon=e, bounds_X=(0, 1), bounds_y=(0, 1)) for e in (0.3, 0.6)
        ... )
        >>> plans = [model.plan(n=1000, n_features=3) for model in (small, large)]
        >>> head = ledger.reserve(plans, "patients")
        >>> spent = ledger.spent("patients")
        >>> _ = ledger.charge(plans[1], "patients")
        >>> ledger.spent("patients") == spent
        True
        """
        return self._charge(Asked.of_plans(tuple(plans), self._name(dataset), person))

    def _charge(self, asked: Asked) -> str:
        """Decide while others may write, then again, from memory, while nobody else can."""
        asked = asked.signed(context_of(self.path).signature)
        with self._open() as records:
            decide(records, asked)
        with self._open(write=True) as records:
            return write_entries(records, asked, decide(records, asked))

    def advance(self, stream: str, batch: int) -> None:
        """Write down that a batch of a stream is about to be released; each comes once.

        Parameters
        ----------
        stream : str
            An id that `charge(..., stream=...)` registered.
        batch : int
            The number of the batch, from 0. Any other than the next is refused: a copy of the
            stream released it already, or batches are missing.

        Raises
        ------
        LedgerError
            When the stream is unknown, or this is not its next batch.

        Examples
        --------
        >>> import os, tempfile
        >>> from privlearn import LinearRegression
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
        >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1))
        >>> head = ledger.charge(model.plan(n=1000, n_features=3), "patients", stream="a1")
        >>> ledger.advance("a1", 0)
        >>> ledger.advance("a1", 1)
        """
        with self._open(write=True) as records:
            advance_in(records, stream, batch)

    def declare(
        self, dataset: str, *, parent: str | Iterable[str] = (), kind: str | None = None
    ) -> None:
        """Say where a data set comes from, or how it is going to be used, before it is charged.

        Parameters
        ----------
        dataset : str
            The data set; it must have no charges yet.
        parent : str or iterable of str, default=()
            Data sets that hold the same people: the source of an extract, the parts of a join, an
            older version. Charges are recorded for all of them, and to their parents, and must fit
            everywhere.
        kind : {"gaussian", "pure"} or None, default=None
            How later charges add up. None lets the first charge decide: pure epsilons if it is
            pure, else squares of Gaussian mus.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> ledger = Ledger.create(path, epsilon=2, delta=1e-6)
        >>> ledger.declare("patients-over-60", parent="patients-2026")
        """
        parents = (parent,) if isinstance(parent, str) else tuple(parent)
        names = [normal_name(name) for name in (dataset, *parents)]
        with self._open(write=True) as records:
            declare_in(records, names[0], names[1:], kind)

    def spent(self, dataset: str | None = None) -> float:
        """Epsilon of everything charged to a data set so far, at the ledger's delta, rounded up.

        It is the cost by which the filter decides: exact for a first charge and for Gaussian
        histories, else a little above the composition of what was charged.
        """
        return self._remaining(dataset)[0].spent()

    def remaining(self, dataset: str | None = None) -> float:
        """Epsilon of the largest fit that still fits, if it is one with Gaussian noise.

        At the ledger's delta, and rounded down. In a pure data set: of one with pure noise. Where
        there are parents, it fits there, too.
        """
        return min(one.left() for one in self._remaining(dataset))

    def _remaining(self, dataset: str | None) -> list[Remaining]:
        name = self._name(dataset)
        with self._open() as records:
            return [Remaining(state, records.budget) for state in records.family(name)]

    def kind(self, dataset: str | None = None) -> str | None:
        """How charges add up: "gaussian" or "pure"; None as long as nothing decided it."""
        with self._open() as records:
            return records.state(self._name(dataset)).kind or None

    def unit(self, dataset: str | None = None) -> str | None:
        """What its charges protect: "row" or "person"; None as long as nothing decided it."""
        with self._open() as records:
            relation = records.state(self._name(dataset)).adjacency
        return Protected.read(relation).unit if relation else None

    def parents(self, dataset: str | None = None) -> list[str]:
        """Data sets that its charges are recorded for as well, parents before grandparents."""
        with self._open() as records:
            return [state.name for state in records.family(self._name(dataset))[1:]]

    def history(self, dataset: str | None = None) -> list[Charge]:
        """Every charge, oldest first: to a data set, or to all where none is named."""
        with self._open() as records:
            if dataset is None and context_of(self.path).dataset is None:
                states = [state for state in records.states() if state.started]
            else:
                states = [records.state(self._name(dataset))]
            found = [
                Charge.read(state.name, state.adjacency, row, head, records.budget)
                for state in states
                for _, row, head in records.rows(state)
            ]
        return sorted(found, key=lambda charge: charge.when)  # which keeps the order within one

    def datasets(self) -> list[str]:
        """Names of the data sets that something was charged to."""
        with self._open() as records:
            return [state.name for state in records.states() if state.started]

    def check(self, certificates: Iterable[object] = ()) -> int:
        """Read everything again; every disagreement is a `LedgerError`.

        Parameters
        ----------
        certificates : iterable of Certificate or dict, default=()
            Certificates of fits that were charged here (or what their `to_dict` gave). A ledger
            that does not know one of them is an old copy.

        Returns
        -------
        int
            How many certificates were found in it.

        Examples
        --------
        >>> import os, tempfile
        >>> path = os.path.join(tempfile.mkdtemp(), "clinic.ledger")
        >>> Ledger.create(path, epsilon=2, delta=1e-6).check()
        0
        """
        self._store.format()
        with self._open() as records:
            verify.check_chains(records)
            verify.check_caps(records)
            return verify.check_certificates(records, certificates)

    def _name(self, dataset: str | None) -> str:
        name = context_of(self.path).dataset if dataset is None else dataset
        if name is None:
            raise MissingFactError(
                "dataset is missing, but a ledger records every charge under the name of a data "
                "set; "
                "pass dataset='...', or work inside `with ledger.dataset('...'):`"
            )
        return normal_name(name)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, epsilon={self.epsilon:g}, delta={self.delta:g})"

    def __str__(self) -> str:
        lines = [f"Privacy ledger {self.path}"]
        lines.append(f"  budget      epsilon = {self.epsilon:g}, delta = {self.delta:g}")
        with self._open() as records:
            states = [state for state in records.states() if state.started]
        for state in states:
            lines.append(
                f"  {state.name}: {state.charges} charge{'s' if state.charges > 1 else ''}, "
                f"spent epsilon = {Remaining(state, self._budget).spent():.4g}, {state.kind}"
            )
        return "\n".join(lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)


def _new_key() -> bytes:
    """The key of the chains: no noise comes from it, it only makes heads impossible to guess."""
    return os.urandom(_KEY_BYTES)
