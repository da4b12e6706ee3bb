"""`privlearn summary`: coefficients of a saved model with standard errors and intervals."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from privlearn._core.harmless import json_text
from privlearn.cli.asked import add_reference, parse_contrasts, parse_references, told_model
from privlearn.cli.errors import CommandError
from privlearn.cli.model_file import read_any
from privlearn.cli.options import number

if TYPE_CHECKING:
    from privlearn.linear_model.summary import Summary

__all__ = ["add_options", "run"]

EXAMPLE = """\
examples:
  privlearn summary wage.json
  relative to one category of a list, as other software tells it; as odds ratios
    privlearn summary churn.json --reference region=north --ratios
  sums of coefficients, with names of your own
    privlearn summary wage.json --contrast "ten years: age=10"
    privlearn summary wage.json --contrast "south - west: region = south=1, region = west=-1"

Coefficients are called as the table calls them. A sum is a name, a colon, and coefficients with
their weights, separated by commas; the last = of each stands before the weight. The model must have
been fitted with --intervals. All of this costs no more privacy.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Print the coefficients of a model that was fitted with --intervals: with standard errors, "
        "intervals and p-values. It costs no privacy."
    )
    parser.epilog = EXAMPLE
    add = parser.add_argument
    add("model", help="model file (JSON) that privlearn fit or model.save wrote")
    add("--level", type=number, default=0.95, metavar="P", help="of confidence (default: 0.95)")
    add_reference(parser)
    add(
        "--contrast",
        action="append",
        default=[],
        metavar="'NAME: COEFFICIENT=WEIGHT, ...'",
        help="tell this sum in place of the coefficients; repeat for each",
    )
    add("--json", action="store_true", help="the table as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    if args.contrast and args.reference:
        raise CommandError(
            "--contrast sums coefficients as they are without a reference, and a difference of two "
            "categories needs none; leave --reference out"
        )
    saved = read_any(args.model)
    model = told_model(saved, args.model)
    if args.contrast:
        table = _sums(model, args)
    else:
        reference = parse_references(args.reference, saved)
        table = model.summary(args.level, reference=reference, ratios=args.ratios)
    print(json_text(table.to_dict()) if args.json else table)
    return 0


def _sums(model: Any, args: argparse.Namespace) -> Summary:  # noqa: ANN401
    weights = parse_contrasts(args.contrast, model.summary().names)
    found: Summary = model.contrast(weights, args.level, ratios=args.ratios)
    return found
