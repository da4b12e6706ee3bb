"""`privlearn predict`: apply a saved model to new rows."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from privlearn.cli.errors import CommandError
from privlearn.cli.help import Help
from privlearn.cli.options import add_separator

__all__ = ["add_parser", "run"]

EXAMPLE = """\
example:
  privlearn predict wage.json others.csv -o predictions.csv

The file needs the columns that the model was fitted with, in any order; others are ignored.
Predicting spends no privacy of the people the model was learned from. Where ranges were bought,
values outside them are clipped; otherwise values are used as they are.
"""


def add_parser(commands: Any) -> None:  # noqa: ANN401
    """Declare the command and its options."""
    parser = commands.add_parser(
        "predict",
        help="predict new rows with a saved model",
        description="Predict the rows of a file with a model that privlearn fit saved.",
        epilog=EXAMPLE,
        formatter_class=Help,
        allow_abbrev=False,
    )
    parser.add_argument("model", help="model file that privlearn fit wrote")
    parser.add_argument("data", help="CSV or .parquet file with rows to predict")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="where predictions go, as CSV (default: the screen)"
    )
    parser.add_argument(
        "--on-invalid",
        choices=("raise", "blank"),
        default="raise",
        help="rows with empty or unusable cells: stop (default), or leave the prediction empty",
    )
    add_separator(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Predict and write."""
    from privlearn.cli.model_file import read_model
    from privlearn.cli.predictions import read_new_rows, write_predictions
    from privlearn.cli.tables import open_source

    model = read_model(args.model)
    remedy = None if args.on_invalid == "blank" else "--on-invalid blank"
    source = open_source(args.data, args.separator)
    features = read_new_rows(source, model.columns, remedy=remedy)
    if args.output is not None and not Path(args.output).absolute().parent.is_dir():
        raise CommandError(f"the folder of {args.output} does not exist; create it first")
    write_predictions(model, features, None if args.output is None else Path(args.output))
    return 0
