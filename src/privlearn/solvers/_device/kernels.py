"""Fused kernels for integer rows on a GPU, in Triton: the same integers as the other forms.

Scores and sums are int64, slopes are computed in float64 by the formulas of the losses' files, with
the roundings that these have: kernels are launched without fused multiply-adds. No sum is one of
floating point numbers, but those of squares that add up exactly (`any_order`), so neither the
number of programs nor the order in which they run changes a bit, and nothing is added atomically.
"""

import triton
import triton.language as tl

__all__ = [
    "count_kernel",
    "many_kernel",
    "shorten_kernel",
    "store_kernel",
]

ROWS = tl.constexpr(256)  # of a block
SHIFT = tl.constexpr(6755399441055744.0)  # 3 2^51: added and taken away, it rounds to whole numbers


@triton.jit
def _rounded(x):
    """The nearest whole number, the even one of two, for sizes up to 2^51."""
    return (x + SHIFT) - SHIFT


@triton.jit(do_not_specialize=["columns", "blocks", "first"])
def shorten_kernel(
    values,
    norms,
    factors,
    facts,
    found,
    columns,
    blocks,
    first,
    PADDED: tl.constexpr,
    INTERCEPT: tl.constexpr,
    TOGETHER: tl.constexpr,
):
    """Write rows in other units, each shortened, rounded towards zero; some blocks a matrix."""
    at = tl.program_id(0)
    b, row, column = first + at, tl.arange(0, ROWS), tl.arange(0, PADDED)
    limit, entry = tl.load(facts), tl.load(facts + 1)
    there = b < blocks
    norm = tl.load(
        norms + tl.cast(b, tl.int64) * ROWS + row,
        mask=row < there.to(tl.int32) * ROWS,
        other=float("inf"),
    ).to(tl.float64)
    shorter = tl.minimum(limit / norm, 1.0)
    factor = tl.load(factors + column, mask=column < columns, other=0.0)
    base = values + tl.cast(b, tl.int64) * columns * ROWS
    places = column[:, None] * ROWS + row[None, :]
    inside = (column[:, None] < columns) & there
    block = tl.load(base + places, mask=inside, other=0).to(tl.float64)
    v = (block * factor[:, None] * shorter[None, :]).to(tl.int32).to(tl.float64)
    width = columns + INTERCEPT
    matrix = found + tl.cast(at // TOGETHER, tl.int64) * width * (TOGETHER * ROWS)
    own = (at % TOGETHER) * ROWS + row
    tl.store(
        matrix + column[:, None] * (TOGETHER * ROWS) + own[None, :],
        v,
        mask=column[:, None] < columns,
    )
    if INTERCEPT:
        ones = (entry * shorter).to(tl.int32).to(tl.float64)
        tl.store(matrix + columns * (TOGETHER * ROWS) + own, ones)


@triton.jit
def _places(x, first, second, bins, KIND: tl.constexpr):
    """Bins of numbers, as in _common/loops/counting.py: by size, by sign and size, or even ones."""
    if KIND == 2:
        place = tl.minimum(tl.maximum((x - first) * second, 0.0), (bins - 1).to(tl.float64))
        found = place.to(tl.int32)
    elif KIND == 1:
        bits, powers = x.to(tl.int64, bitcast=True), bins // 2
        place = ((bits >> 52) & 0x7FF).to(tl.int32) - 1022 + powers // 2
        place = tl.minimum(tl.maximum(place, 0), powers)
        found = tl.where(bits < 0, powers - place, powers + place)
    else:
        bits = ((x - first) * second).to(tl.int64, bitcast=True)
        found = 1022 - ((bits >> 52) & 0x7FF).to(tl.int32)
        found = tl.minimum(tl.maximum(found, 0), bins - 1)
    return found


@triton.jit
def _columns_of(facts, columns, which, PADDED: tl.constexpr):
    """One fact about each column."""
    column = tl.arange(0, PADDED)
    return tl.load(facts + which * columns + column, mask=column < columns, other=0.0)[None, :]


@triton.jit
def _clipped(X, row, low, high, columns, n, PADDED: tl.constexpr):
    """Some rows within their bounds, and where there are any."""
    column = tl.arange(0, PADDED)
    inside = (row[:, None] < n) & (column[None, :] < columns)
    x = tl.load(X + row[:, None] * columns + column[None, :], mask=inside, other=0.0)
    return tl.minimum(tl.maximum(x.to(tl.float64), low), high), inside


@triton.jit(do_not_specialize=["columns", "n", "bins"])
def count_kernel(
    X,
    facts,
    counts,
    columns,
    n,
    bins,
    PADDED: tl.constexpr,
    AT_ONCE: tl.constexpr,
    WORDS: tl.constexpr,
    KIND: tl.constexpr,
):
    """How many rows lie in which of few bins, of each column.

    Eight bins share a word, of which each has a byte: of at most 128 rows none is full.
    """
    program, programs = tl.program_id(0), tl.num_programs(0)
    low, high = _columns_of(facts, columns, 0, PADDED), _columns_of(facts, columns, 1, PADDED)
    first, second = _columns_of(facts, columns, 2, PADDED), _columns_of(facts, columns, 3, PADDED)
    own = tl.arange(0, 8 * WORDS)
    total = tl.zeros((8 * WORDS, PADDED), tl.int32)
    for t in range(program, tl.cdiv(n, AT_ONCE), programs):
        row = tl.cast(t, tl.int64) * AT_ONCE + tl.arange(0, AT_ONCE)
        x, inside = _clipped(X, row, low, high, columns, n, PADDED)
        place = _places(x, first, second, bins, KIND)
        one = inside.to(tl.int64) << ((place & 7) * 8).to(tl.int64)
        for word in tl.static_range(WORDS):
            packed = tl.sum(tl.where((place >> 3) == word, one, 0), axis=0)
            held = (packed[None, :] >> ((own & 7) * 8).to(tl.int64)[:, None]) & 255
            total += tl.where((own >> 3)[:, None] == word, held, 0).to(tl.int32)
    base = counts + program * (8 * WORDS) * PADDED
    tl.store(base + own[:, None] * PADDED + tl.arange(0, PADDED)[None, :], total)


@triton.jit(do_not_specialize=["columns", "n", "bins", "copies"])
def many_kernel(
    X,
    facts,
    counts,
    columns,
    n,
    bins,
    copies,
    PADDED: tl.constexpr,
    AT_ONCE: tl.constexpr,
    KIND: tl.constexpr,
):
    """The same of many bins, in several copies: ones are added atomically, which is exact."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    low, high = _columns_of(facts, columns, 0, PADDED), _columns_of(facts, columns, 1, PADDED)
    first, second = _columns_of(facts, columns, 2, PADDED), _columns_of(facts, columns, 3, PADDED)
    base = counts + (program % copies) * columns * bins
    for t in range(program, tl.cdiv(n, AT_ONCE), programs):
        row = tl.cast(t, tl.int64) * AT_ONCE + tl.arange(0, AT_ONCE)
        x, inside = _clipped(X, row, low, high, columns, n, PADDED)
        place = _places(x, first, second, bins, KIND) + tl.arange(0, PADDED)[None, :] * bins
        tl.atomic_add(base + place, 1, mask=inside, sem="relaxed")


@triton.jit(do_not_specialize=["columns", "n"])
def store_kernel(
    X,
    facts,
    values,
    norms,
    intercept,
    columns,
    n,
    PADDED: tl.constexpr,
    AT_ONCE: tl.constexpr,
):
    """Write rows as integers, by columns, and upper bounds of their lengths."""
    part = tl.program_id(0)
    row, column = tl.arange(0, AT_ONCE), tl.arange(0, PADDED)
    low, high = _columns_of(facts, columns, 0, PADDED), _columns_of(facts, columns, 1, PADDED)
    center, factor = _columns_of(facts, columns, 2, PADDED), _columns_of(facts, columns, 3, PADDED)
    largest, unit = _columns_of(facts, columns, 4, PADDED), _columns_of(facts, columns, 5, PADDED)
    place = tl.cast(part, tl.int64) * AT_ONCE + row
    x, inside = _clipped(X, place, low, high, columns, n, PADDED)
    whole = (x - center) * factor
    whole = tl.minimum(tl.maximum(whole, -largest), largest)
    whole = tl.where(inside, _rounded(whole), 0.0)
    squares = tl.sum(whole * whole * unit, axis=1)
    entry = tl.load(intercept)
    length = tl.sqrt(squares + entry * entry)
    length = tl.where(length > 0.0, length * (1.0 + 2.0**-22), float("inf"))
    tl.store(norms + place, tl.where(place < n, length, float("inf")).to(tl.float32))
    block = (tl.cast(part, tl.int64) * AT_ONCE) // ROWS * columns * ROWS
    own = (part * AT_ONCE) % ROWS + row
    tl.store(
        values + block + column[None, :] * ROWS + own[:, None],
        whole.to(tl.int32).to(tl.int16),
        mask=column[None, :] < columns,
    )
