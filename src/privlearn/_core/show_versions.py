"""Versions of what privlearn runs on, for bug reports."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

__all__ = ["show_versions"]

PACKAGES = (
    "privlearn",
    "numpy",
    "scipy",
    "scikit-learn",
    "randomgen",
    "mpmath",
    "narwhals",
    "dp-accounting",
)


def show_versions() -> None:
    """Print the versions of Python, the system and the packages that matter.

    Examples
    --------
    >>> show_versions()  # doctest: +ELLIPSIS
    python: 3...
    """
    print(f"python: {platform.python_version()}")
    print(f"system: {platform.system()} {platform.machine()}")
    for package in PACKAGES:
        try:
            print(f"{package}: {version(package)}")
        except PackageNotFoundError:
            print(f"{package}: not installed")
