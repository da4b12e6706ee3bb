"""Planted bugs in sums by tasks: masks, digests, an audit or a fit in memory find each."""

import numpy as np
import pytest

from privlearn import LinearRegression, audit
from privlearn._core.releaser import Releaser
from privlearn.exceptions import PlanViolationError, SourceChangedError
from source_models import LinearFromDask, bits, from_dask
from support import N_FEATURES

pytest.importorskip("dask.array", reason="needs dask: pip install 'privlearn[dask]'")
dask_stream = pytest.importorskip("privlearn._data.dask_stream")
DaskSource = dask_stream.DaskSource

DATA = np.random.default_rng(3).normal(size=(400, 3))
Y = DATA.sum(axis=1)
MODEL = LinearFromDask(random_state=0, epsilon=1e3, solver="cd")


def the_tree_adds_a_partition_twice(patch):
    own = dask_stream._Add.__call__
    patch.setattr(dask_stream._Add, "__call__", lambda self, *some: own(self, some[0], *some))


def the_tree_loses_a_partition(patch):
    own = dask_stream._Add.__call__
    patch.setattr(dask_stream._Add, "__call__", lambda self, *some: own(self, *some[1:]))


@pytest.mark.parametrize(
    "plant", [the_tree_adds_a_partition_twice, the_tree_loses_a_partition], ids=lambda p: p.__name__
)
def test_masks_find(plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(PlanViolationError, match="lost or counted twice"):
        MODEL.fit(DATA, Y)


def a_partition_is_lost_after_the_first_look(patch):
    own, asked = DaskSource.parts, []

    def fewer(self, *facts, **how):
        found = own(self, *facts, **how)
        asked.extend(found[1:2])  # not where a rehearsal has one partition
        return found if len(asked) < 3 or len(found) == 1 else found[:-1]

    patch.setattr(DaskSource, "parts", fewer)


def a_partition_stands_in_for_another_after_the_first_look(patch):
    own, asked = DaskSource.parts, []

    def twice(self, *facts, **how):
        found = own(self, *facts, **how)
        asked.extend(found[1:2])
        return found if len(asked) < 3 else [*found[:-1], found[0]]

    patch.setattr(DaskSource, "parts", twice)


@pytest.mark.parametrize(
    "plant",
    [
        a_partition_is_lost_after_the_first_look,
        a_partition_stands_in_for_another_after_the_first_look,
    ],
    ids=lambda p: p.__name__,
)
def test_digests_find(plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises(SourceChangedError, match="changed between"):
        MODEL.fit(DATA, Y)


def a_task_counts_its_pieces_twice(patch):
    own = dask_stream.added
    patch.setattr(dask_stream, "added", lambda total, found: own(own(total, found), found))


def a_partition_is_never_seen(patch):
    own = DaskSource.parts
    patch.setattr(DaskSource, "parts", lambda self, *facts, **how: own(self, *facts, **how)[:-1])


def workers_add_in_single_precision(patch):
    own = dask_stream.as_words

    def single(found):
        if isinstance(found, list):
            return own([int(np.float32(one)) for one in found])
        return own(np.asarray(found).astype(np.float32))

    patch.setattr(dask_stream, "as_words", single)


def every_worker_adds_noise_of_its_own(patch):
    own, rng = dask_stream.as_words, np.random.default_rng(0)

    def noisy(found):
        if isinstance(found, list):
            return own([one + int(rng.normal(0, 2.0**40)) for one in found])
        return own(found)

    patch.setattr(dask_stream, "as_words", noisy)


@pytest.mark.parametrize(
    "plant",
    [
        a_task_counts_its_pieces_twice,
        a_partition_is_never_seen,
        workers_add_in_single_precision,
        every_worker_adds_noise_of_its_own,
    ],
    ids=lambda p: p.__name__,
)
def test_a_fit_in_memory_finds(plant, monkeypatch):
    expected = bits(LinearRegression(random_state=0, epsilon=1e3, solver="cd").fit(DATA, Y))
    assert bits(MODEL.fit(DATA, Y)) == expected
    plant(monkeypatch)
    assert bits(MODEL.fit(DATA, Y)) != expected


@pytest.mark.parametrize(
    "plant",
    [a_task_counts_its_pieces_twice, every_worker_adds_noise_of_its_own],
    ids=lambda p: p.__name__,
)
def test_replay_finds(plant, monkeypatch):
    plant(monkeypatch)
    model = dict(from_dask())["LinearFromDask-zero_out-box"]
    with pytest.raises((audit.AuditFailure, PlanViolationError)):
        audit.check_replay(model, n_features=N_FEATURES, every=10)


def test_a_pass_that_is_tried_again_cannot_release_again(monkeypatch):
    own = Releaser.__call__

    def again(self, name, statistic, *, clip):
        own(self, name, statistic, clip=clip)
        return own(self, name, statistic, clip=clip)

    monkeypatch.setattr(Releaser, "__call__", again)
    with pytest.raises(PlanViolationError, match="not once more"):
        MODEL.fit(DATA, Y)
