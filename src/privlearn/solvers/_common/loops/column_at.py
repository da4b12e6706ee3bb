"""A column where it lies in memory, as an array: so loops take many, and no list of them."""

from typing import Any

from numba.core import types
from numba.np.arrayobj import make_array, populate_array

__all__ = ["typed"]


def typed(context: object, like: Any, address: object, size: object) -> tuple[Any, Any]:  # noqa: ANN401
    """How numba types `column_at(like, address, size)`: numbers as `like` has them, to be read."""
    column = types.Array(like.dtype, 1, "C", readonly=True)
    return column(like, types.intp, types.intp), _write


def _write(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ANN401
    column, (_, address, size) = signature.return_type, args
    found = make_array(column)(context, builder)
    pointer = context.get_value_type(types.CPointer(column.dtype))
    each = context.get_constant(types.intp, column.dtype.bitwidth // 8)
    populate_array(
        found,
        data=builder.inttoptr(address, pointer),
        shape=[size],
        strides=[each],
        itemsize=each,
        meminfo=None,
    )
    return found._getvalue()
