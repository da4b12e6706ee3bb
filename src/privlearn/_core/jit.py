"""The one way to compile a function here: with a cache where there is room for one.

numba refuses to *define* a cached function where neither the package nor a home can be written, as
in a read-only container, and a damaged cache file stops a fit. Here the cache is a convenience:
whatever goes wrong with it costs the time of compiling, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit

__all__ = ["jit"]


def jit(**options: Any) -> Callable[[Callable[..., Any]], Any]:  # noqa: ANN401
    """Compile a function on its first call, or load it from a cache.

    Parameters
    ----------
    **options
        As in `numba.njit`, but for `cache`, which is taken where it can be had.

    Examples
    --------
    >>> @jit(error_model="numpy")
    ... def twice(x):
    ...     return 2 * x
    >>> twice(3)
    6
    """

    def compiled(function: Callable[..., Any]) -> Any:  # noqa: ANN401
        dispatcher = njit(**options)(function)
        if not hasattr(dispatcher, "enable_caching"):  # numba is switched off: NUMBA_DISABLE_JIT
            return dispatcher
        with suppress(Exception):  # no place to write, or a locator that fails in its own way
            dispatcher.enable_caching()
            dispatcher._cache = _Forgiving(dispatcher._cache)
        return dispatcher

    return compiled


class _Forgiving:
    """A cache of numba's whose failures are misses."""

    def __init__(self, cache: Any) -> None:  # noqa: ANN401
        self._cache = cache

    def load_overload(self, signature: Any, target: Any) -> Any:  # noqa: ANN401
        """What was compiled before, or None. A damaged cache is emptied, so that it heals."""
        try:
            return self._cache.load_overload(signature, target)
        except Exception:
            with suppress(Exception):
                self._cache.flush()
            return None

    def save_overload(self, signature: Any, data: Any) -> None:  # noqa: ANN401
        """Keep what was compiled, if there is room."""
        with suppress(Exception):
            self._cache.save_overload(signature, data)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._cache, name)
