"""The one way to compile a function here: late, and with a cache where there is room for one.

Compiled functions stand at the top level of modules that everybody may import: the compiler is
loaded when the first of them is called. numba refuses to *define* a cached function where neither
the package nor a home can be written, as in a read-only container, and a damaged cache file stops a
fit. Here the cache is a convenience: whatever goes wrong with it costs the time of compiling, and
nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cached_property, update_wrapper
from importlib import import_module
from threading import Event
from typing import Any

__all__ = ["ANY_ORDER", "Hint", "compiled_so_far", "jit", "on_a_large_table", "worth_compiling"]

# Sums over a block may run in any order (numerics.py), so they may use vector instructions; flags
# that assume finite numbers stay off.
ANY_ORDER = {"reassoc", "contract", "nsz"}
# Numbers in a table; below that NumPy takes no longer than it takes to load a compiler and compile,
# or, where loops were compiled for a large table already, not much longer.
LARGE, LARGE_ENOUGH = 2**18, 2**14
_met_a_large_table = Event()
_large: ContextVar[bool | None] = ContextVar("_large", default=None)


def worth_compiling(numbers: int) -> bool:
    """Whether a loop over so many numbers is compiled, where NumPy has another form of it.

    Examples
    --------
    >>> worth_compiling(1_000), worth_compiling(1_000_000)
    (False, True)
    """
    large = _large.get()
    if large is not None:
        return large
    if numbers >= LARGE:
        _met_a_large_table.set()
    return numbers >= (LARGE_ENOUGH if _met_a_large_table.is_set() else LARGE)


def compiled_so_far() -> tuple[bool, bool]:
    """Whether a compiler is loaded, and whether a large table has been compiled for.

    Which form of a loop runs, and how noise is drawn, depends on nothing else that changes.
    """
    return "numba" in sys.modules, _met_a_large_table.is_set()


@contextmanager
def on_a_large_table(yes: bool) -> Iterator[None]:
    """Answer so, whatever the numbers are: a rehearsal on few rows compiles what many will need."""
    token = _large.set(yes)
    try:
        yield
    finally:
        _large.reset(token)


def jit(**options: object) -> Callable[[Callable[..., Any]], Any]:
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
    return lambda function: _Compiled(function, options)


class _Compiled:
    """A function that numba compiles when it is first called, from Python or from another one."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = {"no_cfunc_wrapper": True, **options}  # nobody asks for one

    @cached_property
    def _dispatcher(self) -> Callable[..., object]:
        from numba import njit

        dispatcher = njit(**self._options)(self.py_func)
        if not hasattr(dispatcher, "enable_caching"):  # numba is switched off: NUMBA_DISABLE_JIT
            return dispatcher
        with suppress(Exception):  # no place to write, or a locator that fails in its own way
            dispatcher.enable_caching()
            dispatcher._cache = _Forgiving(dispatcher._cache)
        home = self.py_func.__globals__
        if home.get(self.py_func.__name__) is self:  # from now on nothing stands in between
            home[self.py_func.__name__] = dispatcher
        return dispatcher

    def __reduce__(self) -> tuple[Any, ...]:
        """Its name: numba's cache tells by what is around a function which one it has."""
        return _named, (self.py_func.__module__, self.py_func.__qualname__)

    @property
    def _numba_type_(self) -> object:
        """What numba asks for where another compiled function calls this one."""
        from numba import typeof

        return typeof(self._dispatcher)

    def __call__(self, *values: object) -> object:
        return self._dispatcher(*values)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._dispatcher, name)


def _named(module: str, name: str) -> object:
    return getattr(import_module(module), name)


class Hint:
    """An instruction that changes no number, for loops: written by `typed` of a module, or nothing.

    The module is loaded, like the compiler, when a loop that gives the hint is compiled.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, *values: object) -> None:
        """Python takes no hints."""

    @cached_property
    def _numba_type_(self) -> object:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        typing = cpu_target.typing_context
        written = intrinsic(import_module(self._module).typed)
        typing.refresh()  # it knows what was there when it was last asked
        return typing.resolve_value_type(written)


class _Forgiving:
    """A cache of numba's whose failures are misses."""

    def __init__(self, cache: Any) -> None:  # noqa: ANN401
        self._cache = cache

    def load_overload(self, signature: object, target: object) -> object:
        """What was compiled before, or None. A damaged cache is emptied, so that it heals."""
        try:
            return self._cache.load_overload(signature, target)
        except Exception:
            with suppress(Exception):
                self._cache.flush()
            return None

    def save_overload(self, signature: object, data: object) -> None:
        """Keep what was compiled, if there is room."""
        with suppress(Exception):
            self._cache.save_overload(signature, data)

    def __getattr__(self, name: str) -> object:
        return getattr(self._cache, name)
