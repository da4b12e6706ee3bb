"""The privacy noise of coefficients, where a solver can tell it without further releases."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

__all__ = ["CoefNoiseMixin"]


class CoefNoiseMixin:
    """Adds `coef_noise`."""

    _coef_noise: NDArray[np.float64]

    def coef_noise(self) -> NDArray[np.float64]:
        """Standard deviations of the privacy noise on `coef_`, to first order.

        They follow from what was released and from the known noise, and cost no privacy: how far
        another fit of the same table would be off, but for the sampling of its rows, for shrinkage
        towards 0, and for ranges that were estimated privately. Where columns have long tails those
        make most of the difference, which may be several times what is told here.

        Solvers "moments" and "cd" tell it (squared errors; "cd" also of two classes, with
        ``block="all"`` and at most 200 columns), without an l1 penalty or limits on coefficients.

        Returns
        -------
        array of the shape of coef_
            NaN for features that were not selected.

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
                "of numbers and two classes, without an l1 penalty, limits on coefficients or a "
                "model that was read from a file"
            )
        return self._coef_noise.copy()
