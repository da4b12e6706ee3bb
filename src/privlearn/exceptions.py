"""Every error and warning that privlearn raises on purpose.

The texts say what was given, what is needed and what to do, and never quote data.
"""

__all__ = [
    "BudgetExceeded",
    "DeltaWarning",
    "InvalidBudget",
    "MissingFact",
    "PlanViolation",
    "PrivacyError",
    "PrivacyTestFailed",
    "UnsupportedCombination",
]


class PrivacyError(Exception):
    """Base of all errors about privacy."""


class MissingFact(PrivacyError, ValueError):
    """A public fact (bounds, a norm, delta) is needed and was neither declared nor bought."""


class InvalidBudget(PrivacyError, ValueError):
    """Epsilon and delta cannot be promised as given."""


class BudgetExceeded(PrivacyError):
    """A ledger has too little left for what was asked."""


class PlanViolation(PrivacyError, RuntimeError):
    """Something was to be released that the plan does not hold: a bug, stopped in time."""


class PrivacyTestFailed(PrivacyError):
    """A propose-test-release check failed; its budget is spent."""


class UnsupportedCombination(PrivacyError, NotImplementedError):
    """This solver has no proof for that loss, penalty, relation or argument."""


class DeltaWarning(UserWarning):
    """Delta is larger than 1/n, so publishing one random row would satisfy the promise."""
