"""Planted privacy bugs of "boosted". Each must be caught by the generic audits."""

import math

import numpy as np
import pytest

from privlearn import audit
from privlearn.exceptions import PlanViolation
from privlearn.plan import _smallest_scale
from privlearn.solvers import boosted_rows, boosted_statistics
from privlearn.solvers.boosted_rows import BoostedRows
from privlearn.solvers.boosted_rule import Settings
from support import N_FEATURES, every_configuration

MUTANTS = []


def mutant(where):
    """A bug, and part of the names of configurations in which it can show."""

    def planted(plant):
        MUTANTS.append((plant, where))
        return plant

    return planted


@mutant("clip given")
def residuals_not_cut(patch):
    def whole(self, weights, clip):
        for Z, y in self.blocks():
            yield Z, np.clip(y - Z @ weights, -1e6, 1e6) / clip

    patch.setattr(BoostedRows, "clipped_errors", whole)


@mutant("clip given")
def gram_matrix_as_sensitive_as_a_row(patch):
    squared = Settings.squared_norm.fget
    patch.setattr(Settings, "squared_norm", property(lambda self: math.sqrt(squared(self))))


@mutant("clip given")
def gradient_as_sensitive_as_its_residual(patch):
    """As in published code, where the sensitivity is 1 whatever the clips are."""
    patch.setattr(Settings, "norm", property(lambda self: 1.0))


@mutant("clip given")
def rows_longer_than_the_given_clip(patch):
    patch.setattr(boosted_rows, "clip_rows", lambda X, row_norm, fit_intercept: None)


@mutant("with 1-boosted")
def empty_rows_counted_as_small_ones(patch):
    right = BoostedRows.residual_magnitudes

    def all_rows(self, weights):
        counts = right(self, weights)
        counts[-1] += sum(np.sum(y - Z @ weights == 0.0) for Z, y in self.blocks())
        return counts

    patch.setattr(BoostedRows, "residual_magnitudes", all_rows)


@mutant("with 1-boosted")
def a_row_in_two_bins(patch):
    right = BoostedRows.residual_magnitudes

    def twice(self, weights):
        counts = right(self, weights)
        return counts + np.roll(counts, 1)

    patch.setattr(BoostedRows, "residual_magnitudes", twice)


@mutant("with 1-boosted")
def residual_clip_read_off_the_data(patch):
    def peek(settings, rows, weights, clip, release):
        boosted_look(settings, rows, weights, clip, release)
        return max(float(np.abs(y - Z @ weights).max(initial=0.0)) for Z, y in rows.blocks()) + 1.0

    boosted_look = boosted_statistics._look
    patch.setattr(boosted_statistics, "_look", peek)


@mutant("clip given")
def smallest_eigenvalue_without_noise(patch):
    """AdaSSP's ridge from the matrix itself."""
    invert = boosted_statistics._preconditioner

    def peek(settings, rows, l2, release):
        step = invert(settings, rows, l2, release)
        gram = sum(Z.T @ Z for Z, _ in rows.blocks())
        return step + 1e-9 * np.eye(len(step)) * np.linalg.eigvalsh(gram)[0]

    patch.setattr(boosted_statistics, "_preconditioner", peek)


@pytest.fixture(autouse=True)
def nothing_remembered():
    """A scale that was found with a bug must not outlive it."""
    _smallest_scale.cache_clear()
    yield
    _smallest_scale.cache_clear()


CONFIGURED = [(name, model) for name, model in every_configuration() if "boosted" in name]


def first_failure(where):
    """The first audit that fails, and why."""
    for name, model in CONFIGURED:
        if where not in name or "Kernel" in name:
            continue
        for check in (audit.check_empty_rows, audit.check_replay):
            try:
                check(model, n_features=N_FEATURES)
            except (audit.AuditFailure, PlanViolation) as failure:
                return f"{check.__name__}, {name}: {failure}"
    return None


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("plant", "where"), MUTANTS, ids=[p.__name__ for p, _ in MUTANTS])
def test_caught_by_the_generic_audits(plant, where, monkeypatch):
    """Without the bug the same audits pass: tests/conformance runs them."""
    plant(monkeypatch)
    caught = first_failure(where)
    assert caught, f"{plant.__name__} passed every audit"
    print(plant.__name__, caught)
