"""Planted bugs in what standard errors are made of: each is caught by a generic audit."""

import numpy as np
import pytest

from planting import Bugs, demand_caught, models_in
from privlearn.solvers.coordinate_descent import standard_errors, weighted_moments

BUGS = Bugs()


@BUGS.shown_in("intervals-")
def moments_of_rows_are_not_shortened(patch):
    own = weighted_moments.weighted_moments

    def long(rows, objective, weights, factor, longest):
        return own(rows, objective, weights, factor, 4.0 * longest) * 16.0

    patch.setattr(standard_errors, "weighted_moments", long)


@BUGS.shown_in("intervals-")
def slopes_are_relative_to_their_largest(patch):
    own = weighted_moments.weighted_moments

    def relative(rows, objective, weights, factor, longest):
        def scaled(targets, scores, lengths):
            found = np.asarray(factor(targets, scores, lengths))
            return found / max(float(np.abs(found).max(initial=0.0)), 1e-12)

        return own(rows, objective, weights, scaled, longest)

    patch.setattr(standard_errors, "weighted_moments", relative)


@BUGS.shown_in("intervals-")
def empty_rows_have_an_intercept(patch):
    own = weighted_moments.weighted_moments

    def without(rows, objective, weights, factor, longest):
        found = own(rows, objective, weights, factor, longest)
        found[-1, -1] += np.count_nonzero(rows.norms == 0.0) / longest**2
        return found

    patch.setattr(standard_errors, "weighted_moments", without)


@BUGS.shown_in("intervals-")
def the_second_matrix_is_planned_and_not_released(patch):
    patch.setattr(
        standard_errors,
        "_squared_slopes",
        lambda prepared, weights, clip, release: standard_errors.MomentsAt(
            np.eye(prepared.objective.scaling.width), 0.0
        ),
    )


@BUGS.shown_in("intervals-KernelRegressor")
def errors_are_not_cut(patch):
    own = weighted_moments.squared_errors

    def whole(rows, objective, weights, largest):
        return own(rows, objective, weights, 4.0 * largest) * 16.0

    patch.setattr(standard_errors, "squared_errors", whole)


@BUGS.shown_in("intervals-KernelRegressor")
def errors_are_relative_to_the_largest(patch):
    own = weighted_moments.squared_errors

    def relative(rows, objective, weights, largest):
        scores = rows.values @ weights[: rows.values.shape[1]] + weights[-1]
        seen = float(np.abs(rows.targets - scores).max(initial=1e-9))
        return own(rows, objective, weights, min(largest, seen))

    patch.setattr(standard_errors, "squared_errors", relative)


@BUGS.shown_in("intervals-KernelRegressor")
def empty_rows_have_an_error(patch):
    own = weighted_moments.squared_errors

    def without(rows, objective, weights, largest):
        empty = np.count_nonzero(rows.norms == 0.0)
        return own(rows, objective, weights, largest) + empty

    patch.setattr(standard_errors, "squared_errors", without)


@pytest.mark.slow
@BUGS.parametrize()
def test_bugs_are_caught(plant, where, monkeypatch):
    demand_caught(plant, models_in(where), monkeypatch)
