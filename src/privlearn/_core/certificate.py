"""What was promised, spent and assumed, as text, JSON and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.version import __version__

if TYPE_CHECKING:
    from privlearn._core.verification import Verification

__all__ = ["Certificate"]

WEB = "html"


@dataclass(frozen=True)
class Certificate:
    """The privacy guarantee of one fitted model (`model.privacy_`).

    It is made from the plan alone, so it holds nothing that depends on the data. `ledger_head`,
    where a ledger was charged, is a keyed hash by which `Ledger.check` finds the charge again.
    """

    plan: Plan
    budget: Budget
    private: bool
    made: dict[str, int]
    version: str = __version__
    ledger_head: str | None = None

    @property
    def epsilon(self) -> float:
        """Promised epsilon."""
        return self.budget.epsilon

    @property
    def delta(self) -> float:
        """Promised delta."""
        return self.budget.delta

    @property
    def adjacency(self) -> str:
        """The neighbouring relation."""
        return self.plan.adjacency.value

    @property
    def unit(self) -> str:
        """What is protected: "row", or "person" where one may have several rows."""
        return self.plan.unit

    @property
    def rows_per_person(self) -> int | None:
        """How many rows of one person count at most; None where every row is a person."""
        return self.plan.rows_per_person

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the guarantee takes for granted."""
        seeded = () if self.private else (_file().SEEDED,)
        return (*self.plan.assumptions, *seeded)

    @property
    def paper(self) -> str:
        """Where the method comes from."""
        return self.plan.paper

    @property
    def releases(self) -> tuple[dict[str, Any], ...]:
        """Each planned release: name, stage, mechanism, clip, noise, sampling, count and share.

        `declared` holds what the plan says of it in full; the rest follows from that. Shares are of
        squared noise-to-signal ratios, which add up for many small releases.
        """
        return tuple(
            {
                "name": release.name,
                "stage": release.stage,
                "mechanism": release.mechanism.name,
                "shape": list(release.shape),
                "clip": release.clip,
                "norm": release.norm.name,
                "noise_multiplier": self.plan.noise_multiplier(release),
                "noise_scale": self.plan.noise_scale(release),
                "sensitivity": self.plan.sensitivity(release),
                "grid": self.plan.grid(release),
                "sampling": release.sampling.name,
                "count": release.count,
                "share": self.plan.share(release),
                "released": self.made.get(release.name, 0),
                "declared": _file().declared(release),
                **self._threshold(release),
            }
            for release in self.plan.releases
        )

    def _threshold(self, release: Release) -> dict[str, float]:
        least = self.plan.threshold(release)
        return {} if least is None else {"threshold": least}

    @property
    def levels(self) -> dict[float, float]:
        """What people of each level were promised, with the epsilon that holds for them at `delta`.

        Empty when everybody was promised the same; `epsilon` is the largest level.
        """
        found = {a: self.plan.epsilon_at_level(a, self.delta) for a in self.plan.levels}
        return found | {max(found): self.spent()} if found else {}

    def spent(self, delta: float | None = None) -> float:
        """What the plan really costs at `delta` (default: the promised one)."""
        delta = self.delta if delta is None else delta
        found = self.plan.epsilon(delta)
        # Searched for, and rounded up; that the promise itself holds was evaluated.
        kept = found > self.epsilon and self.plan.delta(self.epsilon) <= delta
        return self.epsilon if kept else found

    def epsilon_at(self, delta: float) -> float:
        """Smallest epsilon that holds at `delta`."""
        return self.plan.epsilon(delta)

    def delta_at(self, epsilon: float) -> float:
        """Smallest delta that holds at `epsilon`."""
        return self.plan.delta(epsilon)

    def verify(self) -> Verification:
        """Recompute the price with `dp_accounting`, an accountant written by others.

        Needs it to be installed: ``pip install dp-accounting``.
        """
        from privlearn._core.verification import verify

        return verify(self.plan, self.budget)

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values: enough to compute the price again from them alone.

        The fields are explained in docs/certificate.md; their JSON Schema is
        ``privlearn/_core/schemas/certificate.json``.
        """
        more: dict[str, Any] = {} if self.ledger_head is None else {"ledger_head": self.ledger_head}
        if self.rows_per_person is not None:
            more["rows_per_person"] = self.rows_per_person
        return {
            "format": _file().FORMAT,
            "version": self.version,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "spent_epsilon": self.spent(),
            "spent_delta": self.plan.delta(self.epsilon),
            "levels": [{"promised": a, "spent_epsilon": b} for a, b in self.levels.items()],
            "adjacency": self.plan.adjacency.value,
            "unit": self.unit,
            "private": self.private,
            "rows": self.plan.rows,
            "scale": self.plan.scale,
            "releases": list(self.releases),
            "assumptions": list(self.assumptions),
            "paper": self.plan.paper,
            **more,
        }

    def to_json(self) -> str:
        """Everything, as JSON."""
        from privlearn._core.harmless import json_text

        return json_text(self.to_dict())

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Certificate:
        """The certificate that `to_dict` wrote, or that of a saved model.

        Only what was declared is read; prices are computed anew. Whether they are those that the
        file tells is another question: `privlearn verify` asks it.

        Raises
        ------
        ValueError
            If a field is missing, of another kind or unknown, or the format is newer.

        Examples
        --------
        >>> from privlearn._core.plan import Release
        >>> from privlearn._core.problem import Adjacency
        >>> plan = Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale=4.3)
        >>> written = Certificate(plan, Budget(1.0, 1e-6), private=True, made={"sum": 1})
        >>> Certificate.from_dict(written.to_dict()) == written
        True
        """
        content = _file().certificate_of(content)
        plan = _file().plan_from_dict(content)  # refuses what is not of its kind
        released = {each["name"]: each["released"] for each in content["releases"]}
        return cls(
            plan=plan,
            budget=Budget(content["epsilon"], content["delta"]),
            private=content["private"],
            made={name: count for name, count in released.items() if count},
            version=content["version"],
            ledger_head=content.get("ledger_head"),
        )

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """The certificate that `to_json` wrote, or that of a saved model's file.

        Examples
        --------
        >>> from privlearn._core.plan import Release
        >>> from privlearn._core.problem import Adjacency
        >>> plan = Plan((Release("sum", (3,), clip=1.0),), Adjacency.ZERO_OUT, scale=4.3)
        >>> written = Certificate(plan, Budget(1.0, 1e-6), private=True, made={"sum": 1})
        >>> Certificate.from_json(written.to_json()).spent() == written.spent()
        True
        """
        return cls.from_dict(_file().load(text))

    def relation(self) -> str:
        """The neighbouring relation in words."""
        return f"{self.adjacency}: {self.plan.adjacency.sentence(self.rows_per_person)}"

    def _rows(self) -> list[tuple[str, str]]:
        private = "yes, the noise generator is keyed by the operating system"
        return [
            ("promised", f"epsilon = {self.epsilon:g}, delta = {self.delta:g}"),
            ("spent", f"epsilon = {self.spent():.6g} at delta = {self.delta:g}"),
            *(
                ("level", f"people promised {a:g}: epsilon = {b:.6g} at delta = {self.delta:g}")
                for a, b in self.levels.items()
            ),
            ("adjacency", self.relation()),
            ("unit", self.plan.unit_in_words()),
            *(("release", line) for line in self.plan.describe()),
            *(("assumes", line) for line in self.assumptions),
            ("private", private if self.private else "NO: random_state makes the run reproducible"),
            ("method", self.plan.paper),
        ]

    def __str__(self) -> str:
        from privlearn._core.harmless import harmless

        title = f"Privacy certificate (privlearn {self.version})"
        lines = [title, *(f"  {key:<11} {text}" for key, text in self._rows())]
        return "\n".join(harmless(line, "terminal") for line in lines)

    def _repr_html_(self) -> str:
        from privlearn._core.harmless import harmless

        cells = "".join(
            f"<tr><th style='text-align:left;padding-right:1em'>{harmless(key, WEB)}</th>"
            f"<td style='text-align:left'>{harmless(text, WEB)}</td></tr>"
            for key, text in self._rows()
        )
        title = harmless(f"Privacy certificate (privlearn {self.version})", WEB)
        caption = f"<caption style='text-align:left'><b>{title}</b></caption>"
        return f"<table>{caption}{cells}</table>"


def _file() -> ModuleType:
    """How certificates are written and read; late, for a fit does neither."""
    from privlearn._core import certificate_file

    return certificate_file
