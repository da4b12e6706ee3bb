"""Planted bugs at the edges of the rows: boxes that exclude zero, and rows that move up."""

from dataclasses import replace

import pytest

from planting import Bugs, demand_caught, models_in
from privlearn._data import clipping
from privlearn._data.bounded import BoundedData

BUGS = Bugs()


@BUGS.shown_in("far from zero-moments")
def rows_shrink_towards_zero_and_leave_the_box(patch):
    patch.setattr(clipping, "nearest_to_zero", lambda bounds: None)


@BUGS.shown_in("far from zero-boosted")
def rows_shrink_towards_zero_and_leave_the_box_of_boosting(patch):
    patch.setattr(clipping, "nearest_to_zero", lambda bounds: None)


@BUGS.shown_in("far from zero-output")
def rows_shrink_towards_zero_and_leave_the_box_of_descent(patch):
    patch.setattr(clipping, "nearest_to_zero", lambda bounds: None)


@BUGS.shown_in("add_remove")
def every_second_row_is_mirrored(patch):
    """What a row adds depends on how many rows come before it: one row less turns all others."""
    own = BoundedData._bounded

    def mirrored(self, X, y, box):
        rows = own(self, X, y, box)
        y = rows.y.copy()
        y[::2] *= -1.0
        return replace(rows, y=y)

    patch.setattr(BoundedData, "_bounded", mirrored)


@BUGS.shown_in("moments")
def the_first_row_counts_twice(patch):
    own = BoundedData._bounded

    def doubled(self, X, y, box):
        rows = own(self, X, y, box)
        rows.X[0] *= 2.0
        return rows

    patch.setattr(BoundedData, "_bounded", doubled)


@BUGS.parametrize()
def test_planted_bugs_are_caught(plant, where, monkeypatch):
    models = models_in(where)
    if not models:
        pytest.fail(f"no configuration is named {where}")
    demand_caught(plant, models, monkeypatch)
