"""Find components, say why one is skipped, measure it and write its report.

A component is a module in `choice`, `papers`, `peers` or `speed`, or the module `component` of a
package there, whose other modules are its own; being there registers it. It has

- a docstring: the first line is its title, the rest goes into the report;
- ``NEEDS``: a tuple of `Need`; a missing one skips the component with its reason;
- ``measure(options)``: the long part, which returns plain values that fit into JSON;
- ``tables(results)``: Markdown made from these values alone;
- ``figures(results)``: {name: matplotlib figure}, from these values alone; "" is the main one.

In a package `tables` and `figures` may stand in the modules `pages` and `figures`, which are
imported when a report is written, and not before.

Optional: ``WELCOME``, needs that only a part of the component has, and ``PACKAGES``, names of
distributions whose versions belong into the report.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from benchmarks.harness import report
from benchmarks.harness.needs import Need, Options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

    def tables(self, results: dict) -> str:
        """Markdown."""
        return self._find("tables")(results)

    def figures(self, results: dict) -> dict[str, Figure]:
        """By their names."""
        return self._find("figures")(results)

    def _find(self, name: str) -> Callable:
        """A function of the component or of its package's modules about pages and figures."""
        package = self.module.__name__.rpartition(".")[0]
        for module in (self.module, f"{package}.pages", f"{package}.figures"):
            place = importlib.import_module(module) if isinstance(module, str) else module
            if hasattr(place, name):
                return getattr(place, name)
        raise LookupError(f"{self.name} has no function {name}, which every component needs")

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
            place = f"{package.__name__}.{info.name}" + (".component" if info.ispkg else "")
            name = f"{group}/{info.name}"
            found[name] = Component(name, importlib.import_module(place))
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
