"""Pages of the API reference: one for each public class, and one for the rest of each module."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator

__all__ = ["index", "pages"]

MODULES = {
    "privlearn": "Models and the ledger",
    "privlearn.schema": "Columns of tables",
    "privlearn.metrics": "Private scores",
    "privlearn.model_selection": "Choosing settings",
    "privlearn.feature_selection": "Feature selection",
    "privlearn.kernel_approximation": "Random features",
    "privlearn.plotting": "Pictures",
    "privlearn.solvers": "Solvers",
    "privlearn.audit": "Audits",
    "privlearn.datasets": "Data sets",
    "privlearn.exceptions": "Errors and warnings",
}
# What fits return without anybody making one; their homes are not public, their members are.
RETURNED = ("privlearn._core.certificate.Certificate", "privlearn._core.plan.Plan")


def pages() -> dict[str, str]:
    """{name of the page: its text}, for mkdocstrings."""
    found = {}
    for module, name in MODULES.items():
        short = module.removeprefix("privlearn.")
        text = f"# {name}: `{module}`\n\n" + "".join(_entry(one) for one in _public(module))
        found[f"reference/{short}.md"] = text
    text = "# Certificates and plans\n\nWhat `privacy_` and `plan()` return.\n\n"
    found["reference/certificate.md"] = text + "".join(_entry(one) for one in RETURNED)
    return found


def index() -> dict[str, list[str]]:
    """Public names by module: what the reference must hold."""
    return {module: list(_public(module)) for module in MODULES}


def _public(module: str) -> Iterator[str]:
    """Full names of what a module offers, without modules that have a page of their own."""
    home = importlib.import_module(module)
    names = getattr(home, "__all__", None) or [n for n in vars(home) if not n.startswith("_")]
    for name in names:
        if not name.startswith("__") and not inspect.ismodule(getattr(home, name)):
            yield f"{module}.{name}"


def _entry(path: str) -> str:
    return f"::: {path}\n\n"
