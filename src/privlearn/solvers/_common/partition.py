"""Rows parted into groups, for methods that fit one model per group and let the models vote.

Every row is in exactly one group, and which one it is depends on no data, so whatever happens to
one row changes one model and no other. Where the number of rows is public, groups are equal parts
of a random order (sizes differ by one at most); where it is private, each row draws its group on
its own: equal parts would move at their cuts with one row more or less, and change every model.
`Releaser.deal` takes the relation from the plan, so no solver can confuse the two.
"""

from __future__ import annotations

import math

import numpy as np

from privlearn._core.mechanisms import LAPLACE
from privlearn._core.plan import Release
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches
from privlearn.solvers._common.row_count import COUNT, count_release

__all__ = ["FEWER", "fewest_rows", "fewest_rows_release", "partition"]

FEWER = 1e-4  # probability that fewer rows are there than `fewest_rows` says


def partition(n: int, groups: int, release: Releaser) -> Batches:
    """The rows of every group: group k has rows[starts[k]:starts[k + 1]].

    Parameters
    ----------
    n : int
        How many rows there are, empty ones included; a secret under `add_remove`.
    groups : int
        Public, or computed from what was released.
    release : Releaser
        Draws the order, and knows whether the number of rows is public.
    """
    return release.deal(n, groups)


def fewest_rows_release() -> Release:
    """The planned release of `fewest_rows`: needed where n is private, and only there."""
    return count_release(LAPLACE)


def fewest_rows(n: int | None, present: int, release: Releaser) -> int:
    """The public number of rows, or one that exceeds the private number rarely; at least 0.

    Dick, Gillenwater and Joseph 2023, section 4.2: n + Lap(1/e) - log(1/(2 eta))/e.

    Parameters
    ----------
    n : int or None
        The public number of rows, None where it is private.
    present : int
        How many rows are not empty; looked at only where n is private.
    release : Releaser
        With `fewest_rows_release` in its plan where n is private.
    """
    if n is not None:
        return n
    noisy = float(release(COUNT, np.full(1, float(present)), clip=1.0)[0])
    return max(0, math.floor(noisy - release.noise_scale(COUNT) * math.log(0.5 / FEWER)))
