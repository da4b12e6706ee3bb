"""Data and neighbours that stretch a guarantee: corners, spheres, huge values, the empty row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from privlearn._core.problem import Adjacency, Bounds, feature_norm
from privlearn.audit.protocols import Model

__all__ = ["Data", "audited", "base_data", "box_of", "few_rows", "labelled", "neighbourhoods"]

Array = NDArray[np.float64]
Record = tuple[str, Array, Array]  # a story, rows and targets
PARTNERS = 3  # rows that each row is exchanged for, under replace_one


@dataclass(frozen=True, eq=False)
class Data:
    """A data set and what it is."""

    X: Array
    y: Array
    story: str
    place: int | None = None  # of the row in which neighbours differ; None is the last
    groups: NDArray[Any] | None = None  # ids, where people may have several rows; they then differ

    @property
    def named(self) -> dict[str, Any]:
        """What `fit` gets beside X and y."""
        return {} if self.groups is None else {"groups": self.groups}

    @property
    def units(self) -> int:
        """Number of people."""
        return len(self.y) if self.groups is None else len(set(self.groups.tolist()))

    def with_record(self, record: Record, place: int | None) -> Data:
        """One person more, the last, with rows at the end, or the first, with rows everywhere."""
        assert self.groups is not None
        story, X, y = record
        n = len(self.y)
        at = np.full(len(y), n) if place is None else np.linspace(0, n, len(y), dtype=np.int64)
        own = self.groups.max() + 1
        return Data(
            np.insert(self.X, at, X, axis=0),
            np.insert(self.y.astype(np.float64), at, y),
            f"{self.story} and {story}" + ("" if place is None else " coming first"),
            place,
            np.insert(self.groups, at, own),
        )

    def held_in(self, container: str) -> Data:
        """The same with X in another container."""
        return replace(self, X=CONTAINERS[container](self.X), story=f"{self.story} ({container})")


def _single(X: Array) -> object:
    with np.errstate(over="ignore"):
        return X.astype(np.float32)


def _csr(X: Array) -> object:
    from scipy.sparse import csr_array

    return csr_array(X)


def _frame(X: Array) -> object:
    """A data frame; without a library for one, cells of all kinds."""
    try:
        import pandas as pd
    except ImportError:
        return _objects(X)
    return pd.DataFrame({f"x{j}": column for j, column in enumerate(X.T)})


def _objects(X: Array) -> object:
    """Whole numbers as Python's, others as they are, in an array of objects."""
    cells = X.astype(object)
    whole = np.isfinite(X) & (np.rint(X) == X) & (np.abs(X) < 2.0**62)
    cells[whole] = [int(value) for value in X[whole]]
    return cells


CONTAINERS: dict[str, Callable[[Array], Any]] = {
    "float64": lambda X: X,
    "float32": _single,
    "sparse": _csr,
    "columns of a frame": _frame,
    "objects": _objects,
    "not contiguous": lambda X: np.asfortranarray(np.repeat(X, 2, axis=1))[:, ::2],
}


def audited(estimator: Model, **parameters: object) -> Model:
    """A clone with other parameters, and with its labels declared where it reads them off y."""
    from sklearn.base import clone

    copy: Model = clone(estimator)
    if isinstance(getattr(copy, "classes", None), str):
        copy.set_params(classes=[0, 1])
    copy.set_params(**parameters)
    return copy


def labelled(estimator: Model, y: Array, y_low: float, y_high: float) -> Array:
    """Numbers as they are for a regressor; the labels of equal shares of the range for others."""
    classes = getattr(estimator, "classes", None)
    if classes is None:
        return y
    share = (np.clip(y, y_low, y_high) - y_low) / (y_high - y_low)
    place = np.minimum(share * len(classes), len(classes) - 1)
    return np.asarray(classes, dtype=np.float64)[place.astype(int)]


def box_of(estimator: Model, n_features: int) -> tuple[Array, Array, float, float]:
    """Box to draw from: the declared one, or one around the declared norm."""
    bounds = Bounds.declared(
        n_features,
        bounds_X=getattr(estimator, "bounds_X", None),
        bounds_y=getattr(estimator, "bounds_y", None),
        data_norm=getattr(estimator, "data_norm", None),
        fit_intercept=getattr(estimator, "fit_intercept", True),
    )
    reach = bounds.row_norm or 1.0
    low = np.full(n_features, -reach) if bounds.low is None else bounds.low
    high = np.full(n_features, reach) if bounds.high is None else bounds.high
    y_low, y_high = bounds.target or (-1.0, 1.0)
    return low, high, y_low, y_high


def few_rows(estimator: Model, n_features: int, seed: int) -> Data:
    """The smallest of the data sets below."""
    return next(base_data(estimator, n_features, np.random.default_rng(seed)))


def base_data(estimator: Model, n_features: int, rng: Generator) -> Iterator[Data]:
    """The other people's rows: a handful, many inside the box, many in one corner."""
    low, high, y_low, y_high = box_of(estimator, n_features)
    for story, n, more in (("few rows", 7, 2), ("many rows inside", 1_500, 0)):
        X, y = rng.uniform(low, high, (n, n_features)), rng.uniform(y_low, y_high, n)
        ids = _ids(estimator, n, more, rng)
        yield Data(X, labelled(estimator, y, y_low, y_high), story, groups=ids)
    corner = np.broadcast_to(high, (500, n_features)).copy()
    y = labelled(estimator, np.full(500, y_high), y_low, y_high)
    yield Data(corner, y, "many rows in one corner", groups=_ids(estimator, 500, 1, rng))


def most_rows(estimator: Model) -> int | None:
    """How many rows of one person count; None where every row is a person."""
    return getattr(estimator, "max_rows_per_person", None)


def _ids(estimator: Model, n: int, more: int, rng: Generator) -> NDArray[Any] | None:
    """People of one row and of up to as many as count, and `more`, anywhere in the table."""
    most = most_rows(estimator)
    if most is None:
        return None
    sizes = np.resize(np.arange(most + more, 0, -1), n)
    return rng.permutation(np.repeat(np.arange(n), sizes)[:n])


def records(estimator: Model, n_features: int, rng: Generator) -> list[Record]:
    """Records that one person might have: one row many times, more than count, and mixtures."""
    most, found = most_rows(estimator) or 1, rows(estimator, n_features, rng)
    records = list[Record]()
    for k, (story, x, y) in enumerate(found):
        size = (most, most + 2, 1)[k % 3]
        records.append((f"{size} x {story}", np.tile(x, (size, 1)), np.full(size, y)))
    some = [found[i] for i in rng.permutation(len(found))[: most + 1]]
    mixed = np.array([x for _, x, _ in some]), np.array([y for _, _, y in some])
    return [*records, ("rows of all kinds", *mixed)]


def rows(estimator: Model, n_features: int, rng: Generator) -> list[tuple[str, Array, float]]:
    """Rows that one person might have."""
    low, high, y_low, y_high = box_of(estimator, n_features)
    found = [
        ("low corner", low, y_low),
        ("high corner", high, y_high),
        ("high corner, low target", high, y_low),
        ("zeros", np.zeros(n_features), 0.0),
        ("huge", np.full(n_features, 1e308), 1e308),
        ("huge and negative", np.full(n_features, -1e308), -1e308),
        ("huge of both signs", 1e308 * (-1.0) ** np.arange(n_features), -1e308),
        ("far outside", 1e6 * (np.abs(low) + np.abs(high) + 1.0), 1e6 * (abs(y_high) + 1.0)),
        ("tiny", np.full(n_features, 5e-324), 5e-324),
    ]
    for k in range(7):
        corner = np.where(rng.random(n_features) < 0.5, low, high)
        found.append((f"mixed corner {k}", corner, (y_low, y_high)[k % 2]))
    direction = rng.standard_normal(n_features)
    reach = 10.0 * float(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))))
    found.append(("on a large sphere", direction / np.linalg.norm(direction) * reach, y_high))
    axis = np.zeros(n_features)
    axis[0] = reach
    found.append(("along one axis", axis, y_low))
    found.append(("filling the norm", _filling(low, high, estimator), y_high))
    targets = labelled(estimator, np.array([y for _, _, y in found], dtype=float), y_low, y_high)
    return [
        (story, np.asarray(x, dtype=np.float64), float(y))
        for (story, x, _), y in zip(found, targets, strict=True)
    ]


def _filling(low: Array, high: Array, estimator: Model) -> Array:
    """The ends of the narrowest features, until the declared norm is used up.

    No row of that norm is longer once features are scaled by their ends, and the box may not have
    it: what is left for the last feature may be too little for its low end.
    """
    ends = np.where(np.abs(low) > np.abs(high), low, high)
    declared = getattr(estimator, "data_norm", None)
    if declared is None:
        return ends
    left = feature_norm(declared, getattr(estimator, "fit_intercept", True)) ** 2
    for j in np.argsort(np.abs(ends)):
        ends[j] = math.copysign(min(abs(ends[j]), math.sqrt(left)), ends[j])
        left = max(left - ends[j] ** 2, 0.0)
    return ends


def neighbourhoods(
    estimator: Model, n_features: int, rng: Generator, *, at_end: bool = True
) -> Iterator[tuple[Data, list[Data]]]:
    """Data sets, each with neighbours under the estimator's relation.

    The last row differs, or, unless `at_end`, the first, one in the middle and the last in turn.
    The empty row is a row of NaN, for an estimator with on_invalid="drop".
    """
    relation = Adjacency(estimator.adjacency)
    if most_rows(estimator) is not None:
        yield from _of_people(relation, estimator, n_features, rng)
        return
    candidates = rows(estimator, n_features, rng)
    for base in base_data(estimator, n_features, rng):
        for k, candidate in enumerate(candidates):
            place = None if at_end else (len(base.y), 0, len(base.y) // 2)[k % 3]
            chosen = [candidates[i] for i in rng.permutation(len(candidates))[:PARTNERS]]
            with_one = _with_row(base, place, *candidate)
            yield with_one, _neighbours(relation, base, place, chosen)


def _of_people(
    relation: Adjacency, estimator: Model, n_features: int, rng: Generator
) -> Iterator[tuple[Data, list[Data]]]:
    """The same where one person's whole record differs; the empty one is rows of NaN."""
    candidates = records(estimator, n_features, rng)
    for base in base_data(estimator, n_features, rng):
        for k, candidate in enumerate(candidates):
            place = (None, 0)[k % 2]
            others = [candidates[i] for i in rng.permutation(len(candidates))[:PARTNERS]]
            if relation is Adjacency.ZERO_OUT:
                shapes = (1 + k % 3, n_features), 1 + k % 3
                others = [("the empty record", *(np.full(shape, np.nan) for shape in shapes))]
            neighbours = [base.with_record(other, place) for other in others]
            with_one = base.with_record(candidate, place)
            yield with_one, [base] if relation is Adjacency.ADD_REMOVE else neighbours


def _with_row(base: Data, place: int | None, story: str, x: Array, y: float) -> Data:
    at = len(base.y) if place is None else place
    told = f"{base.story} and {story}" + (f" at {at}" if at < len(base.y) else "")
    X, targets = np.insert(base.X, at, x, axis=0), np.insert(base.y.astype(np.float64), at, y)
    return Data(X, targets, told, place)


def _neighbours(
    relation: Adjacency, base: Data, place: int | None, partners: list[tuple[str, Array, float]]
) -> list[Data]:
    if relation is Adjacency.ADD_REMOVE:
        return [base]
    if relation is Adjacency.ZERO_OUT:
        nothing = np.full(base.X.shape[1], np.nan)
        return [_with_row(base, place, "the empty row", nothing, np.nan)]
    return [_with_row(base, place, *partner) for partner in partners]
