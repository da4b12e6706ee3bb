"""The `privlearn` command: from demo and fit to report, ledger and audit."""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from importlib import import_module
from typing import NoReturn

from privlearn._core.close_names import did_you_mean
from privlearn._core.version import __version__
from privlearn.cli.guard import OK, guarded, traced

__all__ = ["main"]

EPILOG = """\
start here:
  privlearn demo
then, with a file of your own that has one row per person and columns of numbers:
  privlearn fit people.csv --target wage --epsilon 1
or with text, dates and gaps, of which nothing need be said:
  privlearn fit people.csv --target wage --epsilon 1 --schema estimate
where people may have several rows (stays, visits), name the column that tells whose each row is:
  privlearn fit visits.csv --target cost --epsilon 1 --person patient --max-rows 5
more accurate, where something is publicly known:
  privlearn plan --template people.csv --target wage > schema.toml
  (fill in schema.toml: what is publicly known about each column)
  privlearn fit people.csv --schema schema.toml --epsilon 1 -o wage.json
  privlearn predict wage.json others.csv -o predictions.csv
what it learned, with intervals and relative to one category:
  privlearn fit people.csv --schema schema.toml --epsilon 1 --intervals -o wage.json
  privlearn summary wage.json --reference region=north
how good it is, on people whom it was not fitted to, and a page about it:
  privlearn evaluate wage.json held-out.csv --epsilon 1 -o scores.json
  privlearn report wage.json --scores scores.json --out wage.html

help on one command: privlearn fit --help
exit status: 0 fine, 1 something in files or schema, 2 wrong usage, 3 over the ledger's budget
"""


COMMANDS = {
    "demo": "see what it does, on data that ships with it",
    "plan": "show what a fit would release and how noisy it would be; needs no data",
    "fit": "learn a private model from a CSV or Parquet file",
    "summary": "coefficients of a saved model: intervals, references, odds ratios, contrasts",
    "predict": "predict new rows with a saved model",
    "evaluate": "score a saved model on people's rows, privately and with intervals",
    "report": "write a page about a saved model for people: HTML that needs nothing else",
    "ledger": "show, create or check a ledger of spent privacy",
    "verify": "check a certificate, or the one in a model, from its file alone",
    "audit": "attack a configuration on generated data: promised and measured",
}

ELSEWHERE = dict.fromkeys(("--reference", "--ratios", "--contrast"), "summary")  # on saved models


class Help(argparse.HelpFormatter):
    """Wraps descriptions, and leaves examples (texts of several lines) as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """Says of words that belong to nothing what they may have been meant for."""

    words: Iterable[str] = ()  # that were typed
    options: Collection[str] = ()  # of the command that these name

    def error(self, message: str) -> NoReturn:
        """Complain with a remedy."""
        loose = message.partition("unrecognized arguments: ")[2]
        if loose and not loose.startswith("-"):
            message += "; a name with blanks needs quotes, as in --target 'hours per week'"
        super().error(message + self._unknown_option())

    def _unknown_option(self) -> str:
        """What the first unknown option may have been meant for; empty where all are known."""
        known = self.options
        for word in self.words if known else ():
            name = word.partition("=")[0]
            if name in ELSEWHERE and name not in known:
                return f"; {name} is asked of a saved model: privlearn {ELSEWHERE[name]} MODEL"
            if name.startswith("--") and len(name) > len("--") and name not in known:
                longer = [own for own in known if own.startswith(name)]
                hint = did_you_mean(name, longer or known)
                return f"; {name} is unknown" + (f": {hint}" if hint else "")
        return ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Parameters
    ----------
    argv : sequence of str or None
        Arguments without the program's name; None takes those of the process.

    Examples
    --------
    >>> main(["predict", "no-such-model.json", "rows.csv"])
    1
    """
    if argv is None:
        _print_any_name()
    words = _join_negative_values(list(sys.argv[1:] if argv is None else argv))
    parser = _parser(words)
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return OK
    return (traced if args.traceback else guarded)(args.run, args)


def _join_negative_values(argv: list[str]) -> list[str]:
    """Let ``--bounds-y -5:5`` work: argparse would take the value for an option.

    Examples
    --------
    >>> _join_negative_values(["fit", "--bounds-y", "-5:5"])
    ['fit', '--bounds-y=-5:5']
    """
    joined: list[str] = []
    for token in argv:
        if joined and joined[-1].startswith("--") and re.match(r"-[\d.]", token):
            joined[-1] += f"={token}"
        else:
            joined.append(token)
    return joined


def _print_any_name() -> None:
    """A column's name must not stop a report after the privacy is spent."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser(words: Collection[str] = COMMANDS) -> argparse.ArgumentParser:
    """All commands; options, and the module behind them, of those that are among the words."""
    parser = Parser(
        prog="privlearn",
        description="Linear models on data about people, with a differential-privacy guarantee.",
        epilog=EPILOG,
        formatter_class=Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"privlearn {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an error comes from")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=Help, allow_abbrev=False)
        if name in words:
            module = import_module(f"privlearn.cli.{name}")
            module.add_options(command)
            command.set_defaults(run=module.run)
            command.words = parser.words = words
            command.options = parser.options = [*command._option_string_actions, "--traceback"]
        command.add_argument(  # so that it may stand at the end as well
            "--traceback", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser
