"""What the noise will do to a model, said before any data is touched."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import NDArray

__all__ = ["PROBABILITY", "SPREADS_OF_Y", "Forecast", "checked_share", "smallest_epsilon"]

SPREADS_OF_Y, PROBABILITY = "standard deviations of y", "of the probability"
LEAST_EPSILON, MOST_EPSILON = 1e-3, 10.0  # a promise of more means little


@dataclass(frozen=True, eq=False)
class Forecast:
    """How far private fits of one table will differ from each other, as far as public facts tell.

    Attributes
    ----------
    coefficient : array of shape (n_features,)
        Standard deviation of the noise on each coefficient *for independent features that fill
        their bounds*, in units of y per unit of x; in halves of the ranges that are yet to be
        estimated. Collinear and narrow features get more, 10 times as much is not rare, and no
        public fact tells how much: ask the fitted model's `coef_noise()`.
    prediction : float
        Standard deviation, over private fits, of the prediction for a typical row, in `unit`; NaN
        where it is withheld.
    kept : float
        Part of what a model without noise explains that the private one is likely to explain,
        between 0 and 1; it knows the number of coefficients, and nothing of what intervals cost.
    n : int
        Number of rows it speaks of.
    assumes : str
        The data it speaks of.
    relative : float
        The prediction's deviation relative to the standard deviation of the target. Of classes,
        that of the probability, unless `share` is known; of scores (logarithms of means, margins),
        as they are.
    unit : str
        Of `prediction`: that of y where `bounds_y` is declared. Bounds do not tell how far y
        spreads within them, so that `relative` is the surer number. Nothing but
        "standard deviations of y" is known where the range of y is yet to be estimated.
    withheld : str
        Why public facts do not carry a forecast of the prediction; empty where they do.
    counted : str
        What `n` is a number of: "rows", or "people" where they may have several.
    errors : str
        Whether standard errors are to be expected, where they are asked for; empty elsewhere.
    least : float
        The smallest `relative` that is told, where it is withheld for being smaller; else NaN.
    share : float
        Of the rarer class, where a plan was told it: `relative` is then to the standard deviation
        of a label, the root of share (1 - share). Else NaN.
    """

    coefficient: NDArray[np.float64]
    prediction: float
    kept: float
    n: int
    assumes: str
    relative: float = math.nan
    unit: str = ""
    withheld: str = ""
    counted: str = "rows"
    errors: str = ""
    least: float = math.nan
    share: float = math.nan

    def beside(self, share: float) -> Forecast:
        """The forecast of probabilities, relative to what a class of this share leaves to tell."""
        unit = math.sqrt(share * (1.0 - share))
        return replace(self, relative=self.relative / unit, least=self.least / unit, share=share)

    def __str__(self) -> str:
        return "\n".join([self._of_fits(), *self.errors.splitlines()])

    def _of_fits(self) -> str:
        rows, kept = f"with n = {self.n:,} {self.counted}", self._of_what_is_kept()
        last = "(the noise on a coefficient depends on collinearity, which no public fact tells)"
        if self.withheld:
            return f"{rows}: cannot tell, because {self.withheld};\n{kept}\n{last}"
        long = self.unit == "y" or (self.unit == PROBABILITY and not math.isnan(self.share))
        between = "\n" if long else " "
        return (
            f"{rows} the prediction for a typical row varies from fit to fit by\n"
            f"{self._of_predictions()};{between}{kept},\nif {self.assumes}\n{last}"
        )

    def _of_predictions(self) -> str:
        if self.unit == PROBABILITY:
            points = f"{100.0 * self.prediction:.2g} percentage points {self.unit}"
            return f"{points}{self._of_shares()}"
        if self.unit not in ("", "y", SPREADS_OF_Y):
            return f"{self.prediction:.2g} ({self.unit})"
        told = f"{100.0 * self.relative:.2g} % of the target's standard deviation"
        if self.unit != "y":
            return told
        deviation = self.prediction / self.relative
        return (
            f"{told} (about {self.prediction:.2g} in units of y,\n"
            f"if that deviation is {deviation:.3g}: a guess from the declared range)"
        )

    def _of_shares(self) -> str:
        """What points of a probability mean beside the share of a class."""
        if math.isnan(self.share):
            return " (much where a class is rare)"
        low, high = max(self.share - self.prediction, 0.0), min(self.share + self.prediction, 1.0)
        hidden = ", so that it hides the class" if self.prediction >= self.share else ""
        return (
            f", {100.0 * self.relative:.2g} % of a label's standard\ndeviation (a probability of "
            f"{self.share:.2g}, the share of the rarer class, is told as\n{low:.2g} to {high:.2g} "
            f"by about two of three fits{hidden})"
        )

    def _of_what_is_kept(self) -> str:
        much = "next to nothing" if self.kept < 0.05 else f"about {self.kept:.0%}"
        first = " (that is without what intervals cost)" if self.errors else ""
        return f"{much} of what could be explained is kept{first}"


def checked_share(share: object, n_classes: int) -> float:
    """The share of the rarest of so many classes, or a refusal."""
    number = isinstance(share, Real) and not isinstance(share, bool)
    if not (number and 0.0 < float(share) <= 1.0 / n_classes):  # type: ignore[arg-type]
        given = f"{float(share):g}" if number else type(share).__name__  # type: ignore[arg-type]
        raise ValueError(
            f"share_of_rarer_class is {given}, but a number above 0 and up to {1 / n_classes:.3g} "
            f"is needed, from public knowledge: the part of all rows that are of the rarest of "
            f"{n_classes} classes, such as {min(0.04, 0.5 / n_classes):.2g}"
        )
    return float(share)  # type: ignore[arg-type]


def smallest_epsilon(forecast_at: Callable[[float], Forecast], error: float) -> float:
    """The smallest epsilon, within 1 %, whose forecast is at most `error`; refused where none is.

    Parameters
    ----------
    forecast_at : callable
        The forecast of an epsilon; its error falls as epsilon grows.
    error : float
        Wanted, as `Forecast.relative`.
    """
    if isinstance(error, bool) or not isinstance(error, Real) or not 0 < error < math.inf:
        given = f"{error:g}" if isinstance(error, Real) else type(error).__name__
        raise ValueError(
            f"error is {given}, but a number above 0 is needed: the wanted error of a prediction, "
            "relative to the target's standard deviation (of classes: of the probability, unless "
            "share_of_rarer_class is given), such as 0.05"
        )

    def is_enough(found: Forecast) -> bool:  # NaN where nothing is told
        return (found.least if found.withheld else found.relative) <= error

    best = forecast_at(MOST_EPSILON)
    if not is_enough(best):
        reached = f"it is {best.relative:.2g} there"
        if best.withheld:
            reached = "there is no forecast there, because " + best.withheld.replace("\n", " ")
        raise ValueError(
            f"no epsilon up to {MOST_EPSILON:g} brings the forecast error of a prediction down to "
            f"{error:g}: with n = {best.n:,} {best.counted} {reached}; it takes more "
            f"{best.counted} or fewer features"
        )
    low, high = LEAST_EPSILON, MOST_EPSILON
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(forecast_at(middle)) else (middle, high)
    return float(f"{high * 1.005:.3g}") if high < MOST_EPSILON else high
