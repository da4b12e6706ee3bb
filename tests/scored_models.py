"""Fixed models that are scored in tests, and `evaluate` as something that audits can fit."""

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from privlearn import metrics
from privlearn.exceptions import PrivacyTestFailedError

WEIGHTS = np.array([1.5, -1.0, 0.5])


class Fixed(BaseEstimator):
    """A public model with the weights above, for three columns."""

    def __init__(self):
        self.n_features_in_ = len(WEIGHTS)

    def fit(self, X, y):
        return self


class TwoClasses(ClassifierMixin, Fixed):
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        p = expit(X @ WEIGHTS)
        return np.column_stack([1.0 - p, p])


class Margins(ClassifierMixin, Fixed):
    classes_ = np.array([0, 1])

    def decision_function(self, X):
        return X @ WEIGHTS


class ThreeClasses(ClassifierMixin, Fixed):
    classes_ = np.array([0, 1, 2])

    def predict_proba(self, X):
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.exp(np.column_stack([X[:, 0], X[:, 1], X[:, 2]]))
            return scores / scores.sum(axis=1, keepdims=True)


class ThreeMargins(ClassifierMixin, Fixed):
    classes_ = np.array([0, 1, 2])

    def decision_function(self, X):
        return np.column_stack([X[:, 0], X[:, 1], X[:, 2]])


class Line(RegressorMixin, Fixed):
    def predict(self, X):
        return X @ WEIGHTS


MODELS = {
    "two classes": TwoClasses,
    "margins": Margins,
    "three classes": ThreeClasses,
    "three margins": ThreeMargins,
    "line": Line,
}


class Evaluated(BaseEstimator):
    """`evaluate` of one of the models, as an estimator: what it found is what it publishes.

    A planned test that fails is an outcome like any other.
    """

    def __init__(
        self,
        kind="two classes",
        *,
        asked=None,
        epsilon=1.0,
        delta=1e-6,
        adjacency="zero_out",
        on_invalid="raise",
        classes=None,
        bounds_X=(-1.0, 1.0),
        bounds_y=None,
        max_rows_per_person=None,
        ledger=None,
        dataset=None,
        random_state=None,
    ):
        self.kind = kind
        self.asked = asked
        self.epsilon = epsilon
        self.delta = delta
        self.adjacency = adjacency
        self.on_invalid = on_invalid
        self.classes = classes
        self.bounds_X = bounds_X
        self.bounds_y = bounds_y
        self.max_rows_per_person = max_rows_per_person
        self.ledger = ledger
        self.dataset = dataset
        self.random_state = random_state

    def _given(self):
        names = ("epsilon", "delta", "adjacency", "on_invalid", "bounds_y", "max_rows_per_person")
        return {name: getattr(self, name) for name in names} | {"metrics": self.asked}

    def plan(self, n=None, *, n_features):
        return metrics.plan(MODELS[self.kind](), n, **self._given())

    def fit(self, X, y, groups=None):
        more = {name: getattr(self, name) for name in ("ledger", "dataset", "random_state")}
        more["groups"] = groups
        try:
            found = metrics.evaluate(MODELS[self.kind](), X, y, **self._given(), **more)
        except PrivacyTestFailedError:
            self.found_ = "the planned test failed"
            return self
        content = found.to_dict()
        content.pop("certificate")
        self.found_ = repr(content)
        self.privacy_ = found.privacy
        return self


def evaluated(kind, **parameters):
    """With the labels or the range that the model has."""
    known = {"bounds_y": (-2.0, 3.0)} if kind == "line" else {}
    classes = getattr(MODELS[kind], "classes_", None)
    known |= {} if classes is None else {"classes": classes.tolist()}
    return Evaluated(kind, **known | parameters)


N_FEATURES = 3
CONFIGURED = {
    "two classes, people, zero_out": evaluated("two classes", max_rows_per_person=3),
    "three classes, people, replace_one": evaluated(
        "three classes", max_rows_per_person=2, adjacency="replace_one"
    ),
    "line, people, add_remove": evaluated("line", max_rows_per_person=2, adjacency="add_remove"),
    "two classes, zero_out": evaluated("two classes"),
    "two classes, add_remove": evaluated("two classes", adjacency="add_remove"),
    "two classes, replace_one": evaluated("two classes", adjacency="replace_one"),
    "two classes, drop": evaluated("two classes", on_invalid="drop", epsilon=8.0),
    "margins, replace_one": evaluated("margins", adjacency="replace_one"),
    "accuracy alone, zero_out": evaluated("two classes", asked=["accuracy"]),
    "three classes, zero_out": evaluated("three classes"),
    "three classes, drop": evaluated("three classes", on_invalid="drop"),
    "three classes, add_remove": evaluated("three classes", adjacency="add_remove", epsilon=8.0),
    "three classes, replace_one": evaluated("three classes", adjacency="replace_one"),
    "three margins, add_remove": evaluated("three margins", adjacency="add_remove"),
    "line, zero_out": evaluated("line"),
    "line, add_remove": evaluated("line", adjacency="add_remove", epsilon=8.0),
    "line, replace_one": evaluated("line", adjacency="replace_one"),
    "mae alone, replace_one": evaluated("line", asked=["mae"], adjacency="replace_one"),
}
