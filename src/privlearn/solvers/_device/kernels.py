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
    "gradient_kernel",
    "length_kernel",
    "many_kernel",
    "shorten_kernel",
    "store_kernel",
]

ROWS = tl.constexpr(256)  # of a block
PER_LANE = tl.constexpr(8)  # rows of a block that one lane of a warp holds
SHIFT = tl.constexpr(6755399441055744.0)  # 3 2^51: added and taken away, it rounds to whole numbers


@triton.jit
def _rounded(x):
    """The nearest whole number, the even one of two, for sizes up to 2^51."""
    return (x + SHIFT) - SHIFT


@triton.jit
def _logistic(y, z):
    """As `slope` in _objective/losses/logistic.py."""
    x = tl.minimum(tl.maximum(y * z, -40.0), 40.0) * 0.00390625
    e = 1.0 / 24.0 + x * (1.0 / 120.0 + x * (1.0 / 720.0 + x * (1.0 / 5040.0)))
    e = 1.0 + x * (1.0 + x * (1.0 / 2.0 + x * (1.0 / 6.0 + x * e)))
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return -y / (1.0 + e * e)


@triton.jit
def _block(values, b, columns, PADDED: tl.constexpr):
    """The integers of a block, by columns."""
    column, row = tl.arange(0, PADDED), tl.arange(0, ROWS)
    base = values + tl.cast(b, tl.int64) * columns * ROWS
    places = column[:, None] * ROWS + row[None, :]
    return tl.load(base + places, mask=column[:, None] < columns, other=0)


@triton.jit
def _scores(block, upper, lower, PADDED: tl.constexpr):
    """Exact scores: weights come in two parts of 12 bits, so 16 products fit into int32."""
    whole = block.to(tl.int32)
    above = tl.reshape(whole * upper[:, None], (16, PADDED // 16, ROWS))
    below = tl.reshape(whole * lower[:, None], (16, PADDED // 16, ROWS))
    above, below = tl.sum(above, axis=0).to(tl.int64), tl.sum(below, axis=0).to(tl.int64)
    return tl.sum(above * 4096 + below, axis=0)


@triton.jit
def _slopes(
    block, targets, b, upper, lower, unit, shift, PADDED: tl.constexpr, LOGISTIC: tl.constexpr
):
    """Slopes of the rows of a block."""
    z = _scores(block, upper, lower, PADDED).to(tl.float64) * unit + shift
    rows = tl.cast(b, tl.int64) * ROWS + tl.arange(0, ROWS)
    y = tl.load(targets + rows).to(tl.float64)
    if LOGISTIC:
        slope = _logistic(y, z)
    else:
        slope = z - y
    return slope


@triton.jit(do_not_specialize=["columns", "blocks"])
def gradient_kernel(
    values,
    targets,
    norms,
    weights,
    facts,
    sums,
    columns,
    blocks,
    PADDED: tl.constexpr,
    LOGISTIC: tl.constexpr,
    STAGES: tl.constexpr,
):
    """Sums of columns times integer slopes, and of slopes, in parts for each lane."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    own = tl.load(weights + tl.arange(0, PADDED))
    above, below = own >> 12, own & 4095
    unit, shift = tl.load(facts), tl.load(facts + 1)
    per_unit, reach = tl.load(facts + 2), tl.load(facts + 3)
    total = tl.zeros((PADDED, ROWS // PER_LANE), tl.int64)
    of_slopes = tl.zeros((ROWS,), tl.int64)
    for b in tl.range(program, blocks, programs, num_stages=STAGES):
        block = _block(values, b, columns, PADDED)
        slope = _slopes(block, targets, b, above, below, unit, shift, PADDED, LOGISTIC)
        norm = tl.load(norms + tl.cast(b, tl.int64) * ROWS + tl.arange(0, ROWS)).to(tl.float64)
        limit = tl.minimum(tl.floor(reach / norm), 67108864.0)
        size = _rounded(tl.minimum(tl.abs(slope) * per_unit, limit)).to(tl.int32)
        whole = tl.where(slope < 0.0, -size, size).to(tl.int64)
        products = block.to(tl.int64) * whole[None, :]
        total += tl.sum(tl.reshape(products, (PADDED, ROWS // PER_LANE, PER_LANE)), axis=2)
        of_slopes += whole
    lanes = tl.arange(0, ROWS // PER_LANE)
    base = sums + program * (PADDED + PER_LANE) * (ROWS // PER_LANE)
    places = tl.arange(0, PADDED)[:, None] * (ROWS // PER_LANE) + lanes[None, :]
    tl.store(base + places, total)
    tl.store(base + PADDED * (ROWS // PER_LANE) + tl.arange(0, ROWS), of_slopes)


@triton.jit(do_not_specialize=["columns", "blocks", "last"])
def length_kernel(
    values,
    targets,
    norms,
    weights,
    facts,
    counts,
    columns,
    blocks,
    last,
    PADDED: tl.constexpr,
    LOGISTIC: tl.constexpr,
    BINS: tl.constexpr,
):
    """How many gradients lie in which half power of two below the longest."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    own = tl.load(weights + tl.arange(0, PADDED))
    above, below = own >> 12, own & 4095
    unit, shift, longest = tl.load(facts), tl.load(facts + 1), tl.load(facts + 2)
    bins, found = tl.arange(0, BINS), tl.zeros((BINS,), tl.int32)
    for b in range(program, blocks, programs):
        block = _block(values, b, columns, PADDED)
        slope = _slopes(block, targets, b, above, below, unit, shift, PADDED, LOGISTIC)
        norm = tl.load(norms + tl.cast(b, tl.int64) * ROWS + tl.arange(0, ROWS)).to(tl.float64)
        relative = slope * norm / longest
        bits = (relative * relative).to(tl.int64, bitcast=True)
        place = 1022 - ((bits >> 52) & 0x7FF).to(tl.int32)
        place = tl.minimum(tl.maximum(place, 0), last)
        place = tl.where(norm < float("inf"), place, -1)
        found += tl.sum((place[None, :] == bins[:, None]).to(tl.int32), axis=1)
    tl.store(counts + program * BINS + bins, found)


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
