"""Neighbours of which one row, the canary, is as loud as a guarantee allows.

What makes a row loud depends on the solver: a corner of the box, the end of the target's range, a
label that everybody around contradicts, being the only one, or being unlike many others. A `Design`
says all of this in a few numbers, so that a search can try many and change the best of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privlearn._core.problem import Adjacency
from privlearn.audit.adversary import Data, box_of, labelled, most_rows
from privlearn.audit.protocols import Model

__all__ = ["SIZES", "Design", "Row", "loudest", "worlds"]

Array = NDArray[np.float64]
SIZES = (4_000, 400, 4)  # other people
SPREADS = (0.0, 0.01, 0.1, 0.5)
FAR = 1e3  # out of every box and norm, which the library then clips


@dataclass(frozen=True)
class Row:
    """A row in units of the box: every number in [-1, 1], times `stretch`.

    Attributes
    ----------
    place : tuple of float
        Features; 0 is the middle of the box.
    target : float
        -1 is the low end of the target's range, or the first label; 1 the other end.
    stretch : float
        1 stays in the box.
    """

    place: tuple[float, ...]
    target: float
    stretch: float = 1.0


@dataclass(frozen=True)
class Design:
    """A canary, what it is exchanged for, and everybody else.

    Attributes
    ----------
    canary, partner : Row
        `partner` is used under `replace_one` only.
    n : int
        Number of other people.
    centre : Row
        Around which the others are.
    spread, wobble : float
        How far their features, and their targets, are from it.
    """

    canary: Row
    partner: Row
    n: int
    centre: Row
    spread: float = 0.0
    wobble: float = 0.0

    def __str__(self) -> str:
        place = ", ".join(f"{self.canary.stretch * v:.2g}" for v in self.canary.place)
        return (
            f"canary at ({place}), target {self.canary.target:+.2g}, beside {self.n} others "
            f"with targets around {self.centre.target:+.2g}, in units of half the ranges"
        )


def worlds(estimator: Model, n_features: int, design: Design) -> tuple[Data, Data]:
    """Both data sets of a design, neighbours under the estimator's relation; the last row differs.

    Where people may have several rows, the last person has the canary as often as may be. The empty
    row is a row of NaN, for an estimator with on_invalid="drop".
    """
    box = box_of(estimator, n_features)
    signs = (-1.0) ** (np.arange(design.n)[:, None] // 2 ** np.arange(n_features + 1))
    X = np.array(design.centre.place) + design.spread * signs[:, 1:]
    y = np.asarray(design.centre.target + design.wobble * signs[:, 0], dtype=np.float64)
    others = _in_units(estimator, box, design.centre.stretch * X, y, str(design))
    data = _with(estimator, box, others, design.canary)
    relation = Adjacency(estimator.adjacency)
    if relation is Adjacency.ADD_REMOVE:
        return data, others
    if relation is Adjacency.REPLACE_ONE:
        return data, _with(estimator, box, others, design.partner)
    nothing = np.full((len(data.y) - design.n, n_features), np.nan)
    y = np.append(others.y, np.full(len(nothing), np.nan))
    return data, replace(data, X=np.vstack([others.X, nothing]), y=y)


Box = tuple[Array, Array, float, float]


def _in_units(estimator: Model, box: Box, X: Array, y: Array, story: str) -> Data:
    low, high, y_low, y_high = box
    targets = (y_low + y_high) / 2 + np.clip(y, -1.0, 1.0) * (y_high - y_low) / 2
    features = (low + high) / 2 + X * (high - low) / 2
    ids = None if most_rows(estimator) is None else np.arange(len(y))
    return Data(features, labelled(estimator, targets, y_low, y_high), story, groups=ids)


def _with(estimator: Model, box: Box, others: Data, row: Row) -> Data:
    place = row.stretch * np.array([row.place])
    one = _in_units(estimator, box, place, np.array([row.target]), others.story)
    if others.groups is not None:
        times = most_rows(estimator) or 1
        return others.with_record(
            ("the canary", np.repeat(one.X, times, 0), np.repeat(one.y, times)), None
        )
    return Data(np.vstack([others.X, one.X]), np.append(others.y, one.y), others.story)


def loudest(
    score: Callable[[Design], float], n_features: int, rng: Generator, tries: int
) -> list[Design]:
    """The best designs of a search, the best first: half of the tries drawn, half by changing.

    Parameters
    ----------
    score : callable
        How loud a design is; the same for the same design.
    n_features : int
        Number of columns.
    rng : Generator
        For what is drawn.
    tries : int
        How many designs are scored.
    """
    found: dict[Design, float] = {}
    quiet = list(_quiet(n_features))
    for k in range(tries):
        design = quiet[k] if k < len(quiet) else _drawn(n_features, rng, k)
        if k >= len(quiet) and 2 * k >= tries:
            ranked = sorted(found, key=found.__getitem__, reverse=True)
            design = _changed(ranked[int(rng.integers(min(3, len(ranked))))], rng)
        found[design] = score(design)
    return sorted(found, key=found.__getitem__, reverse=True)


def _quiet(n_features: int) -> Iterator[Design]:
    """Others who hardly say anything, and a canary at the end of everything."""
    middle = Row((0.0,) * n_features, 0.0)
    canary = Row((1.0,) * n_features, 1.0)
    for n in SIZES:
        for spread in (0.0, 0.01):
            yield Design(canary, replace(canary, target=-1.0), n, middle, spread, 0.01)
    yield Design(canary, Row((-1.0,) * n_features, 1.0), SIZES[-1], middle, 0.01, 0.01)


def _drawn(n_features: int, rng: Generator, k: int) -> Design:
    """A design that has worked for some solver: corners, opposite targets, quiet others."""
    corner = tuple(rng.choice([-1.0, 1.0], n_features).tolist())
    if k % 4 == 3:
        corner = tuple(np.eye(n_features)[int(rng.integers(n_features))].tolist())
    target = float(rng.choice([-1.0, 1.0]))
    canary = Row(corner, target, float(rng.choice([1.0, FAR])))
    mirrored = replace(canary, place=tuple(-v for v in corner))
    partner = [replace(canary, target=-target), mirrored, replace(mirrored, target=-target)][k % 3]
    middle = Row((0.0,) * n_features, 0.0)
    beside = replace(canary, target=-target)
    return Design(
        canary=canary,
        partner=partner,
        n=SIZES[k % len(SIZES)],
        centre=[middle, replace(middle, target=-target), beside][int(rng.integers(3))],
        spread=float(rng.choice(SPREADS)),
        wobble=float(rng.choice(SPREADS)),
    )


def _changed(design: Design, rng: Generator) -> Design:
    """The same with one thing different."""
    what = int(rng.integers(6))
    if what == 0:
        return replace(design, n=int(rng.choice(SIZES)))
    if what == 1:
        return replace(design, spread=float(rng.choice(SPREADS)))
    if what == 2:
        return replace(design, wobble=float(rng.choice(SPREADS)))
    part = ("canary", "partner", "centre")[what - 3]
    row: Row = getattr(design, part)
    return replace(design, **{part: _moved(row, rng)})  # type: ignore[arg-type]


def _moved(row: Row, rng: Generator) -> Row:
    kind = int(rng.integers(3))
    if kind == 0:
        return replace(row, target=float(rng.choice([-1.0, -0.5, 0.0, 0.5, 1.0])))
    if kind == 1:
        return replace(row, stretch=1.0 if row.stretch > 1.0 else FAR)
    place = np.array(row.place)
    place[int(rng.integers(len(place)))] = rng.choice([-1.0, -0.3, 0.0, 0.3, 1.0])
    return replace(row, place=tuple(place.tolist()))
