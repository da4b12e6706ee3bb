"""Nothing after the charge but the loop: over everything that a fit can be asked for."""

import os
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import privlearn
from linear_model.after_charge_sweep import combination
from privlearn import (
    ElasticNet,
    HuberRegressor,
    KernelClassifier,
    KernelRegressor,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    audit,
    solvers,
)
from privlearn._core import jit
from privlearn._core.releaser import Releaser, progress
from privlearn.audit.after_charge import observed_fit
from privlearn.exceptions import InvalidBudgetError, PrivacyError, UnsupportedCombinationError
from privlearn.feature_selection import KendallSelector, SubLassoSelector
from privlearn.solvers._common import memory, rehearsal
from support import every_estimator, modes_for, modules

FAST, SLOW = range(0, 22), range(22, 480)


def unusual(numbers):
    """What went wrong, by number of the combination."""
    found = {}
    for k in numbers:
        model, X, y = combination(k)
        wrong = observed_fit(model, X, y)
        if wrong is not None:
            found[k] = f"{type(model).__name__}: {wrong}"
    return found


@pytest.mark.filterwarnings("ignore")
def test_nothing_fails_after_the_charge():
    assert unusual(FAST) == {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_nothing_fails_after_the_charge_in_many_more():
    assert unusual(SLOW) == {}


@pytest.mark.filterwarnings("ignore")
def test_the_sweep_fits_and_refuses():
    """It would find nothing if everything were refused, or nothing could be."""
    kinds = [type(combination(k)[0]) for k in FAST]
    fitted = [hasattr(self_fitted(k), "privacy_") for k in range(12)]
    assert len(set(kinds)) == 12
    assert any(fitted)
    assert not all(fitted)


def self_fitted(k):
    model, X, y = combination(k)
    with suppress(PrivacyError, ValueError):
        model.fit(X, y)
    return model


# Compiling


def forget_compiled():
    """As in a fresh process: compiled functions are loaded again, and rehearsals forgotten."""
    for module in modules():
        for thing in vars(module).values():
            if hasattr(thing, "_reset_overloads"):
                thing._reset_overloads()
    rehearsal._seen.clear()


def table(cls, n=30, sparse=False, dtype=np.float64, order="C"):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.uniform(0, 1, (n, 3)), dtype=dtype, order=order)
    y = rng.uniform(0, 1, n)
    y = (y > 0.5).astype(int) if hasattr(cls(), "classes") else y
    X.flags.writeable = False
    return (sp.csr_array(X) if sparse else X), y


def compiles(model, X, y):
    forget_compiled()
    return observed_fit(model, X, y)


FACTS = {"bounds_X": (0, 1), "bounds_y": (0, 1), "n_components": 4, "epsilon": 20.0}


def given(cls, **more):
    known = cls().get_params()
    return {name: value for name, value in (FACTS | more).items() if name in known}


@pytest.mark.parametrize("cls", [Ridge, LogisticRegression, KendallSelector])
def test_nothing_compiles_after_the_charge(cls):
    more = {"k": 2, "bounds_X": None}
    assert compiles(cls(**given(cls, **more)), *table(cls)) is None


@pytest.mark.slow
@pytest.mark.parametrize("cls", [LinearRegression, LogisticRegression])
@pytest.mark.parametrize("kind", [{}, {"dtype": np.float32, "order": "F"}])
@pytest.mark.parametrize("known", [{}, {"bounds_X": None, "bounds_y": None}, {"scale_X": 0.01}])
def test_nothing_compiles_after_the_charge_on_either_side_of_large(cls, kind, known, monkeypatch):
    """Padding and second columns of wide features are more numbers than the table has."""
    for name in ("LARGE", "LARGE_ENOUGH"):
        monkeypatch.setattr(jit, name, 120)
        monkeypatch.setattr(rehearsal, name, 120)
    for n in (39, 40, 41):
        X, y = table(cls, n=n, **kind)
        assert compiles(cls(**given(cls, solver="cd", **known)), X, y) is None, n


FRESH = """
import warnings
import numpy as np
from privlearn import LinearRegression, LogisticRegression, Ridge
from privlearn.audit.after_charge import observed_fit
from privlearn.feature_selection import KendallSelector

warnings.simplefilter("ignore")
X = np.random.default_rng(0).uniform(0, 1, (50, 2))
known = dict(bounds_X=(0, 1), bounds_y=(0, 1))
for model in (
    LinearRegression(solver="moments", **known),  # before any compiler is loaded
    LinearRegression(solver="boosted", **known),
    Ridge(solver="sgd", **known),
    Ridge(solver="output"),
    LogisticRegression(classes=[0, 1]),
    KendallSelector(1),
):
    wrong = observed_fit(model, X, X[:, 0] > 0.5)
    assert wrong is None, (model, wrong)
"""


@pytest.mark.slow
def test_a_fresh_process_has_everything_before_the_charge():
    place = {**os.environ, "PYTHONPATH": str(Path(privlearn.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", FRESH], env=place, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-1500:]


def every_kind():
    for cls in [*every_estimator(), KendallSelector, SubLassoSelector]:
        modes = {"": None} if hasattr(cls(), "k") else modes_for(cls) | {"tukey": "tukey"}
        for name, solver in modes.items():
            yield pytest.param(cls, solver, id=f"{cls.__name__}-{name}")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("cls", "solver"), list(every_kind()))
def test_nothing_compiles_after_the_charge_whatever_runs(cls, solver):
    kinds = [{}, {"sparse": True}, {"dtype": np.float32, "order": "F"}, {"n": 1}, {"n": 600}]
    chosen = {} if solver is None else {"solver": solver}
    for place, kind in enumerate(kinds):
        more = [{}, {"bounds_X": None}, {"on_invalid": "drop"}, {"adjacency": "add_remove"}]
        parameters = given(cls, **chosen, **more[place % 4], k=2)
        if isinstance(solver, solvers.OutputPerturbation) and "adjacency" in more[place % 4]:
            parameters["solver"] = "output"
        X, y = table(cls, **kind)
        assert compiles(cls(**parameters), X, y) is None, (kind, more[place % 4])


def test_a_rehearsal_happens_once(monkeypatch):
    X, y = table(Ridge)
    runs = []
    own = rehearsal.run_through

    def counted(*arguments):
        runs.append(arguments)
        own(*arguments)

    monkeypatch.setattr(rehearsal, "run_through", counted)
    rehearsal._seen.clear()
    for epsilon in (1.0, 2.0):
        Ridge(**given(Ridge, epsilon=epsilon)).fit(X, y)
    assert len(runs) == 1
    Ridge(**given(Ridge)).fit(sp.csr_array(X), y)
    assert len(runs) == 2


def test_a_rehearsal_is_no_release_and_has_no_certificate():
    """Whoever watches releases sees those of the fit alone."""
    seen = []
    rehearsal._seen.clear()
    X, y = table(Ridge)
    model = Ridge(**given(Ridge, bounds_X=None))
    with progress(lambda done, total: seen.append((done, total))):
        model.fit(X, y)
    done = [made for made, _ in seen]
    assert done == sorted(set(done))
    assert {total for _, total in seen} == {done[-1]}
    opened = rehearsal._Rehearsal(model.plan(30, n_features=3), None, 0)
    with pytest.raises(PrivacyError, match="no certificate"):
        opened.certificate()


# Known cases

# Facts beyond 1e-100 to 1e100 are refused where they are read; without that these fail.


@pytest.mark.parametrize("cls", [Ridge, LinearRegression, Lasso, LogisticRegression, LinearSVC])
@pytest.mark.parametrize("relation", ["zero_out", "replace_one", "add_remove"])
def test_a_plan_for_estimated_ranges_holds_wherever_they_lie(cls, relation):
    """Output perturbation without an intercept used to plan with a box that stood in."""
    rng = np.random.default_rng(0)
    X, y = rng.uniform(300, 9_000, (400, 2)), rng.uniform(1e5, 2e5, 400)
    y = (y > 1.5e5).astype(int) if hasattr(cls(), "classes") else y
    model = cls(solver="output", fit_intercept=False, adjacency=relation, epsilon=5.0)
    assert observed_fit(model, X, y) is None
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize(
    "facts",
    [
        {"bounds_y": (0, 1e-310)},
        {"bounds_X": (0, 1e-170)},
        {"data_norm": 1e200},
        {"bounds_X": (0, 1e-100), "bounds_y": (0, 1e-100)},
        {"bounds_X": (-1e100, 1e100), "bounds_y": (-1e100, 1e100)},
    ],
    ids=str,
)
@pytest.mark.parametrize("solver", ["moments", "sgd", "cd", "scd", "one-pass", "output", "boosted"])
@pytest.mark.filterwarnings("ignore")
def test_facts_of_any_size_are_refused_or_work(facts, solver):
    X, y = table(Ridge)
    known = {"bounds_X": (0, 1), "bounds_y": (0, 1)} | facts
    if "data_norm" in facts:
        known.pop("bounds_X")
    assert observed_fit(Ridge(solver=solver, **known), X, y) is None


@pytest.mark.parametrize("cls", every_estimator())
@pytest.mark.filterwarnings("ignore")
def test_features_that_their_bounds_hold_fast_are_refused_or_work(cls):
    """Rows have no length then: without an intercept there is nothing to learn but a scale."""
    X, y = table(cls)
    facts = {"bounds_y": (-1e6, 1e6)} if "bounds_y" in cls().get_params() else {}
    for turn, (mode, solver) in enumerate(modes_for(cls).items()):
        relation = ("zero_out", "add_remove")[turn % 2]
        known = {"solver": solver, "adjacency": relation, "fit_intercept": False, **facts}
        assert observed_fit(cls(bounds_X=(0.0, 0.0), **known), X, y) is None, mode


def test_what_does_not_fit_into_memory_is_refused_before_the_charge(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 16 * 2.0**30)
    X = sp.csr_array((np.ones(3), ([0, 1, 2], [5, 6, 7])), shape=(40, 100_000))
    y = np.linspace(0, 1, 40)
    model = LinearRegression(solver="moments", bounds_X=(0, 1), bounds_y=(0, 1))
    words = r"needs about \d+\.\d GiB.*100000 features.*16\.0 GiB.*nothing was charged.*'sgd'"
    with pytest.raises(UnsupportedCombinationError, match=words):
        model.fit(X, y)
    assert observed_fit(model, X, y) is None
    assert model.plan(40, n_features=100_000).epsilon(1e-6) <= 1.0  # elsewhere it may fit
    model.set_params(solver="one-pass")
    assert observed_fit(model, X, y) is None
    assert model.coef_.shape == (100_000,)


def test_available_memory_is_a_number_or_unknown(monkeypatch, tmp_path):
    assert memory.available() is None or memory.available() > 0
    (tmp_path / "max").write_text("max\n")
    (tmp_path / "some").write_text("1234\n")
    assert memory._number_in(str(tmp_path / "max")) is None
    assert memory._number_in(str(tmp_path / "none")) is None
    assert memory._number_in(str(tmp_path / "some")) == 1234.0


# Parameters that are numbers

WRONG = [True, np.True_, "1", 1j, float("nan"), 1e-200, 1e200, 10**400, -1.0]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (solvers.SGD, "step_size"),
        (solvers.SGD, "clip"),
        (solvers.SGD, "momentum"),
        (solvers.SGD, "average"),
        (solvers.SGD, "steps"),
        (solvers.CoordinateDescent, "clip"),
        (solvers.CoordinateDescent, "step_size"),
        (solvers.CoordinateDescent, "passes"),
        (solvers.DualCoordinateDescent, "clip"),
        (solvers.OnePassSGD, "step_size"),
        (solvers.OnePassSGD, "batch_size"),
        (solvers.OutputPerturbation, "clip"),
        (solvers.OutputPerturbation, "step_size"),
        (solvers.BoostedStatistics, "clip"),
        (solvers.SufficientStatistics, "ridge"),
        (solvers.Tukey, "models"),
    ],
)
def test_numbers_of_solvers_are_refused_at_construction(kind, name, wrong):
    if name in ("momentum", "average") and wrong == 1e-200:
        return
    with pytest.raises(ValueError, match=name):
        kind(**{name: wrong})


def test_numbers_of_solvers_become_plain_ones():
    for half in (Fraction(1, 2), np.float32(0.5), np.float64(0.5), 0.5):
        made = solvers.SGD(step_size=half, clip=half, momentum=half, average=half)
        assert made == solvers.SGD(step_size=0.5, clip=0.5, momentum=0.5, average=0.5)
        assert {type(made.step_size), type(made.clip), type(made.momentum)} == {float}
    assert type(solvers.SGD(steps=np.int32(3), clip=1).steps) is int
    assert type(solvers.SGD(clip=1).clip) is float
    X, y = table(Ridge)
    assert (
        observed_fit(Ridge(**given(Ridge, solver=solvers.SGD(step_size=Fraction(1, 2)))), X, y)
        is None
    )


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (Ridge, "alpha"),
        (Lasso, "alpha"),
        (ElasticNet, "alpha"),
        (ElasticNet, "l1_ratio"),
        (HuberRegressor, "alpha"),
        (HuberRegressor, "epsilon_huber"),
        (PoissonRegressor, "alpha"),
        (KernelRegressor, "alpha"),
        (LogisticRegression, "C"),
        (LogisticRegression, "l1_ratio"),
        (LinearSVC, "C"),
        (KernelClassifier, "C"),
        (Ridge, "epsilon"),
        (Ridge, "delta"),
    ],
)
def test_numbers_of_models_are_refused_before_the_charge(kind, name, wrong):
    model = kind(**given(kind)).set_params(**{name: wrong})
    with pytest.raises((ValueError, TypeError), match=name):
        model.plan(50, n_features=2)


def test_promises_of_a_size_that_nobody_tried_are_refused():
    known = given(Ridge)
    for wrong in ({"epsilon": 1e-12}, {"epsilon": 1e9}, {"delta": 1e-300}):
        with pytest.raises(InvalidBudgetError, match=next(iter(wrong))):
            Ridge(**known | wrong).plan(50, n_features=2)
    assert Ridge(**known | {"delta": 1e-100}).plan(50, n_features=2)


@pytest.mark.parametrize("wrong", [(-1e200, 1), (0, 1e101), (0, [1, 1e308])])
def test_boxes_of_coefficients_are_of_ordinary_size(wrong):
    with pytest.raises(ValueError, match=r"coef_bounds.*at most 1e\+100"):
        Ridge(**given(Ridge), coef_bounds=wrong).plan(50, n_features=2)


# The check itself


def test_the_check_is_among_the_audits():
    assert audit.check_nothing_after_charge in audit.CHECKS
    audit.check_nothing_after_charge(Ridge(**given(Ridge)), n_features=2)
    audit.check_nothing_after_charge(KendallSelector(1, epsilon=1.0), n_features=2)


def test_a_planned_test_may_fail_after_the_charge():
    audit.check_nothing_after_charge(LinearRegression(solver="tukey", epsilon=3.0), n_features=1)


def test_errors_after_the_charge_are_found(monkeypatch):
    monkeypatch.setattr(Releaser, "noise_scale", lambda *_: 1 / 0)
    rehearsal._seen.clear()
    monkeypatch.setattr(rehearsal, "once", lambda key, run: None)
    with pytest.raises(audit.AuditFailure, match="ZeroDivisionError after the charge"):
        audit.check_nothing_after_charge(Ridge(**given(Ridge)), n_features=2)
