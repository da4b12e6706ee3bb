"""Planted bugs in how rows are read in passes: an audit, the plan or a fit in memory finds each."""

from dataclasses import replace

import numpy as np
import pytest

from privlearn import LinearRegression, audit
from privlearn._core.releaser import Releaser
from privlearn._data import held, stream
from privlearn._data.source_data import SourceData
from privlearn._data.sources import Batch
from privlearn.exceptions import PlanViolationError, SourceChangedError
from privlearn.linear_model import from_source
from privlearn.solvers._common import source_sums
from source_models import InBatches, bits, from_disk
from support import N_FEATURES

MODELS = dict(from_disk())
AUDITED = MODELS["LinearFromDisk-zero_out-box"], MODELS["LinearFromDisk-add_remove-None"]


def a_partition_counts_twice(patch):
    own = stream.Stream.results

    def twice(self, work, **how):
        for found in own(self, work, **how):
            yield found
            yield found

    patch.setattr(stream.Stream, "results", twice)


def others_are_scaled_by_what_a_batch_holds(patch):
    def planted(own):
        def relative(self, piece, *work, **named):
            largest = max(np.abs(np.stack(piece.columns)).max(initial=0.0), 1e-12)
            columns = tuple(column / largest for column in piece.columns)
            return own(self, stream.Piece(columns, piece.y, piece.finite), *work, **named)

        return relative

    for name in ("_on", "_stored"):
        own = getattr(source_sums.SourceIntegers, name)
        patch.setattr(source_sums.SourceIntegers, name, planted(own))


def empty_rows_of_a_batch_are_there(patch):
    own = SourceData.bounded

    def filled(self, piece):
        columns = tuple(np.nan_to_num(column) for column in piece.columns)
        return own(self, stream.Piece(columns, np.nan_to_num(piece.y), piece.finite))

    patch.setattr(SourceData, "bounded", filled)


@pytest.mark.parametrize(
    "plant", [a_partition_counts_twice, empty_rows_of_a_batch_are_there], ids=lambda p: p.__name__
)
def test_an_audit_finds(plant, monkeypatch):
    plant(monkeypatch)
    with pytest.raises((audit.AuditFailure, PlanViolationError)):
        _audit()


def _audit():
    for model in AUDITED:
        audit.check_empty_rows(model, n_features=N_FEATURES)
        audit.check_replay(model, n_features=N_FEATURES, every=3)


def a_partition_is_lost(patch):
    own = stream.Stream.results

    def fewer(self, work, **how):
        found = own(self, work, **how)
        next(found)
        yield from found

    patch.setattr(stream.Stream, "results", fewer)


def sums_of_partitions_are_in_single_precision(patch):
    own = source_sums.SourceIntegers.gradient_sum

    def single(self, *facts):
        return own(self, *facts).astype(np.float32).astype(np.float64)

    patch.setattr(source_sums.SourceIntegers, "gradient_sum", single)


def moments_of_partitions_are_in_single_precision(patch):
    own = source_sums.as_moments
    patch.setattr(
        source_sums,
        "as_moments",
        lambda total, longest: own(total.astype(np.float32).astype(np.int64), longest),
    )


DATA = np.random.default_rng(3).normal(size=(400, 3))


@pytest.mark.parametrize(
    "plant",
    [
        a_partition_counts_twice,
        a_partition_is_lost,
        others_are_scaled_by_what_a_batch_holds,
        sums_of_partitions_are_in_single_precision,
        moments_of_partitions_are_in_single_precision,
    ],
    ids=lambda p: p.__name__,
)
def test_a_fit_in_memory_finds(plant, monkeypatch):
    model, y = LinearRegression(random_state=0, epsilon=1e3, solver="cd"), DATA.sum(axis=1)
    expected = bits(model.fit(DATA, y))
    assert bits(model.fit(InBatches(DATA, y), None)) == expected
    plant(monkeypatch)
    assert bits(model.fit(InBatches(DATA, y), None)) != expected


class Changing(InBatches):
    passes = 0

    def __iter__(self):
        self.passes += 1
        if self.passes == 9:
            self.X = self.X + 1.0
        return super().__iter__()


def test_digests_are_what_sees_that_a_source_changed(monkeypatch):
    model, y = LinearRegression(random_state=0), DATA.sum(axis=1)
    with pytest.raises(SourceChangedError):
        model.fit(Changing(DATA, y), None)
    monkeypatch.setattr(stream._Digest, "same_as", lambda self, other, target_only: True)
    model.fit(Changing(DATA, y), None)  # unnoticed


def test_a_pass_that_is_tried_again_cannot_release_again(monkeypatch):
    own = Releaser.__call__

    def again(self, name, statistic, *, clip):
        own(self, name, statistic, clip=clip)
        return own(self, name, statistic, clip=clip)

    monkeypatch.setattr(Releaser, "__call__", again)
    with pytest.raises(PlanViolationError, match="not once more"):
        LinearRegression(random_state=0).fit(InBatches(DATA, DATA.sum(axis=1)), None)


def the_rest_is_forgotten(patch):
    own = held.held_here

    def without(*facts):
        found = own(*facts)
        return found if found is None else replace(found, rest=None)

    patch.setattr(held, "held_here", without)


def the_rest_has_the_held_rows_too(patch):
    patch.setattr(InParts, "after", lambda self, first: self)


class InParts(InBatches):
    """A source that can leave out its first batches."""

    first, names = 0, None

    def batches(self, columns):
        for place, (X, y) in enumerate(self):
            if place >= self.first:
                yield Batch(place, X, y)

    def after(self, first):
        rest = InParts(self.X, self.y)
        rest.first = first
        return rest


@pytest.mark.parametrize("plant", [None, the_rest_is_forgotten, the_rest_has_the_held_rows_too])
def test_a_fit_that_holds_some_rows_has_the_bits_of_one_in_memory(plant, monkeypatch):
    model, y = LinearRegression(random_state=0, epsilon=1e3, solver="cd"), DATA.sum(axis=1)
    expected = bits(model.fit(DATA, y))
    monkeypatch.setattr(from_source, "source_of", lambda X, y: X)
    monkeypatch.setattr(source_sums, "HELD", 200.0 * 14)  # one of three batches
    if plant is None:
        assert bits(model.fit(InParts(DATA, y), None)) == expected
        return
    plant(monkeypatch)
    try:
        found = bits(model.fit(InParts(DATA, y), None))
    except SourceChangedError:  # what is read anew is compared
        found = None
    assert found != expected
