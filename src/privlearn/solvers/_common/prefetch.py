"""Draw the noise and batches of the next steps while a compiled loop takes the present ones."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent import futures  # loads its threads when they are asked for
from contextvars import copy_context

import numpy as np
from numpy.typing import NDArray

from privlearn._core.releaser import ReleaseBatch, Releaser

__all__ = ["Prefetch"]


class Prefetch:
    """All releases of one name, some at a time, drawn in a thread while the last ones are used.

    Drawing starts at once. The order of draws is that of the batches, so a seeded run does not
    depend on timing; nothing else may be released in between.

    Parameters
    ----------
    release : Releaser
        Charged.
    name : str
        The planned release.
    n : int
        Number of rows.
    person_starts : array or None
        Where each person's rows begin, and the end of all; None where every row is a person.
    clip : float
        What every row's contribution is clipped to.
    count, at_once : int
        Number of releases in all, and at once: by public facts only, since progress shows it.
    """

    def __init__(
        self,
        release: Releaser,
        name: str,
        n: int,
        *,
        person_starts: NDArray[np.int64] | None = None,
        clip: float,
        count: int,
        at_once: int,
    ) -> None:
        context = copy_context()  # whoever watches progress watches the thread, too
        self._count = count
        self._thread = futures.ThreadPoolExecutor(max_workers=1)
        self._draw = lambda: context.run(
            release.steps, name, n, clip=clip, at_most=at_once, person_starts=person_starts
        )
        self._coming: futures.Future[ReleaseBatch] = self._thread.submit(self._draw)

    def __iter__(self) -> Iterator[ReleaseBatch]:
        """Each batch of steps, once."""
        taken = 0
        with self._thread:
            while taken < self._count:
                steps = self._coming.result()
                taken += steps.taken
                if taken < self._count:
                    self._coming = self._thread.submit(self._draw)
                yield steps
