"""The `privlearn` command: demo, plan, fit, predict, ledger, verify, audit."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Sequence

from privlearn._core.version import __version__
from privlearn.cli.guard import OK, guarded, traced
from privlearn.cli.help import Help
from privlearn.cli.options import join_negative_values

__all__ = ["main"]

EPILOG = """\
start here:
  privlearn demo
then, with a file of your own that has one row per person and columns of numbers:
  privlearn fit people.csv --target wage --epsilon 1
more accurate, and with columns of text:
  privlearn plan --template people.csv --target wage > schema.toml
  (fill in schema.toml: what is publicly known about each column)
  privlearn fit people.csv --schema schema.toml --epsilon 1 -o wage.json
  privlearn predict wage.json others.csv -o predictions.csv

help on one command: privlearn fit --help
exit status: 0 fine, 1 something in files or schema, 2 wrong usage, 3 over the ledger's budget
"""


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
    parser = _parser()
    args = parser.parse_args(join_negative_values(list(sys.argv[1:] if argv is None else argv)))
    if args.command is None:
        parser.print_help()
        return OK
    return (traced if args.traceback else guarded)(lambda: int(args.run(args)))


def _print_any_name() -> None:
    """A column's name must not stop a report after the privacy is spent."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    from privlearn.cli import audit, demo, fit, ledger, plan, predict, verify

    parser = argparse.ArgumentParser(
        prog="privlearn",
        description="Linear models on data about people, with a differential-privacy guarantee.",
        epilog=EPILOG,
        formatter_class=Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"privlearn {__version__}")
    parser.add_argument("--traceback", action="store_true", help="show where an error comes from")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND")
    for command in (demo, plan, fit, predict, ledger, verify, audit):
        command.add_parser(commands)
    for name in commands.choices:  # so that it may stand at the end as well
        commands.choices[name].add_argument(
            "--traceback", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser
