"""Ask for memory before it is needed: rows of a batch lie far apart, and no processor guesses."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

__all__ = ["typed"]

READ, EVERY_CACHE, DATA = 0, 3, 1


def typed(context: object, table: Any, i: object, j: object) -> tuple[Any, Any]:  # noqa: ANN401
    """How numba types `fetch(table, i, j)`, which starts to read table[i, j], and writes it."""
    return types.void(table, types.intp, types.intp), _write


def _write(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    """LLVM's own instruction (llvm.org/docs/LangRef.html#llvm-prefetch-intrinsic)."""
    kind, number = signature.args[0], ir.IntType(32)
    table = context.make_array(kind)(context, builder, args[0])
    place = cgutils.get_item_pointer(context, builder, kind, table, args[1:], wraparound=False)
    bytes_there = ir.IntType(8).as_pointer()
    call = ir.FunctionType(ir.VoidType(), [bytes_there, number, number, number])
    function = cgutils.get_or_insert_function(builder.module, call, "llvm.prefetch.p0i8")
    where = builder.bitcast(place, bytes_there)
    builder.call(function, [where, number(READ), number(EVERY_CACHE), number(DATA)])
    return context.get_dummy_value()
