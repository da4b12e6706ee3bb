"""A fit that fails, is refused or is interrupted leaves the estimator exactly as it was."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from privlearn import (
    KernelRegressor,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
)
from privlearn._core.releaser import Releaser, use_releaser
from privlearn.exceptions import (
    BudgetExceededError,
    MissingFactError,
    PrivacyError,
    PrivacyTestFailedError,
)
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.linear_model.atomic import blank
from privlearn.solvers import Tukey
from support import FEW, accepted, every_estimator, label

EVERY = [*every_estimator(), KendallSelector, SubLassoSelector]
FACTS = {"bounds_X": (0.0, 1.0), "bounds_y": (-1.0, 3.0), "random_state": 0, **FEW}


def people(n=60, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 1, (n, p))
    return X, X @ np.linspace(-1, 2, p)


def table(cls, n=60, p=3, names="abcdef", seed=0):
    X, y = people(n, p, seed)
    y = y if cls in (KendallSelector, SubLassoSelector) else label(cls, y)
    return pd.DataFrame(X, columns=list(names[:p])), y


def made(cls, **parameters):
    given = accepted(cls, FACTS | parameters)
    return cls(**given) if "k" not in cls().get_params() else cls(2, **given)


def state(model):
    """Everything that a model holds, to the last bit."""
    return {name: pickle.dumps(value) for name, value in vars(model).items()}


class Refusing:
    """A ledger without any budget left."""

    def charge(self, plan, dataset, **_):
        raise BudgetExceededError("none left") from None

    def __reduce__(self):
        return Refusing, ()


class Failing(Releaser):
    """Fails, or is interrupted, when it is asked for the first time: after the charge."""

    kind: type[BaseException] = RuntimeError

    def _take(self, *arguments, **named):
        raise self.kind("in the middle")


class Interrupted(Failing):
    kind = KeyboardInterrupt


class Failed(Failing):
    kind = PrivacyTestFailedError


class Uncertain(Releaser):
    """Fails when all is done but the certificate."""

    def certificate(self):
        raise MemoryError


def failures(cls):
    """What can go wrong, each with what is raised; other names, widths and labels throughout."""
    frame, y = table(cls, p=4, names="wxyz", seed=1)
    yield "no y", lambda model: model.fit(frame, None), ValueError
    yield "y too short", lambda model: model.fit(frame, y[:-1]), ValueError
    yield "y not finite", lambda model: model.fit(frame, np.full(60, np.nan)), ValueError
    yield "text in X", lambda model: model.fit(frame.assign(w="a"), y), ValueError
    yield "NaN in X", lambda model: model.fit(frame.assign(w=np.nan), y), ValueError
    yield "bad solver or k", lambda model: _with(model, frame, y, _wrong(model)), ValueError
    yield "bad budget", lambda model: _with(model, frame, y, {"epsilon": -1.0}), PrivacyError
    yield (
        "refused",
        lambda model: _with(model, frame, y, {"ledger": Refusing()}),
        BudgetExceededError,
    )
    for opener, kind in (
        (Failing, RuntimeError),
        (Interrupted, KeyboardInterrupt),
        (Failed, PrivacyTestFailedError),
        (Uncertain, MemoryError),
    ):
        yield opener.__name__, _releasing(opener, frame, y), kind


def _wrong(model):
    return {"k": 99} if hasattr(model, "k") else {"solver": "none such"}


def _with(model, X, y, parameters):
    before = {name: getattr(model, name) for name in parameters}
    model.set_params(**parameters)
    try:
        model.fit(X, y)
    finally:
        model.set_params(**before)


def _releasing(opener, X, y):
    def fit(model):
        with use_releaser(opener):
            model.fit(X, y)

    return fit


@pytest.mark.parametrize("cls", EVERY)
def test_a_fit_that_fails_changes_nothing(cls):
    fitted, fresh = made(cls).fit(*table(cls)), made(cls)
    for model in (fitted, fresh) if cls in (LinearRegression, LogisticRegression) else (fitted,):
        before = state(model)
        for story, fail, kind in failures(cls):
            with pytest.raises(kind):
                fail(model)
            assert state(model) == before, f"{story} left something behind"
    fresh.fit(*table(cls))
    assert set(vars(fresh)) == set(vars(fitted))


@pytest.mark.parametrize("cls", EVERY)
def test_a_refit_leaves_nothing_of_the_old_model(cls):
    model = made(cls).fit(*table(cls))
    frame, y = table(cls, p=4, seed=1)
    model.fit(frame.to_numpy(), y)
    alone = made(cls).fit(frame.to_numpy(), y)
    assert set(vars(model)) == set(vars(alone))  # no feature_names_in_ of the first table
    assert model.n_features_in_ == 4
    declared = model
    if "bounds_X" in model.get_params():
        declared = made(cls).set_params(bounds_X=None, epsilon=10.0).fit(*table(cls, n=400))
        assert hasattr(declared, "bounds_X_")
        declared.set_params(bounds_X=(0, 1), epsilon=1.0).fit(*table(cls))
        assert not hasattr(declared, "bounds_X_")


@pytest.mark.parametrize(
    "cls", [LinearRegression, Ridge, PoissonRegressor, LogisticRegression, KernelRegressor]
)
def test_a_refit_without_intervals_has_no_standard_errors_of_the_old_model(cls):
    # Few rows, so that noise hides errors: the second fit then even looked for their names.
    model = made(cls).set_params(intervals=True).fit(*table(cls, p=4))
    assert hasattr(model, "_errors")
    model.set_params(intervals=False).fit(*table(cls))
    assert set(vars(model)) == set(vars(made(cls).fit(*table(cls))))
    assert "errors" not in model.to_dict()
    with pytest.raises(MissingFactError, match=r"fit with .*intervals=True"):
        model.predict_interval(table(cls)[0])


def test_a_privacy_test_that_fails_changes_nothing():
    X, y = people(4_000, 1)
    model = LinearRegression(solver=Tukey(), random_state=0).fit(X, y)
    before = state(model)
    rng = np.random.default_rng(0)
    model.set_params(solver=Tukey(models=500), epsilon=0.2)
    with pytest.raises(PrivacyTestFailedError):
        model.fit(rng.standard_cauchy((1_000, 1)), rng.standard_cauchy(1_000))
    after = state(model)
    assert {k: v for k, v in after.items() if k not in ("solver", "epsilon")} == {
        k: v for k, v in before.items() if k not in ("solver", "epsilon")
    }


def test_a_number_that_is_none_is_never_published(monkeypatch):
    from privlearn.solvers._common.scaling import Scaling

    X, y = people()
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1), solver="moments").fit(X, y)
    before = state(model)
    own = Scaling.to_user_units

    def broken(self, weights, **how):
        return own(self, np.full_like(weights, np.nan), **how)

    monkeypatch.setattr(Scaling, "to_user_units", broken)
    with pytest.raises(PrivacyError, match=r"coef_ came out as NaN.*budget.*is spent"):
        model.fit(X, y)
    assert state(model) == before


def test_a_fit_forgets_a_stream_only_when_it_succeeds():
    X, y = people()
    model = LogisticRegression(bounds_X=(0, 1), classes=[0, 1]).partial_fit(X, y > 0.5)
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, y[1:] > 0.5)
    model.partial_fit(X, y > 0.5)
    assert not hasattr(model.fit(X, y > 0.5), "_stream")


def test_what_users_keep_on_an_estimator_stays():
    X, y = people()
    model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1))
    model.note, model._remark = "mine", [1]
    model.fit(sp.csr_array(X), y)
    assert (model.note, model._remark) == ("mine", [1])
    twin = blank(model)
    assert not hasattr(twin, "coef_")
    assert (twin.note, twin._remark) == ("mine", [1])
