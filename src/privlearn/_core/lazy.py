"""Names of a package that are imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Mapping

__all__ = ["on_first_use"]


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a package; a home is a module, and a name without one is a module.

    Examples
    --------
    >>> on_first_use("privlearn", {"Ledger": "privlearn.ledger"})("Ledger")
    <class 'privlearn.ledger.ledger.Ledger'>
    """

    def __getattr__(name: str) -> object:  # noqa: N807
        import importlib

        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if homes[name] == f"{package}.{name}":
            return importlib.import_module(homes[name])
        return getattr(importlib.import_module(homes[name]), name)

    return __getattr__
