"""Models of scikit-learn and numpy alone: a pipeline that clips, then a fitted linear model."""

from __future__ import annotations

import math
import operator
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import linear_model
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import LinearSVC

from privlearn._core.users_line import users_line
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.export.formula import (
    Bins,
    Formula,
    Lookup,
    Slope,
    Term,
    formula_of,
    in_notation,
    spelled_states,
)
from privlearn.export.sklearn_cells import applied, hashed, is_gap, refuses_gaps, stripped
from privlearn.kernel_model.feature_map import BELOW_ONE, STRAIGHT

if TYPE_CHECKING:
    from privlearn.kernel_model.feature_map import FeatureMap
    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["to_sklearn"]

Array = NDArray[np.float64]
Step = tuple[str, Any, list[str]]
Parts = tuple[list[Step], list[Array], Array]
GAPS = {"None", "<NA>", "NaT"}  # in text
EPOCH, DAY = np.datetime64("1970-01-01", "us"), np.timedelta64(1, "D")


def to_sklearn(model: PrivateEstimator) -> BaseEstimator:
    """The plain estimator that predicts what `model` does."""
    formula = formula_of(model, to="to_sklearn")
    if formula.features is not None:
        return _of_kernel(formula, formula.features)
    if formula.by_schema:
        return _of_frame(formula)
    slopes = [term.slope for term in formula.terms if isinstance(term, Slope)]
    fitted = _linear(formula, np.array(slopes).T, formula.intercept)
    low, high = formula.limits
    clips = np.isfinite([low, high]).any()
    first = _clipping(formula) if clips else fitted
    if formula.named:
        first.feature_names_in_ = np.array([term.name for term in formula.terms], dtype=object)
    return make_pipeline(first, fitted) if clips else fitted


def _clipping(formula: Formula) -> FunctionTransformer:
    """Numbers, checked as scikit-learn checks them, and clipped."""
    low, high = formula.limits
    clip = FunctionTransformer(np.clip, kw_args={"a_min": low, "a_max": high}, validate=True)
    return clip.fit(np.zeros((1, len(low))))


def _linear(formula: Formula, coef: Array, intercept: Array) -> BaseEstimator:
    """The estimator at the end, as if it had been fitted."""
    classifies = formula.classes is not None
    found: Any = {
        "number": linear_model.LinearRegression,
        "mean": linear_model.PoissonRegressor,
        "probability": linear_model.LogisticRegression,
        "score": LinearSVC,
    }[formula.link]()
    if formula.link == "mean":  # which has more of its own than coefficients
        found.fit(np.zeros((2, coef.shape[1])), np.ones(2))
    found.coef_, found.intercept_ = (coef, intercept) if classifies else (coef[0], intercept[0])
    found.n_features_in_ = coef.shape[1]
    if classifies:
        found.classes_ = formula.classes
    return found if formula.ends is None else _within(found, formula.ends)


def _within(fitted: BaseEstimator, ends: tuple[float, float]) -> BaseEstimator:
    """The same with limits of predictions."""
    low, high = ends
    clip = FunctionTransformer(inverse_func=np.clip, inv_kw_args={"a_min": low, "a_max": high})
    line = linear_model.LinearRegression()
    both = TransformedTargetRegressor(line, transformer=clip, check_inverse=False)
    both.fit(np.zeros((1, fitted.n_features_in_)), np.zeros(1))
    both.regressor, both.regressor_ = type(fitted)(), fitted
    return both


# Frames by a schema


def _warn_of_notations(formula: Formula) -> None:
    """Say which columns hold texts that NumPy refuses, or takes for another number."""
    for name, needed in in_notation(formula).items():
        warnings.warn(
            f"the schema reads texts of column {name!r} in a notation of its own, which "
            f"scikit-learn does not; give the pipeline frames with {needed} there",
            UserWarning,
            stacklevel=users_line(),
        )


def _of_frame(formula: Formula) -> Pipeline:
    """One or two transformers per column, then the linear model of what they make."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "to_sklearn of a model with a schema needs pandas, whose frames the pipeline takes; "
            "pip install pandas"
        ) from None
    _warn_of_notations(formula)
    steps: list[Step] = []
    coef: list[Array] = []
    intercept, example = formula.intercept.copy(), {}
    for k, term in enumerate(formula.terms):
        parts, own, constant = _parts(k, term)
        steps += parts
        coef += own
        intercept += constant
        example[term.name] = [_example(term)]
    columns = ColumnTransformer(steps, sparse_threshold=0.0)
    columns.fit(pd.DataFrame(example, dtype=object))
    return make_pipeline(columns, _linear(formula, np.array(coef).T, intercept))


def _parts(k: int, term: Term) -> Parts:
    if isinstance(term, Slope):
        return _number_parts(k, term)
    if isinstance(term, Bins):
        return _bin_parts(k, term)
    return _list_parts(k, term) if term.other is None else _other_parts(k, term, term.other)


def _example(term: Term) -> object:
    """A cell that a column may hold, for transformers to be fitted on: nothing is learned."""
    if isinstance(term, Bins):
        return "a"
    if isinstance(term, Lookup):
        return (spelled_states(term) or [["a"]])[0][0]
    return 0.0 if term.first_day is None else EPOCH.item()


def _cells(term: Slope) -> list[FunctionTransformer]:
    """A column as numbers: days, where it holds dates."""
    if term.first_day is None:
        numbers = [applied(np.asarray, dtype=np.float64)]
        if term.inside is not None:  # itself, and nothing beyond the ends
            ends = np.array(term.inside)
            numbers.append(applied(np.interp, xp=ends, fp=ends, left=np.nan, right=np.nan))
        return numbers
    microseconds = round(term.first_day * 86_400 * 10**6)
    start = EPOCH + np.timedelta64(microseconds, "us")
    return [
        applied(np.asarray, dtype="datetime64[us]"),
        applied(operator.methodcaller("__sub__", start)),
        applied(operator.methodcaller("__truediv__", DAY)),
    ]


def _number_parts(k: int, term: Slope) -> Parts:
    cells, clip = _cells(term), applied(np.clip, a_min=term.low, a_max=term.high)
    name = [str(term.name)]
    if term.missing is None:
        return [(f"{k}", make_pipeline(*cells, clip), name)], [term.slope], np.zeros(1)
    fill = applied(np.nan_to_num, nan=0.0, posinf=0.0, neginf=0.0)
    there = make_pipeline(*_cells(term), applied(np.isfinite))
    parts = [(f"{k}", make_pipeline(*cells, fill, clip), name), (f"{k} is there", there, name)]
    gap = term.missing - term.slope * np.clip(0.0, term.low, term.high)
    return parts, [term.slope, -gap], gap


def _list_parts(k: int, term: Lookup) -> Parts:
    """Every spelling of a value has a column; what is missing has none, so 0 stands for it."""
    nothing = np.zeros(term.adds.shape[1]) if term.missing is None else term.missing
    unknown = "error" if term.missing is None else "ignore"
    return *_spelled(k, term, nothing, unknown), nothing


def _spelled(k: int, term: Lookup, rest: Array, unknown: str) -> tuple[list[Step], list[Array]]:
    """A column for each spelling of each value, with what it adds beyond `rest`."""
    if taken := set(term.values) & GAPS:
        raise UnsupportedCombinationError(
            f"column {term.name!r} has the value {taken.pop()!r}, which numpy writes for a gap, so "
            "that to_sklearn cannot tell them apart; use save and load, or call the value otherwise"
        )
    texts = spelled_states(term)
    coef = [adds - rest for adds, same in zip(term.adds, texts, strict=True) for _ in same]
    if not coef:  # a list in which nothing was found
        return [], []
    encoder = OneHotEncoder(
        categories=[np.array([text for same in texts for text in same], dtype=object)],
        handle_unknown=unknown,
        sparse_output=False,
    )
    return [(f"{k}", make_pipeline(*stripped(), encoder), [term.name])], coef


def _other_parts(k: int, term: Lookup, other: Array) -> Parts:
    """The same where 0 stands for values that are not in the list, and gaps have a column."""
    steps, coef = _spelled(k, term, other, "ignore")
    gap, adds = _gap_part(k, term, other)
    return [*steps, gap], [*coef, adds], other


def _bin_parts(k: int, term: Bins) -> Parts:
    """A column for each bin, and one for gaps, which fall into none."""
    bins = make_pipeline(*hashed(len(term.adds)))
    nothing = np.zeros(term.adds.shape[1])
    steps: list[Step] = [(f"{k}", bins, [term.name])]
    gap, adds = _gap_part(k, term, nothing)
    return [*steps, gap], [*term.adds, adds], nothing


def _gap_part(k: int, term: Lookup | Bins, rest: Array) -> tuple[Step, Array]:
    """Whether a cell is empty, with what that adds beyond `rest`; or a step that refuses such."""
    if term.missing is None:
        return (f"{k} is there", refuses_gaps(), [term.name]), np.zeros_like(rest)
    return (f"{k} is missing", is_gap(), [term.name]), term.missing - rest


# Kernels


def _of_kernel(formula: Formula, features: FeatureMap) -> Pipeline:
    """Ranks where there are some, waves of them, and the columns themselves."""
    assert formula.coef is not None
    half, size = features.frequencies.shape[1], features.n_features_out
    p, parts, scales = len(formula.terms), [], []
    straight = 0.0 if features.ranks is None else STRAIGHT
    if half:
        waves = _waves(features.frequencies)
        parts.append(("waves", make_pipeline(*_ranked(features), waves)))
        scales.append(np.full(2 * half, math.sqrt(1.0 - straight) * BELOW_ONE))
    if features.ranks is not None:
        parts.append(("ranks", make_pipeline(*_ranked(features))))
        scales.append(np.full(p, math.sqrt(straight / p) * BELOW_ONE))
    if formula.coef.shape[1] > size:
        parts.append(("columns", FunctionTransformer().fit(np.zeros((1, p)))))
        scales.append(np.ones(p))
    union = FeatureUnion(parts)  # of transformers that are fitted already
    fitted = _linear(formula, formula.coef * np.concatenate(scales), formula.intercept)
    return make_pipeline(_clipping(formula), union, fitted)


def _ranked(features: FeatureMap) -> list[ColumnTransformer]:
    if features.edges is None or features.ranks is None:
        return []
    pairs = zip(features.edges, features.ranks, strict=True)
    steps = [(f"{j}", applied(np.interp, xp=x, fp=f), [j]) for j, (x, f) in enumerate(pairs)]
    return [ColumnTransformer(steps).fit(np.zeros((1, len(features.edges))))]


def _waves(frequencies: Array) -> RBFSampler:
    """Cosines, then sines, which are cosines of a quarter turn less, over the root of their half.

    The sampler's own weights are replaced: what it draws depends on nothing.
    """
    half = frequencies.shape[1]
    waves = RBFSampler(n_components=2 * half, random_state=0).fit(np.zeros((1, len(frequencies))))
    waves.random_weights_ = np.hstack([frequencies, frequencies])
    waves.random_offset_ = np.repeat([0.0, -math.pi / 2.0], half)
    return waves
