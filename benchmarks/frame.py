"""Find components, say why one is skipped, measure it and write its report.

A component is a module in `choice`, `papers`, `peers` or `speed`; being there registers it. It has

- a docstring: the first line is its title, the rest goes into the report;
- ``NEEDS``: a tuple of `Need`; a missing one skips the component with its reason;
- ``measure(options)``: the long part, which returns plain values that fit into JSON;
- ``tables(results)``: Markdown made from these values alone;
- ``figures(results)``: {name: matplotlib figure}, from these values alone; "" is the main one.

Optional: ``WELCOME``, needs that only a part of the component has, and ``PACKAGES``, names of
distributions whose versions belong into the report.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from types import ModuleType

from benchmarks import report
from benchmarks.needs import Need, Options

__all__ = ["GROUPS", "Component", "discover", "run"]

GROUPS = ("choice", "papers", "peers", "speed")


@dataclass(frozen=True)
class Component:
    """One benchmark: a module and the name it got from its place."""

    name: str
    module: ModuleType

    @property
    def title(self) -> str:
        """First line of the docstring, without its full stop."""
        return inspect.getdoc(self.module).splitlines()[0].rstrip(".")

    @property
    def text(self) -> str:
        """The docstring after its first line."""
        return "\n".join(inspect.getdoc(self.module).splitlines()[1:]).strip()

    @property
    def packages(self) -> tuple[str, ...]:
        """Distributions whose versions the report names."""
        return getattr(self.module, "PACKAGES", ())

    def reasons(self, options: Options, which: str = "NEEDS") -> list[str]:
        """What is missing, in words; an empty list when nothing is."""
        needs: tuple[Need, ...] = getattr(self.module, which, ())
        return [reason for need in needs if (reason := need.missing(options))]


def discover() -> dict[str, Component]:
    """Every component by its name, such as "speed/moments", in the order of names."""
    found = {}
    for group in GROUPS:
        package = importlib.import_module(f"benchmarks.{group}")
        for info in pkgutil.iter_modules(package.__path__):
            if not info.name.startswith("_"):
                name = f"{group}/{info.name}"
                module = importlib.import_module(f"benchmarks.{group}.{info.name}")
                found[name] = Component(name, module)
    return found


def run(component: Component, options: Options) -> str:
    """Measure (or read what was measured), write the report and say in a line what happened."""
    if options.redraw:
        stored = report.read(component.name, options)
        if stored is None:
            return f"{component.name}: skipped, because there are no stored results to redraw"
    else:
        reasons = component.reasons(options)
        if reasons:
            return f"{component.name}: skipped, because " + "; ".join(reasons)
        for reason in component.reasons(options, "WELCOME"):
            print(f"{component.name}: a part is left out, because {reason}", flush=True)
        made = report.provenance(component.name, component.packages, options)
        stored = report.store(component.name, made, component.module.measure(options), options)
    written = report.write(component, stored, options)
    return f"{component.name}: wrote {written}"
