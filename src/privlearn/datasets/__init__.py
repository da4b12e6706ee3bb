"""Data sets that come with the library, each with bounds that are public knowledge."""

from privlearn.datasets._cps1988 import load_cps1988

__all__ = ["load_cps1988"]
