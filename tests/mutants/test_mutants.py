"""Planted privacy bugs. Each must be caught by the generic audits, which know nothing of it."""

import math
from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest

import numpy as np
import pytest
from scipy.special import expit

import privlearn.solvers._common.loops.sequential_sgd as visit_loops
import privlearn.solvers._common.loops.sgd as loops
import privlearn.solvers.coordinate_descent.loops as column_loops
import privlearn.solvers.dual_coordinate_descent.loops as dual_loops
from planting import demand_caught, rewritten
from privlearn._core import sampling
from privlearn._core.mechanisms import GaussianNoise, SphericalNoise
from privlearn._core.problem import Adjacency, Bounds
from privlearn._core.releaser import ReleaseBatch, Releaser
from privlearn._core.sampling import Batches, Disjoint, Permuted, Poisson
from privlearn._data import personal_budgets
from privlearn._data.bounded import BoundedData, Rows
from privlearn._data.personal_budgets import MOST_LEVELS, Levels
from privlearn._objective.losses import Huber, Logistic
from privlearn.linear_model import base, streaming
from privlearn.noise import NoiseSource
from privlearn.noise.stream import WordStream, system_keys
from privlearn.solvers._common import histograms, integer_rows, scaling
from privlearn.solvers._common.integer_rows import IntegerRows
from privlearn.solvers._common.scaling import Scaling
from privlearn.solvers.coordinate_descent import columns as cd_columns
from privlearn.solvers.coordinate_descent import private_scales as cd_facts
from privlearn.solvers.coordinate_descent import whole_rows
from privlearn.solvers.coordinate_descent.solver import CoordinateDescent
from privlearn.solvers.dual_coordinate_descent import lengths as scd_lengths
from privlearn.solvers.moments import solver as sufficient_statistics
from privlearn.solvers.moments.solver import SufficientStatistics
from privlearn.solvers.one_pass import solver as one_pass
from privlearn.solvers.output_perturbation import solver as output_perturbation
from privlearn.solvers.output_perturbation.solver import OutputPerturbation
from selection import fast_configurations
from support import solver_of

MUTANTS = []


def mutant(plant):
    MUTANTS.append((plant, None, ""))
    return plant


def mutant_of(solver, where=""):
    """A bug of one solver, or of all: the audits, which do not know it, run where it can show.

    `where` is part of the names of configurations, for what only some losses have.
    """

    def planted(plant):
        MUTANTS.append((plant, solver, where))
        return plant

    return planted


@mutant
def clip_forgotten(patch):
    def unbounded(self, X, y, box):
        present = np.isfinite(X).all(axis=1) & np.isfinite(y)
        return Rows(np.where(present[:, None], X, 0.0), np.where(present, y, 0.0), present)

    patch.setattr(BoundedData, "_bounded", unbounded)


@mutant_of("moments")
def norm_clip_forgotten(patch):
    patch.setattr("privlearn._data.bounded.clip_rows", lambda X, row_norm, fit_intercept: None)


@mutant
def target_clip_forgotten(patch):
    bounded = BoundedData._bounded

    def without_target(self, X, y, box):
        rows = bounded(self, X, y.copy(), box)
        return Rows(rows.X, np.where(rows.present, np.clip(y, -1e9, 1e9), 0.0), rows.present)

    patch.setattr(BoundedData, "_bounded", without_target)


@mutant_of("moments")
def lower_bound_used_twice(patch):
    candidates = scaling.candidates

    def twice(bounds, n_features, intercept):
        return candidates(
            Bounds(bounds.low, bounds.low, bounds.target, bounds.row_norm), n_features, intercept
        )

    patch.setattr(scaling, "candidates", twice)


@mutant
def noise_too_small_by_root_two(patch):
    draw = GaussianNoise.draw
    patch.setattr(
        GaussianNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, scale / np.sqrt(2), shape),
    )


@mutant_of("moments")
def one_release_too_many(patch):
    solve = SufficientStatistics.solve

    def twice(self, problem, settings, data, release):
        solve(self, problem, settings, data, release)
        return solve(self, problem, settings, data, release)

    patch.setattr(SufficientStatistics, "solve", twice)


@mutant_of("moments")
def statistic_divided_by_the_private_n(patch):
    solve, stack = SufficientStatistics.solve, sufficient_statistics.stack

    def remembering(self, problem, settings, data, release):
        patch.setattr(
            sufficient_statistics,
            "stack",
            lambda moments: stack(moments * (data.n / max(moments[0, 0], 1.0))),
        )
        return solve(self, problem, settings, data, release)

    patch.setattr(SufficientStatistics, "solve", remembering)


@mutant_of("moments")
def sum_in_single_precision(patch):
    rows = Scaling.moment_rows
    patch.setattr(Scaling, "moment_rows", lambda self, block: rows(self, block).astype(np.float32))


@mutant_of("moments")
def empty_row_as_zeros_with_an_intercept(patch):
    rows = Scaling.moment_rows

    def present_after_all(self, block):
        return rows(self, Rows(block.X, block.y, np.ones_like(block.present)))

    patch.setattr(Scaling, "moment_rows", present_after_all)


@mutant_of(None, where="replace_one")
def replace_one_accounted_as_zero_out(patch):
    patch.setattr(Adjacency.REPLACE_ONE, "replaces", False)


@mutant
def noise_added_in_floating_point(patch):
    def naive(self, release, statistic):
        rng = np.random.default_rng()
        scale = self.plan.noise_scale(release)
        return statistic + rng.normal(scale=scale, size=statistic.shape)

    patch.setattr(Releaser, "_emit", naive)


@mutant_of("moments")
def clip_chosen_from_the_data(patch):
    configure = SufficientStatistics.configure
    solve = SufficientStatistics.solve

    def peeking(self, problem, settings, data, release):
        widest = max((np.abs(block.X).max(initial=0.0) for block in data.blocks()), default=1.0)
        narrow = Bounds(problem.bounds.low, problem.bounds.high, problem.bounds.target, widest + 2)
        settings = Scaling.for_moments(narrow, problem.n_features, problem.fit_intercept)
        return solve(self, problem, settings, data, release)

    patch.setattr(SufficientStatistics, "solve", peeking)
    assert configure is SufficientStatistics.configure


@mutant
def ledger_charged_after_the_release(patch):
    @contextmanager
    def late(plan, budget, *, ledger=None, dataset=None, random_state=None):
        with charge_and_open(plan, budget, random_state=random_state) as release:
            yield release
        if ledger is not None:
            ledger.charge(plan, dataset)

    charge_and_open = base.charge_and_open
    patch.setattr(base, "charge_and_open", late)


@mutant_of("sgd")
def batch_divided_by_its_realised_size(patch):
    """The sum is stretched by planned over realised size, so that dividing by q n means by size."""
    clipped_sum = loops.clipped_sum

    def by_size(rows, batch, model, weights, statistic):
        clipped_sum(rows, batch, model, weights, statistic)
        present = np.count_nonzero(rows.norms[batch])
        statistic *= 0.3 * len(rows.norms) / max(present, 1)

    patch.setattr(loops, "clipped_sum", by_size)


@mutant_of("sgd")
def shuffled_epochs_accounted_as_poisson(patch):
    def epochs(self, source, n, steps):
        size = max(1, round(self.rate * n))
        per_epoch = -(-n // size)
        order = [source.permutation(n) for _ in range(-(-steps // per_epoch))]
        parts = [part for rows in order for part in np.array_split(rows, per_epoch)][:steps]
        starts = np.cumsum([0, *(len(part) for part in parts)])
        return Batches(np.concatenate(parts), starts)

    patch.setattr(Poisson, "draw_many", epochs)


@mutant_of("sgd")
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
    """A source that keeps its first key, as a snapshot of a machine would, too."""

    def kept(self):
        if self._stream is None:
            self._stream = WordStream(system_keys())
        return self._stream

    patch.setattr(NoiseSource, "_words", kept)


@mutant_of("sgd")
def gradient_clip_forgotten_in_the_loop(patch):
    clipped_sum = loops.clipped_sum

    def unclipped(rows, batch, model, weights, statistic):
        clipped_sum(rows, batch, model._replace(clip=10.0), weights, statistic)

    patch.setattr(loops, "clipped_sum", unclipped)


@mutant_of("sgd")
def loop_releases_off_the_grid(patch):
    def naive(statistic, k, noise, grid, statistics, released, answers, out):
        out[:] = statistic + noise[k] * grid
        for store, value in ((statistics, statistic), (released, out)):
            if k < len(store):
                store[k] = value
        if k < len(answers):
            out[:] = answers[k]
        return True

    patch.setattr(loops, "release_step", naive)


def moved_slope(values, targets, scores, how, before, change):
    """Bring the scores up to date, as the compiled sums do, and give the losses' slopes."""
    loss, _, threshold, scale = how
    scores += change * values[before]
    if loss == Logistic.code:
        return -targets * expit(-targets * scores)
    if loss == Huber.code:
        return np.clip(scores / scale, -threshold, threshold)
    return scores


@mutant_of("cd")
def slope_clipped_instead_of_the_derivative(patch):
    """So that a coordinate moves by the limit times the row's entry, which may be above 1."""

    def by_slope(values, targets, present, scores, how, j, before, change):
        slope, limit = moved_slope(values, targets, scores, how, before, change), how[1]
        if j == len(values):
            return present @ (0.5 - 0.5 * slope**2)
        return values[j] @ np.clip(slope, -limit, limit)

    patch.setattr(column_loops, "_dense_sum", by_slope)
    for caller in ("sweep", "all_sums"):
        patch.setattr(column_loops, caller, getattr(column_loops, caller).py_func)


@mutant_of("cd")
def row_norm_clipped_instead_of_the_coordinate(patch):
    """A row's gradient is as long as all limits together; one coordinate may be all of it."""

    def by_norm(values, targets, present, scores, how, j, before, change):
        slope, limit = moved_slope(values, targets, scores, how, before, change), how[1]
        if j == len(values):
            return present @ (0.5 - 0.5 * slope**2)
        length = np.abs(slope) * np.sqrt(np.sum(values.astype(np.float64) ** 2, axis=0))
        longest = limit * np.sqrt(len(values))
        return values[j] @ (slope * np.minimum(1.0, longest / np.maximum(length, 1e-300)))

    patch.setattr(column_loops, "_dense_sum", by_norm)
    for caller in ("sweep", "all_sums"):
        patch.setattr(column_loops, caller, getattr(column_loops, caller).py_func)


@mutant_of("cd")
def scores_moved_by_a_step_without_noise(patch):
    """Weights follow what was released, or replayed; the residuals do not."""
    own = "weights[j] - step * statistic[0] * limits[j] / total"
    moved = f"prox_of_one(penalty, j, {own}, step)"
    right, wrong = (
        "before, change = j, new - weights[j]",
        f"before, change = j, {moved} - weights[j]",
    )
    patch.setattr(column_loops, "sweep", rewritten(column_loops.sweep.py_func, right, wrong))


@mutant_of("cd")
def step_taken_along_the_statistic_without_noise(patch):
    """Recorded and replayed as it should be; the solver goes its own way."""
    release_step = column_loops.release_step

    def deaf(statistic, k, noise, grid, statistics, released, answers, out):
        fits = release_step(statistic, k, noise, grid, statistics, released, answers, out)
        out[:] = statistic
        return fits

    patch.setattr(column_loops, "release_step", deaf)
    patch.setattr(column_loops, "sweep", column_loops.sweep.py_func)


@mutant_of("cd")
def last_step_reads_the_data(patch):
    """Every release is as planned; the model is nudged by the data afterwards."""
    solve = CoordinateDescent.solve

    def nudged(self, problem, settings, data, release):
        solution = solve(self, problem, settings, data, release)
        tiny = sum(float(block.y.sum()) for block in data.blocks()) * 1e-12
        return replace(solution, intercept=solution.intercept + tiny)

    patch.setattr(CoordinateDescent, "solve", nudged)


@mutant_of("cd")
def scales_read_off_the_data(patch):
    scales = cd_facts._scales

    def peeking(problem, settings, plain, source, count, release):
        found, *others = scales(problem, settings, plain, source, count, release)
        if not hasattr(source, "data"):
            return found, *others
        X = np.vstack([rows.X.copy() for rows in source.data.blocks()]) - plain.center
        size = np.sqrt(np.mean((X * plain.inverse_scale) ** 2, axis=0))
        return np.clip(size, 1e-3, 1.0), *others

    patch.setattr(cd_facts, "_scales", peeking)


@mutant_of("cd")
def curvature_of_rows_that_are_not_shortened(patch):
    right, wrong = "np.minimum(1.0, ", "np.fmax(1.0, 0.0 * "
    patch.setattr(IntegerRows, "_moments", rewritten(IntegerRows._moments, right, wrong))


@mutant_of("cd")
def one_row_in_two_bins(patch):
    count = whole_rows.count_magnitudes

    def twice(*facts):
        counts = count(*facts)
        counts[:, 1:] += counts[:, :-1].copy()
        return counts

    patch.setattr(whole_rows, "count_magnitudes", twice)


@mutant_of("cd")
def one_gradient_in_two_bins(patch):
    count = IntegerRows.count_lengths

    def twice(*facts):
        counts = count(*facts)
        counts[1:] += counts[:-1].copy()
        return counts

    patch.setattr(IntegerRows, "count_lengths", twice)


@mutant_of("cd")
def gradient_clip_forgotten_in_integers(patch):
    sums = IntegerRows.gradient_sum
    patch.setattr(
        IntegerRows,
        "gradient_sum",
        lambda rows, model, weights, clip: sums(rows, model, weights, 10.0 * clip),
    )


@mutant_of("cd")
def first_block_counted_twice(patch):
    sums = IntegerRows._gradients

    def twice(rows, first, last, **facts):
        found = zip(sums(rows, first, last, **facts), sums(rows, 0, 1, **facts), strict=True)
        return [one + other for one, other in found]

    patch.setattr(IntegerRows, "_gradients", twice)


@mutant_of("cd")
def empty_rows_have_their_centred_length(patch):
    right, wrong = "there = block.present & ", "there = "
    patch.setattr(integer_rows, "_store", rewritten(integer_rows._store, right, wrong))


@mutant_of("cd")
def clip_chosen_from_counts_without_noise(patch):
    """The first bin that holds a gradient: nothing is clipped, and nothing is noisy."""
    count, seen = IntegerRows.count_lengths, []

    def remembering(*facts):
        seen.append(count(*facts))
        return seen[-1].copy()

    def exact(noisy, noise, *, longest, **others):
        return longest * np.sqrt(0.5) ** int(np.argmax(seen[-1] > 0))

    patch.setattr(IntegerRows, "count_lengths", remembering)
    patch.setattr(cd_facts, "clip_for", exact)


@mutant_of("cd")
def largest_step_chosen_without_noise(patch):
    select = Releaser.select

    def greedy(self, name, scores, *, clip):
        select(self, name, scores, clip=clip)
        return int(np.argmax(scores))

    patch.setattr(Releaser, "select", greedy)


@mutant_of("cd")
def empty_row_in_columns_as_if_present(patch):
    """What centring makes of an empty row's zeros is not zero."""
    as_columns = cd_columns.as_columns

    def all_present(prepared):
        rows = replace(prepared.rows, present=np.ones_like(prepared.rows.present))
        return as_columns(replace(prepared, rows=rows))

    for module in ("cyclic", "greedy"):
        patch.setattr(f"privlearn.solvers.coordinate_descent.{module}.as_columns", all_present)


def interpreted(patch, **replaced):
    """Exchange parts of the dual loop."""
    for name, other in replaced.items():
        patch.setattr(dual_loops if name == "batch_sum" else loops, name, other)


@mutant_of("scd")
def dual_variables_remembered_from_fit_to_fit(patch):
    loop, kept = dual_loops.descend_dual, {}

    def remembering(rows, model, dual, path, steps, done):
        if done == 0 and model.outputs in kept:
            common = min(len(dual.variables), len(kept[model.outputs]))
            dual.variables[:common] = kept[model.outputs][:common]
        fits = loop(rows, model, dual, path, steps, done)
        kept[model.outputs] = dual.variables.copy()
        return fits

    patch.setattr(dual_loops, "descend_dual", remembering)


@mutant_of("scd")
def batches_of_fixed_size_accounted_as_poisson(patch):
    def fixed(self, source, n, steps):
        size = max(1, round(self.rate * n))
        parts = [np.sort(source.permutation(n)[:size]) for _ in range(steps)]
        return Batches(np.concatenate(parts), size * np.arange(steps + 1))

    patch.setattr(Poisson, "draw_many", fixed)


@mutant_of("scd")
def sum_of_moves_clipped_instead_of_each(patch):
    batch_sum = loops.batch_sum

    def all_at_once(rows, batch, model, clip, weights, held, stiffness, statistic):
        batch_sum(rows, batch, model, 1e9, weights, held, stiffness, statistic)
        statistic *= min(1.0, clip / max(float(np.linalg.norm(statistic)), 1e-300))

    interpreted(patch, batch_sum=all_at_once)


@mutant_of("scd", "three classes")
def classes_clipped_one_by_one(patch):
    shorten = loops._shorten

    def by_class(clip, norms, batch, slopes, along_scale):
        for k in range(slopes.shape[1]):
            own = slopes[:, k : k + 1].copy()
            shorten(clip, norms, batch, own, np.zeros_like(along_scale))
            slopes[:, k] = own[:, 0]

    interpreted(patch, _shorten=by_class)


@mutant_of("scd", "Huber")
def scale_left_out_of_a_rows_length(patch):
    shorten = loops._shorten

    def without(clip, norms, batch, slopes, along_scale):
        shorten(clip, norms, batch, slopes, np.zeros_like(along_scale))

    interpreted(patch, _shorten=without)


@mutant_of("scd")
def one_length_in_two_bins(patch):
    counted = histograms.count_lengths

    def twice(lengths):
        counts = counted(lengths)
        counts[1:] += counts[:-1].copy()
        return counts

    patch.setattr(histograms, "count_lengths", twice)


@mutant_of("scd")
def first_dual_step_released_without_noise(patch):
    release_step = dual_loops.release_step

    def bare_at_first(statistic, k, noise, grid, statistics, released, answers, out):
        fits = release_step(statistic, k, noise, grid, statistics, released, answers, out)
        if k == 0 and not len(answers):
            out[:] = statistic
            released[:1] = statistic
        return fits

    patch.setattr(dual_loops, "release_step", bare_at_first)
    interpreted(patch)


@mutant_of("scd")
def moves_scored_with_weights_that_saw_no_noise(patch):
    """Recorded and replayed as it should be; the weights go their own way."""
    release_step = dual_loops.release_step

    def deaf(statistic, k, noise, grid, statistics, released, answers, out):
        fits = release_step(statistic, k, noise, grid, statistics, released, answers, out)
        out[:] = statistic
        return fits

    patch.setattr(dual_loops, "release_step", deaf)
    interpreted(patch)


@mutant_of("scd")
def lengths_read_off_the_data(patch):
    """Estimated and paid for, and then not used."""
    counted, seen = histograms.count_lengths, []
    patch.setattr(histograms, "count_lengths", lambda one: seen.append(one) or counted(one))

    def exact(counts, noise, rows):
        lengths = seen[0]
        seen.clear()
        return float(np.sqrt(np.mean(lengths**2))) if lengths.any() else 0.5

    patch.setattr(scd_lengths, "_typical", exact)


@mutant_of("one-pass")
def merged_levels_treated_at_their_mean(patch):
    read = personal_budgets.read_levels

    def at_the_mean(sample_epsilon, epsilon, n=None, n_is_public=True):
        levels, values = read(sample_epsilon, epsilon, n), np.asarray(sample_epsilon)
        if len(np.unique(values)) <= MOST_LEVELS:
            return levels
        groups = [np.unique(values[levels.of_row == k]) for k in range(len(levels.epsilons))]
        return Levels(tuple(float(group.mean()) for group in groups), levels.of_row)

    patch.setattr(personal_budgets, "read_levels", at_the_mean)


@mutant_of("one-pass")
def noise_of_every_level_from_the_largest(patch):
    by_level = one_pass._by_level

    def alike(release, problem, settings):
        return [replace(one, weight=release.weight) for one in by_level(release, problem, settings)]

    patch.setattr(one_pass, "_by_level", alike)


@mutant_of("one-pass")
def spherical_noise_of_the_wrong_scale(patch):
    draw = SphericalNoise.draw
    patch.setattr(
        SphericalNoise,
        "draw",
        lambda self, source, scale, shape: draw(self, source, scale / 1.3, shape),
    )


@mutant_of("one-pass")
def spherical_length_from_one_dimension_less(patch):
    """Gamma(p - 1) in place of Gamma(p), as one gets who counts the features alone."""
    draw, rng = SphericalNoise.draw, np.random.default_rng()

    def shorter(self, source, scale, shape):
        noise = draw(self, source, scale, shape).astype(float)
        if noise.size == 1:
            return np.rint(noise).astype(np.int64)
        length = scale * rng.gamma(noise.size - 1)
        return np.rint(noise * (length / np.linalg.norm(noise))).astype(np.int64)

    patch.setattr(SphericalNoise, "draw", shorter)


@mutant_of("one-pass")
def batches_filled_in_the_order_of_labels(patch):
    people = one_pass._people

    def by_label(problem, data):
        y = data.table.y
        return [own[np.argsort(y[own], kind="stable")] for own in people(problem, data)]

    patch.setattr(one_pass, "_people", by_label)


@mutant_of("one-pass")
def first_row_of_a_batch_in_the_one_before_too(patch):
    draw_many = Disjoint.draw_many

    def overlapping(self, source, n, steps):
        rows, starts = draw_many(self, source, n, steps)
        parts = np.split(rows, starts[1:-1])
        parts = [
            np.append(part, after[:1])
            for part, after in zip_longest(parts, parts[1:], fillvalue=rows[:0])
        ]
        return Batches(np.concatenate(parts), np.cumsum([0, *map(len, parts)]))

    patch.setattr(Disjoint, "draw_many", overlapping)


@mutant_of("one-pass")
def gradients_of_a_batch_not_clipped(patch):
    add_batch = loops.add_batch

    def unclipped(rows, batch, model, clip, *others):
        add_batch(rows, batch, model, 10.0, *others)

    patch.setattr(loops, "add_batch", unclipped)


@mutant_of("one-pass")
def walk_along_sums_without_noise(patch):
    """Recorded and replayed as it should be; the solver goes its own way."""
    release_step = ReleaseBatch.release_step

    def deaf(self, k, statistic):
        release_step(self, k, statistic)
        return statistic

    patch.setattr(ReleaseBatch, "release_step", deaf)


@mutant_of("one-pass", "stream")
def stream_not_charged(patch):
    charge_and_open = streaming.charge_and_open
    patch.setattr(
        streaming,
        "charge_and_open",
        lambda plan, budget, ledger=None, dataset=None, **others: charge_and_open(
            plan, budget, **others
        ),
    )


@mutant_of("one-pass", "stream")
def batches_of_a_stream_share_their_noise(patch):
    patch.setattr(streaming.StreamingMixin, "_seed_of", lambda self, stream: self.random_state)


@mutant_of("one-pass", "stream")
def rows_of_a_stream_are_kept_for_the_next_batch(patch):
    advanced, kept = streaming.Stream.advanced, {}

    def dense(X):
        return X if isinstance(X, np.ndarray) else X.toarray()

    def again(self, data, release):
        table, before = data.table, kept.get(self.plan)
        if before is not None and self.state is not None:
            X = np.vstack([dense(before.X), dense(table.X)])
            both = replace(table, X=X, y=np.concatenate([before.y, table.y]))
            kept[self.plan] = table
            return advanced(self, replace(data, table=both), release)
        kept[self.plan] = table
        return advanced(self, data, release)

    patch.setattr(streaming.Stream, "advanced", again)


@mutant_of("output")
def two_visits_per_epoch(patch):
    draw_many = Permuted.draw_many

    def twice(self, source, n, steps):
        rows, starts = draw_many(replace(self, epochs=2 * self.epochs), source, n, steps)
        return Batches(rows, starts[::2])

    patch.setattr(Permuted, "draw_many", twice)


@mutant_of("one-pass", where="add_remove")
def even_cuts_where_n_is_private(patch):
    """One row less moves the cuts, and so rows to other batches."""
    shuffled = sampling._shuffled
    patch.setattr(
        sampling,
        "_shuffled",
        lambda source, n, parts, dealt: shuffled(source, n, parts, dealt=False),
    )


@mutant_of("output")
def sensitivity_of_theorem_2_as_printed(patch):
    """Wang and Guo 2024, (17), where its proof has the square; at the paper's steps of 1 / n.

    Rows come once per epoch, for certain: the most favourable reading, c_gamma = 0.
    """
    configure = OutputPerturbation.configure

    def printed(self, problem, budget):
        if problem.n is None:
            return configure(self, problem, budget)
        step = 1.0 / problem.n
        right = configure(replace(self, epochs=1, step_size=step), problem, budget)
        squared = (1.0 + math.sqrt(step * problem.n)) ** 2
        return replace(right, visit=4.0 * math.e * step**2 * squared * 2.0)

    patch.setattr(OutputPerturbation, "configure", printed)


@mutant_of("output")
def slopes_not_cut(patch):
    visit_rows = visit_loops.visit_rows

    def uncut(rows, batch, model, *others):
        return visit_rows(rows, batch, model._replace(clip=math.inf), *others)

    patch.setattr(visit_loops, "visit_rows", uncut)


@mutant_of("output")
def mean_begins_again_at_an_empty_row(patch):
    """So that when it begins depends on the data."""
    began = "first = first if rows.stored.norms[steps.rows(k)].all() else k"
    right, wrong = "if k >= first:", f"{began}\n        if k >= first:"
    patch.setattr(
        output_perturbation, "_descended", rewritten(output_perturbation._descended, right, wrong)
    )


@mutant_of("output")
def weights_published_without_noise(patch):
    release_step = ReleaseBatch.release_step

    def deaf(self, k, statistic):
        release_step(self, k, statistic)
        return statistic

    patch.setattr(ReleaseBatch, "release_step", deaf)


def in_turns():
    """What the fast tests audit, solvers taking turns, so that a bug is met early."""
    groups = defaultdict(list)
    for name, model in fast_configurations():
        groups[str(model.solver)].append((name, model))
    return [pair for turn in zip_longest(*groups.values()) for pair in turn if pair is not None]


CONFIGURED = in_turns()


def marked():
    """The general bugs and the first of each solver; the others are planted in the slow tests."""
    first = {solver: plant for plant, solver, _ in reversed(MUTANTS)}
    for plant, solver, where in MUTANTS:
        fast = solver is None or plant is first[solver]
        marks = () if fast else pytest.mark.slow
        yield pytest.param(plant, solver, where, id=plant.__name__, marks=marks)


@pytest.mark.parametrize(("plant", "solver", "where"), list(marked()))
def test_caught_by_the_generic_audits(plant, solver, where, monkeypatch):
    models = [
        model for name, model in CONFIGURED if solver in (None, solver_of(model)) and where in name
    ]
    demand_caught(plant, models, monkeypatch)
