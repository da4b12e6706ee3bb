"""Docstrings as they are at run time: parameters that all models share are written once there."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import griffe

__all__ = ["RuntimeDocs"]


class RuntimeDocs(griffe.Extension):
    """Gives every class and function of privlearn the docstring that `help` would show."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Take the class's docstring from the imported class."""
        _take(cls)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Take the function's docstring from the imported function."""
        _take(func)


def _take(thing: griffe.Object) -> None:
    if thing.docstring is None:
        return
    try:
        found: Any = importlib.import_module(thing.module.path)
        for name in thing.path.removeprefix(thing.module.path + ".").split("."):
            found = inspect.getattr_static(found, name)
    except (ImportError, AttributeError):
        return
    text = getattr(found, "__doc__", None) or getattr(getattr(found, "fget", None), "__doc__", None)
    if isinstance(text, str):
        thing.docstring.value = inspect.cleandoc(text)
