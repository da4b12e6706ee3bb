"""`PrivateSearchCV`: the best of some settings, chosen and fitted under one budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from privlearn._core.certificate import Certificate
from privlearn._core.out_of_memory import BEFORE, no_sizes_told
from privlearn._core.plan import Plan, check_size
from privlearn.exceptions import PrivacyTestFailedError
from privlearn.linear_model.base import PrivateEstimator
from privlearn.model_selection.attempts import Tried
from privlearn.model_selection.grid import OF_THE_SEARCH, Setting, settings_of
from privlearn.model_selection.parts import certified
from privlearn.model_selection.searching import Asked, search

__all__ = ["PrivateSearchCV"]


def _best_has(name: str) -> Callable[[PrivateSearchCV], bool]:
    """Whether the estimator, fitted or not, has a method."""

    def has(search: PrivateSearchCV) -> bool:
        getattr(getattr(search, "best_estimator_", search.estimator), name)
        return True

    return has


class PrivateSearchCV(MetaEstimatorMixin, BaseEstimator):
    """Choose among settings of an estimator by private scores, under one budget for everything.

    A secret number of times a setting is drawn from the grid, fitted to four fifths of the rows
    and scored, with noise, on the others. The best of these fits is kept, with its score, and the
    certificate covers all of it. How many tries there were, which settings they had and how good
    these were is never told, so there is no `cv_results_`. How long `fit` takes tells about the
    number of tries: do not publish that, either.

    Where a grid holds penalties alone and the solver is "moments", one release of moments gives
    all models, and only the choice among them is paid for.

    Parameters
    ----------
    estimator : estimator of privlearn
        Its own `epsilon` and `delta` are not used. A regressor needs `bounds_y`, within which
        settings are compared. Adjacency, `on_invalid` and `max_rows_per_person` are those of the
        estimator.
    grid : dict of lists, or list of such dicts
        Values to try by name of parameter, as in scikit-learn; they must not be chosen by looking
        at the data.
    epsilon, delta : float
        What the whole search promises; delta must be above 0.
    scoring : str or None, default=None
        One of "accuracy", "auc", "log_loss", "brier", or "mse", "mae", "r2". None takes accuracy,
        or the mean squared error, which have the least noise.
    folds : int, default=5
        One of so many equal parts of the rows, or of the people, is for scores.
    ledger : Ledger, path or None, default=None
        What is charged, once, before anything is released.
    dataset : str or None, default=None
        Name of the data set that the ledger charges.
    random_state : int, RandomState, Generator or None, default=None
        For tests only: a reproducible run is not private, and the certificate says so.

    Attributes
    ----------
    best_params_ : dict
        The chosen setting.
    best_estimator_ : estimator
        Fitted with it to the rows that are not for scores. Its certificate is that of the search.
    best_score_ : float
        Its score, with noise, as the metric has it: of "mse", "mae", "log_loss" and "brier" the
        smaller is the better one, and no sign is turned as in scikit-learn's "neg_...". The best of
        noisy scores is optimistic: score the search or its best estimator on other rows
        (`metrics.evaluate`) for a number to report.
    privacy_ : Certificate
        What the whole search promised.

    See Also
    --------
    privlearn.metrics.evaluate : Private scores of one model.
    cross_fit : Models and a score under one budget, every row in both.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LogisticRegression
    >>> from privlearn.model_selection import PrivateSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(20_000, 3))
    >>> y = (X[:, 0] + 0.3 * rng.standard_normal(20_000) > 0).astype(int)
    >>> search = PrivateSearchCV(
    ...     LogisticRegression(bounds_X=(-1, 1)), {"C": [1e-4, 1e-2, 1.0]}, epsilon=2, delta=1e-6
    ... )
    >>> sorted(search.fit(X, y).best_params_)
    ['C']
    >>> search.privacy_.epsilon
    2.0
    """

    def __init__(
        self,
        estimator: Any,  # noqa: ANN401
        grid: Any,  # noqa: ANN401
        *,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        scoring: str | None = None,
        folds: int = 5,
        ledger: Any = None,  # noqa: ANN401
        dataset: str | None = None,
        random_state: Any = None,  # noqa: ANN401
    ) -> None:
        self.estimator = estimator
        self.grid = grid
        self.epsilon = epsilon
        self.delta = delta
        self.scoring = scoring
        self.folds = folds
        self.ledger = ledger
        self.dataset = dataset
        self.random_state = random_state

    best_params_: Setting
    best_estimator_: PrivateEstimator
    best_score_: float
    privacy_: Certificate

    def plan(self, n: int | None = None) -> Plan:
        """What the whole search would release and cost, before any data.

        Parameters
        ----------
        n : int or None, default=None
            Number of rows, or of people.

        Returns
        -------
        Plan
            `str()` it, or ask `.epsilon(delta)` and `.releases`.
        """
        rows, _ = check_size(n, 1)
        return Asked.of(self).plan(rows)

    def fit(self, X: object, y: object, *, groups: object = None) -> Self:
        """Search, and keep the best fit.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            As the estimator takes it.
        y : array-like of shape (n_samples,) or str
            Target, one per row; or the name of the column of X that holds it.
        groups : array-like of shape (n_samples,), str or None, default=None
            Whose each row is, where the estimator has `max_rows_per_person`.

        Returns
        -------
        self
            Fitted, with `best_estimator_` and `privacy_`.
        """
        with no_sizes_told(BEFORE):
            found, certificate = search(Asked.of(self), X, y, groups)
        if found.model is None:
            raise PrivacyTestFailedError(
                "no setting could be fitted and scored: hardly any row is usable, or a planned "
                "test failed. The budget is spent and no model is published. Check first that the "
                "target is what the estimator expects (labels, such as yes and no, need a "
                "classifier, and classes that spell them alike), then that columns are, and that "
                "missing cells are few"
            )
        self._publish(found, certificate)
        return self

    def _publish(self, found: Tried, certificate: Certificate) -> None:
        """Set all fitted attributes at once."""
        model = found.model
        assert model is not None
        known = {name: getattr(self, name) for name in OF_THE_SEARCH}
        certified(model, self.estimator, known, certificate)
        settings = settings_of(self.estimator, self.grid)
        self.__dict__ |= {
            "best_params_": dict(settings[found.setting]),
            "best_estimator_": model,
            "best_score_": found.score,
            "privacy_": certificate,
        }

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels of the best estimator."""
        check_is_fitted(self)
        found: NDArray[Any] = self.best_estimator_.classes_
        return found

    @property
    def n_features_in_(self) -> int:
        """Number of columns of X."""
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("n_features_in_ is there after a fit")
        return int(self.best_estimator_.n_features_in_)

    def _best(self) -> Any:  # noqa: ANN401
        check_is_fitted(self)
        return self.best_estimator_

    @available_if(_best_has("predict"))
    def predict(self, X: object) -> NDArray[Any]:
        """Predict with the best estimator.

        Parameters
        ----------
        X : array-like
            As in its own `predict`.

        Returns
        -------
        array of shape (n_samples,)
            Targets or labels.
        """
        found: NDArray[Any] = self._best().predict(X)
        return found

    @available_if(_best_has("predict_proba"))
    def predict_proba(self, X: object) -> NDArray[np.float64]:
        """Probabilities by the best estimator.

        Parameters
        ----------
        X : array-like
            As in its own `predict_proba`.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of `classes_`.
        """
        found: NDArray[np.float64] = self._best().predict_proba(X)
        return found

    @available_if(_best_has("decision_function"))
    def decision_function(self, X: object) -> NDArray[np.float64]:
        """Scores of rows by the best estimator.

        Parameters
        ----------
        X : array-like
            As in its own `decision_function`.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            As in its own `decision_function`.
        """
        found: NDArray[np.float64] = self._best().decision_function(X)
        return found

    def score(self, X: object, y: object) -> float:
        """Score of the best estimator; it looks at the data without noise.

        Parameters
        ----------
        X, y : array-like
            As in its own `score`.

        Returns
        -------
        float
            Accuracy or R^2, not covered by the certificate.
        """
        return float(self._best().score(X, y))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.input_tags = inner.input_tags
        return tags
