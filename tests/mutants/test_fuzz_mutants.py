"""Planted bugs that the fuzz must find in no more examples than the tests of every day have."""

import numpy as np
import pytest

from fuzz.entries import seeded_example
from fuzz.neighbours import trial
from fuzz.test_fuzz_inputs import FEW
from privlearn._core.calibration import _smallest_scale
from privlearn._core.releaser import Releaser
from privlearn._data import bounded as data
from privlearn._data.bounded import BoundedData, Rows
from privlearn.linear_model.base import PrivateEstimator

CONFIGURATIONS = 1_000  # of all solvers; those that were not asked for cost nothing


def quoting_message(patch):
    fit = PrivateEstimator.fit

    def quoting(self, X, y, *more, **named):
        try:
            return fit(self, X, y, *more, **named)
        except ValueError as error:
            text = str(error)
        raise ValueError(f"{text}: {X}")

    patch.setattr(PrivateEstimator, "fit", quoting)


def quoting_context(patch):
    fit = PrivateEstimator.fit

    def quoting(self, X, y, *more, **named):
        try:
            if isinstance(X, list):
                raise KeyError(str(X))
        except KeyError:
            raise ValueError("X cannot be read") from None
        return fit(self, X, y, *more, **named)

    patch.setattr(PrivateEstimator, "fit", quoting)


def crash_after_the_charge(patch):
    def failing(self):
        return 1 / 0

    patch.setattr(Releaser, "certificate", failing)


def half_of_a_fit_kept(patch):
    fit = PrivateEstimator.fit

    def eager(self, X, y, *more, **named):
        self.half_ = True
        return fit(self, X, y, *more, **named)

    patch.setattr(PrivateEstimator, "fit", eager)


@pytest.mark.parametrize(
    ("plant", "kind"),
    [
        (quoting_message, "quoted in message"),
        (quoting_context, "quoted in hidden KeyError"),
        (crash_after_the_charge, "charged, then ZeroDivisionError"),
        (half_of_a_fit_kept, "estimator changed"),
    ],
)
def test_inputs_find(plant, kind, monkeypatch):
    plant(monkeypatch)
    for number in range(FEW["fit"]):
        _, broken, _, story = seeded_example(2, number, "fit")
        found = [one for one in broken if one[1].startswith(kind) and _is_ours(one, plant)]
        if found:
            break
    else:
        pytest.fail(f"{plant.__name__} was not found in {FEW['fit']} examples")
    monkeypatch.undo()
    _, broken, _, _ = seeded_example(2, number, "fit")
    assert not set(found) & set(broken), f"without the bug, too: {story}"


def _is_ours(one, plant):
    return plant is not half_of_a_fit_kept or "half_" in one[2]


def clip_forgotten(patch):
    patch.setattr(data, "clip_rows", lambda X, row_norm, fit_intercept: None)


def position_counts(patch):
    """Every other row counts half; each stays within its bounds."""
    blocks = BoundedData.blocks

    def by_turns(self):
        place = 0
        for rows in blocks(self):
            share = np.where((place + np.arange(len(rows.y))) % 2, 0.5, 1.0)
            place += len(rows.y)
            yield Rows(rows.X, rows.y * share, rows.present)

    patch.setattr(BoundedData, "blocks", by_turns)


@pytest.mark.parametrize(
    "plant", [pytest.param(clip_forgotten, marks=pytest.mark.slow), position_counts]
)
def test_neighbours_find(plant, monkeypatch):
    _smallest_scale.cache_clear()
    plant(monkeypatch)
    before = None
    for number in range(CONFIGURATIONS):
        found = _moved(trial(3, number, pairs=4, solver="moments"))
        if not found:
            continue
        monkeypatch.undo()
        before = _moved(trial(3, number, pairs=4, solver="moments"))
        if found != before:
            return  # the bug shows where nothing, or less, shows without it
        plant(monkeypatch)
    pytest.fail(f"{plant.__name__} was not found in {CONFIGURATIONS} configurations")


def _moved(report):
    return [one["what"] for one in (report or {"broken": []})["broken"] if one["kind"] == "moved"]
