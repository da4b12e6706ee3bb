"""Planted privacy bugs of estimated ranges. Each must be caught by the generic audits."""

import numpy as np
import pytest

from planting import Bugs, demand_caught, models_in
from privlearn.private_bounds import selection
from privlearn.private_bounds import solver as bounds_solver
from privlearn.private_bounds.ranges import CoarseRange
from privlearn.solvers._common import counting, noisy_top_k
from support import N_FEATURES

BUGS = Bugs()


@BUGS.shown_in("estimated-")
def one_row_touches_two_bins(patch):
    """Values that lie beyond a bin's middle count in the next one, too."""
    places = counting._signed
    patch.setattr(
        counting,
        "_signed",
        lambda X, *facts: np.vstack([places(X, *facts), places(1.5 * X, *facts)]),
    )


@BUGS.shown_in("estimated-")
def rows_beyond_the_ends_count_twice(patch):
    count = bounds_solver.count_evenly

    def with_ends(data, what, low, high, *others):
        counts = count(data, what, low, high, *others)
        for X, present in counting._blocks(data, what, 0, data.n, data.n):
            counts[:, 0] += (X[present] < low).sum(axis=0)
        return counts

    patch.setattr(bounds_solver, "count_evenly", with_ends)


@BUGS.shown_in("estimated-")
def one_column_is_all_that_a_row_moves(patch):
    patch.setattr(bounds_solver, "_width", lambda what, n_features: 1)
    planned = bounds_solver._histograms
    patch.setattr(
        bounds_solver,
        "_histograms",
        lambda what, n_features, bins: tuple(
            bounds_solver.replace(
                release, shape=(n_features if what == "features" else 1, release.shape[1])
            )
            for release in planned(what, n_features, bins)
        ),
    )


@BUGS.shown_in("estimated-")
def ends_read_off_the_data(patch):
    """The histogram is noised, and then what it was made from is used all the same."""
    count, seen = bounds_solver.count_evenly, []

    def remembering(data, what, *within):
        seen[:] = [X.copy() for X, _ in counting._blocks(data, what, 0, data.n, data.n)]
        return count(data, what, *within)

    def peeked(counts, noise, outer):
        low, high = seen[0].min(axis=0), seen[0].max(axis=0) + 1e-9
        return CoarseRange(low, high, low, high, outer.rows, outer.may_be_narrow)

    patch.setattr(bounds_solver, "count_evenly", remembering)
    patch.setattr(bounds_solver, "refined_range", peeked)


@BUGS.shown_in("estimated-")
def rows_outside_the_range_are_left_alone(patch):
    """The bounds that were estimated do not reach the data."""
    replaced = bounds_solver.replace

    def without_bounds(thing, **changes):
        return thing if hasattr(thing, "table") else replaced(thing, **changes)

    patch.setattr(bounds_solver, "replace", without_bounds)


@BUGS.shown_in("selected")
def selection_by_products_instead_of_ranks(patch):
    def products(data, keep, release):
        y = np.clip(data.table.y, -1e9, 1e9)
        scores = np.abs(
            np.nan_to_num(data.table.X) @ np.eye(N_FEATURES) * np.nan_to_num(y)[:, None]
        )
        relevance = np.clip(scores, 0, 1e9).sum(axis=0)
        chosen = []
        while len(chosen) < keep:
            clip = noisy_top_k.row_clip(release.plan.adjacency)
            chosen.append(
                noisy_top_k.select_another(selection.RELEVANCE, relevance, chosen, release, clip)
            )
        return np.sort(np.asarray(chosen))

    patch.setattr(selection, "most_relevant", products)


@BUGS.shown_in("partly declared-replace_one")
def columns_looked_inside_cost_nothing(patch):
    """Only columns without a range are paid for, but those inside declared ranges count as well."""
    whole = bounds_solver._histograms

    def cheaper(what, n_features, bins):
        if what == "target":
            return whole(what, n_features, bins)
        return tuple(
            bounds_solver.replace(release, clip=1.0) for release in whole(what, n_features, bins)
        )

    def released(release, name, counts, *, columns):
        return release(name, counts, clip=1.0)

    patch.setattr(bounds_solver, "_histograms", cheaper)
    patch.setattr(bounds_solver, "_released", released)


@BUGS.shown_in("partly declared-zero_out")
def open_sides_stay_open(patch):
    """Rows are clipped to the declared sides of the box alone."""
    replaced = bounds_solver.replace

    def open_again(thing, **changes):
        if not hasattr(thing, "table"):
            return replaced(thing, **changes)
        low, high = np.array([-1.0, -np.inf, 0.0]), np.array([3.0, np.inf, 1.0])
        changes["bounds"] = replaced(changes["bounds"], low=low, high=high)
        return replaced(thing, **changes)

    patch.setattr(bounds_solver, "replace", open_again)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@BUGS.parametrize()
def test_caught_by_the_generic_audits(plant, where, monkeypatch):
    demand_caught(plant, models_in(where), monkeypatch)
