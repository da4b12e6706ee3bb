"""The ledger: one file, every charge in it, refused when it does not fit."""

import copy
import os
import pickle
import re
import sqlite3
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from privlearn import Ledger, LinearRegression
from privlearn._core.calibration import calibrate
from privlearn._core.mechanisms import GUMBEL, LAPLACE
from privlearn._core.norms import L1, LINF
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Adjacency, Budget
from privlearn._core.sampling import Poisson
from privlearn.exceptions import (
    BudgetExceededError,
    InvalidBudgetError,
    LedgerError,
    MissingFactError,
    UnsupportedCombinationError,
)
from privlearn.ledger import entries
from privlearn.ledger import ledger as handle
from privlearn.solvers.moments.solver import SufficientStatistics
from support import regression

DELTA = 1e-6
X, Y = regression(n=300, p=2)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "clinic.ledger"


@pytest.fixture
def ledger(path):
    return Ledger.create(path, epsilon=1, delta=DELTA)


def model(ledger, epsilon=1.0, **parameters):
    facts = {"bounds_X": (-1, 1), "bounds_y": (-1, 1), "dataset": "patients", "solver": "moments"}
    return LinearRegression(epsilon=epsilon, ledger=ledger, **{**facts, **parameters})


def gaussian(scale=10.0, relation=Adjacency.ZERO_OUT):
    return Plan((Release("sum", (3,), clip=1.0),), relation, scale, rows=100)


def sampled(scale=2.0, count=300):
    release = Release("gradient", (3,), clip=1.0, sampling=Poisson(0.01), count=count)
    return Plan((release,), Adjacency.ZERO_OUT, scale, rows=100)


def laplace(scale=10.0):
    release = Release("count", (1,), clip=1.0, norm=L1, mechanism=LAPLACE)
    return Plan((release,), Adjacency.ZERO_OUT, scale, rows=100)


def selection(scale=10.0):
    release = Release("best", (4,), clip=1.0, norm=LINF, mechanism=GUMBEL)
    return Plan((release,), Adjacency.ZERO_OUT, scale, rows=100)


# Cost


def test_ten_fits_cost_far_less_than_their_sum(path):
    ledger = Ledger.create(path, epsilon=3, delta=DELTA)
    for _ in range(10):
        model(ledger, epsilon=0.3).fit(X, Y)
    # Gaussians compose to one with mu sqrt(10) times as large: 1.03 at delta = 1e-6
    assert 1.0 < ledger.spent("patients") < 1.05


def test_spent_and_remaining_of_gaussian_fits(ledger):
    assert (ledger.spent("patients"), ledger.remaining("patients")) == (0.0, 1.0)
    model(ledger, epsilon=0.6).fit(X, Y)
    assert ledger.spent("patients") == pytest.approx(0.6, rel=1e-5)
    left = ledger.remaining("patients")
    assert left > 0.7  # not 0.4: epsilons do not add up
    with pytest.raises(BudgetExceededError):
        model(ledger, epsilon=left * 1.01).fit(X, Y)
    model(ledger, epsilon=left).fit(X, Y)
    assert 0.999 < ledger.spent("patients") <= 1.0


def test_mixed_releases_fill_the_budget_and_never_pass_it(path):
    ledger = Ledger.create(path, epsilon=1, delta=DELTA)
    plans = [gaussian(12.0), sampled(4.0), laplace(50.0), selection(100.0)]
    for k in range(60):
        try:
            ledger.charge(plans[k % 4], "patients")
        except BudgetExceededError:
            break
    assert k > 15
    assert 0.85 < ledger.spent("patients") <= 1.0


def test_data_sets_have_a_budget_each(ledger):
    model(ledger).fit(X, Y)
    model(ledger, dataset="others").fit(X, Y)
    assert ledger.datasets() == ["others", "patients"]
    with pytest.raises(BudgetExceededError):
        model(ledger, epsilon=0.5).fit(X, Y)


def test_the_ledgers_delta_counts_not_the_fits(ledger):
    """A promise at a larger delta costs more than its epsilon at the ledger's."""
    with pytest.raises(BudgetExceededError) as refused:
        model(ledger, epsilon=1.0, delta=1e-4).fit(X, Y)
    assert refused.value.asked > 1.1
    assert ledger.datasets() == []


def test_pure_ledger_adds_losses(path):
    ledger = Ledger.create(path, epsilon=0.31, delta=0)
    for _ in range(3):
        ledger.charge(laplace(10.0), "patients")
    assert ledger.spent("patients") == pytest.approx(0.3, rel=1e-6)
    assert ledger.remaining("patients") == pytest.approx(0.01, rel=1e-3)
    with pytest.raises(BudgetExceededError, match=r"costs epsilon=0\.1 at delta=0") as refused:
        ledger.charge(laplace(10.0), "patients")
    assert refused.value.fits == pytest.approx(0.01, rel=2e-3)
    with pytest.raises(BudgetExceededError, match="needs delta > 0"):
        ledger.charge(gaussian(), "patients")


# Refusals


def test_refusal_says_what_was_asked_what_is_left_and_what_fits(ledger):
    model(ledger, epsilon=0.9).fit(X, Y)
    with pytest.raises(BudgetExceededError, match="nothing was charged or released") as refused:
        model(ledger, epsilon=0.8).fit(X, Y)
    error = refused.value
    assert error.asked == pytest.approx(0.8, rel=1e-5)
    assert error.left == pytest.approx(error.fits, rel=1e-3)
    assert len(ledger.history("patients")) == 1
    number = float(re.search(r"same fit with epsilon=([\d.e-]+)", str(error)).group(1))
    model(ledger, epsilon=number).fit(X, Y)  # the advice can be followed as printed
    assert ledger.spent("patients") > 0.998


@pytest.mark.slow
def test_refusal_of_a_sampled_plan_names_one_that_fits(ledger):
    ledger.charge(gaussian(7.0), "patients")
    plan = sampled(0.8, count=2000)
    with pytest.raises(BudgetExceededError) as refused:
        ledger.charge(plan, "patients")
    fits = refused.value.fits
    assert refused.value.asked == pytest.approx(plan.epsilon(DELTA), rel=1e-3)
    assert 0.1 < fits < 1
    fitting = calibrate(lambda scale: replace(plan, scale=scale), Budget(fits, DELTA))
    ledger.charge(fitting, "patients")
    with pytest.raises(BudgetExceededError):
        ledger.charge(replace(plan, scale=2 * fitting.scale), "patients")


def test_nothing_fits_any_more(path):
    ledger = Ledger.create(path, epsilon=0.1, delta=0)
    ledger.charge(laplace(10.0 * (1 + 1e-4)), "patients")
    ledger.charge(laplace(1e6), "patients")
    with pytest.raises(BudgetExceededError) as refused:
        ledger.charge(gaussian(), "patients")
    assert refused.value.fits is None


def test_refusals_can_be_pickled():
    error = BudgetExceededError("too much", 1.0, 0.5, 0.25)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.asked, again.left, again.fits) == ("too much", 1.0, 0.5, 0.25)


def test_one_relation_per_data_set(ledger):
    ledger.charge(gaussian(20.0), "patients")
    with pytest.raises(UnsupportedCombinationError, match=r"'add_remove'.*'zero_out' before"):
        ledger.charge(gaussian(20.0, Adjacency.ADD_REMOVE), "patients")
    ledger.charge(gaussian(20.0, Adjacency.ADD_REMOVE), "others")
    assert [charge.adjacency for charge in ledger.history("others")] == ["add_remove"]
    assert len(ledger.history("patients")) == 1


def test_a_charge_that_slips_in_while_another_is_decided_is_counted(ledger, monkeypatch):
    decide = handle.decide

    def overtaken(records, asked):
        answer = decide(records, asked)
        monkeypatch.setattr(handle, "decide", decide)
        records.link.execute("COMMIT")
        Ledger(ledger.path).charge(gaussian(4.3), "patients")
        return answer

    monkeypatch.setattr(handle, "decide", overtaken)
    with pytest.raises(BudgetExceededError):
        ledger.charge(gaussian(4.3), "patients")
    assert len(ledger.history("patients")) == 1


# Order of events


def test_a_crash_after_the_charge_refunds_nothing(ledger, monkeypatch):
    def crash(*_):
        raise RuntimeError("power failure")

    monkeypatch.setattr(SufficientStatistics, "solve", crash)
    with pytest.raises(RuntimeError):
        model(ledger).fit(X, Y)
    assert ledger.spent("patients") == pytest.approx(1.0, rel=1e-5)


def test_refused_input_is_not_charged(ledger):
    with pytest.raises(ValueError, match="NaN"):
        model(ledger).fit(np.full_like(X, np.nan), Y)
    assert ledger.datasets() == []


def test_a_seeded_fit_is_charged(ledger):
    model(ledger, random_state=0).fit(X, Y)
    with pytest.raises(BudgetExceededError):
        model(ledger, random_state=0).fit(X, Y)


# Copies


def test_sixteen_clones_share_one_budget(ledger):
    original, charged = model(ledger), 0
    for _ in range(16):
        try:
            clone(original).fit(X, Y)
            charged += 1
        except BudgetExceededError:
            assert charged == 1
    assert charged == len(ledger.history("patients")) == 1


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, clone, lambda m: pickle.loads(pickle.dumps(m))],
    ids=["copy", "deepcopy", "clone", "pickle"],
)
def test_every_copy_is_a_handle_on_the_same_file(ledger, duplicate, monkeypatch):
    twin = duplicate(model(ledger))
    monkeypatch.chdir(os.path.dirname(ledger.path) + "/..")
    twin.fit(X, Y)
    with pytest.raises(BudgetExceededError):
        model(ledger).fit(X, Y)


def test_a_relative_path_stays_the_same_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger.create("here.ledger", epsilon=1, delta=DELTA)
    monkeypatch.chdir("/")
    ledger.charge(gaussian(), "patients")
    assert Ledger(tmp_path / "here.ledger").datasets() == ["patients"]


def test_grid_search_in_two_processes_charges_every_fit(path):
    ledger = Ledger.create(path, epsilon=5, delta=DELTA)
    search = GridSearchCV(
        model(ledger, epsilon=0.5), {"fit_intercept": [True, False]}, cv=2, n_jobs=2,
        error_score="raise",
    )  # fmt: skip
    search.fit(X, Y)
    assert len(ledger.history("patients")) == 5  # 2 x 2, and the refit


def test_threads_and_forks_lose_no_charge(path):
    ledger = Ledger.create(path, epsilon=5, delta=DELTA)

    def charge():
        for _ in range(5):
            ledger.charge(gaussian(100.0), "patients")

    threads = [threading.Thread(target=charge) for _ in range(3)]
    for thread in threads:
        thread.start()
    child = os.fork()
    if child == 0:
        charge()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    for thread in threads:
        thread.join()
    assert len(ledger.history("patients")) == 20


# Names


def test_the_context_names_the_data_set(ledger):
    with ledger.dataset("a"), ledger.dataset("b"):
        model(ledger, epsilon=0.2, dataset=None).fit(X, Y)
        model(ledger, epsilon=0.2, dataset="c").fit(X, Y)
    assert ledger.datasets() == ["b", "c"]
    with ledger.dataset("b"):
        assert len(ledger.history()) == 1
        assert ledger.spent() == ledger.spent("b") > 0


def test_the_context_is_this_ledgers_alone(ledger, tmp_path):
    other = Ledger.create(tmp_path / "other.ledger", epsilon=1, delta=DELTA)
    with ledger.dataset("a"), pytest.raises(MissingFactError, match="dataset is missing"):
        other.charge(gaussian(), None)


def test_a_charge_without_a_name_is_refused(ledger):
    with pytest.raises(MissingFactError, match="dataset is missing"):
        model(ledger, dataset=None).fit(X, Y)
    with pytest.raises(MissingFactError, match="needs a name"):
        ledger.charge(gaussian(), " ")


# The file


def test_a_path_opens_the_ledger(ledger):
    for given in (ledger.path, os.fsencode(ledger.path).decode()):
        with pytest.raises(BudgetExceededError):
            model(given, epsilon=2.0).fit(X, Y)
    model(ledger.path).fit(X, Y)
    assert ledger.datasets() == ["patients"]


def test_an_existing_ledger_keeps_its_budget(ledger):
    again = Ledger(ledger.path)
    assert (again.epsilon, again.delta) == (1.0, DELTA)
    assert again == ledger
    before = Path(ledger.path).read_bytes()
    with pytest.raises(LedgerError, match="is there already, and a ledger is never overwritten"):
        Ledger.create(ledger.path, epsilon=2, delta=DELTA)
    assert Path(ledger.path).read_bytes() == before


def test_a_missing_file_is_an_error_and_not_a_new_budget(path):
    with pytest.raises(LedgerError, match=r"is not there .* Ledger\.create"):
        Ledger(path)
    with pytest.raises(TypeError):
        Ledger(path, epsilon=1, delta=DELTA)
    with pytest.raises(InvalidBudgetError):
        Ledger.create(path, epsilon=-1, delta=DELTA)
    assert not path.exists()


def test_only_the_owner_may_read_a_new_ledger(ledger):
    assert os.stat(ledger.path).st_mode & 0o777 == 0o600


def test_what_is_no_ledger_is_refused_and_left_alone(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("a shopping list" * 100)
    with pytest.raises(LedgerError, match="is no ledger"):
        Ledger(text)
    with pytest.raises(LedgerError, match="is there already"):
        Ledger.create(text, epsilon=1, delta=DELTA)
    assert text.read_text() == "a shopping list" * 100
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as link:
        link.execute("CREATE TABLE patients (name TEXT)")
    with pytest.raises(LedgerError, match="a database, but no ledger"):
        Ledger(other)
    with pytest.raises(LedgerError, match="is a folder"):
        Ledger(tmp_path)
    with pytest.raises(LedgerError, match="no folder"):
        Ledger.create(tmp_path / "none" / "x", epsilon=1, delta=DELTA)
    assert sorted(os.listdir(tmp_path)) == ["notes.txt", "other.db"]


def test_a_file_of_another_format_is_refused(ledger):
    with sqlite3.connect(ledger.path) as link:
        link.execute("PRAGMA user_version = 99")
    with pytest.raises(LedgerError, match="format 99"):
        Ledger(ledger.path)


def test_a_removed_ledger_does_not_start_again_from_nothing(ledger):
    model(ledger).fit(X, Y)
    os.remove(ledger.path)
    with pytest.raises(LedgerError, match="not there"):
        model(ledger).fit(X, Y)
    with pytest.raises(LedgerError, match="not there"):
        model(ledger.path).fit(X, Y)
    assert not os.path.exists(ledger.path)


def test_a_file_that_cannot_be_written_stops_the_fit(ledger):
    os.chmod(ledger.path, 0o444)
    if os.access(ledger.path, os.W_OK):
        pytest.skip("this user may write anywhere")
    with pytest.raises(LedgerError, match="cannot be written"):
        model(ledger).fit(X, Y)


def test_an_error_of_the_file_system_is_explained(ledger):
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorname = "SQLITE_READONLY_DIRECTORY"
    assert "cannot be written" in str(ledger._store._explained(error))
    error.sqlite_errorname = "SQLITE_BUSY"
    assert "was locked by others" in str(ledger._store._explained(error))


# History


def test_history_tells_what_was_released_and_nothing_about_data(ledger):
    fitted = model(ledger, epsilon=0.3).fit(X, Y)
    (charge,) = ledger.history("patients")
    assert charge.dataset == "patients"
    assert charge.adjacency == "zero_out"
    assert charge.version == fitted.privacy_.version
    assert charge.epsilon == pytest.approx(0.3, rel=1e-5)
    assert list(charge.releases) == fitted.privacy_.plan.describe()
    assert re.match(r"\d{4}-\d\d-\d\dT[\d:]+\+00:00", charge.when)
    assert "second moments" in str(charge)
    assert charge.pairs == tuple(fitted.privacy_.plan.pairs())


def test_the_file_of_a_private_n_does_not_depend_on_n(tmp_path, monkeypatch):
    monkeypatch.setattr(handle, "_new_key", lambda: bytes(32))
    monkeypatch.setattr(entries, "_now", lambda: "2026-01-01T00:00:00+00:00")
    contents = []
    for n in (300, 200):
        ledger = Ledger.create(tmp_path / f"{n}.ledger", epsilon=1, delta=DELTA)
        model(ledger, adjacency="add_remove").fit(X[:n], Y[:n])
        with sqlite3.connect(ledger.path) as link:
            lines = [line for line in link.iterdump() if "INSERT" in line]
        contents.append([re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "", line) for line in lines])
    assert contents[0] == contents[1]


def test_the_example_of_the_page(tmp_path, monkeypatch, capsys):
    page = Path(__file__).resolve().parents[2] / "docs" / "ledger.md"
    code = re.search(r"```python\n(.*?)```", page.read_text(), re.S).group(1)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "docs/ledger.md", "exec"), {})
    spent, left = (float(number) for number in capsys.readouterr().out.split())
    promised = re.search(r"# ([\d.]+) ([\d.]+)\.\.\.", code).groups()
    assert [f"{spent:.1f}", f"{left:.4f}"[: len(promised[1])]] == list(promised)


def test_words(ledger):
    model(ledger, epsilon=0.3).fit(X, Y)
    assert repr(ledger) == f"Ledger({ledger.path!r}, epsilon=1, delta=1e-06)"
    assert "patients: 1 charge, spent epsilon = 0.3" in str(ledger)
