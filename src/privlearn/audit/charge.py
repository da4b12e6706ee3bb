"""Is the ledger charged before anything is released, once, with the plan that is released?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.releaser import Releaser, use_releaser
from privlearn.audit.adversary import audited, few_rows
from privlearn.audit.protocols import AuditFailure, Model

if TYPE_CHECKING:
    from privlearn.noise import NoiseSource

__all__ = ["check_ledger"]


class _Refused(Exception):
    """What the refusing ledger of this audit raises."""


class _Witness:
    """A ledger that writes down the order of events, and may refuse."""

    def __init__(self, refuses: bool) -> None:
        self.refuses = refuses
        self.events: list[str] = []
        self.charged: list[Plan] = []
        self.opened: list[Plan] = []

    def charge(self, plan: Plan, dataset: str | None) -> None:
        """Write the charge down, then refuse it if asked to."""
        self.events.append("charge")
        self.charged.append(plan)
        if self.refuses:
            raise _Refused

    def __deepcopy__(self, memo: object) -> _Witness:
        return self  # a clone of the estimator must report to the same witness

    def releaser(self) -> type[Releaser]:
        """A Releaser that reports here whatever draws randomness or lets something out."""
        witness = self

        class Watched(Releaser):
            def __init__(self, plan: Plan, budget: Budget, seed: int | None = None) -> None:
                super().__init__(plan, budget, seed)
                witness.opened.append(plan)

            def _noise(self) -> NoiseSource:
                witness.events.append("noise")
                return super()._noise()

            def _take(self, *arguments: Any, **named: Any) -> Release:  # noqa: ANN401
                witness.events.append("release")
                return super()._take(*arguments, **named)

        return Watched


def _watched(estimator: Model, n_features: int, seed: int, refuses: bool) -> tuple[_Witness, Model]:
    witness = _Witness(refuses)
    model = audited(estimator, ledger=witness, dataset="audit", random_state=seed)
    data = few_rows(model, n_features, seed)
    refused = False
    with use_releaser(witness.releaser()):
        try:
            model.fit(data.X, data.y, **data.named)
        except _Refused:
            refused = True
    if refused != refuses:
        raise AuditFailure("a fit went on after its ledger had refused")
    return witness, model


def check_ledger(estimator: Model, *, n_features: int, seed: int = 0) -> None:
    """One charge, before anything else, with the plan that is released; none survives a refusal."""
    witness, _ = _watched(estimator, n_features, seed, refuses=False)
    if witness.events.count("charge") != 1:
        raise AuditFailure("the ledger was not charged exactly once")
    if witness.events[0] != "charge":
        raise AuditFailure(f"{witness.events[0]!r} came before the charge")
    if witness.charged != witness.opened:
        raise AuditFailure("another plan was charged than the one that was released")
    witness, model = _watched(estimator, n_features, seed, refuses=True)
    if witness.events != ["charge"] or hasattr(model, "privacy_"):
        raise AuditFailure("something left although the ledger had refused")
