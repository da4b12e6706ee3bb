"""`check_pipeline`: what each step of a pipeline learns from the rows."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    StandardScaler,
)
from sklearn.random_projection import GaussianRandomProjection
from sklearn.utils import all_estimators

from privlearn import LogisticRegression, Ridge, check_pipeline
from privlearn.feature_selection import KendallSelector
from privlearn.kernel_approximation import RandomFourierFeatures, RandomProjection
from privlearn.model_selection import PrivateSearchCV
from privlearn.model_selection.pipelines import BY_PARAMETERS, LEARNS, LOOKS, NO_DATA, NOTHING

PRIVATE = LogisticRegression(epsilon=0.5, delta=1e-6)


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        SimpleImputer(),
        SimpleImputer(strategy="constant"),
        OneHotEncoder(),
        OneHotEncoder(categories=[["a"]], max_categories=2),
        PCA(),
        SelectKBest(),
        RBFSampler(gamma="scale"),
        GaussianRandomProjection(),
        MissingIndicator(),
        GridSearchCV(Plain(), {}),
        Plain(),
    ],
    ids=repr,
)
def test_these_look_at_the_data(step):
    found = check_pipeline(make_pipeline(step, PRIVATE))
    assert not found.private
    assert [one.kind for one in found.looking] == [type(step).__name__]
    assert found.looking[0].remedy
    assert "NOT PRIVATE" in str(found)


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.log1p),
        Normalizer(),
        StandardScaler(with_mean=False, with_std=False),
        OneHotEncoder(categories=[["a", "b"]]),
        SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
        RBFSampler(gamma=1.0),
        GaussianRandomProjection(n_components=2),
        RandomFourierFeatures(),
        RandomProjection(3),
        "passthrough",
    ],
    ids=repr,
)
def test_these_learn_nothing(step):
    found = check_pipeline(Pipeline([("step", step), ("model", PRIVATE)]))
    assert found.private
    assert found.steps[0].verdict == NO_DATA


def test_what_is_private_says_what_it_spends():
    found = check_pipeline(make_pipeline(KendallSelector(k=2, epsilon=0.25), PRIVATE))
    assert found.private
    assert "epsilon = 0.25" in str(found)
    assert "epsilon = 0.5" in str(found)
    assert "add up" in str(found)
    assert check_pipeline(PrivateSearchCV(Ridge(), {"alpha": [1, 2]})).private


def test_what_is_within_others_is_found():
    columns = ColumnTransformer(
        [("numbers", make_pipeline(StandardScaler()), ["a"]), ("rest", "passthrough", ["b"])]
    )
    both = FeatureUnion([("one", columns), ("two", PCA())])
    found = check_pipeline(make_pipeline(both, PRIVATE))
    names = [step.name for step in found.looking]
    assert names == ["featureunion.one.numbers.standardscaler", "featureunion.two"]


def test_what_is_unknown_is_said_to_be():
    class Own(TransformerMixin, BaseEstimator):
        pass

    class Scaler(StandardScaler):
        pass

    chosen = ColumnTransformer([("all", Normalizer(), make_column_selector())])
    for step in (Own(), Scaler(), chosen):
        found = check_pipeline(make_pipeline(step, PRIVATE))
        assert found.unknown
        assert not found.private
        assert "cannot tell" in str(found)


def test_every_transformer_of_scikit_learn_is_judged():
    """Those that are not on the list are said to be unknown, never to learn nothing."""
    known = {*LEARNS, *NOTHING, *BY_PARAMETERS}
    for name, kind in all_estimators(type_filter="transformer"):
        try:
            step = kind()
        except TypeError:
            continue
        found = check_pipeline(step)
        quiet = all(one.verdict == NO_DATA for one in found.steps)
        assert name in known or name in ("ColumnTransformer", "FeatureUnion") or not quiet


def test_lists_do_not_contradict_each_other():
    assert not {*LEARNS} & {*NOTHING}
    assert check_pipeline(PCA()).steps[0].verdict == LOOKS
    assert "privlearn.LogisticRegression" in str(check_pipeline(Plain()))
