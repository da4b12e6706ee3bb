"""Work in threads, for loops that let others run: compiled ones, and NumPy's on large arrays.

Threads live as long as the call: nothing is left that a forked process could wait for. Whoever uses
them must not depend on how the work is divided; sums of integers do not.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import cache
from threading import Thread
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

__all__ = ["blas_in_one_thread", "in_parts", "thread_count"]

T = TypeVar("T")
VARIABLE = "OMP_NUM_THREADS"  # as for the libraries below


@cache
def _libraries() -> ThreadpoolController:
    """Those that are loaded; scikit-learn, which needs this package, has loaded them."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def blas_in_one_thread() -> AbstractContextManager[object]:
    """For products of small matrices between loops in threads.

    Threads of BLAS go on spinning after their work, for longer than a loop takes, and take its
    processors from it.
    """
    return cast(AbstractContextManager[object], _libraries().limit(limits=1, user_api="blas"))


def thread_count() -> int:
    """Threads that may run at once: as the environment says, or one per processor.

    Examples
    --------
    >>> thread_count() >= 1
    True
    """
    asked = os.environ.get(VARIABLE, "")
    if asked.isascii() and asked.isdigit() and int(asked) > 0:
        return int(asked)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_parts(count: int, work: Callable[[int, int], T], *, at_least: int = 1) -> list[T]:
    """Results of `work(first, last)` over consecutive parts of range(count), in order.

    Parameters
    ----------
    count : int
        How many pieces there are.
    work : callable
        Runs in any thread. What it raises is raised here.
    at_least : int, default=1
        Pieces that a thread is worth.

    Examples
    --------
    >>> sum(in_parts(10, lambda first, last: sum(range(first, last))))
    45
    """
    parts = max(1, count // max(at_least, 1))
    parts = min(thread_count(), parts) if parts > 1 else 1
    ends = [count * part // parts for part in range(parts + 1)]
    found: list[T | BaseException | None] = [None] * parts

    def run(part: int) -> None:
        try:
            with np.errstate(all="ignore"):  # NumPy's settings are a thread's own
                found[part] = work(ends[part], ends[part + 1])
        except BaseException as error:
            found[part] = error

    threads, here = [], [0]
    for part in range(1, parts):
        thread = Thread(target=copy_context().run, args=(run, part))
        try:
            thread.start()
        except RuntimeError:  # there is no thread to be had: the result is the same
            here.append(part)
        else:
            threads.append(thread)
    for part in here:
        run(part)
    for thread in threads:
        thread.join()
    for one in found:
        if isinstance(one, BaseException):
            raise one
    return cast(list[T], found)
