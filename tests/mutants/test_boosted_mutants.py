"""Planted privacy bugs of "boosted". Each must be caught by the generic audits."""

import math

import numpy as np
import pytest

from planting import Bugs, demand_caught, models_in
from privlearn import audit
from privlearn.solvers.boosted import rows as boosted_rows
from privlearn.solvers.boosted import solver as boosted_statistics
from privlearn.solvers.boosted.rows import BoostedRows
from privlearn.solvers.boosted.rules import Settings
from support import is_kernel

BUGS = Bugs()


@BUGS.shown_in("clip given")
def residuals_not_cut(patch):
    def whole(self, weights, clip):
        for Z, y in self.blocks():
            yield Z, np.clip(y - Z @ weights, -1e6, 1e6) / clip

    patch.setattr(BoostedRows, "clipped_errors", whole)


@BUGS.shown_in("clip given")
def gram_matrix_as_sensitive_as_a_row(patch):
    squared = Settings.squared_norm.fget
    patch.setattr(Settings, "squared_norm", property(lambda self: math.sqrt(squared(self))))


@BUGS.shown_in("clip given")
def gradient_as_sensitive_as_its_residual(patch):
    """As in published code, where the sensitivity is 1 whatever the clips are."""
    patch.setattr(Settings, "norm", property(lambda self: 1.0))


@BUGS.shown_in("clip given")
def rows_longer_than_the_given_clip(patch):
    patch.setattr(boosted_rows, "clip_rows", lambda X, row_norm, fit_intercept: None)


@BUGS.shown_in("with 1-boosted")
def empty_rows_counted_as_small_ones(patch):
    right = BoostedRows.residual_magnitudes

    def all_rows(self, weights):
        counts = right(self, weights)
        counts[-1] += sum(np.sum(y - Z @ weights == 0.0) for Z, y in self.blocks())
        return counts

    patch.setattr(BoostedRows, "residual_magnitudes", all_rows)


@BUGS.shown_in("with 1-boosted")
def a_row_in_two_bins(patch):
    right = BoostedRows.residual_magnitudes

    def twice(self, weights):
        counts = right(self, weights)
        return counts + np.roll(counts, 1)

    patch.setattr(BoostedRows, "residual_magnitudes", twice)


@BUGS.shown_in("with 1-boosted")
def residual_clip_read_off_the_data(patch):
    def peek(settings, rows, weights, clip, release):
        boosted_look(settings, rows, weights, clip, release)
        return max(float(np.abs(y - Z @ weights).max(initial=0.0)) for Z, y in rows.blocks()) + 1.0

    boosted_look = boosted_statistics._look
    patch.setattr(boosted_statistics, "_look", peek)


@BUGS.shown_in("clip given")
def smallest_eigenvalue_without_noise(patch):
    """AdaSSP's ridge from the matrix itself."""
    invert = boosted_statistics._preconditioner

    def peek(settings, rows, l2, release):
        step = invert(settings, rows, l2, release)
        gram = sum(Z.T @ Z for Z, _ in rows.blocks())
        return step + 1e-9 * np.eye(len(step)) * np.linalg.eigvalsh(gram)[0]

    patch.setattr(boosted_statistics, "_preconditioner", peek)


CHECKS = (audit.check_empty_rows, audit.check_replay)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@BUGS.parametrize()
def test_caught_by_the_generic_audits(plant, where, monkeypatch):
    models = [model for model in models_in(where, "boosted") if not is_kernel(type(model))]
    demand_caught(plant, models, monkeypatch, lambda *_: CHECKS)
