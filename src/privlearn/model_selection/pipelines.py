"""`check_pipeline`: which steps of a scikit-learn pipeline look at the data without noise.

A list of known classes of scikit-learn and of ours, with what each learns from rows; whatever is
not on it is said to be unknown. Nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["LOOKS", "NO_DATA", "SPENDS", "UNKNOWN", "PipelineCheck", "Step", "check_pipeline"]

LOOKS = "looks at the data without noise"
NO_DATA = "learns nothing from the data"
SPENDS = "private"
UNKNOWN = "cannot tell"

BOUNDS = "leave it out: privlearn's estimators scale by themselves (bounds_X, or estimated ranges)"
LISTS = "give the list of public categories (categories=[...]), or a schema with Category([...])"
FEWER = (
    "leave it out, use privlearn.kernel_approximation.RandomProjection, which learns nothing, or "
    "privlearn.feature_selection.KendallSelector, which pays for its choice"
)
GAPS = "strategy='constant' with a public fill_value, or a schema with missing='fill' or 'flag'"
KERNELS = "privlearn.kernel_approximation.RandomFourierFeatures, or KernelRegressor"
WORDS = "HashingVectorizer, which needs no list of words"
SEARCH = "privlearn.model_selection.PrivateSearchCV"
PUBLIC_ONLY = "leave it out, or fit it to public data before"

# What a class learns from rows, and what to do instead.
LEARNS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("MinMaxScaler", "MaxAbsScaler", "RobustScaler"),
        ("means, ranges or quantiles of the columns", BOUNDS),
    ),
    **dict.fromkeys(
        ("QuantileTransformer", "PowerTransformer", "KBinsDiscretizer", "SplineTransformer"),
        ("the distribution of the columns", BOUNDS),
    ),
    **dict.fromkeys(
        (
            *("PCA", "IncrementalPCA", "KernelPCA", "SparsePCA", "TruncatedSVD", "NMF", "FastICA"),
            *("FactorAnalysis", "PLSRegression", "LinearDiscriminantAnalysis"),
            "FeatureAgglomeration",
        ),
        ("directions in which the rows vary", FEWER),
    ),
    **dict.fromkeys(
        (
            *("SelectKBest", "SelectPercentile", "SelectFpr", "SelectFdr", "SelectFwe", "RFE"),
            *("RFECV", "GenericUnivariateSelect", "SelectFromModel", "SequentialFeatureSelector"),
            "VarianceThreshold",
        ),
        ("which columns go with the target", FEWER),
    ),
    **dict.fromkeys(("KNNImputer", "IterativeImputer"), ("other rows, or a model of them", GAPS)),
    **dict.fromkeys(
        ("TargetEncoder", "LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer"),
        ("which values there are, or their targets", LISTS),
    ),
    **dict.fromkeys(
        ("CountVectorizer", "TfidfVectorizer", "TfidfTransformer", "DictVectorizer"),
        ("which words or keys there are", WORDS),
    ),
    "Nystroem": ("some of the rows, which it keeps", KERNELS),
    "KernelCenterer": ("means over the rows", PUBLIC_ONLY),
    **dict.fromkeys(
        ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"),
        ("which setting fits the rows best", SEARCH),
    ),
}
NOTHING = {
    **dict.fromkeys(
        (
            *("Normalizer", "Binarizer", "PolynomialFeatures", "HashingVectorizer"),
            *("FeatureHasher", "AdditiveChi2Sampler", "SkewedChi2Sampler", "PolynomialCountSketch"),
        ),
        "each row is mapped on its own",
    ),
    "FunctionTransformer": "as long as its function maps each row on its own",
    "RandomFourierFeatures": "its frequencies are drawn without the data",
    "RandomProjection": "its directions are drawn without the data",
}
COMPOSED = ("Pipeline", "ColumnTransformer", "FeatureUnion", "TransformedTargetRegressor")


@dataclass(frozen=True)
class Step:
    """What is known about one step.

    Attributes
    ----------
    name : str
        Path in the pipeline.
    kind : str
        Name of its class.
    verdict : str
        "looks at the data without noise", "learns nothing from the data", "private" or "cannot
        tell".
    why, remedy : str
        In words; no remedy where none is needed.
    """

    name: str
    kind: str
    verdict: str
    why: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"\n      instead: {self.remedy}" if self.remedy else ""
        return f"{self.name} ({self.kind}): {self.verdict}: {self.why}{remedy}"


@dataclass(frozen=True)
class PipelineCheck:
    """All steps of a pipeline, and what to do about those that look at data without noise.

    Attributes
    ----------
    steps : tuple of Step
        In their order, those within others included.
    """

    steps: tuple[Step, ...]

    @property
    def looking(self) -> tuple[Step, ...]:
        """Steps that look at the data without noise."""
        return tuple(step for step in self.steps if step.verdict == LOOKS)

    @property
    def unknown(self) -> tuple[Step, ...]:
        """Steps of which nothing is known here."""
        return tuple(step for step in self.steps if step.verdict == UNKNOWN)

    @property
    def private(self) -> bool:
        """Whether every step is known to learn nothing, or to pay for what it learns."""
        return not self.looking and not self.unknown

    def _last_line(self) -> str:
        if self.looking:
            names = ", ".join(step.name for step in self.looking)
            return f"NOT PRIVATE: no certificate of a later step covers what {names} learned"
        if self.unknown:
            return "cannot tell whether the whole is private"
        paid = sum(step.verdict == SPENDS for step in self.steps)
        if paid > 1:
            return f"private; {paid} steps spend: their epsilons and deltas add up"
        return "private: every step learns nothing from the data, or pays for it"

    def __str__(self) -> str:
        return "\n".join([*(f"  {step}" for step in self.steps), self._last_line()])


def check_pipeline(pipeline: object) -> PipelineCheck:
    """Say in words which steps of a scikit-learn pipeline look at data without noise.

    A private estimator at the end of a pipeline is not enough: what a scaler or an encoder learns
    from the rows is in the model as well, and no certificate covers it.

    Parameters
    ----------
    pipeline : estimator
        A pipeline, a transformer of columns or a single step, fitted or not. Nothing is fitted.

    Returns
    -------
    PipelineCheck
        `str()` it; `.looking` lists the steps that leak, `.private` is True where none does.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from privlearn import LogisticRegression, check_pipeline
    >>> found = check_pipeline(make_pipeline(StandardScaler(), LogisticRegression()))
    >>> found.private, [step.name for step in found.looking]
    (False, ['standardscaler'])
    """
    return PipelineCheck(tuple(_steps("", pipeline)))


def _steps(path: str, step: Any) -> Iterator[Step]:  # noqa: ANN401
    """A step, or those that it is made of."""
    kind = type(step).__name__
    if _is_from(step, "sklearn") and kind in COMPOSED:
        for name, inner in _parts(step, kind):
            yield from _steps(f"{path}{'.' if path else ''}{name}", inner)
        return
    yield _judged(path or kind.lower(), step, kind)


def _parts(step: Any, kind: str) -> list[tuple[str, Any]]:  # noqa: ANN401
    """Names and steps that something is composed of."""
    if kind == "Pipeline":
        return list(step.steps)
    if kind == "FeatureUnion":
        return list(step.transformer_list)
    if kind == "TransformedTargetRegressor":
        return [("transformer", step.transformer), ("regressor", step.regressor)]
    parts = [(name, inner) for name, inner, _ in step.transformers]
    chosen = [
        (f"columns of {name}", _Chosen()) for name, _, by in step.transformers if callable(by)
    ]
    return [*chosen, *parts, ("remainder", step.remainder)]


class _Chosen:
    """Columns that a function of the data chooses."""


def _judged(name: str, step: Any, kind: str) -> Step:  # noqa: ANN401
    if step is None or isinstance(step, str):
        return Step(name, str(step), NO_DATA, "it passes columns on, or drops them")
    if isinstance(step, _Chosen):
        why = "a function chooses columns by their types, which a single cell may change"
        return Step(name, "columns", UNKNOWN, why, "name the columns")
    if _is_from(step, "privlearn"):
        return _ours(name, step, kind)
    if not _is_from(step, "sklearn"):
        why = "it is neither privlearn's nor scikit-learn's"
        return Step(name, kind, UNKNOWN, why, "make sure that it maps each row on its own")
    if kind in BY_PARAMETERS:
        return BY_PARAMETERS[kind](name, step)
    if kind in LEARNS:
        why, remedy = LEARNS[kind]
        return Step(name, kind, LOOKS, f"it learns {why}", remedy)
    if kind in NOTHING:
        return Step(name, kind, NO_DATA, NOTHING[kind])
    if hasattr(step, "predict"):
        return Step(name, kind, LOOKS, "it is fitted without noise", _private_twin(kind))
    return Step(name, kind, UNKNOWN, "this class is not on the list", PUBLIC_ONLY)


def _ours(name: str, step: Any, kind: str) -> Step:  # noqa: ANN401
    if kind in NOTHING:
        return Step(name, kind, NO_DATA, NOTHING[kind])
    if hasattr(step, "epsilon") and hasattr(step, "delta"):
        why = f"it spends epsilon = {step.epsilon:g}, delta = {step.delta:g}"
        return Step(name, kind, SPENDS, why)
    return Step(name, kind, UNKNOWN, "this class is not on the list")


def _is_from(step: object, package: str) -> bool:
    """Whether a class itself, not one that it inherits from, is of a package."""
    return type(step).__module__.split(".")[0] == package


def _private_twin(kind: str) -> str:
    import privlearn

    if kind in privlearn.__all__:
        return f"privlearn.{kind}"
    return "an estimator of privlearn, such as LogisticRegression or LinearRegression"


def _scaler(name: str, step: Any) -> Step:  # noqa: ANN401
    if not step.with_mean and not step.with_std:
        return Step(name, "StandardScaler", NO_DATA, "neither means nor deviations are used")
    return Step(name, "StandardScaler", LOOKS, "it learns means or deviations", BOUNDS)


def _imputer(name: str, step: Any) -> Step:  # noqa: ANN401
    kind = type(step).__name__
    # Columns without any value are dropped, unless they are kept: that is a look at the data, too.
    if step.strategy == "constant":
        if step.keep_empty_features and not step.add_indicator:
            return Step(name, kind, NO_DATA, "it fills in a constant")
        why = "it drops columns that are empty, or adds flags of those that have gaps"
        return Step(name, kind, LOOKS, why, "keep_empty_features=True, add_indicator=False")
    return Step(name, kind, LOOKS, f"it learns the {step.strategy} of the columns", GAPS)


def _encoder(name: str, step: Any) -> Step:  # noqa: ANN401
    kind = type(step).__name__
    if isinstance(step.categories, str):
        return Step(name, kind, LOOKS, "it learns which values there are", LISTS)
    counts = [getattr(step, option, None) for option in ("min_frequency", "max_categories")]
    if any(option is not None for option in counts):
        why = "min_frequency or max_categories counts how often values come"
        return Step(name, kind, LOOKS, why, "leave both out")
    return Step(name, kind, NO_DATA, "its categories are given")


def _rbf(name: str, step: Any) -> Step:  # noqa: ANN401
    if step.gamma == "scale":
        return Step(name, "RBFSampler", LOOKS, "gamma='scale' is learned from the rows", KERNELS)
    return Step(name, "RBFSampler", NO_DATA, "its frequencies are drawn without the data")


def _projection(name: str, step: Any) -> Step:  # noqa: ANN401
    kind = type(step).__name__
    if step.n_components == "auto":
        why = "n_components='auto' depends on the number of rows, which may be private"
        return Step(name, kind, LOOKS, why, "give n_components")
    return Step(name, kind, NO_DATA, "its directions are drawn without the data")


def _flags(name: str, step: Any) -> Step:  # noqa: ANN401
    if step.features == "all":
        return Step(name, "MissingIndicator", NO_DATA, "every column gets a flag")
    why = "it learns which columns have gaps"
    return Step(name, "MissingIndicator", LOOKS, why, "features='all', error_on_new=False")


BY_PARAMETERS: dict[str, Callable[[str, Any], Step]] = {
    "StandardScaler": _scaler,
    "SimpleImputer": _imputer,
    "OneHotEncoder": _encoder,
    "OrdinalEncoder": _encoder,
    "RBFSampler": _rbf,
    "GaussianRandomProjection": _projection,
    "SparseRandomProjection": _projection,
    "MissingIndicator": _flags,
}
