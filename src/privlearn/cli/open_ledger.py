"""Opening and creating ledgers for commands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from privlearn._core.harmless import harmless
from privlearn.cli.errors import CommandError, shortened

if TYPE_CHECKING:
    from privlearn.ledger import Ledger

__all__ = ["DEFAULT_DELTA", "charged_ledger", "create_ledger", "existing_ledger", "signed"]

DEFAULT_DELTA = 1e-6
MOST_CHARACTERS = 200  # of a note in a ledger
MOST_NAMES = 5  # of other data sets, in a note about a new one


def existing_ledger(path: str) -> Ledger:
    """Open a ledger that is there."""
    from privlearn.ledger import Ledger

    if not Path(path).expanduser().exists():
        raise CommandError(
            f"there is no ledger {path}; check the name, or create it: "
            f"privlearn ledger {path} --create --epsilon 3"
        )
    return Ledger(path)


def create_ledger(path: str, epsilon: float, delta: float | None) -> Ledger:
    """Create a ledger that is not there."""
    from privlearn.ledger import Ledger

    if Path(path).expanduser().exists():
        raise CommandError(f"{path} exists, and a budget cannot be changed; choose another name")
    return Ledger.create(path, epsilon=epsilon, delta=DEFAULT_DELTA if delta is None else delta)


def charged_ledger(
    path: str | None, dataset: str | None, epsilon: float | None, delta: float | None
) -> Ledger | None:
    """The ledger that a fit charges: opened, or created where a budget for it was given."""
    if path is None:
        if dataset or epsilon or delta:
            raise CommandError("--dataset and --ledger-... say how to charge; add --ledger FILE")
        return None
    if not dataset:
        raise CommandError(
            "whose data is it? Add --dataset NAME, and use the same name for the same people: "
            "each name has the ledger's whole budget"
        )
    if Path(path).expanduser().exists():
        ledger = _with_budget(existing_ledger(path), epsilon, delta)
        _tell_of_others(ledger, dataset)
        return ledger
    if epsilon is None:
        raise CommandError(
            f"there is no ledger {path}; check the name, or add --ledger-epsilon 3 to create one "
            "that allows epsilon = 3 in all"
        )
    return create_ledger(path, epsilon, delta)


def _tell_of_others(ledger: Ledger, dataset: str) -> None:
    """Say that a name is new: another name for the same people would be a second budget."""
    others = ledger.datasets()
    if not others or dataset in others or ledger.parents(dataset):
        return
    size = f"{len(others):,} other data set{'s' if len(others) > 1 else ''}"
    names = shortened((harmless(name, "terminal") for name in others), MOST_NAMES)
    print(
        f"privlearn: note: {harmless(dataset, 'terminal')} is new in {ledger.path}, and has its "
        f"whole budget; there {'are' if len(others) > 1 else 'is'} {size}: {names}. The same "
        "people need the same name",
        file=sys.stderr,
    )


@contextmanager
def signed(ledger: Ledger | None, by: str | None, what: str) -> Iterator[None]:
    """Have charges say who makes them, and for which file; without a ledger there are none."""
    if ledger is None:
        if by is not None:
            raise CommandError("--by is written into a ledger; add --ledger FILE")
        yield
        return
    note = harmless(os.path.basename(what), "terminal")[:MOST_CHARACTERS]
    with ledger.signed(_login() if by is None else by, note):
        yield


def _login() -> str:
    """The name of the account; nothing where it has none that can be shown."""
    import getpass

    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        return ""
    return name if name.isprintable() else ""


def _with_budget(ledger: Ledger, epsilon: float | None, delta: float | None) -> Ledger:
    """An existing ledger keeps its numbers."""
    for name, given, own in (("epsilon", epsilon, ledger.epsilon), ("delta", delta, ledger.delta)):
        if given is not None and given != own:
            raise CommandError(
                f"--ledger-{name} {given:g}, but the ledger {ledger.path} was made with "
                f"{name}={own:g} and keeps it; leave --ledger-{name} out, or choose another file"
            )
    return ledger
