"""Streams: charged once, as a whole; every batch with noise of its own; nothing of a row kept."""

import copy
import gc
import os
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as sk
from sklearn.base import clone

from privlearn import HuberRegressor, Ledger, LinearSVC, LogisticRegression
from privlearn._core.releaser import Releaser, use_releaser
from privlearn.exceptions import BudgetExceededError, MissingFactError, UnsupportedCombinationError
from privlearn.solvers import SGD, OnePassSGD
from privlearn.solvers.one_pass.state import OnePassState
from support import without_noise

KNOWN = {"bounds_X": (-1, 1), "delta": 0.0}
CLASSES = {"classes": [0, 1]}
N = 211  # a prime: nothing public has so many numbers


def arriving(k, n=500, p=3):
    rng = np.random.default_rng([7, k])
    X = rng.uniform(-1, 1, (n, p))
    return X, (X @ np.linspace(1, -1, p) * 3 + rng.logistic(size=n) > 0).astype(int)


def streamed(model, batches, n=500):
    for k in range(batches):
        model.partial_fit(*arriving(k, n))
    return model


def logistic(**parameters):
    return LogisticRegression(**KNOWN | CLASSES | parameters)


def new_ledger(path):
    """An empty ledger, whichever way this version makes one."""
    create = getattr(Ledger, "create", Ledger)
    return create(path, epsilon=1.0, delta=1e-6)


def weights(model):
    return np.append(model.coef_, model.intercept_)


class Witness(Releaser):
    """Keeps what was released and what it was made of."""

    seen = ()

    def _hand_out(self, release, n, count):
        steps = super()._hand_out(release, n, count)
        room = steps.noise.shape
        steps = steps._replace(statistics=np.zeros(room), released=np.zeros(room))
        self.seen.append(steps)
        return steps


@pytest.fixture
def seen():
    Witness.seen = []
    with use_releaser(Witness):
        yield Witness.seen


# Price


@pytest.mark.parametrize("relation", ["zero_out", "replace_one", "add_remove"])
def test_a_stream_of_any_length_is_charged_once(relation, tmp_path):
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=1.0, delta=1e-6)
    solver = OnePassSGD(batch_size=500)
    given = {"adjacency": relation, "solver": solver, "ledger": ledger, "dataset": "people"}
    model = streamed(logistic(**given), 7)
    assert len(ledger.history("people")) == 1
    assert ledger.spent("people") == pytest.approx(1.0, rel=1e-5)
    assert model.privacy_.spent() == pytest.approx(1.0, rel=1e-6)
    assert model.privacy_.spent() <= 1.0
    another = logistic(**given)
    with pytest.raises(BudgetExceededError):
        another.partial_fit(*arriving(8))
    assert not hasattr(another, "coef_")
    assert not hasattr(another, "privacy_")
    model.partial_fit(*arriving(9))  # the first one goes on
    assert len(ledger.history("people")) == 1


def test_a_refused_stream_stays_refused(tmp_path, seen):
    """A second call must not find a stream that was never paid for."""
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=0.5, delta=1e-6)
    model = logistic(epsilon=1.0, ledger=ledger, dataset="people")
    for k in range(2):
        with pytest.raises(BudgetExceededError):
            model.partial_fit(*arriving(k))
    assert ledger.datasets() == []
    assert seen == []


def test_the_ledger_is_charged_before_the_first_batch_and_nothing_is_refunded(
    tmp_path, monkeypatch
):
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=1.0, delta=1e-6)
    model = logistic(ledger=ledger, dataset="people")
    monkeypatch.setattr(Releaser, "steps", lambda *a, **b: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.partial_fit(*arriving(0))
    assert ledger.spent("people") == pytest.approx(1.0, rel=1e-5)


def test_a_batch_has_the_noise_of_a_fit_to_one_batch():
    model = streamed(logistic(epsilon=0.5, adjacency="replace_one"), 2)
    (release,) = model.privacy_.releases
    assert release["mechanism"] == "spherical"
    assert release["noise_scale"] == pytest.approx(2 * release["clip"] / 0.5, rel=1e-6)
    assert "stream" in release["sampling"]
    assert any("comes twice" in line for line in model.privacy_.assumptions)
    assert "comes twice" in str(model.privacy_)


def test_fit_forgets_the_stream_and_another_stream_is_charged_again(tmp_path):
    ledger = Ledger.create(tmp_path / "people.ledger", epsilon=9.0, delta=1e-6)
    model = streamed(logistic(ledger=ledger, dataset="people"), 2)
    model.fit(*arriving(0))
    assert len(ledger.history("people")) == 2
    assert not any("twice" in line for line in model.privacy_.assumptions)
    model.partial_fit(*arriving(1))
    assert len(ledger.history("people")) == 3
    clone(model).partial_fit(*arriving(2))
    assert len(ledger.history("people")) == 4


# Noise


def noises(seen):
    return [steps.noise[0] for steps in seen]


@pytest.mark.parametrize("state", [0, 5, np.random.RandomState(1), None], ids=str)
def test_every_batch_has_noise_of_its_own(state, seen):
    streamed(logistic(random_state=state), 4)
    assert len({noise.tobytes() for noise in noises(seen)}) == 4


def test_streams_repeat_with_a_seed_and_only_then(seen):
    first, second, other, free, freer = (
        weights(streamed(logistic(random_state=state), 3)) for state in (1, 1, 2, None, None)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    assert not np.array_equal(free, freer)
    assert len({noise.tobytes() for noise in noises(seen)[6:]}) == 9
    assert not streamed(logistic(random_state=1), 1).privacy_.private
    assert streamed(logistic(), 1).privacy_.private


def test_neighbouring_seeds_share_nothing(seen):
    """Seeds of batches are far apart: batch 1 of one stream is not batch 0 of the next."""
    for state in range(3):
        streamed(logistic(random_state=state), 3)
    assert len({noise.tobytes() for noise in noises(seen)}) == 9


# One stream, one charge: what it is bound to


class Counting:
    """A ledger that registers streams and counts their batches, as `Ledger` does."""

    def __init__(self):
        self.charges, self.next, self.released = [], {}, []

    def charge(self, plan, dataset, *, stream=None):
        self.charges.append((plan, dataset))
        self.next[stream] = 0

    def advance(self, stream, batch):
        if self.next[stream] != batch:
            raise ValueError("another copy has released this batch")
        self.next[stream] += 1

    def __reduce__(self):
        return counted, (id(self),)  # the same file, whoever opens it


COUNTED = {}


def counted(key):
    return COUNTED[key]


@pytest.fixture
def counting():
    ledger = Counting()
    COUNTED[id(ledger)] = ledger
    yield ledger
    COUNTED.clear()


class Plain(Counting):
    """A ledger that only knows charges."""

    advance = None

    def charge(self, plan, dataset):
        self.charges.append((plan, dataset))


COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "copy of a copy": lambda model: copy.copy(copy.deepcopy(model)),
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "pickle of a copy": lambda model: pickle.loads(pickle.dumps(copy.deepcopy(model))),
}


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize("state", [None, 3])
def test_a_copy_predicts_but_does_not_go_on(how, state, seen):
    model = streamed(logistic(random_state=state), 2)
    again = COPIES[how](model)
    np.testing.assert_array_equal(weights(model), weights(again))
    assert len(again.predict(arriving(2)[0])) == 500
    for _ in range(2):
        with pytest.raises(ValueError, match=r"stream.*it predicts.*clone"):
            again.partial_fit(*arriving(2))
    assert len(seen) == 2
    model.partial_fit(*arriving(2))  # the original does
    clone(again).partial_fit(*arriving(2))  # and a clone starts anew


def test_a_pickle_resumes_through_a_ledger_that_counts(counting, seen):
    model = streamed(logistic(ledger=counting, dataset="people"), 2)
    text = pickle.dumps(model)
    again = pickle.loads(text)
    again.partial_fit(*arriving(2))
    assert (len(counting.charges), list(counting.next.values()), len(seen)) == (1, [3], 3)
    for late in (model, pickle.loads(text)):  # the one that goes on is the only one
        with pytest.raises(ValueError, match="another copy"):
            late.partial_fit(*arriving(2))
    assert len(seen) == 3
    again.partial_fit(*arriving(3))
    for how in ("copy", "deepcopy"):
        with pytest.raises(ValueError, match="copy of one in the middle"):
            COPIES[how](again).partial_fit(*arriving(4))


def test_without_counting_a_ledger_is_not_enough(seen):
    ledger = Plain()
    COUNTED[id(ledger)] = ledger
    model = streamed(logistic(ledger=ledger), 2)
    assert len(ledger.charges) == 1
    with pytest.raises(ValueError, match=r"without a ledger that counts"):
        COPIES["pickle"](model).partial_fit(*arriving(2))
    COUNTED.clear()


def test_a_forked_child_does_not_go_on(seen, monkeypatch):
    model = streamed(logistic(), 1)
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    with pytest.raises(ValueError, match=r"forked in the middle of a stream.*clone"):
        model.partial_fit(*arriving(1))
    assert len(seen) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"ledger": None},
        {"dataset": "others"},
        {"random_state": 1},
        {"random_state": None},
        {"random_state": np.random.RandomState(0)},
        {"on_invalid": "drop"},
        {"adjacency": "replace_one"},
    ],
    ids=lambda change: "{}={!r:.12}".format(*next(iter(change.items()))),
)
def test_ledger_data_set_and_seed_may_not_change(change, counting, seen):
    state = 5 if "random_state" in change else None
    model = streamed(logistic(ledger=counting, dataset="people", random_state=state), 2)
    kept = model.get_params()
    other = Counting()
    changes = [change, {"ledger": other}] if "ledger" in change else [change]
    for one in changes:
        model.set_params(**one)
        with pytest.raises(
            ValueError, match=rf"changed in the middle of a stream \({next(iter(one))}\)"
        ):
            model.partial_fit(*arriving(2))
        assert (len(counting.charges), other.charges, len(seen)) == (1, [], 2)
        model.set_params(**kept)
    assert model.partial_fit(*arriving(2)).privacy_.private == (state is None)


def test_a_ledger_may_be_named_by_its_path_or_be_opened_again(tmp_path):
    path = tmp_path / "people.ledger"
    ledger = new_ledger(path)
    model = streamed(logistic(ledger=ledger, dataset="people"), 1)
    for same in (path, str(path), Ledger(path)):
        model.set_params(ledger=same).partial_fit(*arriving(1))
    assert len(ledger.history("people")) == 1


@pytest.mark.parametrize("state", [0, 7, np.random.RandomState(1)], ids=str)
def test_no_batch_with_a_seed_is_private(state):
    model = logistic(random_state=state)
    for k in range(3):
        assert not model.partial_fit(*arriving(k)).privacy_.private


def test_a_batch_that_fails_is_gone_and_repeats_no_noise(counting, seen, monkeypatch):
    """The model stays as it was, nothing is charged twice, and no number of a batch comes again."""
    model = streamed(logistic(ledger=counting, random_state=0), 1)
    before = weights(model).copy(), model.privacy_, dict(vars(model))
    take = OnePassState.take_step

    def fails(walk, gradient):
        raise KeyboardInterrupt

    monkeypatch.setattr(OnePassState, "take_step", fails)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(*arriving(1))
    monkeypatch.setattr(OnePassState, "take_step", take)
    assert vars(model) == before[2]
    np.testing.assert_array_equal(weights(model), before[0])
    model.partial_fit(*arriving(2))
    assert len({noise.tobytes() for noise in noises(seen)}) == len(seen) == 3
    assert (len(counting.charges), list(counting.next.values())) == (1, [3])


def test_a_first_batch_that_fails_is_charged_once(counting, monkeypatch):
    model = logistic(ledger=counting)
    with monkeypatch.context() as patch:
        patch.setattr(OnePassState, "take_step", lambda *a: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            model.partial_fit(*arriving(0))
    assert not hasattr(model, "coef_")
    assert not hasattr(model, "classes_")
    model.partial_fit(*arriving(1))
    assert len(counting.charges) == 1
    assert list(counting.next.values()) == [2]


def test_rows_of_one_call_that_fails_half_way_leave_the_model_as_it_was(seen, monkeypatch):
    X, y = (np.concatenate(parts) for parts in zip(*map(arriving, range(4)), strict=True))
    model = logistic(solver=OnePassSGD(batch_size=500)).partial_fit(*arriving(9))
    before, take = weights(model).copy(), OnePassState.take_step
    monkeypatch.setattr(
        OnePassState, "take_step", lambda w, g: 1 / 0 if w.taken == 3 else take(w, g)
    )
    with pytest.raises(ZeroDivisionError):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(weights(model), before)
    assert model._stream.state.taken == 1
    assert len(seen) == 4


# Batches


def test_rows_that_come_at_once_are_cut_into_batches(seen):
    X, y = (np.concatenate(parts) for parts in zip(*map(arriving, range(4)), strict=True))
    whole = logistic(random_state=2, solver=OnePassSGD(batch_size=500)).partial_fit(X, y)
    pieces = streamed(logistic(random_state=2), 4)
    np.testing.assert_array_equal(weights(whole), weights(pieces))
    assert len(seen) == 8
    assert [len(steps.batches.rows) for steps in seen] == [500] * 8


def test_the_first_call_says_how_large_a_batch_is(seen):
    model = logistic().partial_fit(*arriving(0, 500))
    model.partial_fit(*arriving(1, 1_200)).partial_fit(*arriving(2, 20))
    assert [len(steps.batches.rows) for steps in seen] == [500, 400, 400, 400, 20]


def test_where_n_is_private_a_call_is_a_batch(seen):
    """How many batches there are would tell how many rows came."""
    given = {"adjacency": "add_remove", "solver": OnePassSGD(batch_size=500)}
    model = logistic(**given).partial_fit(*arriving(0, 500))
    model.partial_fit(*arriving(1, 1_700)).partial_fit(*arriving(2, 1))
    assert [len(steps.batches.rows) for steps in seen] == [500, 1_700, 1]
    X, y = arriving(3)
    model.partial_fit(X[:0], y[:0])  # a batch without its only row is a neighbour
    assert len(seen) == 4
    with pytest.raises(MissingFactError, match=r"batch_size is missing.*add_remove.*OnePassSGD"):
        logistic(adjacency="add_remove").partial_fit(*arriving(0))


def test_a_private_number_of_rows_is_in_no_text():
    given = {"adjacency": "add_remove", "solver": OnePassSGD(batch_size=500)}
    model = logistic(**given).partial_fit(*arriving(0, 2_311)).partial_fit(*arriving(1, 2_311))
    assert "2311" not in model.privacy_.to_json() + str(model.privacy_) + repr(vars(model))
    X, y = arriving(2, 2_311)
    with pytest.raises(ValueError, match="inconsistent") as caught:
        model.partial_fit(X, y[:-1])
    assert "2311" not in str(caught.value)


# Nothing is kept


def reachable(start):
    """Everything that a fitted model holds, classes and modules aside."""
    found, waiting = {}, [vars(start)]
    while waiting:
        one = waiting.pop()
        if id(one) in found or isinstance(one, type) or hasattr(one, "__path__"):
            continue
        found[id(one)] = one
        if isinstance(one, np.ndarray) and one.base is not None:
            waiting.append(one.base)
        if not callable(one):
            waiting += gc.get_referents(one)
            waiting += [vars(one)] if hasattr(one, "__dict__") else []
    return list(found.values())


def betrayed(model, secrets):
    """What a model holds of secrets: arrays with a number of them, or with something per row."""
    found = []
    for one in reachable(model):
        if isinstance(one, np.ndarray) and one.dtype.kind == "f":
            alike = np.isin(one.ravel(), secrets).any()
            found += [one] if alike or (one.size > 0 and one.size % N == 0) else []
        elif isinstance(one, list | tuple | dict | set | bytes) and len(one) % N == 0:
            found += [one] if len(one) else []
    return found


@pytest.mark.parametrize("relation", ["zero_out", "add_remove"])
@pytest.mark.parametrize("kind", [LogisticRegression, LinearSVC, HuberRegressor])
def test_nothing_of_a_row_or_of_a_sum_is_kept(kind, relation, seen):
    known = {"solver": OnePassSGD(batch_size=N), "adjacency": relation, "random_state": 0, **KNOWN}
    model = kind(**known | ({"bounds_y": (0, 1)} if kind is HuberRegressor else CLASSES))
    batches = [arriving(k, N) for k in range(3)]
    for X, y in batches:
        model.partial_fit(X, y)
    rows = np.concatenate([X.ravel() for X, _ in batches])
    sums = np.concatenate([steps.statistics.ravel() for steps in seen])
    secrets = np.concatenate([rows, rows.astype(np.float32), sums])
    again = pickle.loads(pickle.dumps(model))
    for one in (model, again):
        assert len(reachable(one)) > 100
        assert betrayed(one, secrets) == []
    text = pickle.dumps(model)
    assert len(text) < 8_000
    for number in (*rows, *sums[np.abs(sums) > 0]):
        assert np.float64(number).tobytes() not in text


@pytest.mark.parametrize("place", ["attribute", "stream", "view", "sum", "list"])
def test_the_search_finds_what_is_planted(place, seen):
    model = logistic(random_state=0)
    X, y = arriving(0, N)
    model.partial_fit(X, y)
    planted = {"view": X[:2], "sum": seen[0].statistics.copy(), "list": X.tolist()}.get(place, X)
    where = model._stream.state if place == "stream" else model
    where.__dict__["_held"] = {"a": planted}
    assert betrayed(model, np.concatenate([X.ravel(), seen[0].statistics.ravel()]))


def test_only_public_attributes_and_the_stream_are_set():
    model = streamed(logistic(), 2)
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert fitted == {"coef_", "intercept_", "n_features_in_", "privacy_", "classes_"}
    assert set(vars(model)) - fitted - set(model.get_params()) == {"_stream"}


# Refusals


@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": 2.0},
        {"epsilon": 0.5},
        {"delta": 1e-6},
        {"adjacency": "replace_one"},
        {"bounds_X": (-2, 2)},
        {"C": 3.0},
        {"fit_intercept": False},
        {"solver": OnePassSGD(clip=0.1)},
        {"solver": OnePassSGD(schedule="sqrt")},
    ],
    ids=str,
)
def test_parameters_may_not_change_on_the_way(change, seen):
    model = streamed(logistic(), 2)
    model.set_params(**change)
    with pytest.raises(ValueError, match=r"changed in the middle of a stream.*clone"):
        model.partial_fit(*arriving(2))
    assert len(seen) == 2
    model.set_params(**{name: getattr(logistic(), name) for name in change})
    model.partial_fit(*arriving(2))


def test_another_width_is_refused(seen):
    model = streamed(logistic(), 1)
    with pytest.raises(ValueError, match="4 features, but LogisticRegression is expecting 3"):
        model.partial_fit(*arriving(1, p=4))
    assert len(seen) == 1
    model.partial_fit(*arriving(1))


def test_labels_have_to_be_declared(seen):
    model = LogisticRegression(**KNOWN)
    with pytest.raises(MissingFactError, match=r"classes is missing.*declare all of them"):
        model.partial_fit(*arriving(0))
    assert seen == []
    model.partial_fit(*arriving(0), classes=[0, 1])
    X, y = arriving(1)
    model.partial_fit(X[y == 1], y[y == 1])  # a batch may lack some
    assert model.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="label"):
        model.partial_fit(X, y + 1)


def test_other_solvers_are_refused():
    for solver in ("cd", SGD()):
        with pytest.raises(UnsupportedCombinationError, match=r"solver='one-pass'.*call fit"):
            logistic(solver=solver).partial_fit(*arriving(0))


def test_levels_are_not_for_streams():
    with pytest.raises(TypeError, match="sample_epsilon"):
        logistic().partial_fit(*arriving(0), sample_epsilon=np.full(500, 0.5))


def test_missing_values_are_refused_or_empty_rows(seen):
    X, y = arriving(0)
    X[3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        logistic().partial_fit(X, y)
    assert seen == []
    logistic(on_invalid="drop").partial_fit(X, y)
    assert np.isfinite(seen[0].statistics).all()


# What comes out


def test_a_long_stream_converges():
    """To what a fit without privacy finds, and closer the longer it gets."""
    truth = np.linspace(1, -1, 3) * 3
    far = []
    for batches in (8, 60, 500):
        model = streamed(logistic(C=1e6, random_state=0), batches, n=400)
        far.append(np.linalg.norm(model.coef_[0] - truth) / np.linalg.norm(truth))
    assert far[0] > far[1] > far[2]
    assert far[2] < 0.2


def test_without_noise_a_stream_finds_the_penalised_optimum():
    """The penalty stands beside all rows that have come, as it does in a fit to them."""
    batches = [arriving(k, 2_000) for k in range(50)]
    X, y = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    strength = 10_000.0
    best, free = (
        sk.LogisticRegression(C=c, fit_intercept=False).fit(X, y).coef_ for c in (1 / strength, 1e6)
    )
    solver = OnePassSGD(batch_size=200, clip=10.0)
    model = logistic(C=1 / strength, fit_intercept=False, epsilon=1e6, solver=solver)
    with without_noise():
        for batch in batches:
            model.partial_fit(*batch)
    assert np.linalg.norm(model.coef_ - best) < 0.1 * np.linalg.norm(best - free)


def test_sparse_batches_give_what_dense_ones_do():
    models = [logistic(random_state=0), logistic(random_state=0)]
    for k in range(3):
        X, y = arriving(k)
        X[np.abs(X) < 0.5] = 0.0
        models[0].partial_fit(X, y)
        models[1].partial_fit(sp.csr_array(X), y)
    np.testing.assert_allclose(weights(models[0]), weights(models[1]), rtol=1e-5)


def test_a_stream_has_the_accuracy_of_a_fit():
    X, y = (np.concatenate(parts) for parts in zip(*map(arriving, range(20)), strict=True))
    fits = [logistic(random_state=k).fit(X, y).score(X, y) for k in range(5)]
    streams = [streamed(logistic(random_state=k), 20).score(X, y) for k in range(5)]
    assert np.mean(streams) > np.mean(fits) - 0.03
