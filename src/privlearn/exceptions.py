"""Every error and warning that privlearn raises on purpose.

The texts say what was given, what is needed and what to do, and never quote data.
"""

__all__ = [
    "BudgetExceededError",
    "DeltaWarning",
    "FactWarning",
    "FewRowsWarning",
    "InvalidBudgetError",
    "LedgerError",
    "MissingFactError",
    "NotPrivateWarning",
    "PlanViolationError",
    "PrivacyError",
    "PrivacyTestFailedError",
    "SourceChangedError",
    "StandardErrorsWarning",
    "UnsupportedCombinationError",
    "WeakPromiseWarning",
]


class PrivacyError(Exception):
    """Base of all errors about privacy."""


class MissingFactError(PrivacyError, ValueError):
    """A public fact (bounds, a norm, delta) is needed and was neither declared nor estimated."""


class InvalidBudgetError(PrivacyError, ValueError):
    """Epsilon and delta cannot be promised as given."""


class BudgetExceededError(PrivacyError):
    """A ledger has too little left for what was asked; nothing was charged or released.

    Attributes
    ----------
    asked : float or None
        Epsilon of the refused plan alone, at the ledger's delta.
    left : float or None
        Epsilon of the largest Gaussian release that would still fit.
    fits : float or None
        Epsilon of the same plan with so much more noise that it fits; None where none does.
    """

    def __init__(
        self,
        message: str = "",
        asked: float | None = None,
        left: float | None = None,
        fits: float | None = None,
    ) -> None:
        super().__init__(message)
        self.asked, self.left, self.fits = asked, left, fits

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.asked, self.left, self.fits)


class LedgerError(PrivacyError, OSError):
    """A ledger's file cannot be used, so nothing may be charged or released."""


class PlanViolationError(PrivacyError, RuntimeError):
    """Something was to be released that the plan does not hold: a bug, stopped in time."""


class PrivacyTestFailedError(PrivacyError):
    """A propose-test-release check failed; its budget is spent."""


class SourceChangedError(PrivacyError, RuntimeError):
    """Rows that are read in several passes were not the same each time; what was charged is spent.

    Nothing was released of the pass in which that was seen, and no model is published.
    """


class UnsupportedCombinationError(PrivacyError, NotImplementedError):
    """This solver has no proof for that loss, penalty, relation or argument."""


class DeltaWarning(UserWarning):
    """Delta is larger than 1/n, so publishing one random row would satisfy the promise."""


class FactWarning(UserWarning):
    """What was declared, or left unsaid, may not mean what was meant; nothing is charged yet."""


class FewRowsWarning(UserWarning):
    """The rows and the budget are too few for so many coefficients; nothing is charged yet."""


class NotPrivateWarning(UserWarning):
    """A `random_state` makes the noise reproducible: whoever knows it can subtract the noise."""


class WeakPromiseWarning(NotPrivateWarning):
    """Epsilon is so large that the promise says nothing about a person; nothing is charged yet."""


class StandardErrorsWarning(UserWarning):
    """Noise hides some standard errors, or how large errors are; the model is there."""
