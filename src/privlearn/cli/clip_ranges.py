"""What a saved model clips when it predicts: the ranges that its fit estimated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn._core.problem import Bounds
from privlearn.cli.encoding import Categories, Column

__all__ = ["Limits"]

Array = NDArray[np.float64]
Range = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Limits:
    """Ranges of features and predictions; None where nothing is clipped.

    Columns with declared bounds are never among them, so features are in the file's units.

    Examples
    --------
    >>> limits = Limits(np.array([0.0, -np.inf]), np.array([9.0, np.inf]), target=(0.0, 100.0))
    >>> limits.range_of(0)
    [0.0, 9.0]
    """

    low: Array | None = None
    high: Array | None = None
    target: Range | None = None

    @classmethod
    def of(cls, clip: Bounds | None) -> Limits:
        """What an estimator clips."""
        return cls() if clip is None else cls(clip.low, clip.high, clip.target)

    def __bool__(self) -> bool:
        return self.low is not None or self.target is not None

    def range_of(self, feature: int) -> list[float] | None:
        """Lowest and highest value of a feature; None where it is not clipped."""
        if self.low is None or self.high is None or np.isinf(self.low[feature]):
            return None
        return [float(end[feature]) + 0.0 for end in (self.low, self.high)]  # no -0 to be read

    def of_predictions(self) -> dict[str, Any]:
        """For the model file."""
        return {} if self.target is None else {"clip_prediction": list(self.target)}

    def of_column(self, column: Column, part: slice) -> dict[str, Any]:
        """For the entry of a column, whose features are at `part`, in the model file."""
        ranges = [self.range_of(feature) for feature in range(part.start, part.stop)]
        if not any(ranges):
            return {}
        if isinstance(column, Categories):
            return {"clip": dict(zip(column.values, ranges, strict=True))}
        return {"clip": ranges[0]}

    @classmethod
    def read(cls, content: dict[str, Any]) -> Limits:
        """From the model file."""
        target = content.get("clip_prediction")
        clipped = any("clip" in entry for entry in content["columns"])
        ranges = [pair for entry in content["columns"] for pair in _ranges(entry)]
        low, high = np.array(ranges, dtype=float).T if clipped else (None, None)
        found = cls(low, high, None if target is None else _ordered(target))
        if not found:
            raise ValueError("a model of this format clips something")
        return found


def _ranges(entry: dict[str, Any]) -> list[Range]:
    """One range per feature of a column."""
    if "categories" in entry:
        clip = entry.get("clip", {})
        return [_ordered(clip.get(value)) for value in entry["categories"]]
    return [_ordered(entry.get("clip"))]


def _ordered(pair: list[float] | None) -> Range:
    low, high = (-np.inf, np.inf) if pair is None else map(float, pair)
    if not low <= high:
        raise ValueError("the lower end comes first")
    return low, high
