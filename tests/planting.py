"""What every file of planted bugs needs: a list of them, and the audits that must catch each."""

import inspect
import os

import pytest

from privlearn import audit
from privlearn._core.calibration import _smallest_scale
from privlearn.exceptions import PlanViolationError, PrivacyTestFailedError
from selection import fast_configurations
from support import N_FEATURES, checks_for, run_quickly


class Bugs(list):
    """Planted bugs, each with a part of the names of the configurations in which it can show."""

    def shown_in(self, where):
        """Decorate a function that plants a bug with pytest's monkeypatch."""

        def planted(plant):
            self.append((plant, where))
            return plant

        return planted

    def parametrize(self):
        return pytest.mark.parametrize(("plant", "where"), self, ids=[p.__name__ for p, _ in self])


def models_in(where, within=""):
    """Those of the configurations that the fast tests audit whose names have both parts."""
    return [model for name, model in fast_configurations() if where in name and within in name]


def demand_caught(plant, models, monkeypatch, checks=checks_for, n_features=N_FEATURES):
    """Some audit of some model fails with the bug, and passes without it.

    That it passes without is seen by the fast tests, where they audit the model, else here. A scale
    that was found with a bug must not outlive it, nor one from before stand in for it.
    """
    _smallest_scale.cache_clear()
    try:
        plant(monkeypatch)
        caught = _failures(models, checks, n_features)
        first = next(caught, None)
        assert first, f"{plant.__name__} passed every audit"
        _write(plant, [first, *caught] if TABLE and EVERY_ITEM else [first])
        monkeypatch.undo()
        _smallest_scale.cache_clear()
        check, model, _ = first
        if all(model is not other for _, other in fast_configurations()):
            run_quickly(check, model, n_features)  # it is the bug that fails, and not the audit
    finally:
        _smallest_scale.cache_clear()


def _failures(models, checks, n_features):
    """The first audit that fails on each model, where one does."""
    for model in models:
        for check in checks(model, n_features):
            try:
                run_quickly(check, model, n_features)
            except (audit.AuditFailure, PlanViolationError) as failure:
                yield check, model, str(failure)
                break
            except PrivacyTestFailedError:
                continue  # says nothing about privacy


# `tools/mutants.py` asks for a table of what catches what.
TABLE, EVERY_ITEM = os.environ.get("MUTANT_TABLE"), "MUTANT_EVERY_ITEM" in os.environ


def _write(plant, caught):
    """A line for each: the bug, the configuration, the check and what it said."""
    if not TABLE:
        return
    names = {id(model): name for name, model in fast_configurations()}
    with open(TABLE, "a") as table:
        for check, model, why in caught:
            name = names.get(id(model), type(model).__name__)
            bug = f"{plant.__module__}.{plant.__name__}"
            table.write(f"{bug}\t{name}\t{check.__name__}\t{why}\n")


def rewritten(function, right, wrong):
    """A function with one expression of its text exchanged; an error when it is not there."""
    text = inspect.getsource(function)
    text = text[text.index("def ") :]  # without a decorator
    assert text.count(right) == 1, f"{function.__name__} holds {right!r} not once"
    scope = {}
    text = "from __future__ import annotations\n" + text.replace(right, wrong)
    exec(text, function.__globals__, scope)
    return scope[function.__name__]
