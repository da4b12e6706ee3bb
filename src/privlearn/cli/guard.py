"""What goes wrong in a command becomes a sentence and an exit status, and quotes no data."""

from __future__ import annotations

import dis
import signal
import sys
import threading
import traceback
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from privlearn.cli.closed import flushed, given_up, tolerant_stderr
from privlearn.cli.errors import CommandError
from privlearn.exceptions import BudgetExceededError, PrivacyError

__all__ = ["guarded", "on_purpose", "traced"]

OK, BAD_INPUT, OVER_BUDGET, INTERRUPTED, TERMINATED = 0, 1, 3, 130, 143
RAISE = dis.opmap["RAISE_VARARGS"]
PARAMETERS = "InvalidParameterError"  # scikit-learn's, about what was given and not about data

REMEDIES: tuple[tuple[type[Exception], str], ...] = (
    (MemoryError, "there is too little memory for this; use fewer columns, categories or rows"),
    (RecursionError, "something is nested too deeply; give a file without such nesting"),
    (
        ArithmeticError,
        "a number is too large or too small to calculate with; check epsilon, delta, bounds and "
        "penalties",
    ),
)


class _Terminated(KeyboardInterrupt):
    """The system asked the command to stop."""


def guarded(run: Callable[[Namespace], int], args: Namespace) -> int:
    """Run a command; what goes wrong is told in a sentence."""
    with tolerant_stderr():
        status = _guarded(run, args)
        try:
            flushed()
        except OSError as error:
            given_up(sys.stdout)
            if isinstance(error, BrokenPipeError):  # the reader left, as `head` does
                return status
            return _complain(f"standard output cannot be written: {error.strerror}", BAD_INPUT)
        return status


def _guarded(run: Callable[[Namespace], int], args: Namespace) -> int:
    try:
        with _plain_warnings(), _tidy_end():
            return run(args)
    except BudgetExceededError as error:
        return _complain(error, OVER_BUDGET)
    except BrokenPipeError:
        return OK  # nothing more to say
    except Exception as error:
        return _complain(_sentence(error), BAD_INPUT)
    except _Terminated:
        return _complain("stopped; what the ledger was charged stays charged", TERMINATED)
    except KeyboardInterrupt:
        return _complain("interrupted; what the ledger was charged stays charged", INTERRUPTED)


def traced(run: Callable[[Namespace], int], args: Namespace) -> int:
    """Run a command and let its own errors through; of others, show the place but not the text."""
    try:
        with tolerant_stderr(), _tidy_end():
            return run(args)
    except Exception as error:
        if on_purpose(error):
            raise
        places = "".join(traceback.format_tb(error.__traceback__))
        kind = type(error).__name__
    print(f"{places}{kind} (its text may quote data and is not shown)", file=sys.stderr)
    return BAD_INPUT


def _sentence(error: Exception) -> str:
    if on_purpose(error):
        return str(error)
    if str(error) == "math domain error":
        error = ArithmeticError()
    for kind, words in REMEDIES:
        if isinstance(error, kind):
            return words
    if isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror or type(error).__name__}"
    return f"unexpected {type(error).__name__}; add --traceback to see where"


def on_purpose(error: BaseException) -> bool:
    """Whether privlearn raised it with a text of its own, which quotes no data.

    Errors of other libraries, and those of the language itself, may quote a cell.

    Examples
    --------
    >>> on_purpose(CommandError("there is no file x.csv"))
    True
    >>> try:
    ...     float("a secret")
    ... except ValueError as error:
    ...     on_purpose(error)
    False
    """
    if isinstance(error, CommandError | PrivacyError) or type(error).__name__ == PARAMETERS:
        return True
    trace = error.__traceback__
    if not isinstance(error, ValueError | TypeError) or trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    ours = str(frame.f_globals.get("__name__", "")).partition(".")[0] == "privlearn"
    return ours and frame.f_code.co_code[trace.tb_lasti] == RAISE


def _complain(error: object, status: int) -> int:
    print(f"privlearn: {error}", file=sys.stderr)
    return status


@contextmanager
def _tidy_end() -> Iterator[None]:
    """Let a request to stop end the command as an interrupt does, so that it tidies up."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise _Terminated

    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Show each warning as one line, without the place in the code."""

    def show(message: Warning | str, *_: object, **__: object) -> None:
        print(f"privlearn: warning: {message}", file=sys.stderr)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        # what libraries tell each other's developers is nothing to the person at the terminal
        for kind in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", kind)
        warnings.showwarning = show
        yield
