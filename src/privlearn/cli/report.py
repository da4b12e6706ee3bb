"""`privlearn report`: a page about a saved model, for people who do not program."""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privlearn.cli.asked import add_reference, parse_references, told_model
from privlearn.cli.errors import CommandError
from privlearn.cli.model_file import read_any
from privlearn.cli.open_ledger import existing_ledger
from privlearn.cli.outputs import Output
from privlearn.cli.paths import check_paths

if TYPE_CHECKING:
    from privlearn.export.report import Learned

__all__ = ["add_options", "run"]

EXAMPLE = """\
examples:
  privlearn report wage.json --out wage.html --title "Wages of men, March 1988"
  with scores that were paid for, and what is left of the budget
    privlearn evaluate wage.json held-out.csv --epsilon 1 -o scores.json
    privlearn report wage.json --scores scores.json --ledger people.ledger --dataset people
  its table relative to one category, as odds ratios
    privlearn report churn.json --reference region=north --ratios

The page is one file without scripts, fonts or pictures elsewhere: it opens offline, on a phone and
on paper. privlearn verify checks the certificates inside it.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.description = (
        "Write one page about a model that privlearn fit or model.save wrote: what it learned and "
        "what it tells about one person. It costs no privacy."
    )
    parser.epilog = EXAMPLE
    add = parser.add_argument
    add("model", help="model file (JSON)")
    add("--out", "-o", metavar="FILE", help="the page (default: the model's name with .html)")
    add("--title", metavar="TEXT", help="of the page")
    add("--decided-by", metavar="TEXT", help="who decided on epsilon, and why; shown on the page")
    add(
        "--scores",
        metavar="FILE",
        action="append",
        default=[],
        help="what privlearn evaluate -o FILE wrote; may be given several times",
    )
    add("--ledger", metavar="FILE", help="show what was spent on these people; needs --dataset")
    add("--dataset", metavar="NAME", help="the data set in the ledger")
    add_reference(parser)
    add("--overwrite", action="store_true", help="replace the page if it is there already")


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    out = args.out or str(Path(args.model).with_suffix(".html"))
    if (args.ledger is None) != (args.dataset is None):
        raise CommandError("--ledger FILE and --dataset NAME go together; give both or none")
    inputs = {"the model": args.model, "the ledger": args.ledger}
    inputs |= {f"scores {k}": path for k, path in enumerate(args.scores, 1)}
    check_paths(inputs, {"the page": out}, overwrite=args.overwrite)
    from privlearn.export.report import page

    learned = _learned(args)
    book = None if args.ledger is None else existing_ledger(args.ledger)
    scores = [_scores(path) for path in args.scores]
    more = {"scores": scores, "ledger": book, "dataset": args.dataset}
    made = page(learned, title=args.title, decided_by=args.decided_by, **more)
    with Output(out, overwrite=args.overwrite, size=len(made.encode("utf-8"))) as output:
        output.write(made)
    print(f"wrote {out}; check it with: privlearn verify {out}")
    return 0


def _learned(args: argparse.Namespace) -> Learned:
    """What a file tells, with its certificate."""
    from privlearn.export.report import Learned

    saved, path = read_any(args.model), args.model
    if args.reference or args.ratios:
        model, reference = told_model(saved, path), parse_references(args.reference, saved)
        return Learned.of(model, saved.content.target, reference=reference, ratios=args.ratios)
    with suppress(ValueError, KeyError, TypeError):
        return Learned.of(saved.content.model(), target=saved.content.target)
    raise CommandError(
        f"the certificate inside {path} is incomplete or damaged; see privlearn verify"
    )


def _scores(path: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise CommandError(f"{path} is no scores; give what privlearn evaluate -o FILE wrote")
    return found
