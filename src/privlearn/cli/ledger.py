"""`privlearn ledger`: how much privacy has been spent on whom."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from privlearn.cli.errors import CommandError, closest
from privlearn.cli.help import Help
from privlearn.cli.options import number, positive

if TYPE_CHECKING:
    from privlearn.ledger import Ledger

__all__ = ["add_parser", "run", "show"]

EXAMPLE = """\
examples:
  allow epsilon = 3 in all for each group of people
    privlearn ledger people.ledger --create --epsilon 3 --delta 1e-6
  charge a fit to it
    privlearn fit people.csv ... --ledger people.ledger --dataset people
  see what was spent, what is left, and on what
    privlearn ledger people.ledger

Fits together cost less than the sum of their epsilons: the ledger composes them exactly.
"""


def add_parser(commands: Any) -> None:  # noqa: ANN401
    """Declare the command and its options."""
    parser = commands.add_parser(
        "ledger",
        help="show or create a ledger of spent privacy",
        description="A ledger is a file with a privacy budget. Fits are charged to it before they "
        "release anything, and are refused when the budget is used up.",
        epilog=EXAMPLE,
        formatter_class=Help,
        allow_abbrev=False,
    )
    parser.add_argument("file", help="the ledger")
    parser.add_argument("--dataset", metavar="NAME", help="show these people only")
    group = parser.add_argument_group("creating one")
    group.add_argument("--create", action="store_true", help="create the file")
    group.add_argument("--epsilon", type=positive, metavar="E", help="what may be spent in all")
    group.add_argument("--delta", type=number, metavar="D", help="at this delta (default: 1e-6)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Create the ledger or show it."""
    from privlearn.cli.books import create_ledger, existing_ledger

    if args.create:
        if args.epsilon is None:
            raise CommandError("how much may be spent in all? Add --epsilon, for example 3")
        ledger = create_ledger(args.file, args.epsilon, args.delta)
        print(f"created {args.file}: {_budget(ledger)}")
        return 0
    if args.epsilon is not None or args.delta is not None:
        raise CommandError("--epsilon and --delta make a new ledger; add --create, or leave them")
    ledger = existing_ledger(args.file)
    print(f"{args.file}: {_budget(ledger)}")
    for name in _names(ledger, args.dataset, args.file):
        show(ledger, name)
    return 0


def _budget(ledger: Ledger) -> str:
    return f"each data set may spend epsilon = {ledger.epsilon:g} at delta = {ledger.delta:g}"


def _names(ledger: Ledger, wanted: str | None, file: str) -> list[str]:
    known = ledger.datasets()
    if wanted is None:
        if not known:
            print("nothing has been charged yet")
        return known
    if wanted not in known:
        if not known:
            raise CommandError(f"nothing has been charged to {wanted!r} or anyone in {file} yet")
        raise CommandError(f"nothing was charged to {wanted!r} in {file}; {closest(wanted, known)}")
    return [wanted]


def show(ledger: Ledger, name: str) -> None:
    """Print what was spent on one data set, what is left, and every charge."""
    charges = ledger.history(name)
    print(f"\n{name}")
    print(f"  spent      epsilon = {ledger.spent(name):.4g}, all charges composed")
    print(f"  remaining  epsilon = {ledger.remaining(name):.4g} for one more fit")
    for charge in charges:
        print(f"  {charge.when[:16].replace('T', ' ')} UTC  epsilon = {charge.epsilon:.4g}")
        for release in charge.releases:
            print(f"    {release}")
