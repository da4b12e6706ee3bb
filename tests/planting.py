"""What every file of planted bugs needs: a list of them, and the audits that must catch them."""

import pytest

from privlearn import audit
from privlearn.exceptions import PlanViolation
from privlearn.plan import _smallest_scale
from support import N_FEATURES, every_configuration

CHECKS = (audit.check_empty_rows, audit.check_replay)


class Bugs(list):
    """Planted bugs, each with a part of the names of the configurations in which it can show."""

    def in_(self, where):
        """Decorate a function that plants a bug with pytest's monkeypatch."""

        def planted(plant):
            self.append((plant, where))
            return plant

        return planted

    def parametrize(self):
        return pytest.mark.parametrize(("plant", "where"), self, ids=[p.__name__ for p, _ in self])


def caught_by(plant, where, monkeypatch, checks=CHECKS):
    """What the first audit that fails says, or None. Without the bug tests/conformance runs them.

    A scale that was found with a bug must not outlive it, nor one from before stand in for it.
    """
    _smallest_scale.cache_clear()
    plant(monkeypatch)
    try:
        return _first_failure(where, checks)
    finally:
        _smallest_scale.cache_clear()


def _first_failure(where, checks):
    for name, model in every_configuration():
        if where not in name:
            continue
        for check in checks:
            try:
                check(model, n_features=N_FEATURES)
            except (audit.AuditFailure, PlanViolation) as failure:
                return f"{check.__name__}, {name}: {failure}"
    return None
