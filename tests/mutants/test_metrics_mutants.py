"""Planted bugs of `evaluate`. Each must be caught by the generic audit that is for it."""

import numpy as np
import pytest

from planting import demand_caught
from privlearn import audit
from privlearn._core.releaser import Releaser
from privlearn.metrics import cells, evaluation, losses, predictions, score_tree, two_classes
from scored_models import CONFIGURED, N_FEATURES

MUTANTS = []


def mutant_in(name, check):
    """A bug, a configuration in which it shows, and the check that must see it."""

    def planted(plant):
        MUTANTS.append((plant, name, check))
        return plant

    return planted


@mutant_in("two classes, zero_out", audit.check_replay)
def a_score_bin_counted_twice(patch):
    sums = score_tree.tree_sums

    def twice(rows):
        found = sums(rows)
        found[score_tree.release_of(2)][:, 30:] *= 2.0
        return found

    patch.setattr(two_classes, "tree_sums", twice)


@mutant_in("three classes, zero_out", audit.check_noise_law)
def noise_on_half_of_a_histogram(patch):
    emit = Releaser._emit

    def half(self, release, statistic):
        found = emit(self, release, statistic)
        found[..., ::2] = np.rint(statistic[..., ::2])
        return found

    patch.setattr(Releaser, "_emit", half)


@mutant_in("three classes, replace_one", audit.check_replay)
def one_bin_as_if_a_row_only_came_or_went(patch):
    """A norm of diameter 1 under replace_one, where two bins change."""
    from privlearn._core.norms import UNIT_BOX

    for module in (score_tree, cells):
        patch.setattr(module, "ONE_BIN", UNIT_BOX)


@mutant_in("line, zero_out", audit.check_replay)
def errors_not_clipped(patch):
    patch.setattr(predictions, "_unit", lambda values, bounds: np.asarray(values) / 5.0 + 0.4)


@mutant_in("three classes, zero_out", audit.check_replay)
def log_loss_without_a_floor(patch):
    def sums(self, rows):
        truth = rows.target.astype(np.int64)
        p = np.maximum(rows.answers[np.arange(len(truth)), truth], 1e-300)
        unit = np.log(p) / np.log(losses.FLOOR)
        entries = np.stack([unit, unit**2, unit * 0, unit * 0], axis=1) * self._weights()
        return {losses.SUMS: rows.present @ entries}

    patch.setattr(losses.Losses, "sums", sums)


@mutant_in("line, add_remove", audit.check_replay)
def means_over_the_rows_that_are_there(patch):
    """The private number of rows in the place of the released one."""
    release = evaluation._release

    def peeking(job, sums, n, releaser):
        found = release(job, sums, n, releaser)
        return evaluation.Released(found.sums, found.noise, evaluation.Count(float(n), 0.1))

    patch.setattr(evaluation, "_release", peeking)


@mutant_in("three classes, drop", audit.check_empty_rows)
def dropped_rows_counted(patch):
    sums = evaluation._sums

    def all_of_them(job, data, *, strict):
        return sums(job, data, strict=strict) | {evaluation.COUNT: np.full(1, float(data.n))}

    patch.setattr(evaluation, "_sums", all_of_them)


@mutant_in("line, zero_out", audit.check_ledger)
def charged_after_the_release(patch):
    from privlearn._core import opening

    charge = opening.charge_of

    def later(ledger):
        return lambda plan, dataset, **known: charge(ledger)(plan, dataset) if known else None

    patch.setattr(opening, "charge_of", later)


@pytest.mark.parametrize(
    ("plant", "name", "check"), MUTANTS, ids=[plant.__name__ for plant, _, _ in MUTANTS]
)
def test_caught_by_a_generic_audit(plant, name, check, monkeypatch):
    demand_caught(plant, [CONFIGURED[name]], monkeypatch, lambda *_: [check], N_FEATURES)
