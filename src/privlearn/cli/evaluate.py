"""`privlearn evaluate`: scores of a saved model on people's rows, with a guarantee for them."""

from __future__ import annotations

import argparse
import sys
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.harmless import json_text
from privlearn._data.named_cells import NamedCells
from privlearn.cli import options
from privlearn.cli.assumptions import NAMES, assuming
from privlearn.cli.dialect import Dialect, add_dialect
from privlearn.cli.errors import CommandError, option
from privlearn.cli.model_file import SavedModel, read_model
from privlearn.cli.notices import plain_warnings
from privlearn.cli.open_ledger import charged_ledger, signed
from privlearn.cli.outputs import Output, write_or_print
from privlearn.cli.paths import check_paths
from privlearn.cli.people import add_person, checked_person, ids_of, warn_of_ids
from privlearn.cli.predictions import read_rows
from privlearn.cli.schema import parse_range
from privlearn.cli.tables import Source, open_source
from privlearn.cli.training import NOTATION
from privlearn.schema import Number
from privlearn.schema.encoding import Encoding

if TYPE_CHECKING:
    from privlearn.metrics import Evaluation

__all__ = ["add_options", "run"]

UNCOUNTED = (
    "no ledger is charged; if people of the fit are among these, scores flatter the model, and "
    "both promises together are weaker than each"
)
EXAMPLE = """\
example: how good is the model for people whom it was not fitted to?
  privlearn evaluate wage.json held-out.csv --epsilon 1

people with several rows, of whom at most 5 count: the promise is then about people
  privlearn evaluate cost.json visits.csv --epsilon 1 --person patient --max-rows 5

only what you need has less noise; and the same as JSON with the certificate, for privlearn report:
printed once, paid for once
  privlearn evaluate churn.json held-out.csv --epsilon 0.5 --metrics auc -o scores.json

Rows that the model was fitted to pay twice, and flatter it. To keep count, add
  --ledger people.ledger --dataset people --ledger-epsilon 3
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Score a model that privlearn fit saved on a file with one row per person, or several with "
        "--person. Every number has privacy noise in it, and an interval that says how much that "
        "and chance may matter."
    )
    parser.epilog = EXAMPLE
    parser.usage = "privlearn evaluate MODEL DATA --epsilon E [options]"
    add = parser.add_argument
    add("model", help="model file that privlearn fit wrote")
    add("data", help="CSV or .parquet file with rows and their true targets")
    add("--target", metavar="COLUMN", help="the column with the truth (default: the model's own)")
    add_person(parser)
    add(
        "--metrics",
        type=options.names,
        metavar="A,B,...",
        help="r2, mse, mae; or accuracy, auc, log_loss, brier, confusion, calibration "
        "(default: all that the model allows)",
    )
    add("--bounds-y", metavar="LOW:HIGH", help="range of a numeric target, where public")
    add("--json", action="store_true", help="scores and certificate as JSON, and nothing else")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help="write that JSON to a file as well, without paying again; for privlearn report",
    )
    add("--overwrite", action="store_true", help="replace that file if it is there already")
    options.add_notation(parser)
    options.add_on_invalid(parser)
    options.add_budget(parser, what="the scores")
    options.add_ledger(parser, "evaluation")
    add_dialect(parser)


def run(args: argparse.Namespace) -> int:
    """Score and report. Whatever can be refused is refused before the charge."""
    paths = {"the model": args.model, "the data": args.data}
    outputs = {"the scores": args.output}
    check_paths(paths, outputs, ledger=args.ledger, overwrite=args.overwrite)
    model = read_model(args.model)
    bounds = None if args.bounds_y is None else parse_range(args.bounds_y)
    if bounds is not None and model.classes is not None:
        raise CommandError("--bounds-y is for numbers, but the model predicts classes")
    source = open_source(args.data, Dialect.of(args))
    X, y, ids = _rows(args, model, source)
    with plain_warnings():
        warn_of_ids(model.columns, args.target or model.target, source.names, args.person)
    size = 2**16 + 200 * len(model.classes or ()) ** 2
    with (
        nullcontext()
        if args.output is None
        else Output(args.output, overwrite=args.overwrite, size=size)
    ) as output:
        found = _scores(args, model, X, y, ids, bounds)
        found = replace(found, privacy=assuming(found.privacy, (NAMES, *source.assumes)))
        text = json_text(found.to_dict())
        if output is not None:
            write_or_print(output, f"{text}\n", "scores were")
    if args.json:
        print(text)
        return 0
    print(f"{found}\n\n{found.privacy}")
    if output is not None:
        print(f"\nscores saved to {output.given}")
    return 0


def _rows(
    args: argparse.Namespace, model: SavedModel, source: Source
) -> tuple[NDArray[np.float64], NDArray[Any], NamedCells | None]:
    """Features in the file's units, the truth and the ids; unusable cells are NaN, or no label."""
    target, drop = args.target or model.target, args.on_invalid == "drop"
    written = options.written_number(args)
    if model.classes is None and written == Number() and (flags := _notation(model)):
        print(
            f"privlearn: note: numbers of {target!r} are read as in 1234.5; {flags}",
            file=sys.stderr,
        )
    remedy = None if drop else "--on-invalid drop"
    leave = None if drop else "--on-invalid drop: such rows then add nothing"
    if target in [column.name for column in model.columns]:
        raise CommandError(f"--target {target} is a column that the model predicts from")
    checked_person(source.names, args, target)
    more = [target] if args.person is None else [target, args.person]
    rows, table = read_rows(source, model.columns, more, remedy=remedy, leave=leave)
    X = rows.features(Encoding(model.columns))
    if table.rows == 0 and args.adjacency != "add_remove" and args.person is None:
        raise CommandError(f"{source.path} names its columns but has no rows to score")
    if model.classes is None:
        y: NDArray[Any] = table.numbers(target, written)
        broken = bool(np.isnan(y).any())
    else:
        y = np.array([label or "" for label in table.labels(target)], dtype=object)
        broken = not {*y} <= {*model.classes}
    if broken and not drop:
        what = "no number" if model.classes is None else "none of the model's classes"
        flags = _notation(model)
        mend = "" if model.classes is not None else f"; {flags}" if flags else f". {NOTATION}"
        raise CommandError(
            f"{source.path} has rows without a truth: a cell of {target!r} is empty or {what}; "
            f"mend them, or add {leave}{mend}"
        )
    ids = ids_of(table, args.person)
    if ids is not None and None in ids and not drop:
        raise CommandError(
            f"{source.path} has rows that are nobody's: a cell of the ids, {ids.name!r}, is empty; "
            f"mend them, or add {leave}"
        )
    if ids is not None and args.adjacency != "add_remove" and not any(ids):
        raise CommandError(f"{source.path} has rows of nobody: no cell of {ids.name!r} is an id")
    return X, y, ids


def _notation(model: SavedModel) -> str:
    """How to say that the target is written as the model's columns; empty where these are plain."""
    kinds = [column.kind for column in model.columns if isinstance(column.kind, Number)]
    rules = [kind for kind in kinds if kind.rule is not None]
    if not rules:
        return ""
    marks = (("--decimal", rules[0].decimal), ("--thousands", rules[0].thousands))
    given = [*marks, ("--currency", rules[0].currency)]
    flags = " ".join(option(flag, mark) for flag, mark in given if mark is not None)
    return f"if it is written as columns of the model are, add {flags}"


def _scores(
    args: argparse.Namespace,
    model: SavedModel,
    X: NDArray[np.float64],
    y: object,
    ids: NamedCells | None,
    bounds: object,
) -> Evaluation:
    from privlearn._core.certificate import Certificate
    from privlearn.metrics import evaluate

    estimator = model.estimator()
    with suppress(ValueError):  # what is wrong with a certificate, `privlearn verify` tells
        estimator.privacy_ = Certificate.from_dict(model.certificate)
    known = model.clip_y is not None or getattr(estimator, "bounds_y", None) is not None
    if model.classes is None and bounds is None and not known:
        raise CommandError(
            "the range of the target is needed, and the model's file has none; add --bounds-y "
            "LOW:HIGH from public knowledge, as the fit was given"
        )
    if args.ledger is None:
        print(f"privlearn: note: {UNCOUNTED}", file=sys.stderr)
    ledger = charged_ledger(args.ledger, args.dataset, args.ledger_epsilon, args.ledger_delta)
    given = {name: getattr(args, name) for name in ("epsilon", "delta", "adjacency", "on_invalid")}
    given |= {"metrics": args.metrics, "ledger": ledger, "dataset": args.dataset}
    given |= {"groups": ids, "max_rows_per_person": args.max_rows}
    with signed(ledger, args.by, args.model), plain_warnings():
        return evaluate(estimator, model.inputs(X), y, bounds_y=bounds, **given)
