"""Feature maps that look at no data: random Fourier features and random projections.

A map that is drawn without the data costs no privacy: it may be seeded, published and used again.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from privlearn._core.docstrings import documented
from privlearn._core.numerics import MAX_COLUMNS
from privlearn._data.cells import as_numbers
from privlearn._data.reading import Features, refuse_not_finite
from privlearn._data.tables import read_features
from privlearn.solvers._common.fourier_map import FourierMap

__all__ = ["KERNELS", "RandomFourierFeatures", "RandomProjection"]

Array = NDArray[np.float64]
AT_ONCE = 256  # rows that are mapped together

# Degrees of freedom of the multivariate t law that is the spectral law of a Matern kernel, twice
# its smoothness (Rasmussen and Williams 2006, eq. 4.15); a Gaussian kernel has infinitely many.
DEGREES_OF_FREEDOM = {"gaussian": math.inf, "matern12": 1.0, "matern32": 3.0, "matern52": 5.0}
KERNELS = ("laplacian", *DEGREES_OF_FREEDOM)


class _DataFreeMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer whose `fit` reads the width and the names of X and nothing else."""

    n_components: int

    @property
    def _n_features_out(self) -> int:
        return self.n_components

    def _draw(self, n_features: int) -> None:
        """Set the fitted attributes."""
        raise NotImplementedError

    def fit(self, X: object, y: object = None) -> Self:
        """Draw the map; of X only the number and the names of its columns are read.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Anything with the right columns; it may have no rows.
        y : None
            Ignored.

        Returns
        -------
        self
            Fitted.
        """
        self._validate_params()
        twin = copy(self)  # so that a fit that fails changes nothing
        twin._draw(read_features(twin, X, reset=True, n_is_public=False).shape[1])
        self.__dict__ = twin.__dict__
        return self

    def _read(self, X: object) -> Features:
        """X as a float array or a CSR array, or a refusal."""
        check_is_fitted(self)
        features = read_features(self, X, reset=False, n_is_public=False)
        refuse_not_finite("X", features, "for a map needs every feature")
        return features

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@documented
@dataclass(eq=False, repr=False)
class RandomFourierFeatures(_DataFreeMap):
    """Features whose inner products approximate a kernel (Rahimi and Recht 2007).

    With M / 2 random frequencies w, the features of a row x are sqrt(2 / M) times the cosines and
    then the sines of w'x. They have length 1 (`data_norm=1` loses nothing, nor does 2**0.5 with an
    intercept), and their inner products are off by about 1 / sqrt(M).

    The map does not depend on the data, so its `random_state` is harmless: unlike that of an
    estimator, it takes nothing from the privacy. Choose the bandwidth without the data, too.

    Parameters
    ----------
    n_components : int
        Number M of features; even, because each frequency gives a cosine and a sine.
    bandwidth : float or array-like of shape (n_features,)
        The length h, or one for each feature.
    random_state : int, RandomState instance or None
        Seed of the frequencies. Setting it takes nothing from the privacy.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, n_components // 2)
        Frequencies in radians per unit of X.

    See Also
    --------
    privlearn.KernelRegressor : Chooses bandwidth and number of features, and fits.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn.kernel_approximation import RandomFourierFeatures
    >>> X = np.array([[0.0, 0.0], [1.0, 0.5]])
    >>> phi = RandomFourierFeatures(20_000, random_state=0).fit_transform(X)
    >>> bool(abs(phi[0] @ phi[1] - np.exp(-1.25 / 2)) < 0.02)
    True
    """

    n_components: int = 1000
    _: KW_ONLY
    kernel: str = "gaussian"
    bandwidth: Any = 1.0  # a number or an array-like
    orthogonal: bool = False
    random_state: Any = None  # as in scikit-learn

    frequencies_: Array = field(init=False)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 2, MAX_COLUMNS, closed="both")],
        "kernel": [StrOptions(set(KERNELS))],
        "bandwidth": [Real, "array-like"],
        "orthogonal": ["boolean"],
        "random_state": ["random_state"],
    }

    def _draw(self, n_features: int) -> None:
        if self.n_components % 2:
            raise ValueError(
                f"n_components={self.n_components} is odd, but each frequency gives a cosine and a "
                f"sine; use {self.n_components - 1} or {self.n_components + 1}"
            )
        if self.orthogonal and self.kernel == "laplacian":
            raise ValueError(
                "orthogonal=True needs a kernel of the Euclidean distance, but kernel='laplacian' "
                "is not one; use kernel='matern12', or orthogonal=False"
            )
        lengths = _lengths(self.bandwidth, n_features)
        shape = (n_features, self.n_components // 2)
        random = check_random_state(self.random_state)
        if self.kernel == "laplacian":
            frequencies = random.standard_cauchy(shape)  # the spectral law of exp(-|d_j|), each
        else:
            normal = _orthogonal(random, *shape) if self.orthogonal else random.normal(size=shape)
            degrees = DEGREES_OF_FREEDOM[self.kernel]
            heavy = 1.0 if math.isinf(degrees) else degrees / random.chisquare(degrees, shape[1])
            frequencies = normal * np.sqrt(heavy)  # normal vectors as draws from the spectral law
        self.frequencies_ = frequencies / lengths[:, None]

    def transform(self, X: object) -> NDArray[np.floating]:
        """Features of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows without NaN or infinity.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            In double precision, or in single precision where X is: then of length at most 1.
        """
        features = self._read(X)
        if features.dtype == np.float32:
            return _single_features(FourierMap(self.frequencies_, by_row=True), features)
        half = self.frequencies_.shape[1]
        out = np.empty((features.shape[0], 2 * half))
        out[:, :half] = safe_sparse_dot(features, self.frequencies_)
        np.sin(out[:, :half], out=out[:, half:])
        np.cos(out[:, :half], out=out[:, :half])
        out *= math.sqrt(1.0 / half)
        return out


@documented
@dataclass(eq=False, repr=False)
class RandomProjection(_DataFreeMap):
    """Project rows on a few random directions (Johnson and Lindenstrauss 1984).

    Entries of the projection are independent normal with variance 1 / n_components, so squared
    lengths and inner products keep their expectation. A row's length may grow, whatever it was
    before: bound rows after the projection, by the `data_norm` of the estimator that comes next,
    and not before. The projection does not depend on the data, so its `random_state` is harmless.

    Parameters
    ----------
    n_components : int
        Number of directions to project on.
    random_state : int, RandomState instance or None
        Seed of the directions. Setting it takes nothing from the privacy.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, one in each row.

    See Also
    --------
    privlearn.feature_selection.KendallSelector : Keeps columns as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from privlearn import LogisticRegression
    >>> from privlearn.kernel_approximation import RandomProjection
    >>> X = np.sin(np.arange(40_000.0)).reshape(1000, 40)
    >>> y = X[:, 0] > 0
    >>> project = RandomProjection(5, random_state=0)
    >>> model = make_pipeline(project, LogisticRegression(data_norm=6.0))
    >>> model.fit(X, y)[-1].coef_.shape
    (1, 5)
    """

    n_components: int
    _: KW_ONLY
    random_state: Any = None  # as in scikit-learn

    components_: Array = field(init=False)

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, MAX_COLUMNS, closed="both")],
        "random_state": ["random_state"],
    }

    def _draw(self, n_features: int) -> None:
        random = check_random_state(self.random_state)
        normal = random.normal(size=(self.n_components, n_features))
        self.components_ = normal / math.sqrt(self.n_components)

    def transform(self, X: object) -> NDArray[np.floating]:
        """Projections of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            Rows without NaN or infinity.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            In the precision of X.
        """
        features = self._read(X)
        return np.asarray(safe_sparse_dot(features, self.components_.T.astype(features.dtype)))


def _single_features(to_features: FourierMap, X: Features) -> NDArray[np.float32]:
    """Features of dense or sparse rows."""
    out = np.empty((X.shape[0], to_features.n_components), dtype=np.float32)
    workspace = to_features.workspace(min(AT_ONCE, X.shape[0]))
    for start in range(0, X.shape[0], AT_ONCE):
        rows = X[start : start + AT_ONCE]
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        to_features.write(dense, out[start : start + AT_ONCE], workspace)
    return out


def _lengths(bandwidth: ArrayLike, n_features: int) -> Array:
    """One bandwidth for each feature."""
    lengths = np.asarray(as_numbers(np.asarray(bandwidth, dtype=object)), dtype=np.float64)
    if lengths.ndim > 0 and lengths.shape != (n_features,):
        shapes = f"{lengths.shape}, but X has {n_features} features; give one number, or an array"
        raise ValueError(f"bandwidth has shape {shapes} of shape ({n_features},)")
    if not (np.isfinite(lengths).all() and (lengths > 0).all()):
        raise ValueError(f"bandwidth={bandwidth!r}, but every length must be finite and above 0")
    return np.broadcast_to(lengths, (n_features,))


def _orthogonal(random: np.random.RandomState, n_features: int, count: int) -> Array:
    """Normal vectors as columns, orthogonal within groups of n_features (Yu et al. 2016)."""
    groups = -(-count // n_features)
    directions, upper = np.linalg.qr(random.normal(size=(groups, n_features, n_features)))
    # With the signs of the diagonal the rotation is uniform (Mezzadri 2007).
    signs = np.where(np.diagonal(upper, axis1=1, axis2=2) < 0, -1.0, 1.0)
    lengths = np.sqrt(random.chisquare(n_features, size=(groups, n_features)))
    directions *= (signs * lengths)[:, None, :]
    return directions.transpose(1, 0, 2).reshape(n_features, -1)[:, :count]
