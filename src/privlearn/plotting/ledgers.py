"""The budget of a ledger over time."""

from __future__ import annotations

import datetime
import os
from typing import TYPE_CHECKING, Any

from privlearn.plotting.style import COLOURS, MARKERS, dressed_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privlearn.accounting.composition import Terms
    from privlearn.ledger import Ledger

__all__ = ["spent_budget"]

AT_ONCE = datetime.timedelta(minutes=1)  # charges within it are told apart by number


def spent_budget(
    ledger: Ledger | str | os.PathLike[str], dataset: str | None = None, *, ax: Axes | None = None
) -> Axes:
    """What was charged to a data set so far, charge by charge, below the ledger's budget.

    Parameters
    ----------
    ledger : Ledger or path
        The ledger.
    dataset : str or None, default=None
        Which data set; None where the ledger has one only.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        Epsilon over time; over the number of charges where all came within a minute.

    Examples
    --------
    >>> from privlearn import plotting
    >>> plotting.spent_budget("clinic.ledger", "patients")  # doctest: +SKIP
    """
    from privlearn.ledger import Ledger

    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    times, spent = _spent(book, dataset)
    axes = dressed_axes(ax)
    by_number = len(times) < 2 or times[-1] - times[0] < AT_ONCE
    places: list[Any] = [*range(1, len(spent) + 1)] if by_number else times
    axes.step(places, spent, where="post", color=COLOURS[0])
    axes.plot(places, spent, MARKERS[0], color=COLOURS[0], label="spent")
    axes.axhline(book.epsilon, color=COLOURS[1], linestyle="--", label=f"budget {book.epsilon:g}")
    axes.set_ylim(0.0, 1.1 * book.epsilon)
    axes.set_ylabel(f"epsilon at delta = {book.delta:g}")
    axes.set_title("Budget spent", loc="left", fontsize="medium")
    axes.legend(frameon=False, loc="best")
    if by_number:
        from matplotlib.ticker import MaxNLocator

        axes.set_xlabel("charge")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    else:
        _date_axis(axes)
    return axes


def _date_axis(axes: Axes) -> None:
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    locator = AutoDateLocator()
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(locator))
    axes.set_xlabel("time of the charge (UTC)")


def _spent(ledger: Ledger, dataset: str | None) -> tuple[list[datetime.datetime], list[float]]:
    """Epsilon of everything up to each charge; what was reserved before costs nothing more."""
    from privlearn.ledger.composition_cost import epsilon_of

    name = dataset
    if name is None and len(ledger.datasets()) == 1:
        (name,) = ledger.datasets()
    charges = [one for one in ledger.history(name) if one.part != "reserved"]
    spent: list[float] = []
    before: Terms = ()
    for charge in charges:
        before = (*before, *charge.pairs)
        spent.append(max(epsilon_of(before, charge.budget), *spent[-1:], 0.0))
    if spent:
        spent[-1] = max(spent[-1], ledger.spent(name))
    return [datetime.datetime.fromisoformat(one.when) for one in charges], spent
