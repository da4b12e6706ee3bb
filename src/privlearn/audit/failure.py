"""The error that audits raise."""

__all__ = ["AuditFailure"]


class AuditFailure(AssertionError):
    """A privacy claim was shown to be false."""
