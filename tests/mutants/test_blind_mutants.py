"""Bugs planted by someone who had not seen which models and checks would look for them."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from planting import Bugs, demand_caught, models_in, rewritten
from privlearn import audit
from privlearn._core.mechanisms import GaussianNoise
from privlearn._core.norms import BALLOT
from privlearn._core.numerics import BlockSum
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches, Poisson
from privlearn._data.bounded import BoundedData, Rows
from privlearn._data.clipping import clip_rows
from privlearn._data.personal_budgets import Levels, _one_each, read_levels
from privlearn._data.tables import read_table
from privlearn._data.targets import one_column
from privlearn.accounting import pairs
from privlearn.exceptions import PlanViolationError
from privlearn.kernel_model.feature_map import BELOW_ONE, STRAIGHT, FeatureMap
from privlearn.noise import rounding
from privlearn.private_bounds import selection
from privlearn.private_bounds import solver as private_bounds
from privlearn.solvers import OutputPerturbation
from privlearn.solvers._common import row_source
from privlearn.solvers._common.integer_rows import IntegerRows
from privlearn.solvers._common.noisy_top_k import Correlations
from privlearn.solvers._common.objective import Objective
from privlearn.solvers.boosted import solver as boosted
from privlearn.solvers.one_pass import solver as one_pass
from privlearn.solvers.output_perturbation import rules as output_rules
from privlearn.solvers.sgd import solver as sgd

bugs, bugs_of_reading = Bugs(), Bugs()


@bugs.shown_in("ElasticNet-zero_out")
def curvature_forgets_the_intercept(patch):
    """Rows of cd's curvature are shortened by the length of x: with its 1, (1, x) is longer."""

    right, wrong = "self.norms[b].astype(np.float64)", "np.sqrt(self.norms[b] ** 2.0 - 1.0)"
    patch.setattr(IntegerRows, "_moments", rewritten(IntegerRows._moments, right, wrong))


@bugs.shown_in("greedy")
def largest_step_as_if_a_ballot(patch):
    """Greedy cd plans scores as ballots, whose distance is 1: replaced rows move them by 2."""
    patch.setattr("privlearn.solvers.coordinate_descent.solver.LINF", BALLOT)


@bugs.shown_in("one-pass")
def sparse_norms_without_intercept(patch):
    """Stored sparse rows are as long as x says, without the intercept's entry: gradients exceed."""
    right = row_source._stored_sparse

    def stored(scaling, data):
        rows = right(scaling, data)
        owner = np.repeat(np.arange(len(rows.targets)), np.diff(rows.starts))
        entries = rows.values[0, : rows.starts[-1]].astype(np.float64)
        squares = np.bincount(owner, entries**2, len(rows.targets))
        norms = np.where(rows.norms > 0.0, np.sqrt(squares) * (1.0 + 2.0**-30), 0.0)
        return rows._replace(norms=norms)

    patch.setattr("privlearn.solvers._common.row_source._stored_sparse", stored)


@bugs.shown_in("one-pass")
def released_count_capped_by_rows(patch):
    """one-pass lowers a noisy count to the rows that are there: half of the time it is exact."""
    right = one_pass._counts

    def counts(problem, data, people, release):
        found = right(problem, data, people, release)
        return np.maximum(1.0, np.minimum(found, [len(own) for own in people]))

    patch.setattr("privlearn.solvers.one_pass.solver._counts", counts)


@bugs.shown_in("one-pass")
def levels_rounded_to_nearest(patch):
    """Of many personal epsilons the nearest level is taken: some get less noise than promised."""

    def nearest(sample_epsilon, epsilon, n=None, *, n_is_public=True):
        levels = read_levels(sample_epsilon, epsilon, n, n_is_public=n_is_public)
        apart = np.abs(_one_each(sample_epsilon)[:, None] - np.array(levels.epsilons))
        return Levels(levels.epsilons, apart.argmin(axis=1))

    patch.setattr("privlearn._data.personal_budgets.read_levels", nearest)


@bugs.shown_in("strong penalty")
def draws_with_replacement_shrink(patch):
    """A row's visits are taken to be an epoch apart, so that a penalty shrinks the early ones;
    with replacement all may come in the last epoch, and move the weights further."""

    def visit(self, problem, step, epochs, slope_clip, modulus):
        visits = epochs
        if self.sampling != "permuted":
            visits = 1
            if not math.isfinite(output_rules.steepest(problem.loss, slope_clip)):
                slope_clip = output_rules.growth(step, epochs * float(problem.n or 1))
        return output_rules.moved(problem, step, epochs, slope_clip, modulus, visits=visits)

    patch.setattr(OutputPerturbation, "_visit", visit)


@bugs.shown_in("far from zero-moments")
def knapsack_of_whole_features(patch):
    """The longest row within box and norm fills whole features only, and not a part of one."""

    def knapsack(scale, square):
        filled = np.cumsum(np.sort(scale[scale > 0] ** 2))
        return float(max(np.searchsorted(filled, square, side="right"), 1))

    patch.setattr("privlearn.solvers._common.scaling._knapsack", knapsack)


@bugs.shown_in("boosted")
def boosting_stops_when_nothing_is_left(patch):
    """Rounds end once the exact gradient is below its noise: when they end tells about rows."""

    def boost(settings, rows, ridge, step, release):
        weights, clip = boosted._moved_intercept(settings, rows, release)
        average = np.zeros(settings.width)
        for k in range(settings.rounds):
            if k in settings.looks:
                clip = boosted._look(settings, rows, weights, clip, release)
            total = BlockSum((settings.width,))
            for Z, errors in rows.clipped_errors(weights, clip):
                total.add(Z.T @ errors)
            noise = release.noise_scale(boosted.GRADIENT)
            if k > settings.first_averaged and np.linalg.norm(total.value()) < noise:
                average += weights * (settings.rounds - k) / settings.last_rounds
                break
            noisy = release(boosted.GRADIENT, total.value(), clip=settings.norm)
            weights = weights + step @ (clip * noisy - ridge * weights)
            if k >= settings.first_averaged:
                average += weights / settings.last_rounds
        return average

    patch.setattr("privlearn.solvers.boosted.solver._boost", boost)


@bugs.shown_in("tukey, nothing")
def bar_in_decimal_logarithms(patch):
    """Tukey's test has its bar at log10 instead of log: unsafe draws pass more often than delta."""
    decimal = SimpleNamespace(**vars(math) | {"log": math.log10})
    patch.setattr("privlearn.solvers.tukey.solver.math", decimal)


@bugs.shown_in("estimated target")
def estimated_range_of_y_not_enforced(patch):
    """The estimated range of y scales the moments, but y is not clipped to it: it may be larger."""

    def solve(self, problem, settings, data, release):
        chosen = np.arange(problem.n_features)
        if self.keep is not None:
            chosen = selection.most_relevant(data, self.keep, release)
            data = selection.columns_of(data, chosen)
        rows = problem.n
        ranges = {
            what: private_bounds._ranges(what, problem, settings.bins[what], rows, data, release)
            for what in self.wanted
        }
        found = self._within(problem, ranges)
        inner, plan = self.inner.settled(found, settings.inner), release.plan
        if self.inner.plan(found, inner, plan.scale).releases != self._own(plan).releases:
            raise PlanViolationError("ranges changed what is to be released")
        own = replace(found.bounds, target=data.bounds.target)
        solution = self.inner.solve(found, inner, replace(data, bounds=own), release)
        return selection.in_all_columns(solution, chosen, problem.n_features, ranges)

    patch.setattr(private_bounds.WithPrivateBounds, "solve", solve)


@bugs.shown_in("selected and estimated")
def correlations_divided_by_present_rows(patch):
    """Kendall's tau is over the rows that are not empty, whose number a row changes: it then moves
    by 3/2 where n is public, too, and 1 is planned there."""
    right = Correlations.__init__

    def init(self, data, adjacency):
        right(self, data, adjacency)
        self._divisor = max(1, int(data.present().sum()) - 1)

    patch.setattr(Correlations, "__init__", init)


@bugs.shown_in("KernelClassifier")
def kernel_share_taken_for_an_amplitude(patch):
    """Waves beside ranks are scaled by sqrt(1 - s^2), ranks by sqrt(s): rows are longer than 1."""

    def write(self, inputs, out, workspace, length=1.0):
        if self.ranks is None:
            self._waves.write(inputs, out, workspace, length)
            return
        p = inputs.shape[1]
        self._waves.write(inputs, out, workspace, math.sqrt(1.0 - STRAIGHT**2) * length)
        straight = np.float32(length * math.sqrt(STRAIGHT) * BELOW_ONE / math.sqrt(p))
        np.multiply(inputs, straight, out=out[:, -p:], casting="same_kind")

    patch.setattr(FeatureMap, "write", write)


@bugs.shown_in("box and norm-no 1-boosted")
def norm_before_box(patch):
    """Rows are clipped to the norm first: a box that excludes zero then lengthens them again."""

    def bounded(self, X, y, box):
        present = np.full(len(y), True)
        if not self.table.finite:
            present = np.isfinite(X).all(axis=1) & np.isfinite(y)
            X[~present], y[~present] = 0.0, 0.0
        if self.bounds.row_norm is not None:
            clip_rows(X, self.bounds, self.fit_intercept)
        if self.bounds.low is not None and self.bounds.high is not None:
            np.maximum(X, self.bounds.low, out=X)
            np.minimum(X, self.bounds.high, out=X)
        if self.bounds.target is not None:
            np.clip(y, *self.bounds.target, out=y)
        if not self.table.finite:
            X[~present], y[~present] = 0.0, 0.0
        return Rows(X, y, present)

    patch.setattr(BoundedData, "_bounded", bounded)


@bugs.shown_in("ElasticNet")
def invalid_rows_are_taken_out(patch):
    """on_invalid="drop" removes rows, as dropna does: the public n is the number of valid ones."""

    def read(estimator, X, y, **options):
        table = read_table(estimator, X, y, **options)
        if table.finite:
            return table
        valid = np.isfinite(table.y)
        if isinstance(table.X, np.ndarray):
            valid &= np.isfinite(table.X).all(axis=1)
        else:
            owner = np.repeat(np.arange(len(valid)), np.diff(table.X.indptr))
            valid[owner[~np.isfinite(table.X.data)]] = False
        if not valid.any():
            return table  # there would be none left
        return replace(table, X=table.X[valid], y=table.y[valid])

    for module in ("classifier", "regressor"):
        patch.setattr(f"privlearn.linear_model.{module}.read_table", read)


@bugs_of_reading.shown_in("LogisticRegression")
def labels_in_one_array(patch):
    """A list of labels becomes one numpy array: one label that is text makes text of all others."""

    def column(y, *, strict=True):
        if isinstance(y, list) and not any(isinstance(cell, list | tuple) for cell in y):
            with suppress(ValueError, TypeError):
                return one_column(np.asarray(y), strict=strict)
        return one_column(y, strict=strict)

    patch.setattr("privlearn._data.labels.one_column", column)


@bugs.shown_in("scd")
def shuffled_batches_instead_of_poisson(patch):
    """Batches are cut from shuffled epochs, as training loops do, and charged as Poisson ones."""

    def draw_many(self, source, n, steps):
        size = min(n, max(1, round(self.rate * n)))
        per_epoch = n // size if size else 1
        epochs = [source.permutation(n)[: per_epoch * size] for _ in range(-(-steps // per_epoch))]
        rows = np.concatenate(epochs)[: steps * size]
        return Batches(rows, size * np.arange(steps + 1, dtype=np.int64))

    patch.setattr(Poisson, "draw_many", draw_many)


@bugs.shown_in("ElasticNet")
def antithetic_noise(patch):
    """Every second step of a block has the noise of the step before with the other sign: each has
    its law, but two of them together have none."""
    right = Releaser._draw_noise

    def draw(self, release, count):
        noise = right(self, release, count)
        noise[1::2] = -noise[: 2 * (count // 2) : 2]
        return noise

    patch.setattr(Releaser, "_draw_noise", draw)


@bugs.shown_in("sgd")
def replaced_rows_charged_as_removed(patch):
    """Sampled Gaussian noise is charged as if a row were removed, where it is replaced."""

    def pair(self, shift, noise_scale, sampling):
        if sampling.visits is None:
            return pairs.SampledGaussian(sampling.rate, noise_scale / shift.contribution, False)
        mus = tuple(visits * shift.sensitivity / noise_scale for visits, _ in sampling.visits)
        if len(mus) == 1:
            return pairs.Gaussian(mus[0])
        return pairs.GaussianMixture(mus, tuple(weight for _, weight in sampling.visits))

    patch.setattr(GaussianNoise, "pair", pair)


@bugs.shown_in("ElasticNet")
def noise_repeats_after_a_chunk(patch):
    """Words are drawn for the first 16384 numbers and used again for the next ones."""

    def draws(stream, law, scale, shape, margin_factor):
        result = np.empty(math.prod(shape), dtype=np.int64)
        words, first = stream.take(min(result.size, rounding._CHUNK))
        further = partial(rounding._further, stream, first)
        for start in range(0, result.size, rounding._CHUNK):
            part = result[start : start + rounding._CHUNK]
            rounding.round_words(words[: part.size], further, law, scale, part, margin_factor)
        return result.reshape(shape)

    patch.setattr("privlearn.noise.rounding.rounded_draws", draws)


@bugs.shown_in("sgd")
def sgd_starts_at_the_mean(patch):
    """SGD's intercept starts at the mean of the targets, which nobody has released."""
    right, start, means = sgd.make_row_source, Objective.state, []

    def rows(scaling, data, *, stored=False):
        y = scaling.targets(data.table.y[data.present()])
        means.append(float(np.clip(y, -1.0, 1.0).mean()) if len(y) else 0.0)
        return right(scaling, data, stored=stored)

    def state(self, **options):
        found = start(self, **options)
        if means:
            mean = means.pop()
            if self.scaling.intercept_value > 0.0 and self.loss.outputs == 1:
                found.weights[self.scaling.width - 1] = mean
                found.previous[:] = found.weights
        return found

    patch.setattr("privlearn.solvers.sgd.solver.make_row_source", rows)
    patch.setattr(Objective, "state", state)


@pytest.mark.slow
@bugs.parametrize()
@pytest.mark.filterwarnings("ignore")
def test_every_bug_is_caught(plant, where, monkeypatch):
    demand_caught(plant, models_in(where), monkeypatch)


@bugs_of_reading.parametrize()
def test_every_bug_of_reading_is_caught(plant, where, monkeypatch):
    demand_caught(plant, models_in(where), monkeypatch, lambda *_: [audit.check_row_locality])
