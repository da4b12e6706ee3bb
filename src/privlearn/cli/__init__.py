"""The `privlearn` command: demo, plan, fit, predict, ledger, audit."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from privlearn._version import __version__
from privlearn.cli.errors import CommandError
from privlearn.cli.help import Help
from privlearn.cli.options import join_negative_values
from privlearn.exceptions import BudgetExceeded, PrivacyError

__all__ = ["main"]

OK, BAD_INPUT, OVER_BUDGET, INTERRUPTED = 0, 1, 3, 130

EPILOG = """\
start here:
  privlearn demo
then, with a file of your own that has one row per person and columns of numbers:
  privlearn fit people.csv --target wage --epsilon 1
more accurate, and with columns of text:
  privlearn plan --template people.csv --target wage > facts.toml
  (fill in facts.toml: what is publicly known about each column)
  privlearn fit people.csv --facts facts.toml --epsilon 1 -o wage.json
  privlearn predict wage.json others.csv -o predictions.csv

help on one command: privlearn fit --help
exit status: 0 fine, 1 something in the files or facts, 2 wrong usage, 3 over the ledger's budget
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
    parser = _parser()
    args = parser.parse_args(join_negative_values(list(sys.argv[1:] if argv is None else argv)))
    if args.command is None:
        parser.print_help()
        return OK
    if args.traceback:
        return int(args.run(args))
    return _guarded(args)


def _parser() -> argparse.ArgumentParser:
    from privlearn.cli import audit, demo, fit, ledger, plan, predict

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
    for command in (demo, plan, fit, predict, ledger, audit):
        command.add_parser(commands)
    for name in commands.choices:  # so that it may stand at the end as well
        commands.choices[name].add_argument(
            "--traceback", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )
    return parser


def _guarded(args: argparse.Namespace) -> int:
    """Run a command; what goes wrong on purpose becomes a sentence and a status."""
    try:
        with _plain_warnings():
            status = int(args.run(args))
        sys.stdout.flush()
        return status
    except BudgetExceeded as error:
        return _complain(error, OVER_BUDGET)
    except (CommandError, PrivacyError, ValueError, TypeError) as error:
        return _complain(error, BAD_INPUT)
    except BrokenPipeError:
        # The reader left, as `head` does: nothing more to say, and nothing to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or type(error).__name__}", BAD_INPUT)
    except Exception as error:  # its text might quote data, so it is shown on demand only
        kind = type(error).__name__
        return _complain(f"unexpected {kind}; add --traceback to see where", BAD_INPUT)
    except KeyboardInterrupt:
        return _complain("interrupted; what the ledger was charged stays charged", INTERRUPTED)


def _complain(error: object, status: int) -> int:
    print(f"privlearn: {error}", file=sys.stderr)
    return status


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show each warning as one line, without the place in the code."""

    def show(message: Warning | str, *_: Any, **__: Any) -> None:  # noqa: ANN401
        print(f"privlearn: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        # what libraries tell each other's developers is nothing to the person at the terminal
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = show
        yield
