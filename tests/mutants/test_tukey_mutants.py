"""Planted privacy bugs of "tukey". Each must be caught by the generic audits."""

import numpy as np
import pytest

from planting import Bugs, demand_caught, models_in
from privlearn import audit
from privlearn._core.mechanisms.tukey_boxes import Boxes
from privlearn._core.releaser import Releaser
from privlearn._core.sampling import Batches, Disjoint
from privlearn.solvers.tukey import group_models as groups
from privlearn.solvers.tukey import solver as tukey
from support import is_kernel

BUGS = Bugs()


@BUGS.shown_in("zero_out")
def noise_of_the_test_with_scale_epsilon(patch):
    """As in the published code, which draws Lap(eps) for Lap(1/eps)."""
    drawn = Releaser._draw_noise

    def inverted(self, release, count):
        if release.name != tukey.TEST:
            return drawn(self, release, count)
        scale = 1.0 / self.plan.noise_scale(release) / self.plan.grid(release)
        most = 2.0**40  # what the source draws
        return release.mechanism.draw(self._noise(), min(scale, most), (count, *release.shape))

    patch.setattr(Releaser, "_draw_noise", inverted)


@BUGS.shown_in("add_remove")
def blocks_of_as_many_rows_as_n_allows(patch):
    """As in the published code: int(n / m) rows each, so that one row more changes every model."""

    def blocks(self, n, groups):
        size = n // groups
        return Batches(np.arange(size * groups), size * np.arange(groups + 1))

    patch.setattr(Releaser, "partition", blocks)


@BUGS.shown_in("add_remove")
def equal_groups_where_n_is_private(patch):
    patch.setattr(
        Releaser, "partition", lambda self, n, groups: self._deal(Disjoint(groups, dealt=False), n)
    )


@BUGS.shown_in("replace_one")
def exp_of_epsilon_times_depth(patch):
    """As in the paper, where a model is added; here one is replaced."""
    slope = Boxes.slope
    patch.setattr(Boxes, "slope", lambda self, epsilon: slope(self, 2.0 * epsilon))


@BUGS.shown_in("zero_out")
def deepest_box_for_certain(patch):
    """The distance is right, and a point of greatest depth is published."""
    weights = Boxes.log_weights

    def one_box(self, epsilon):
        found = weights(self, epsilon)
        return np.append(np.full(found.size - 1, -1e6), 0.0)

    patch.setattr(Boxes, "log_weights", one_box)


@BUGS.shown_in("zero_out")
def rows_in_two_groups(patch):
    partition = Releaser.partition

    def twice(self, n, groups):
        rows, starts = partition(self, n, groups)
        parts = np.split(rows, starts[1:-1])
        parts = [np.append(part, before) for part, before in zip(parts, parts[-1:] + parts[:-1])]  # noqa: B905
        return Batches(np.concatenate(parts), np.cumsum([0, *map(len, parts)]))

    patch.setattr(Releaser, "partition", twice)


@BUGS.shown_in("zero_out")
def median_published_for_the_draw(patch):
    """The draw is made, and the point in the middle of the models is returned."""
    draw = Releaser.draw

    def deaf(self, name, ordered, *, clip):
        draw(self, name, ordered, clip=clip)
        return np.median(ordered, axis=0)

    patch.setattr(Releaser, "draw", deaf)


@BUGS.shown_in("zero_out")
def models_scaled_by_the_spread_of_all(patch):
    """Standardised with the data's own deviations, so that one row moves every model."""
    models = groups.group_models

    def scaled(data, parts, fit_intercept):
        X = data.table.X if isinstance(data.table.X, np.ndarray) else data.table.X.toarray()
        spread = np.nanstd(np.nan_to_num(X, posinf=0.0, neginf=0.0), axis=0)
        found = models(data, parts, fit_intercept)
        found[:, int(fit_intercept) :] *= np.where(spread > 0, spread, 1.0)
        return found

    patch.setattr(groups, "group_models", scaled)


@BUGS.shown_in("zero_out")
def number_of_models_follows_the_rows_present(patch):
    partition, solve = Releaser.partition, tukey.Tukey.solve

    def peeking(self, problem, settings, data, release):
        all_there = int(data.present().all())
        patch.setattr(
            Releaser,
            "partition",
            lambda self, n, groups: partition(self, n, groups - 1 + all_there),
        )
        return solve(self, problem, settings, data, release)

    patch.setattr(tukey.Tukey, "solve", peeking)


CHECKS = (audit.check_sampling, audit.check_replay, audit.check_draws, audit.check_noise_law)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@BUGS.parametrize()
def test_caught_by_the_generic_audits(plant, where, monkeypatch):
    models = [model for model in models_in(where, "tukey") if not is_kernel(type(model))]
    demand_caught(plant, models, monkeypatch, lambda *_: CHECKS)
