"""Planted privacy bugs. Each must be caught by the generic audits, which know nothing of it."""

from collections import defaultdict
from contextlib import contextmanager
from itertools import zip_longest

import numpy as np
import pytest

import privlearn._loops.sgd as loops
from privlearn import audit
from privlearn.data import BoundedData, Rows
from privlearn.exceptions import PlanViolation
from privlearn.linear_model import base
from privlearn.mechanisms import GaussianNoise
from privlearn.noise.stream import WordStream
from privlearn.problem import Bounds, Neighbors
from privlearn.release import Releaser
from privlearn.sampling import Batches, Poisson
from privlearn.solvers import frame, sufficient_statistics
from privlearn.solvers.frame import Frame
from privlearn.solvers.sufficient_statistics import SufficientStatistics
from support import N_FEATURES, every_configuration

MUTANTS = []


def mutant(plant):
    MUTANTS.append(plant)
    return plant


@mutant
def clip_forgotten(patch):
    def unbounded(self, X, y):
        present = np.isfinite(X).all(axis=1) & np.isfinite(y)
        return Rows(np.where(present[:, None], X, 0.0), np.where(present, y, 0.0), present)

    patch.setattr(BoundedData, "_bounded", unbounded)


@mutant
def norm_clip_forgotten(patch):
    patch.setattr("privlearn.data.clip_rows", lambda X, row_norm, fit_intercept: None)


@mutant
def target_clip_forgotten(patch):
    bounded = BoundedData._bounded

    def without_target(self, X, y):
        rows = bounded(self, X, y.copy())
        return Rows(rows.X, np.where(rows.present, np.clip(y, -1e9, 1e9), 0.0), rows.present)

    patch.setattr(BoundedData, "_bounded", without_target)


@mutant
def lower_bound_used_twice(patch):
    candidates = frame.candidates

    def twice(bounds, n_features, intercept):
        return candidates(
            Bounds(bounds.low, bounds.low, bounds.target, bounds.row_norm), n_features, intercept
        )

    patch.setattr(frame, "candidates", twice)


@mutant
def noise_too_small_by_root_two(patch):
    draw = GaussianNoise.draw
    patch.setattr(
        GaussianNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, scale / np.sqrt(2), shape),
    )


@mutant
def one_release_too_many(patch):
    solve = SufficientStatistics.solve

    def twice(self, problem, settings, data, release):
        solve(self, problem, settings, data, release)
        return solve(self, problem, settings, data, release)

    patch.setattr(SufficientStatistics, "solve", twice)


@mutant
def statistic_divided_by_the_private_n(patch):
    solve, stack = SufficientStatistics.solve, sufficient_statistics.stack

    def remembering(self, problem, settings, data, release):
        patch.setattr(
            sufficient_statistics,
            "stack",
            lambda moments: stack(moments * (data.table.n / max(moments[0, 0], 1.0))),
        )
        return solve(self, problem, settings, data, release)

    patch.setattr(SufficientStatistics, "solve", remembering)


@mutant
def sum_in_single_precision(patch):
    rows = Frame.rows
    patch.setattr(Frame, "rows", lambda self, block: rows(self, block).astype(np.float32))


@mutant
def empty_row_as_zeros_with_an_intercept(patch):
    rows = Frame.rows

    def present_after_all(self, block):
        return rows(self, Rows(block.X, block.y, np.ones_like(block.present)))

    patch.setattr(Frame, "rows", present_after_all)


@mutant
def replace_one_accounted_as_zero_out(patch):
    patch.setattr(Neighbors, "replaces", property(lambda self: False))


@mutant
def noise_added_in_floating_point(patch):
    def naive(self, release, statistic):
        rng = np.random.default_rng()
        scale = self.plan.noise_scale(release)
        return statistic + rng.normal(scale=scale, size=statistic.shape)

    patch.setattr(Releaser, "_emit", naive)


@mutant
def clip_chosen_from_the_data(patch):
    configure = SufficientStatistics.configure
    solve = SufficientStatistics.solve

    def peeking(self, problem, settings, data, release):
        widest = max((np.abs(block.X).max(initial=0.0) for block in data.blocks()), default=1.0)
        narrow = Bounds(problem.bounds.low, problem.bounds.high, problem.bounds.target, widest + 2)
        settings = Frame.of(narrow, problem.n_features, problem.fit_intercept)
        return solve(self, problem, settings, data, release)

    patch.setattr(SufficientStatistics, "solve", peeking)
    assert configure is SufficientStatistics.configure


@mutant
def ledger_charged_after_the_release(patch):
    @contextmanager
    def late(plan, budget, *, ledger=None, dataset=None, random_state=None):
        with spend(plan, budget, random_state=random_state) as release:
            yield release
        if ledger is not None:
            ledger.charge(plan, dataset)

    spend = base.spend
    patch.setattr(base, "spend", late)


@mutant
def batch_divided_by_its_realised_size(patch):
    """The sum is stretched by planned over realised size, so that dividing by q n means by size."""
    clipped_sum = loops.clipped_sum

    def by_size(rows, batch, model, weights, statistic):
        clipped_sum(rows, batch, model, weights, statistic)
        present = np.count_nonzero(rows.norms[batch])
        statistic *= 0.3 * len(rows.norms) / max(present, 1)

    patch.setattr(loops, "clipped_sum", by_size)
    patch.setattr(loops, "descend", loops.descend.py_func)


@mutant
def shuffled_epochs_accounted_as_poisson(patch):
    def epochs(self, source, n, steps):
        size = max(1, round(self.rate * n))
        per_epoch = -(-n // size)
        order = [source.permutation(n) for _ in range(-(-steps // per_epoch))]
        parts = [part for rows in order for part in np.array_split(rows, per_epoch)][:steps]
        starts = np.cumsum([0, *(len(part) for part in parts)])
        return Batches(np.concatenate(parts), starts)

    patch.setattr(Poisson, "draw_many", epochs)


@mutant
def half_of_the_batch_accounted(patch):
    draw_many = Poisson.draw_many
    patch.setattr(
        Poisson,
        "draw_many",
        lambda self, source, n, steps: draw_many(
            Poisson(min(1.0, 2 * self.rate)), source, n, steps
        ),
    )


@mutant
def same_noise_after_fork(patch):
    patch.setattr(WordStream, "stale", False)


@mutant
def gradient_clip_forgotten_in_the_loop(patch):
    clipped_sum = loops.clipped_sum

    def unclipped(rows, batch, model, weights, statistic):
        clipped_sum(rows, batch, model._replace(clip=10.0), weights, statistic)

    patch.setattr(loops, "clipped_sum", unclipped)
    patch.setattr(loops, "descend", loops.descend.py_func)


@mutant
def loop_releases_off_the_grid(patch):
    def naive(statistic, k, noise, grid, statistics, released, answers, out):
        out[:] = statistic + noise[k] * grid
        for store, value in ((statistics, statistic), (released, out)):
            if k < len(store):
                store[k] = value
        if k < len(answers):
            out[:] = answers[k]
        return True

    patch.setattr(loops, "emit", naive)
    patch.setattr(loops, "descend", loops.descend.py_func)


def in_turns():
    """Every configuration, the estimators taking turns, so that a bug is met early."""
    groups = defaultdict(list)
    for name, model in every_configuration():
        groups[type(model), str(model.solver)].append((name, model))
    turns = zip_longest(*groups.values())
    return [pair for turn in turns for pair in turn if pair is not None]


CONFIGURED = in_turns()


@pytest.mark.parametrize("plant", MUTANTS, ids=lambda plant: plant.__name__)
def test_caught_by_the_generic_audits(plant, monkeypatch):
    plant(monkeypatch)
    caught = []
    for _, model in CONFIGURED:
        for check in audit.CHECKS:
            try:
                check(model, n_features=N_FEATURES)
            except (audit.AuditFailure, PlanViolation) as failure:
                caught.append((check.__name__, str(failure)))
                break
        if caught:
            break
    assert caught, f"{plant.__name__} passed every audit"
    print(plant.__name__, *caught[0])
