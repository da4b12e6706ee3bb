"""What every file of planted bugs needs: a list of them, and the audits that must catch each."""

import pytest

from privlearn import audit
from privlearn._core.plan import _smallest_scale
from privlearn.exceptions import PlanViolationError, PrivacyTestFailedError
from support import N_FEATURES, checks_for, every_configuration


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
    """Every configuration whose name has both parts."""
    return [model for name, model in every_configuration() if where in name and within in name]


def demand_caught(plant, models, monkeypatch, checks=checks_for, n_features=N_FEATURES):
    """Some audit of some model fails with the bug, and passes without it.

    A scale that was found with a bug must not outlive it, nor one from before stand in for it.
    """
    _smallest_scale.cache_clear()
    try:
        plant(monkeypatch)
        caught = _first_failure(models, checks, n_features)
        assert caught, f"{plant.__name__} passed every audit"
        check, model, why = caught
        print(plant.__name__, check.__name__, why)
        monkeypatch.undo()
        _smallest_scale.cache_clear()
        check(model, n_features=n_features)  # it is the bug that fails, and not the audit
    finally:
        _smallest_scale.cache_clear()


def _first_failure(models, checks, n_features):
    for model in models:
        for check in checks(model):
            try:
                check(model, n_features=n_features)
            except (audit.AuditFailure, PlanViolationError) as failure:
                return check, model, str(failure)
            except PrivacyTestFailedError:
                continue  # says nothing about privacy
    return None
