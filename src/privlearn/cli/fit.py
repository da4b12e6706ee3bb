"""`privlearn fit`: from a file with people's data to a model with a certificate."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from privlearn._core.harmless import harmless, json_text
from privlearn.cli import options
from privlearn.cli.assumptions import DECLARED, ESTIMATED, NAMES, assuming
from privlearn.cli.design import Design, design
from privlearn.cli.dialect import Dialect, add_dialect
from privlearn.cli.errors import CommandError
from privlearn.cli.intervals import Intervals
from privlearn.cli.model_file import SavedModel
from privlearn.cli.models import MODELS, build, estimator_rows, heading
from privlearn.cli.notices import plain_warnings
from privlearn.cli.open_ledger import charged_ledger, signed
from privlearn.cli.outputs import Output
from privlearn.cli.paths import check_paths
from privlearn.cli.people import add_person, facts_of_others, warn_of_ids, without_person
from privlearn.cli.predictions import predictions_output, read_new_rows, write_predictions
from privlearn.cli.screen import in_short, progress
from privlearn.cli.tables import Source, open_source
from privlearn.cli.training import read_training
from privlearn.linear_model.saved_errors import most_bytes
from privlearn.private_bounds.summary import what_is_estimated
from privlearn.schema import Number
from privlearn.schema.categories import ABOUT_OTHERS
from privlearn.schema.encoding import EncodedRows

if TYPE_CHECKING:
    from privlearn._core.certificate import Certificate
    from privlearn.schema.raw import RawRows

__all__ = ["add_options", "run"]

Array = NDArray[np.float64]
MOST_EFFECTS = 1_000  # that are shown
MOST_COMPONENTS = 2_000
MOST_OF_ERRORS = 2**30  # bytes
OF_A_CURVE = (
    "a curve has no coefficients to tell errors of; privlearn predict FILE --intervals has those "
    "of predictions"
)
LISTED = "listed in the certificate inside the model's file (--verbose shows them)"
UNSEEN = (-1.0, 1.0)  # what is estimated where noise hides everything

EXAMPLE = """\
example: wages by all other columns, with epsilon = 1; ranges of numbers are estimated privately
  privlearn fit people.csv --target wage --epsilon 1 --categories sex=male,female

with ranges that are public knowledge: estimated ranges then lie inside them, for the same share of
the budget (values mostly lie in a small part). --solver cd takes declared ranges as they are, and
leaves that share to the model. Then predictions for other people
  privlearn fit people.csv --target wage --epsilon 1 --bounds-y 0:5000 \\
      --bounds age=17:90 --bounds hours=0:99 --categories sex=male,female \\
      -o wage.json --predict others.csv --predictions out.csv

with standard errors, intervals and p-values, for about 14 % of the budget
  privlearn fit people.csv --target wage --epsilon 1 --schema estimate --intervals

with several rows per person, of whom at most 5 count: the promise is then about people
  privlearn fit visits.csv --target cost --epsilon 1 --person patient --max-rows 5

Each fit spends privacy. To keep count over several fits on the same people, add
  --ledger people.ledger --dataset people --ledger-epsilon 3
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Learn a model from a file with one row per person, or several with --person, under a "
        "privacy budget."
    )
    parser.epilog = EXAMPLE
    parser.usage = "privlearn fit DATA --target COLUMN --epsilon E [public metadata] [options]"
    add = parser.add_argument
    add("data", help="CSV file (first line: column names) or .parquet file")
    add("--target", metavar="COLUMN", help="the column to predict")
    add(
        "--columns",
        type=options.names,
        metavar="A,B,...",
        help="predict from these (default: all others)",
    )
    add_person(parser)
    options.add_model(parser)
    options.add_budget(parser)
    options.add_facts(parser)
    options.add_ledger(parser, "fit")
    _add_files(parser)
    add_dialect(parser)


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    add = group.add_argument
    add("-o", "--output", default="model.json", metavar="FILE", help="model (default: model.json)")
    add(
        "--overwrite",
        action="store_true",
        help="replace model and predictions if they are there already; a ledger or an input never",
    )
    add("--verbose", action="store_true", help="also print every release of the certificate")
    add("--json", action="store_true", help="the model with its certificate as JSON, nothing else")
    add("--predict", metavar="FILE", help="also predict the rows of this file")
    add("--predictions", metavar="FILE", help="where those predictions go, as CSV")
    options.add_on_invalid(group)


def run(args: argparse.Namespace) -> int:
    """Fit, save, predict and report. Whatever can be refused is refused before the charge."""
    _check_files(args)
    source = open_source(args.data, Dialect.of(args))
    facts = facts_of_others(options.gather_facts(args), args.person)
    chosen = design(
        without_person(source.names, args, facts),
        facts,
        where=source.path,
        classifies=MODELS[args.model].classifies,
        estimates=args.delta > 0,
        mapped=MODELS[args.model].mapped,
        named=args.person is not None,
    )
    estimator = build(args, chosen, on_invalid=args.on_invalid)
    _note_model(args, chosen.target)
    remedy = None if args.on_invalid == "drop" else "--on-invalid drop"
    public = args.adjacency != "add_remove" and args.person is None
    X, y, ids = read_training(source, chosen, person=args.person, remedy=remedy, n_is_public=public)
    new_rows = None
    if args.predict is not None:  # read first: a mistake in it must not cost a fit
        new_rows = read_new_rows(
            open_source(args.predict, Dialect.of(args)), chosen.columns, remedy=remedy
        )
    with plain_warnings():
        warn_of_ids(chosen.columns, chosen.target, source.names, args.person)
    with (
        _model_output(args, chosen) as output,
        predictions_output(args.predictions, new_rows, chosen.classes, args.overwrite) as there,
    ):
        rows = estimator_rows(args.model, chosen, X)
        # From here on, an error costs privacy.
        ledger = charged_ledger(args.ledger, args.dataset, args.ledger_epsilon, args.ledger_delta)
        estimator.set_params(ledger=ledger, dataset=args.dataset)
        with signed(ledger, args.by, args.output), plain_warnings(), progress():
            estimator.fit(rows, y, groups=ids)
        more = _assumed(source, chosen, estimator.privacy_)
        estimator.privacy_ = assuming(estimator.privacy_, more)
        model = SavedModel.of(args.model, chosen, estimator)
        _save(model, new_rows, output, there, Intervals() if args.intervals else None)
    _report(args, model, estimator.privacy_)
    return 0


def _note_model(args: argparse.Namespace, target: str) -> None:
    """Say what the target is taken for, where labels would empty every row: by options alone."""
    if args.on_invalid == "drop" and not args.model_said:
        print(
            f"privlearn: note: without --model, {harmless(target, 'terminal')} is taken for a "
            "number, and rows where it is none count as empty; if it holds labels, such as yes "
            "and no, add --model logistic (or kernel-classifier)",
            file=sys.stderr,
        )


def _check_files(args: argparse.Namespace) -> None:
    if (args.predict is None) != (args.predictions is None):
        raise CommandError(
            "--predict FILE (rows to predict) and --predictions FILE (where to write) go together"
        )
    check_paths(
        {"the data": args.data, "the schema": args.facts, "the rows to predict": args.predict},
        {"the model": args.output, "the predictions": args.predictions},
        ledger=args.ledger,
        overwrite=args.overwrite,
    )


def _model_output(args: argparse.Namespace, chosen: Design) -> Output:
    """The model's file, with about as many bytes as it will take."""
    names = sum(len(name) for name in chosen.names)
    size = 2**16 + names + (128 + 32 * len(chosen.classes or ())) * chosen.n_features
    if args.intervals:
        size += min(most_bytes(chosen.n_features + 1), MOST_OF_ERRORS)
    if MODELS[args.model].mapped:  # frequencies and coefficients of up to so many random features
        size += 40 * MOST_COMPONENTS * (chosen.n_features + max(len(chosen.classes or ()), 1))
    return Output(args.output, overwrite=args.overwrite, size=size)


def _assumed(source: Source, chosen: Design, certificate: Certificate) -> list[str]:
    """What this file's certificate must say besides what the estimator knows."""
    told = chosen.schema is None or any("schema" in text for text in certificate.assumptions)
    if chosen.encoding.pending:
        return [NAMES, *source.assumes, ESTIMATED]
    return [NAMES, *source.assumes, *(() if told else (DECLARED,))]


def _save(
    model: SavedModel,
    new_rows: EncodedRows | RawRows | None,
    output: Output,
    predictions: Output | None,
    intervals: Intervals | None,
) -> None:
    model.write(output)
    if predictions is None or new_rows is None:
        return
    try:
        write_predictions(model, new_rows, predictions, intervals=intervals)
    except OSError as error:
        raise CommandError(
            f"{predictions.given} cannot be written ({error.strerror}). The model is saved; make "
            f"room and run: privlearn predict {output.given} FILE -o PREDICTIONS"
        ) from None


def _report(args: argparse.Namespace, model: SavedModel, certificate: Certificate) -> None:
    if args.json:
        files = {"model_file": args.output, "predictions_file": args.predictions}
        table = model.summary() if args.intervals else None
        own = {} if table is None else {"summary": table.to_dict()}
        print(json_text(files | model.to_dict() | own))
        return
    per_unit = ", per unit of each column:" if model.effects() else ""
    print(f"{heading(args.model, model.target, model.classes)}{per_unit}")
    if args.intervals and (table := model.summary()) is not None:
        print(table)
    else:
        _report_effects(args, model)
        if args.intervals:
            print(OF_A_CURVE)
    if any(getattr(column.kind, "other", False) for column in model.columns if model.effects()):
        print(ABOUT_OTHERS)
    _report_ranges(model, certificate)
    told = str(certificate)
    print(f"\n{told if args.verbose else in_short(told, LISTED)}\n")
    print(f"model saved to {args.output}")
    if args.predictions:
        print(f"predictions saved to {args.predictions}")


def _report_effects(args: argparse.Namespace, model: SavedModel) -> None:
    effects = [(harmless(name, "terminal"), values) for name, values in model.effects()]
    width = max((len(name) for name, _ in effects), default=0)
    if effects and len(effects[0][1]) > 1 and model.classes is not None:
        labels = (harmless(label, "terminal")[:12] for label in model.classes)
        print(f"  {'':<{width}}  " + "  ".join(f"{label:<12}" for label in labels))
    for name, values in effects[:MOST_EFFECTS]:
        print(f"  {name:<{width}}  " + "  ".join(f"{value:<+12.6g}" for value in values).rstrip())
    if len(effects) > MOST_EFFECTS:
        print(f"  and {len(effects) - MOST_EFFECTS:,} more, which are in {args.output}")


def _report_ranges(model: SavedModel, certificate: Certificate) -> None:
    """What was estimated, what it cost, and where values are clipped from now on."""
    sentence = what_is_estimated(certificate.plan)
    if sentence is None or not model.ranges():
        return
    print(f"\n{sentence}\nValues outside these ranges are clipped to them, also in predictions:")
    ranges = model.ranges()[:MOST_EFFECTS]
    width = max(len(name) for name, _ in ranges)
    kinds = {column.name: column.kind for column in model.columns}
    for name, ends in ranges:
        unseen = "   (nothing was seen but zeros and noise)" if (*ends,) == UNSEEN else ""
        kind, write = kinds.get(name, Number()), "{:.6g}".format
        low, high = (kind.told(end, write) for end in ends)
        print(f"  {name:<{width}}  {low} to {high}{kind.told_beyond(write)}{unseen}")
