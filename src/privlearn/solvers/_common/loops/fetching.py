"""Ask for memory before it is needed: rows of a batch lie far apart, and no processor guesses."""

from functools import cached_property
from typing import Any

__all__ = ["LINE", "fetch"]

LINE = 64  # bytes that come from memory at once, on every processor that is common today
READ, EVERY_CACHE, DATA = 0, 3, 1


class _Fetch:
    """`fetch(table, i, j)` in a compiled loop starts to read table[i, j]; elsewhere it is nothing.

    It changes no number. Like compiled functions it loads the compiler when it is needed.
    """

    def __call__(self, table: object, i: int, j: int) -> None:
        """Python has nothing to ask for."""

    @cached_property
    def _numba_type_(self) -> object:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic

        typing = cpu_target.typing_context
        written = intrinsic(_typed)
        typing.refresh()  # it knows what was there when it was last asked
        return typing.resolve_value_type(written)


def _typed(context: object, table: Any, i: object, j: object) -> tuple[Any, Any]:  # noqa: ANN401
    from numba.core import types

    return types.void(table, types.intp, types.intp), _write


def _write(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    """LLVM's own instruction (llvm.org/docs/LangRef.html#llvm-prefetch-intrinsic)."""
    from llvmlite import ir
    from numba.core import cgutils

    kind, number = signature.args[0], ir.IntType(32)
    table = context.make_array(kind)(context, builder, args[0])
    place = cgutils.get_item_pointer(context, builder, kind, table, args[1:], wraparound=False)
    bytes_there = ir.IntType(8).as_pointer()
    call = ir.FunctionType(ir.VoidType(), [bytes_there, number, number, number])
    function = cgutils.get_or_insert_function(builder.module, call, "llvm.prefetch.p0i8")
    where = builder.bitcast(place, bytes_there)
    builder.call(function, [where, number(READ), number(EVERY_CACHE), number(DATA)])
    return context.get_dummy_value()


fetch = _Fetch()
