"""Poisson regression with a privacy guarantee."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags

from privlearn._core.docstrings import documented
from privlearn._core.problem import Bounds, Problem
from privlearn._core.users_line import users_line
from privlearn._data.bounded import Table
from privlearn._data.named_cells import with_target
from privlearn._data.tables import read_table
from privlearn._data.targets import called, target_numbers
from privlearn._objective.losses import Loss, Poisson
from privlearn._objective.losses.poisson import SPAN
from privlearn._objective.penalties import Penalty
from privlearn.linear_model.intervals import IntervalsMixin
from privlearn.linear_model.penalty_parameters import weight
from privlearn.linear_model.regressor import PrivateLinearRegressor
from privlearn.linear_model.scoring import d_squared
from privlearn.solvers import Solution

__all__ = ["PoissonRegressor"]

MUCH = 0.01  # as a penalty on rate ratios: of a rare 0/1 column already some per cent
PULLED = (
    "intervals=True with alpha={:g}: intervals, like coefficients, will be of rate ratios that the "
    "penalty has pulled towards 1, those of 0/1 columns often by half or more, and no epsilon "
    "undoes that; alpha=0, on the command line --alpha 0, tells them as they are"
)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PoissonRegressor(IntervalsMixin, PrivateLinearRegressor):
    """Regression for counts, whose mean is exp(Xw), as in scikit-learn.

    It minimises the mean of exp(Xw) - y Xw over rows, plus alpha / 2 |w|^2. Means lie between the
    upper end of `bounds_y` and exp(-20) = 2e-9 of it, in training and in predictions: beyond these
    ends the loss goes on as a line, so that it stays convex and no row has a steep slope.

    Counts of different spans (days under risk, inhabitants) need their exposure. There is no
    argument for it, since a row could then count for more than its bounds say: give its logarithm
    as a column with a declared range, ``X.assign(log_days=np.log(X["days"]))`` with
    ``schema={"log_days": Number(0, 6), ...}``, and a small alpha, 0.01 say, for the penalty is on
    its coefficient as well. Where counts grow in proportion, that comes out near 1; predict rates
    by giving every row the same.

    Parameters
    ----------
    alpha : float
        Weight of the penalty, in the units of the X that is given. Where ranges are estimated
        privately, the penalty is that of features divided by their root mean squares, as after
        scikit-learn's `StandardScaler`.
    bounds_y : pair (low, high) or None
        Enforced range of the counts, from public knowledge, with low at least 0. None estimates it
        privately, with 10 % of the budget and up to 30 % where there are few rows.
    on_invalid : {"raise", "drop"}
        What happens to rows with NaN, infinity or a negative count: an error before anything is
        spent, or they count as empty rows, and the guarantee covers them. The mean of the objective
        counts them, too, where the number of rows is public.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients: by how much the logarithm of the mean grows per unit of a feature.
    intercept_ : float
        The logarithm of the mean where all features are 0; 0.0 with ``fit_intercept=False``.
    bounds_y_ : pair (low, high)
        Range of the counts, declared or released with noise; no prediction is above it.

    See Also
    --------
    LinearRegression : Least squares, for targets of any sign.
    LogisticRegression : For targets of two kinds, such as none and some.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import PoissonRegressor
    >>> X = np.linspace(0, 1, 20_000)[:, None]
    >>> y = np.random.default_rng(0).poisson(np.exp(2 * X[:, 0]))
    >>> model = PoissonRegressor(alpha=0, bounds_X=(0, 1), bounds_y=(0, 15)).fit(X, y)
    >>> bool(abs(model.predict([[0.5]])[0] - np.exp(1)) < 0.5)
    True
    """

    alpha: float = 1.0

    def _loss(self, n_classes: int) -> Loss:
        return Poisson()

    def _advise(self) -> None:
        if self.intervals and weight("alpha", self.alpha) >= MUCH:
            warnings.warn(PULLED.format(self.alpha), UserWarning, stacklevel=users_line())

    def _penalty(self) -> Penalty:
        return Penalty(l2=weight("alpha", self.alpha), per_row=True)

    def _problem(self, n: int | None, n_features: int, n_classes: int) -> Problem:
        problem = super()._problem(n, n_features, n_classes)
        low, high = problem.bounds.target or (0.0, 1.0)
        if low < 0.0:
            raise ValueError(
                f"bounds_y=({low:g}, {high:g}), but counts are never negative; give a lower end of "
                "at least 0, or use LinearRegression for targets of any sign"
            )
        return problem

    def _read(self, X: object, y: object, labels: object = None, *, reset: bool = True) -> Table:
        counts = partial(_counts, strict=self.on_invalid == "raise")
        return read_table(self, X, y, encode=counts, reset=reset)

    @documented
    def predict(self, X: object) -> NDArray[np.float64]:
        """Predict the mean count.

        It is at most the upper end of the range of y, and at least exp(-20) of that. X is clipped
        where its ranges were estimated privately.

        Returns
        -------
        array of shape (n_samples,)
            Predicted means, above 0.
        """
        return self._mean_of(self._scores(X))

    def _mean_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        _, largest = self.bounds_y_
        return np.asarray(largest * np.exp(np.clip(scores - math.log(largest), -SPAN, 0.0)))

    @documented
    def score(self, X: object, y: object, sample_weight: object = None) -> float:
        """Share of the deviance that the predictions explain: 1 is perfect, 0 is the mean of y.

        It looks at the data without noise, so what it returns is not covered by the certificate.

        Returns
        -------
        float
            D^2, as in scikit-learn.
        """
        X, y = with_target(X, y)
        return d_squared(self.predict(X), _counts(y), sample_weight)

    def _publish(self, solution: Solution) -> None:
        """Predictions end where training did, wherever that end came from."""
        found = solution.clip_bounds or Bounds(None, None, None, None)
        ends = self.bounds_y if found.target is None else found.target
        if ends is None:
            raise ValueError(
                "'clip_y' is missing; give what to_dict of a PoissonRegressor returned"
            )
        low, high = (float(end) for end in ends)
        target = max(low, 0.0) + 0.0, max(high, -low)  # where it was estimated around 0
        super()._publish(replace(solution, clip_bounds=replace(found, target=target)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _counts(y: object, *, strict: bool = True) -> NDArray[np.float64]:
    """Y as numbers of at least 0, NaN for others; `strict` refuses those."""
    found = target_numbers(y, strict=strict)
    negative = found < 0.0
    if strict and negative.any():
        raise ValueError(
            f"{called(y)} holds negative numbers, but counts of at least 0 are needed; clean those "
            "rows, or pass on_invalid='drop' to fit: they then are empty rows, and the guarantee "
            "covers them"
        )
    return np.where(negative, np.nan, found)
