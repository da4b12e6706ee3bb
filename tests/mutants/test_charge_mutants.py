"""Planted bugs around the charge: what comes after it, what a failed fit leaves, what streams do.

Each is caught by a generic check: the audit `check_nothing_after_charge`, the comparison of an
estimator before and after a failed fit, the bonds of a stream, the steps of "output".
"""

import copy
import os
import pickle

import numpy as np
import pytest

from linear_model import test_after_charge, test_atomic_fit, test_streaming
from privlearn import LinearRegression, LogisticRegression, Ridge, audit
from privlearn._objective.losses import Softmax
from privlearn.exceptions import UnsupportedCombinationError
from privlearn.linear_model import base, bond
from privlearn.linear_model.streaming import StreamingMixin
from privlearn.solvers import OutputPerturbation
from privlearn.solvers._common import memory, rehearsal
from privlearn.solvers._common.objective import Objective
from privlearn.solvers._common.scaling import Scaling
from solvers.output_perturbation import test_output_steps

KNOWN = {"bounds_X": (0, 1), "bounds_y": (0, 1)}
AFTER, LEFT, STREAM = [], [], []


def after_the_charge(plant):
    AFTER.append(plant)
    return plant


def left_behind(plant):
    LEFT.append(plant)
    return plant


def of_a_stream(plant):
    STREAM.append(plant)
    return plant


# After the charge


@after_the_charge
def nothing_is_rehearsed(patch):
    patch.setattr(base, "rehearse", lambda *a: None)
    return Ridge(solver="sgd", **KNOWN)


@after_the_charge
def a_module_is_imported_late(patch):
    own = Scaling.to_user_units

    def late(self, weights, **how):
        import this_is_antigravity  # noqa: F401

        return own(self, weights, **how)

    patch.setattr(Scaling, "to_user_units", late)
    patch.setattr(rehearsal, "once", lambda key, run: None)
    return Ridge(solver="moments", **KNOWN)


@after_the_charge
def scaling_divides_by_zero(patch):
    own = Scaling.moment_rows

    def divides(self, rows):
        float(rows.X[0, 0]) / 0.0
        return own(self, rows)

    patch.setattr(Scaling, "moment_rows", divides)
    patch.setattr(rehearsal, "once", lambda key, run: None)
    return Ridge(solver="moments", **KNOWN)


@after_the_charge
def numbers_that_are_none_are_published(patch):
    own = Scaling.to_user_units

    def broken(self, weights, **known):
        return own(self, np.full_like(weights, np.nan), **known)

    patch.setattr(Scaling, "to_user_units", broken)
    patch.setattr(base, "demand_finite", lambda **_: None)
    return Ridge(solver="sgd", **KNOWN)


@after_the_charge
def a_plan_for_a_box_that_stood_in(patch):
    """The weight of a penalty in coordinates of [-1, 1], and not of what will be estimated."""
    from privlearn.private_bounds.solver import WithPrivateBounds
    from privlearn.solvers.output_perturbation import solver as output_perturbation

    def least(problem):
        if problem.n is None or problem.fit_intercept:
            return 0.0
        own = Objective.of(problem, Scaling.for_gradients(problem), float(problem.n))
        return float(own.penalty.curvature.min())

    def again(self, problem, settings):
        return self.configure(problem, audit.charge.Budget(1.0, 1e-6))

    patch.setattr(output_perturbation, "_modulus", least)
    patch.setattr(OutputPerturbation, "settled", again)
    patch.setattr(rehearsal, "once", lambda key, run: None)
    assert WithPrivateBounds is not None
    return Ridge(solver="output", fit_intercept=False, alpha=1e6)


@pytest.fixture
def late_module(tmp_path, monkeypatch):
    (tmp_path / "this_is_antigravity.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.parametrize("plant", AFTER, ids=lambda plant: plant.__name__)
@pytest.mark.filterwarnings("ignore")
def test_the_audit_finds_it(plant, late_module, monkeypatch):
    test_after_charge.forget_compiled()
    with monkeypatch.context() as patch:
        model = plant(patch)
        with pytest.raises(audit.AuditFailure):
            audit.check_nothing_after_charge(model, n_features=2)
    audit.check_nothing_after_charge(model, n_features=2)


def test_no_question_about_memory_is_found(monkeypatch):
    monkeypatch.setattr(memory, "refuse_too_large", lambda *a, **b: None)
    monkeypatch.setattr(base, "refuse_too_large", lambda *a, **b: None)
    monkeypatch.setattr(base, "rehearse", lambda *a: None)
    monkeypatch.setattr(Scaling, "moment_rows", lambda *a: (_ for _ in ()).throw(MemoryError()))
    X = np.zeros((3, 40))
    model = LinearRegression(solver="moments", **KNOWN)
    wrong = test_after_charge.observed_fit(model, X, np.zeros(3))
    assert wrong.startswith("MemoryError after the charge")


# What a failed fit leaves


@left_behind
def a_fit_works_on_the_estimator_itself(patch):
    patch.setattr(base, "blank", lambda estimator: estimator)


@left_behind
def what_was_read_is_published_early(patch):
    own = LinearRegression._read

    def early(self, X, y, labels=None):
        table = own(self, X, y, labels)
        for estimator in ESTIMATORS:
            estimator.n_features_in_ = X.shape[1]
        return table

    patch.setattr(LinearRegression, "_read", early)


@left_behind
def the_old_model_is_forgotten_first(patch):
    own = base.blank

    def forgets(estimator):
        estimator.__dict__.pop("coef_", None)
        return own(estimator)

    patch.setattr(base, "blank", forgets)


ESTIMATORS = []


@pytest.mark.parametrize("plant", LEFT, ids=lambda plant: plant.__name__)
def test_the_comparison_finds_it(plant, monkeypatch):
    made = test_atomic_fit.made

    def remembered(*arguments, **named):
        ESTIMATORS.append(made(*arguments, **named))
        return ESTIMATORS[-1]

    monkeypatch.setattr(test_atomic_fit, "made", remembered)
    with monkeypatch.context() as patch:
        plant(patch)
        with pytest.raises(AssertionError, match="left something behind"):
            test_atomic_fit.test_a_fit_that_fails_changes_nothing(LinearRegression)


def test_a_refit_that_keeps_old_attributes_is_found(monkeypatch):
    own = LinearRegression.fit

    def keeps(self, X, y):
        before = vars(self).copy()
        own(self, X, y)
        self.__dict__ = {**before, **vars(self)}
        return self

    monkeypatch.setattr(LinearRegression, "fit", keeps)
    with pytest.raises(AssertionError):
        test_atomic_fit.test_a_refit_leaves_nothing_of_the_old_model(LinearRegression)


# Streams


@of_a_stream
def copies_go_on(patch):
    patch.setattr(bond.Bond, "demand_owner", lambda *a: None)
    model = test_streaming.streamed(test_streaming.logistic(), 1)
    return copy.deepcopy(model)


@of_a_stream
def pickles_go_on_uncounted(patch):
    patch.setattr(bond, "_counts", lambda ledger: True)
    model = test_streaming.streamed(test_streaming.logistic(), 1)
    return pickle.loads(pickle.dumps(model))


@of_a_stream
def children_go_on(patch):
    patch.setattr(bond.Bond, "_take", lambda self, owner: None)
    patch.setattr(bond.Bond, "_resume", lambda *a: None)
    model = test_streaming.streamed(test_streaming.logistic(), 1)
    here = os.getpid()
    patch.setattr(os, "getpid", lambda: here + 1)
    return model


@of_a_stream
def the_data_set_may_change(patch):
    patch.setattr(bond.Bond, "demand_same", lambda *a: None)
    model = test_streaming.streamed(test_streaming.logistic(dataset="a"), 1)
    return model.set_params(dataset="b")


@of_a_stream
def the_seed_may_change(patch):
    patch.setattr(bond, "_same_seed", lambda first, second: True)
    model = test_streaming.streamed(test_streaming.logistic(), 1)
    return model.set_params(random_state=3)


def goes_on(model):
    try:
        model.partial_fit(*test_streaming.arriving(1))
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("plant", STREAM, ids=lambda plant: plant.__name__)
def test_a_stream_that_goes_on_is_found(plant, monkeypatch):
    """With the bug the stream goes on where it must not; without it, it is refused."""
    with monkeypatch.context() as patch:
        assert goes_on(plant(patch))
    with monkeypatch.context() as patch:
        patch.setattr(patch, "setattr", lambda *a: real(patch, *a))
        model = plant(patch)
        assert not goes_on(model)


def real(patch, *arguments):
    """Plant nothing, but for what stands for the world outside."""
    if arguments[0] is os:
        type(patch).setattr(patch, *arguments)


def test_a_counter_that_follows_the_model_repeats_a_seed(monkeypatch):
    """Seeds by the steps that the model has taken come again after a batch that failed."""
    monkeypatch.setattr(
        StreamingMixin,
        "_seed_of",
        lambda self, batch: 0 if self._stream.state is None else self._stream.state.taken,
    )
    test_streaming.Witness.seen = []
    counting = test_streaming.Counting()
    with test_streaming.use_releaser(test_streaming.Witness), pytest.raises(AssertionError):
        test_streaming.test_a_batch_that_fails_is_gone_and_repeats_no_noise(
            counting, test_streaming.Witness.seen, monkeypatch
        )


# Output perturbation


def test_a_cut_of_softmax_is_found(monkeypatch):
    monkeypatch.setattr(OutputPerturbation, "_refuse_cut_of_many", lambda *a: None)
    with pytest.raises(AssertionError, match="times as far apart"):
        test_output_steps.test_steps_push_no_two_models_apart(Softmax(50))


def test_a_classifier_with_a_cut_is_refused_in_a_fit():
    model = LogisticRegression(bounds_X=(0, 1), solver=OutputPerturbation(clip=0.5))
    with pytest.raises(UnsupportedCombinationError, match="3 classes"):
        model.fit(np.zeros((6, 2)), np.arange(6) % 3)
