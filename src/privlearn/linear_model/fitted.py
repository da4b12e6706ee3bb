"""What can be asked of a fitted model: its noise, its names, its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

__all__ = ["FittedModel"]

NEEDS_ERRORS = ("summary", "contrast", "predict_interval")  # for which standard errors are needed


class FittedModel:
    """Adds what looks at fitted attributes alone, never at data."""

    _coef_noise: NDArray[np.float64]

    if not TYPE_CHECKING:  # to which a misspelt name would be known, too

        def __getattr__(self, name: str) -> NoReturn:
            """Say what is missing, and for standard errors where they are told."""
            if name in NEEDS_ERRORS:
                kernels = ", KernelRegressor" if name == "predict_interval" else ""
                raise AttributeError(
                    f"{type(self).__name__} tells no standard errors: fit LinearRegression, Ridge"
                    f"{kernels}, PoissonRegressor or LogisticRegression (two classes) with "
                    f"intervals=True for {name}()"
                )
            object.__getattribute__(self, name)  # again: properties have errors of their own
            raise AttributeError(name)

    def _warn_of_untold(self) -> None:
        """Say after a fit which columns tell nothing, and which standard errors noise hides."""
        if getattr(self, "schema", None) is not None:
            from privlearn.linear_model.untold import warn_of_unseen_values

            warn_of_unseen_values(self)
        if hasattr(self, "_errors"):
            from privlearn.linear_model.untold import warn_of_untold_coefficients

            warn_of_untold_coefficients(self)

    @property
    def feature_names_out_(self) -> NDArray[np.object_]:
        """Names of the features that rows become; only where X has column names."""
        encoding = getattr(self, "_encoding", None)
        names = getattr(self, "feature_names_in_", None) if encoding is None else encoding.features
        if names is None:
            raise AttributeError("feature_names_out_ is only there after a fit of named columns")
        return np.array(names, dtype=object)

    @property
    def bounds_X_(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # noqa: N802
        """Ends of the features to which predictions clip X; only where they were estimated.

        Released with noise, so they may be looked at and passed on.
        """
        reach = getattr(self, "_clip_bounds", None)
        if reach is None or reach.low is None:
            raise AttributeError("bounds_X_ is only there after a fit that estimated it privately")
        return reach.low, reach.high

    def coef_noise(self) -> NDArray[np.float64]:
        """Standard deviations of the privacy noise on `coef_`, to first order.

        They follow from what was released and from the known noise, and cost no privacy: how far
        another fit of the same table would be off, but for the sampling of its rows and for
        shrinkage towards 0. Ends of ranges that were estimated privately differ from fit to fit,
        too: "cd" counts what that does, as far as released histograms tell, "moments" does not.
        Where columns have long tails and the budget is small the spread may be larger all the same;
        of columns that others nearly tell it may be smaller.

        Solvers "moments" and "cd" tell it (squared errors; "cd" also of two classes, with
        ``block="all"`` and at most 200 columns), without an l1 penalty or limits on coefficients.

        Returns
        -------
        array of the shape of coef_
            NaN for features that were not selected, and for amounts that most rows have none of and
            whose estimated range may be far wider or narrower in another fit.

        Examples
        --------
        >>> import numpy as np
        >>> from privlearn import LinearRegression
        >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
        >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1))
        >>> bool((model.fit(X, X[:, 0]).coef_noise() > 0).all())
        True
        """
        check_is_fitted(self)
        if not hasattr(self, "_coef_noise"):
            raise AttributeError(
                "coef_noise() is not known of this fit: solver='moments' tells it, and solver='cd' "
                "of numbers and two classes, without an l1 penalty or limits on coefficients "
                "(older files do not hold it)"
            )
        return self._coef_noise.copy()
