"""`privlearn ledger`: how much privacy has been spent on whom."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from privlearn._core.harmless import json_text
from privlearn.cli.errors import CommandError, closest
from privlearn.cli.open_ledger import create_ledger, existing_ledger
from privlearn.cli.options import number, positive

if TYPE_CHECKING:
    from privlearn.ledger import Ledger
    from privlearn.ledger.history import Charge

__all__ = ["add_options", "run", "show"]

_KINDS = {
    "gaussian": "as Gaussian noise does (gaussian)",
    "pure": "epsilon by epsilon (pure)",
    "open": "as the second charge will decide (open)",
}

EXAMPLE = """\
examples:
  allow epsilon = 3 in all for each group of people
    privlearn ledger people.ledger --create --epsilon 3 --delta 1e-6
  charge a fit to it
    privlearn fit people.csv ... --ledger people.ledger --dataset people
  see what was spent, what is left, by whom and for which model; --json for programs
    privlearn ledger people.ledger

  say that one group of people is part of another, before anything is charged to it
    privlearn ledger people.ledger --declare people-over-60 --parent people
  read everything again, and see that no older copy has taken the file's place
    privlearn ledger people.ledger --check --certificates wage.json other.json

Fits together cost less than the sum of their epsilons. The next fit may be chosen after seeing the
last one.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "A ledger is a file with a privacy budget. Fits are charged to it before they "
        "release anything, and are refused when the budget is used up."
    )
    parser.epilog = EXAMPLE
    parser.add_argument("file", help="the ledger")
    parser.add_argument("--dataset", metavar="NAME", help="show these people only")
    parser.add_argument("--json", action="store_true", help="all of it as JSON, and nothing else")
    add = parser.add_argument_group("creating one").add_argument
    add("--create", action="store_true", help="create the file")
    add("--epsilon", type=positive, metavar="E", help="what may be spent in all")
    add("--delta", type=number, metavar="D", help="at this delta (default: 1e-6)")
    add = parser.add_argument_group("checking one").add_argument
    add("--check", action="store_true", help="verify every record")
    add("--certificates", metavar="FILE", nargs="+", default=[], help="models that were charged")
    add = parser.add_argument_group("declaring data sets, before they are charged").add_argument
    add("--declare", metavar="NAME", help="the data set")
    add("--parent", metavar="NAME", action="append", default=[], help="is charged as well")
    add("--kind", choices=["gaussian", "pure"], help="how its charges add up")


def run(args: argparse.Namespace) -> int:
    """Create the ledger, check it, declare in it, or show it."""
    if args.create:
        if args.epsilon is None:
            raise CommandError("how much may be spent in all? Add --epsilon, for example 3")
        ledger = create_ledger(args.file, args.epsilon, args.delta)
        created = json_text(_as_values(ledger, []))
        print(created if args.json else f"created {args.file}: {_budget(ledger)}")
        return 0
    if args.epsilon is not None or args.delta is not None:
        raise CommandError("--epsilon and --delta make a new ledger; add --create, or leave them")
    ledger = existing_ledger(args.file)
    if args.check or args.certificates:
        return _check(ledger, args)
    if args.declare or args.parent or args.kind:
        return _declare(ledger, args)
    if args.json:
        names = _names(ledger, args.dataset, args.file) if ledger.datasets() else []
        print(json_text(_as_values(ledger, names)))
        return 0
    print(f"{args.file}: {_budget(ledger)}")
    for name in _names(ledger, args.dataset, args.file):
        show(ledger, name)
    return 0


def _check(ledger: Ledger, args: argparse.Namespace) -> int:
    """Read everything again; what is wrong is an error."""
    certificates = args.certificates
    found = ledger.check([_certificate(name) for name in certificates])
    charges = len(ledger.history())
    if args.json:
        print(json_text({"agrees": True, "charges": charges, "certificates": found}))
        return 0
    print(f"{args.file}: all records agree, {_count(charges, 'charge')}")
    if certificates:
        print(f"{_count(found, 'certificate')} found in it")
    return 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _certificate(name: str) -> dict[str, Any]:
    """The certificate in a model's file, or one that is a file of its own."""
    from pathlib import Path

    from privlearn._core.certificate_file import load

    try:
        content = load(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = {}
    content = content.get("certificate", content)
    if not isinstance(content, dict) or "epsilon" not in content:
        raise CommandError(f"{name} holds no certificate that can be read; give a model's file")
    if "ledger_head" not in content:
        raise CommandError(f"the certificate in {name} was made without a ledger; leave it out")
    return content


def _declare(ledger: Ledger, args: argparse.Namespace) -> int:
    if not args.declare:
        raise CommandError("--parent and --kind describe a data set; add --declare NAME")
    ledger.declare(args.declare, parent=args.parent, kind=args.kind)
    parents = ledger.parents(args.declare)
    if args.json:
        print(json_text({"name": args.declare, "parents": parents}))
        return 0
    told = f"charges are recorded for {', '.join(parents)} as well" if parents else "no parents"
    print(f"{args.declare}: {told}")
    return 0


def _budget(ledger: Ledger) -> str:
    return f"each data set may spend epsilon = {ledger.epsilon:g} at delta = {ledger.delta:g}"


def _names(ledger: Ledger, wanted: str | None, file: str) -> list[str]:
    from privlearn.ledger.names import normal_name

    known = ledger.datasets()
    if wanted is None:
        if not known:
            print("nothing has been charged yet")
        return known
    name = normal_name(wanted)
    if not known:
        raise CommandError(f"nothing has been charged to {name!r} or anyone in {file} yet")
    if name not in known:
        raise CommandError(f"nothing was charged to {name!r} in {file}; {closest(name, known)}")
    return [name]


def show(ledger: Ledger, name: str) -> None:
    """Print what was spent on one data set, what is left, by whom, and every charge."""
    charges = ledger.history(name)
    print(f"\n{name}")
    kind, parents = ledger.kind(name), ledger.parents(name)
    print(f"  adds up    {_KINDS[kind or 'open']}")
    if parents:
        print(f"  part of    {', '.join(parents)}")
    print(f"  spent      epsilon = {ledger.spent(name):.4g}, all charges composed")
    print(f"  remaining  epsilon = {ledger.remaining(name):.4g} for one more fit")
    for person in _people(charges):
        told = f"{_count(person['charges'], 'charge')}, epsilon = {person['epsilon']:.4g}"
        print(f"  by         {person['by'] or 'unnamed'}: {told} together")
    for charge in charges:
        print(f"  {_line(charge)}")
        for release in charge.releases:
            print(f"    {release}")


def _line(charge: Charge) -> str:
    """When, how much, who and for what."""
    paid = ", reserved before" if charge.part == "reserved" else ""
    by = f"  by {charge.by}" if charge.by else ""
    what = f"  for {charge.note}" if charge.note else ""
    when = charge.when[:16].replace("T", " ")
    return f"{when} UTC  epsilon = {charge.epsilon:.4g}{paid}{by}{what}"


def _people(charges: list[Charge]) -> list[dict[str, Any]]:
    """What each person spent, where names are known."""
    from privlearn.ledger.history import spent_by

    if not any(charge.by for charge in charges):
        return []
    counts = Counter(charge.by for charge in charges)
    spent = spent_by(charges)
    return [{"by": by, "charges": counts[by], "epsilon": spent[by]} for by in spent]


def _as_values(ledger: Ledger, names: list[str]) -> dict[str, Any]:
    """All of it as plain values."""
    return {
        "ledger": ledger.path,
        "epsilon": ledger.epsilon,
        "delta": ledger.delta,
        "datasets": [_dataset(ledger, name) for name in names],
    }


def _dataset(ledger: Ledger, name: str) -> dict[str, Any]:
    charges = ledger.history(name)
    told = ("when", "by", "note", "epsilon", "adjacency", "unit", "part", "version", "head")
    return {
        "name": name,
        "kind": ledger.kind(name),
        "unit": ledger.unit(name),
        "parents": ledger.parents(name),
        "spent": ledger.spent(name),
        "remaining": ledger.remaining(name),
        "people": _people(charges),
        "charges": [
            {key: getattr(charge, key) for key in told} | {"releases": list(charge.releases)}
            for charge in charges
        ],
    }
