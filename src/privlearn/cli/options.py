"""Options that several commands share, and how they turn into facts."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from privlearn.cli import schema
from privlearn.cli.errors import CommandError
from privlearn.cli.models import MODELS
from privlearn.cli.schema import Facts
from privlearn.schema import Ignore, Number

__all__ = [
    "add_budget",
    "add_facts",
    "add_ledger",
    "add_model",
    "add_notation",
    "add_on_invalid",
    "count",
    "delta",
    "epsilon",
    "gather_facts",
    "names",
    "number",
    "positive",
    "written_number",
]

Value = TypeVar("Value")
ESTIMATE = "estimate"  # in place of a schema file
MOST = 1e12  # rows; a plan needs no more
LEAST_EPSILON, MOST_EPSILON, LEAST_DELTA = 1e-6, 1e6, 1e-100


def positive(text: str) -> float:
    """A number above 0, for argparse."""
    value = number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def number(text: str) -> float:
    """A finite number, for argparse."""
    try:
        value = float(text)
    except ValueError:
        remedy = "write for example 1 or 1e-6"
        raise argparse.ArgumentTypeError(f"{text!r} is no number; {remedy}") from None
    if not abs(value) < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not finite")
    return value


def count(text: str) -> int:
    """A whole number above 0, for argparse; 10,000 and 1e4 are understood."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = 0.0
    if not (value >= 1 and value.is_integer()):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    if value > MOST:
        raise argparse.ArgumentTypeError(f"{text!r} is too large; {MOST:g} is the most")
    return int(value)


def epsilon(text: str) -> float:
    """An epsilon for which noise can be found, for argparse."""
    value = positive(text)
    if not LEAST_EPSILON <= value <= MOST_EPSILON:
        between = f"between {LEAST_EPSILON:g} and {MOST_EPSILON:g}"
        raise argparse.ArgumentTypeError(f"{text} is no use; give an epsilon {between}")
    return value


def delta(text: str) -> float:
    """A delta for which noise can be found, for argparse."""
    value = number(text)
    if 0 < value < LEAST_DELTA:
        raise argparse.ArgumentTypeError(f"{text} is too small; give {LEAST_DELTA:g} or more, or 0")
    return value


def add_on_invalid(parser: argparse._ActionsContainer) -> None:
    """What happens to rows that cannot be used."""
    parser.add_argument(
        "--on-invalid",
        choices=("raise", "drop"),
        default="raise",
        help="rows with empty or unusable cells: stop (default), or leave them out of the sums",
    )


def names(text: str) -> tuple[str, ...]:
    """A list separated by commas, for argparse."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def add_budget(
    parser: argparse.ArgumentParser, *, required: bool = True, what: str = "the model"
) -> None:
    """Epsilon, delta and the relation."""
    add = parser.add_argument_group("privacy").add_argument
    add(
        "--epsilon",
        type=epsilon,
        required=required,
        metavar="E",
        help=f"how much {what} may tell about one person; smaller is more private, 1 is common",
    )
    add(
        "--delta",
        type=delta,
        default=1e-6,
        metavar="D",
        help="chance that the promise fails; well below 1 / number of rows (default: 1e-6)",
    )
    add(
        "--adjacency",
        choices=("zero_out", "add_remove", "replace_one"),
        default="zero_out",
        help="which two tables nobody can tell apart: one person's row is emptied (zero_out, the "
        "default; the number of rows is public), it is there or not (add_remove; the number is "
        "private, too), or it is replaced by any other row (replace_one; about twice the noise)",
    )
    add(
        "--max-rows",
        type=count,
        metavar="K",
        help="rows of one person that count, where people have several: a number from public "
        "knowledge, such as visits that a year allows, never from the data; noise grows with K. In "
        "Python, privlearn.schema.estimate_max_rows estimates one privately",
    )


def add_ledger(parser: argparse.ArgumentParser, what: str) -> None:
    """The ledger that is charged, and how to create it."""
    title = f"Counts what several {what}s on the same people cost."
    add = parser.add_argument_group("ledger", title).add_argument
    add("--ledger", metavar="FILE", help=f"charge this ledger before the {what}")
    add("--dataset", metavar="NAME", help="whose data it is; the same name for the same people")
    add("--by", metavar="NAME", help="who charges, for the ledger (default: your login name)")
    add("--ledger-epsilon", type=positive, metavar="E", help="create the ledger with this total")
    add("--ledger-delta", type=number, metavar="D", help="and this delta (default: 1e-6)")


class _Said(argparse.Action):
    """Keep the value, and that it was said: a default may be a mistake, which a note can tell."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, values)
        setattr(namespace, f"{self.dest}_said", True)


def add_model(parser: argparse.ArgumentParser) -> None:
    """The model and what belongs to some models only."""
    add = parser.add_argument_group("model").add_argument
    kinds = "; ".join(f"{name} predicts {kind.summary}" for name, kind in MODELS.items())
    parser.set_defaults(model_said=False)
    add(
        "--model",
        choices=tuple(MODELS),
        default="linear",
        metavar="NAME",
        action=_Said,
        help=f"{kinds} (default: linear)",
    )
    add(
        "--solver",
        default="auto",
        metavar="NAME",
        help="algorithm (default: auto, which also estimates ranges inside declared ones; with a "
        "name, such as cd, declared ranges are taken as they are)",
    )
    add(
        "--alpha",
        type=number,
        metavar="A",
        help="ridge, lasso, elastic-net, huber, poisson, kernel: weight of the penalty (default: "
        "that of scikit-learn; poisson with --intervals: 0, so that rate ratios are as they are)",
    )
    add(
        "--l1-ratio",
        type=number,
        metavar="S",
        help="elastic-net: share of the lasso's penalty, 0 to 1 (default: 0.5)",
    )
    add(
        "--C",
        type=positive,
        metavar="C",
        help="logistic, svc, kernel-classifier: inverse weight of the penalty",
    )
    add(
        "--loss",
        choices=("squared_hinge", "hinge"),
        help="svc: loss of a row within the margin (default: squared_hinge)",
    )
    add(
        "--intervals",
        action="store_true",
        help="linear, ridge, logistic, poisson: also estimate standard errors, for about 14 %% "
        "of the budget: a table with intervals and p-values, and intervals of predictions",
    )


def add_notation(parser: argparse._ActionsContainer) -> None:
    """How numbers are written."""
    add = parser.add_argument
    add(
        "--decimal",
        choices=(".", ","),
        help="decimal mark of numbers (default: a point, or a comma where --thousands is a point); "
        "[schema] may say otherwise of a column",
    )
    add("--thousands", metavar="CHAR", help="mark between groups of three digits: , . ' or a blank")
    add("--currency", metavar="SIGN", help="sign that may stand beside a number, such as $ or EUR")


def written_number(args: argparse.Namespace) -> Number:
    """The notation of the options, or what is wrong with it."""
    try:
        return Number(decimal=args.decimal, thousands=args.thousands, currency=args.currency)
    except ValueError as error:
        problem = str(error)
    raise CommandError(f"--decimal, --thousands, --currency: {problem}")


def add_facts(parser: argparse.ArgumentParser) -> None:
    """What is publicly known about the columns."""
    group = parser.add_argument_group(
        "public metadata",
        "What you know about the columns without looking at these people's data: survey rules, "
        "physical or legal limits, or a generous guess. Values outside are clipped. Ranges that "
        "are left out are estimated privately, with a share of the budget; with --schema estimate, "
        "so are lists of text. Ranges are estimated inside declared ones as well, for values "
        "mostly lie in a small part of them, and values beyond what was found are clipped; naming "
        "a solver (--solver cd) avoids that where all ranges are declared.",
    )
    add = group.add_argument
    add(
        "--bounds",
        action="append",
        default=[],
        metavar="COLUMN=LOW:HIGH",
        help="range of a numeric column; repeat for each that is known",
    )
    add("--bounds-y", metavar="LOW:HIGH", help="range of a numeric target")
    add(
        "--ignore",
        action="append",
        default=[],
        metavar="COLUMN",
        help="leave this column out, such as a name or a note; repeat for each",
    )
    add(
        "--categories",
        action="append",
        default=[],
        metavar="COLUMN=A,B,...",
        help="all values of a text column; repeat for each (or --schema estimate finds them)",
    )
    add(
        "--classes",
        metavar="NO,YES",
        help="all labels of a target that holds labels (default: "
        "those in the file, which declares the set of labels public); they are kept in sorted "
        "order, and of two the model is one of the second",
    )
    add(
        "--data-norm",
        type=positive,
        metavar="R",
        help="largest L2 norm of a row: the square root of 1 + the squares of its columns, those "
        "with bounds scaled to 0..1; columns without bounds then stay as they are",
    )
    add_notation(group)
    add(
        "--schema",
        dest="facts",
        metavar="FILE",
        help="all of these in a file; see privlearn plan --template. The word estimate in place of "
        "a file finds out privately what columns are of which nothing is said: numbers, dates, "
        "truth values, or text with a list of its frequent values",
    )


def gather_facts(args: argparse.Namespace, default_target: str | None = None) -> Facts:
    """Facts from the file, overruled by those from the command line."""
    given = Facts(
        bounds=_once(map(schema.parse_bounds, args.bounds), "--bounds"),
        categories=_once(map(schema.parse_categories, args.categories), "--categories"),
        target=args.target,
        columns=args.columns,
        classes=None if args.classes is None else names(args.classes),
        data_norm=None if args.data_norm is None else schema.checked_norm(args.data_norm),
        schema={name: Ignore() for name in args.ignore},
    )
    facts = given
    if args.facts == ESTIMATE:
        facts = replace(given, estimate=True)
    elif args.facts:
        facts = schema.read_facts(args.facts).updated(given)
    facts = _without(replace(facts, number=written_number(args)), args.ignore)
    if args.bounds_y is not None:
        if MODELS[args.model].classifies:
            raise CommandError(
                f"--bounds-y is for numbers; with --model {args.model}, use --classes"
            )
        target = facts.target or default_target
        if target is None:
            raise CommandError("--bounds-y is the range of the target; add --target COLUMN")
        facts = facts.updated(Facts(bounds={target: schema.parse_range(args.bounds_y)}))
    if facts.classes is not None and not 2 <= len(set(facts.classes)) == len(facts.classes):
        raise CommandError("two or more different classes are needed; write --classes no,yes")
    return facts


def _without(facts: Facts, ignored: Sequence[str]) -> Facts:
    """The facts, with a list of columns that leaves out what is ignored."""
    if facts.columns is None or not ignored:
        return facts
    left = tuple(name for name in facts.columns if name not in ignored)
    if not left:
        raise CommandError("--ignore leaves no column to predict from; keep at least one")
    return replace(facts, columns=left)


def _once(pairs: Iterable[tuple[str, Value]], flag: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for name, value in pairs:
        if name in found:
            raise CommandError(f"{flag} was given twice for column {name!r}; keep one")
        found[name] = value
    return found
