"""Planted privacy bugs of estimated ranges. Each must be caught by the generic audits."""

import numpy as np
import pytest

import privlearn.solvers._common.loops.histograms as range_loops
from planting import Bugs, demand_caught, models_in
from privlearn.private_bounds import selection
from privlearn.private_bounds import solver as bounds_solver
from privlearn.private_bounds.ranges import CoarseRange
from support import N_FEATURES

BUGS = Bugs()


@BUGS.shown_in("estimated-")
def one_row_touches_two_bins(patch):
    """Values that lie beyond a bin's middle count in the next one, too."""
    count = range_loops.count_signed

    def twice(X, present, powers, counts):
        count(X, present, powers, counts)
        count(1.5 * X, present, powers, counts)

    patch.setattr(range_loops, "count_signed", twice)


@BUGS.shown_in("estimated-")
def rows_beyond_the_ends_count_twice(patch):
    count = range_loops.count_evenly

    def with_ends(X, present, low, per_width, counts):
        count(X, present, low, per_width, counts)
        counts[:, 0] += (X[present] < low).sum(axis=0)

    patch.setattr(range_loops, "count_evenly", with_ends)


@BUGS.shown_in("estimated-")
def one_column_is_all_that_a_row_moves(patch):
    patch.setattr(bounds_solver, "_width", lambda what, n_features: 1)
    planned, counted = bounds_solver._histograms, bounds_solver.signed_counts
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
    patch.setattr(
        bounds_solver,
        "signed_counts",
        lambda data, columns, _: counted(data, columns, width_of(columns)),
    )


def width_of(columns):
    return N_FEATURES if columns is bounds_solver._features else 1


@BUGS.shown_in("estimated-")
def ends_read_off_the_data(patch):
    """The histogram is noised, and then what it was made from is used all the same."""
    count, seen = bounds_solver.even_counts, []

    def remembering(data, columns, *within):
        seen[:] = [np.vstack([columns(rows).copy() for rows in data.blocks()])]
        return count(data, columns, *within)

    def peeked(counts, noise, outer):
        low, high = seen[0].min(axis=0), seen[0].max(axis=0) + 1e-9
        return CoarseRange(low, high, low, high, outer.rows, outer.may_be_narrow)

    patch.setattr(bounds_solver, "even_counts", remembering)
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
            clip = selection.row_clip(release.plan.adjacency)
            chosen.append(
                selection.select_another(selection.RELEVANCE, relevance, chosen, release, clip)
            )
        return np.sort(np.asarray(chosen))

    patch.setattr(selection, "most_relevant", products)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@BUGS.parametrize()
def test_caught_by_the_generic_audits(plant, where, monkeypatch):
    demand_caught(plant, models_in(where), monkeypatch)
