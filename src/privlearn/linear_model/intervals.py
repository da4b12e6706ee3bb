"""Standard errors, intervals and tests of coefficients: what models with `intervals=True` offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from privlearn.exceptions import MissingFactError

if TYPE_CHECKING:
    from privlearn.linear_model.summary import Summary
    from privlearn.solvers._common.standard_errors import StandardErrors

__all__ = ["IntervalsMixin", "PredictionIntervals"]

Array = NDArray[np.float64]
OF = ("mean", "row")


@dataclass(kw_only=True, eq=False, repr=False)
class PredictionIntervals:
    """Adds the parameter `intervals` and `predict_interval` to an estimator."""

    intervals: bool = False

    def predict_interval(
        self, X: object, level: float = 0.95, *, of: str = "mean"
    ) -> tuple[Array, Array]:
        """Ends of intervals of predictions; they cost no more privacy.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Rows to predict, clipped where ranges were estimated privately.
        level : float, default=0.95
            Of confidence.
        of : {"mean", "row"}, default="mean"
            Of what is expected of such rows: the mean of y, or the probability of the second class;
            or of one more row's y, whose errors are taken for Gaussian of one variance (squared
            errors with an intercept only). That variance is known with noise: taken is the largest
            that is likely, which is too small in at most a fifth of the cases that `level` leaves
            over (of 95 %, in one fit of 100).

        Returns
        -------
        low, high : arrays of shape (n_samples,)
            NaN where noise leaves too little to tell; a `StandardErrorsWarning` says so, and where
            noise hides how large errors are. Both ends are cut, like predictions, at the range of y
            that was declared, or that the fit estimated: a y beyond an estimated range is not
            covered, however likely it is.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 10_000)[:, None]
        >>> model = LinearRegression(intervals=True, bounds_X=(0, 1), bounds_y=(0, 2))
        >>> low, high = model.fit(X, X[:, 0] + 0.5).predict_interval([[0.5]])
        >>> bool(low[0] < model.predict([[0.5]])[0] < high[0])
        True
        """
        from privlearn.linear_model.summary import checked_level, scores_between

        errors = self._told_errors()
        checked_level(level)
        if of not in OF:
            raise ValueError(f"of={of!r}, but 'mean' or 'row' is needed")
        largest = self._largest_square(errors, level) if of == "row" else 0.0
        low, high = scores_between(self._regressors(X), self, errors, level, largest)
        from privlearn.linear_model.untold import warn_of_hidden_residuals, warn_of_untold_rows

        warn_of_untold_rows(low)
        if of == "row" and errors.residual is not None and not errors.residual.clear(level):
            warn_of_hidden_residuals()
        return self._on_the_scale_of_y(low), self._on_the_scale_of_y(high)

    def _largest_square(self, errors: StandardErrors, level: float) -> float:
        if errors.residual is None:
            raise MissingFactError(
                "of='row' needs the size of errors, which only squared errors with an intercept "
                "tell, and files of models that an early version saved do not hold; ask for "
                "of='mean', or fit again"
            )
        return errors.residual.largest(level)

    def _regressors(self, X: object) -> Any:  # noqa: ANN401
        """What coefficients are multiplied by, row by row."""
        return self._features(X)  # type: ignore[attr-defined]

    def _told_errors(self) -> StandardErrors:
        check_is_fitted(self)
        found: StandardErrors | None = getattr(self, "_errors", None)
        if found is None:
            raise MissingFactError(
                "this fit estimated no standard errors, which take a share of the budget; fit with "
                f"{type(self).__name__}(intervals=True)"
            )
        return found

    def _on_the_scale_of_y(self, scores: Array) -> Array:
        """What scores predict; increasing in them."""
        found: Any = scores
        if hasattr(self, "predict_proba"):
            from scipy.special import expit

            found = expit(scores)
        elif hasattr(self, "_mean_of"):
            found = self._mean_of(scores)
        clip = getattr(self, "_clip_bounds", None)
        return found if clip is None or clip.target is None else np.clip(found, *clip.target)


@dataclass(kw_only=True, eq=False, repr=False)
class IntervalsMixin(PredictionIntervals):
    """Adds `summary` and `contrast`, too, to a linear estimator."""

    def summary(
        self,
        level: float = 0.95,
        *,
        reference: Mapping[str, object] | None = None,
        ratios: bool = False,
    ) -> Summary:
        """Coefficients with standard errors, intervals and p-values; it costs no more privacy.

        An interval is about the minimiser of the same objective over the population, with rows
        clipped to the declared ranges, or to ranges that this fit estimated. It covers the noise
        and the sampling of rows, and assumes nothing about errors but that clipped gradients
        balance where others do. Ends and p-values are Student's, since errors are known with noise:
        with few degrees of freedom where it nearly hides a column, else as good as normal ones.

        Parameters
        ----------
        level : float, default=0.95
            Of confidence.
        reference : mapping or None, default=None
            From columns of a schema that are lists to one category each: ``{"region": "north"}``.
            Coefficients of such a list, which else add up to 0, are then differences to that
            category, which has no line; the intercept includes it.
        ratios : bool, default=False
            Whether to tell odds ratios (`LogisticRegression`) or rate ratios (`PoissonRegressor`):
            exp of coefficients and of the ends of intervals. Standard errors, z and p stay those of
            the logarithms.

        Returns
        -------
        Summary
            `str()` it; `.to_frame()`, `.to_dict()` and its columns hold the numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 20_000).reshape(-1, 2)
        >>> model = LinearRegression(intervals=True, bounds_X=(0, 1), bounds_y=(0, 2))
        >>> table = model.fit(X[:, :1], X[:, 0] + 0.5).summary()
        >>> bool(table.low[0] < table.coef[0] < table.high[0])
        True
        """
        from privlearn.linear_model.references import lines_of
        from privlearn.linear_model.summary import ratio_of, summarised

        errors = self._told_errors()
        ratio = ratio_of(self) if ratios else ""
        lines = lines_of(self, reference, ratios=ratios)
        return summarised(self, errors, level, lines, ratio)

    def contrast(
        self,
        weights: Mapping[str | int, float] | Mapping[str, Mapping[str | int, float]],
        level: float = 0.95,
        *,
        ratios: bool = False,
    ) -> Summary:
        """Sums of coefficients with standard errors, intervals and p-values, at no more privacy.

        Errors of coefficients go together; those of a sum follow from all of what was released.

        Parameters
        ----------
        weights : mapping
            From names of coefficients, as `summary` has them ("(intercept)" is one), or from their
            positions, to what each is multiplied by; or from names of several sums to a mapping
            like that for each.
        level : float, default=0.95
            Of confidence.
        ratios : bool, default=False
            Whether to tell exp of the sums, as in `summary`.

        Returns
        -------
        Summary
            With a line for each sum.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.random.default_rng(0).uniform(0, 1, (20_000, 2))
        >>> model = LinearRegression(intervals=True, bounds_X=(0, 1), bounds_y=(0, 3))
        >>> table = model.fit(X, X @ [1, 2]).contrast({"second - first": {"x1": 1, "x0": -1}})
        >>> table.names, bool(table.low[0] < 1 < table.high[0])
        (('second - first',), True)
        """
        from privlearn.linear_model.lines import contrasts
        from privlearn.linear_model.summary import ratio_of, summarised

        errors = self._told_errors()
        ratio = ratio_of(self) if ratios else ""
        return summarised(self, errors, level, contrasts(self, weights), ratio)
