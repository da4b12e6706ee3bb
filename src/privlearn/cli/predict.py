"""`privlearn predict`: apply a saved model to new rows."""

from __future__ import annotations

import argparse

from privlearn.cli.dialect import Dialect, add_dialect
from privlearn.cli.intervals import add_intervals, asked_intervals
from privlearn.cli.model_file import read_model
from privlearn.cli.paths import check_paths
from privlearn.cli.predictions import predictions_output, read_new_rows, write_predictions
from privlearn.cli.tables import open_source

__all__ = ["add_options", "run"]

EXAMPLE = """\
example:
  privlearn predict wage.json others.csv -o predictions.csv
  privlearn predict wage.json others.csv -o predictions.csv --intervals

The file needs the columns that the model was fitted with, in any order; others are ignored.
Predicting spends no privacy of the people the model was learned from. Where ranges were
estimated privately, values outside them are clipped; otherwise values are used as they are.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = "Predict the rows of a file with a model that privlearn fit saved."
    parser.epilog = EXAMPLE
    add = parser.add_argument
    add("model", help="model file that privlearn fit wrote")
    add("data", help="CSV or .parquet file with rows to predict")
    add("-o", "--output", metavar="FILE", help="where predictions go (default: the screen)")
    add("--json", action="store_true", help="predictions as JSON, one object per row")
    add("--overwrite", action="store_true", help="replace the output if it is there already")
    add(
        "--on-invalid",
        choices=("raise", "blank"),
        default="raise",
        help="rows with empty or unusable cells: stop (default), or leave the prediction empty",
    )
    add_intervals(parser)
    add_dialect(parser)


def run(args: argparse.Namespace) -> int:
    """Predict and write."""
    check_paths(
        {"the model": args.model, "the file with rows": args.data},
        {"the output": args.output},
        overwrite=args.overwrite,
    )
    model = read_model(args.model)
    asked = asked_intervals(args, model)
    remedy = None if args.on_invalid == "blank" else "--on-invalid blank"
    source = open_source(args.data, Dialect.of(args))
    features = read_new_rows(source, model.columns, remedy=remedy)
    with predictions_output(args.output, features, model.classes, args.overwrite) as output:
        write_predictions(model, features, output, as_json=args.json, intervals=asked)
    return 0
