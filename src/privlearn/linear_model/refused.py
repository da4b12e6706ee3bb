"""Arguments of `fit` that it does not take, and what to do in their place."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING

from privlearn._core.close_names import did_you_mean
from privlearn.exceptions import UnsupportedCombinationError

if TYPE_CHECKING:
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["refuse_arguments"]

# What others call the logarithm, or the size, of what counts were counted in.
COUNTED_IN = ("exposure", "offset")
OF_COUNTS = (
    "for a rate give the logarithm of the exposure as a column of X with a declared range, such as "
    'log_days with schema={"log_days": Number(0, 6)}, and a small alpha: its coefficient is then '
    "learned, and near 1 where counts grow in proportion"
)
OF_OTHERS = {
    "offset": "subtract it from y where y is a number, with bounds_y of the difference, and add it "
    "to predictions; elsewhere give it as a column of X with a declared range",
    "exposure": "it is about counts, which PoissonRegressor learns; for a rate divide y by it",
}
REMEDIES = {
    "sample_weight": "leave it out. The model is then about the rows as they are, not about a "
    "population in which some count for more: add what the weights were made of (region, age "
    "group, size of the household) to X, for how y goes with the columns is then the same in both, "
    "as far as the model is right",
    "class_weight": "leave it out, and where one error is worse than the other, choose by another "
    "limit than 1/2 for predict_proba, or 0 for decision_function",
}


def refuse_arguments(estimator: PrivateEstimator, given: Mapping[str, object]) -> None:
    """Refuse what has no proof, with its remedy, and what nobody knows; None says nothing."""
    for name, value in given.items():
        if name not in (*COUNTED_IN, *REMEDIES):
            raise TypeError(_unknown(estimator, name))
        if value is None:
            continue
        if name in estimator.get_params(deep=False):
            raise TypeError(_of_class(estimator, name))
        remedy = REMEDIES.get(name) or _counted_in(estimator, name)
        raise UnsupportedCombinationError(
            f"{name} is not supported: there is no privacy proof for it here; {remedy}"
        )


def _counted_in(estimator: PrivateEstimator, name: str) -> str:
    counts = estimator._loss(0).name == "poisson"
    return OF_COUNTS if counts else OF_OTHERS[name]


def _of_class(estimator: PrivateEstimator, name: str) -> str:
    cls = type(estimator).__name__
    return (
        f"{name} is no argument of fit but a parameter of {cls}: write {cls}({name}=...).fit(X, y)"
    )


def _unknown(estimator: PrivateEstimator, name: str) -> str:
    """As Python says it, with what may have been meant."""
    own = estimator.get_params(deep=False)
    if name in own:
        return _of_class(estimator, name)
    cls, parameters = type(estimator).__name__, inspect.signature(estimator.fit).parameters
    taken = [one.name for one in parameters.values() if one.kind is not one.VAR_KEYWORD]
    hint = did_you_mean(name, taken)
    if hint is None and (of_class := did_you_mean(name, own)):
        hint = f"{of_class.rstrip('?')}, a parameter of {cls}?"
    told = f"; {hint}" if hint else f"; it takes {', '.join(taken)}"
    return f"{cls}.fit() got an unexpected keyword argument {name!r}{told}"
