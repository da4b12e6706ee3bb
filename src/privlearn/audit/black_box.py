"""Black box: what the published model alone tells about one row, for any object with `fit`.

The same fit is made many times on two neighbouring data sets. Whatever tells the two piles of
models apart proves a bound on epsilon and on mu from below (`bounds.py`), with a stated confidence
and no assumption about how the models were made.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn.audit.adversary import Data, audited
from privlearn.audit.bounds import CONFIDENCE, Bound, bound_from_outputs
from privlearn.audit.canaries import Design, Row, worlds
from privlearn.audit.protocols import AuditFailure, Learner, Model
from privlearn.audit.white_box import all_gaussian, promised_mu

__all__ = ["BlackBox", "black_box"]

Array = NDArray[np.float64]
Statistic = Callable[[Any], ArrayLike]
Table = tuple[ArrayLike, ArrayLike] | tuple[ArrayLike, ArrayLike, ArrayLike]
SURE = 1.0 - 1e-4  # confidence that a failure needs
PILOT = 20  # one in so many fits, besides those counted, looks at each of the audit's own data sets
FINALISTS = 3  # of which are looked at four times as long


@dataclass(frozen=True)
class BlackBox:
    """What was promised and what an attack on the published models proved.

    Attributes
    ----------
    epsilon, delta : float
        Promised.
    mu : float or None
        Promised, where it was given or a plan is Gaussian throughout.
    bound : Bound
        Proven from below.
    fits : int
        On each side.
    story : str
        Which data sets.
    """

    epsilon: float
    delta: float
    mu: float | None
    bound: Bound
    fits: int
    story: str

    @property
    def ratio(self) -> float:
        """Proven over promised: mu where it is promised, else epsilon."""
        return self.bound.epsilon / self.epsilon if self.mu is None else self.bound.mu / self.mu

    @property
    def kept(self) -> bool:
        """Whether nothing above the promise was proven."""
        too_much = self.bound.epsilon > self.epsilon
        return not (too_much or (self.mu is not None and self.bound.mu > self.mu))

    def __str__(self) -> str:
        also = "" if self.mu is None else f", mu = {self.mu:.4g}"
        return (
            f"promised: epsilon = {self.epsilon:g} at delta = {self.delta:g}{also}\n"
            f"black box, {self.fits:,} fits on each side: {self.bound}\n"
            f"  {self.story}"
        )


def black_box(
    estimator: Learner,
    *,
    n_features: int | None = None,
    data: tuple[Table, Table] | None = None,
    fits: int = 1_000,
    epsilon: float | None = None,
    delta: float | None = None,
    mu: float | None = None,
    statistic: Statistic | None = None,
    confidence: float = CONFIDENCE,
    raises: bool = True,
) -> BlackBox:
    """Prove a bound on epsilon and mu from what many fits publish on two neighbouring data sets.

    Fits draw their noise from the operating system: a seed is taken out. Nothing is charged.

    Parameters
    ----------
    estimator : object
        Anything with `fit(X, y)`; it is copied.
    n_features : int or None
        For an estimator of privlearn without `data`: number of columns of the audit's own data.
    data : pair of tables (X, y), or (X, y, groups), or None
        Two neighbouring data sets. None: the audit takes the best of a few of its own, chosen on
        fits that are not counted.
    fits : int, default=1000
        On each side. A quarter looks for a direction, a quarter fixes the threshold, half counts.
    epsilon, delta, mu : float or None
        The promise. None: the estimator's own; mu comes from its plan, where all of that is
        Gaussian: elsewhere a cost at one delta bounds no error rates.
    statistic : callable or None
        Maps a fitted object to numbers. None: `coef_` and `intercept_`.
    confidence : float, default=0.95
        Of each bound; both error rates together.
    raises : bool, default=True
        Whether a bound above the promise raises `AuditFailure`. It must also be above it with a
        confidence of 99.99 %; otherwise the report says so (`kept`), and more fits will tell.

    Returns
    -------
    BlackBox
        Promised and proven.

    Examples
    --------
    >>> from privlearn import Ridge, audit
    >>> model = Ridge(bounds_X=(0, 1), bounds_y=(0, 1), solver="moments")
    >>> audit.black_box(model, n_features=1, fits=40, confidence=0.999).kept
    True
    """
    model = _prepared(estimator)
    read = _published if statistic is None else statistic
    if data is not None:
        tables = _given(*data[0]), _given(*data[1])
        story = "data that were given"
    elif n_features is not None and isinstance(model, Model):
        design = _chosen(model, n_features, fits, read)
        tables = worlds(model, n_features, design)
        story = str(design)
    else:
        raise ValueError(
            "n_features and data are both missing; pass n_features for an estimator of privlearn, "
            "or data=((X, y), (X2, y2)), two neighbouring data sets, for any object with fit"
        )
    with_canary, without = outputs(model, *tables, fits, read)
    promise = _promise(model, tables[0], epsilon, delta, mu)
    bound = bound_from_outputs(with_canary, without, delta=promise[1], confidence=confidence)
    report = BlackBox(*promise, bound, fits, story)
    if raises and not report.kept:
        surely = bound_from_outputs(with_canary, without, delta=promise[1], confidence=SURE)
        if replace(report, bound=surely).kept:
            return report  # one false alarm in twenty is too many to raise an error for
        raise AuditFailure(f"more was proven than promised: {report}")
    return report


def _given(X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Data:
    ids = None if groups is None else np.asarray(groups)
    return Data(np.asarray(X), np.asarray(y), "given", groups=ids)


def _prepared(estimator: Learner) -> Learner:
    """A copy without a seed and without a ledger; one of privlearn also takes the empty row."""
    if not isinstance(estimator, Model):
        return copy.deepcopy(estimator)
    return audited(estimator, on_invalid="drop", random_state=None, ledger=None)


def _published(fitted: object) -> ArrayLike:
    if not hasattr(fitted, "coef_"):
        raise ValueError("the fitted object has no coef_; pass statistic=, which reads numbers off")
    parts = [np.ravel(fitted.coef_), np.ravel(getattr(fitted, "intercept_", ()))]
    return np.concatenate(parts)


def outputs(
    model: Learner, data: Data, other: Data, fits: int, read: Statistic = _published
) -> tuple[Array, Array]:
    """What `fits` fits publish on each of two data sets, in turns."""
    found: tuple[list[Array], list[Array]] = ([], [])
    for _ in range(fits):
        for pile, table in zip(found, (data, other), strict=True):
            model.fit(table.X, table.y, **table.named)
            pile.append(np.array(read(model), dtype=np.float64).ravel())
    return np.array(found[0]), np.array(found[1])


def _promise(
    model: Learner, data: Data, epsilon: float | None, delta: float | None, mu: float | None
) -> tuple[float, float, float | None]:
    epsilon = getattr(model, "epsilon", None) if epsilon is None else epsilon
    if epsilon is None:
        raise ValueError("epsilon is missing and the object has none; pass what it promises")
    delta = float(getattr(model, "delta", 0.0) if delta is None else delta)
    if mu is None and delta > 0 and isinstance(model, Model):
        plan = model.plan(n=data.units, n_features=data.X.shape[1])
        mu = promised_mu(plan, delta) if all_gaussian(plan) else None
    return float(epsilon), delta, mu


def _chosen(model: Model, n_features: int, fits: int, read: Statistic) -> Design:
    """The design that a few fits tell apart best; the best three get more fits to decide."""

    def seen(design: Design, few: int) -> float:
        piles = outputs(model, *worlds(model, n_features, design), few, read)
        return bound_from_outputs(*piles, delta=0.0, confidence=0.0).mu

    few = max(16, fits // PILOT)
    ranked = sorted(_designs(n_features), key=lambda d: seen(d, few), reverse=True)
    return max(ranked[:FINALISTS], key=lambda design: seen(design, 4 * few))


def _designs(n_features: int) -> Iterator[Design]:
    """One loud row beside few or many others, who are in the middle or contradict it."""
    canary = Row((1.0,) * n_features, 1.0)
    partner = replace(canary, target=-1.0)
    middle = Row((0.0,) * n_features, 0.0)
    for n in (4, 40, 400):
        yield Design(canary, partner, n, middle, 0.01, 0.01)
        for target in (-1.0, -0.5):
            yield Design(canary, partner, n, replace(canary, target=target))
