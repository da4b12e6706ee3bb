"""Intervals of predictions, beside them in the file."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privlearn.cli.errors import CommandError
from privlearn.cli.model_file import SavedModel
from privlearn.cli.options import number

__all__ = ["Intervals", "add_intervals", "asked_intervals"]

NEEDED = ("of", "level")


@dataclass(frozen=True)
class Intervals:
    """Which intervals are wanted: of what is expected of such rows, or of one more row."""

    level: float = 0.95
    of: str = "mean"

    def names(self, target: str, classes: object) -> list[str]:
        """Of the two columns; of classes the probability of the second has them."""
        labels = None if classes is None else list(classes)  # type: ignore[call-overload]
        what = target if labels is None else f"probability_{labels[1]}"
        return [f"lower_{what}", f"upper_{what}"]

    def ends(self, estimator: Any, features: NDArray[np.float64]) -> NDArray[np.float64]:  # noqa: ANN401
        """Lower and upper ends of each row, as columns; NaN where noise leaves nothing to tell."""
        if not len(features):
            return np.empty((0, 2))
        return np.column_stack(estimator.predict_interval(features, self.level, of=self.of))


def add_intervals(parser: argparse.ArgumentParser) -> None:
    """Declare what predictions may have beside them."""
    group = parser.add_argument_group("intervals")
    add = group.add_argument
    add(
        "--intervals",
        action="store_true",
        help="add a lower and an upper end to each prediction, for models that were fitted with "
        "--intervals; it costs no privacy",
    )
    add(
        "--of",
        choices=("mean", "row"),
        help="of what is expected of such rows (mean, the default), or of one more row's value",
    )
    add("--level", type=number, metavar="P", help="of confidence (default: 0.95)")


def asked_intervals(args: argparse.Namespace, model: SavedModel) -> Intervals | None:
    """What was asked for, if the model can tell it."""
    given = {name: getattr(args, name) for name in NEEDED if getattr(args, name) is not None}
    if not args.intervals:
        if given:
            raise CommandError(f"--{next(iter(given))} is about intervals; add --intervals")
        return None
    if model.content.values.get("errors") is None:
        raise CommandError(
            f"the model {args.model} holds no standard errors, so there are no intervals; fit it "
            "with --intervals, which takes a share of that fit's budget"
        )
    if not 0.0 < given.get("level", 0.5) < 1.0:
        raise CommandError(f"--level {given['level']:g} is no level; give one such as 0.95")
    return Intervals(**given)
