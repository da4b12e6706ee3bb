"""Products of integers of 16 bits, two rows in a word, with weights and with slopes.

Matrix units multiply bytes and add up in 32 bits. So a stored integer q is taken as the two bytes
of q + 2^15, and a weight or a slope as four digits of base 256, from -128 to 127. A warp's lane
holds words of one column in eight and one part of rows in four, which is how a matrix unit takes
them. Every function has a plain form beside it (`ASM` is false), which gives the same integers.
"""

import triton
import triton.language as tl

__all__ = ["add_products", "as_float", "exact_scores", "load_words", "weight_digits", "widened"]

WORDS = tl.constexpr(128)  # of a column of a block: 256 rows
GROUP, LANES = tl.constexpr(8), tl.constexpr(4)  # columns side by side, lanes of each of them
CHUNK = tl.constexpr(16)  # words of a column that its lanes hold: 32 rows


@triton.jit
def _four_words(x):
    """Four words that follow each other, which a lane holds, from the last two axes."""
    even, odd = tl.split(x)
    first, third = tl.split(even)
    second, fourth = tl.split(odd)
    return first, second, third, fourth


@triton.jit
def load_words(values, item, columns, PADDED: tl.constexpr, CHUNKS: tl.constexpr):
    """Rows of an item, four tensors of (CHUNKS, PADDED // GROUP, GROUP, LANES) words."""
    PARTS: tl.constexpr = 8 // CHUNKS  # of a block
    place, word = tl.arange(0, PADDED * CHUNKS), tl.arange(0, CHUNK)
    column, chunk = place % PADDED, place // PADDED
    base = values + tl.cast(item // PARTS, tl.int64) * columns * WORDS
    base += (item % PARTS) * (CHUNK * CHUNKS)
    places = (column * WORDS + chunk * CHUNK)[:, None] + word[None, :]
    found = tl.load(base + places, mask=(column < columns)[:, None], other=0)
    return _four_words(tl.reshape(found, (CHUNKS, PADDED // GROUP, GROUP, LANES, 2, 2)))


@triton.jit
def _digits_of(x):
    """Four digits of base 256, from -128 to 127, in the bytes of a number below 2^30 in size."""
    return (x + 8421504) ^ 8421504


@triton.jit
def weight_digits(weights):
    """Eight columns' weights for the first and the last eight rows of a matrix unit.

    Sums over columns of row k, and of row k + 4, are units of 256^k: digit k meets the lower bytes
    of columns, and the digit before it the upper ones. Those of rows 8 and 12 are units of 256^4.
    """
    row, lane = tl.arange(0, GROUP)[:, None], tl.arange(0, LANES)[None, :]
    first, last = tl.zeros((GROUP, LANES), tl.int32), tl.zeros((GROUP, LANES), tl.int32)
    up = (row % 4 * 8).to(tl.int64)
    for k in tl.static_range(2):
        own = _digits_of(tl.load(weights + lane * 2 + k + row * 0)).to(tl.int64) << 8
        both = (own >> up).to(tl.int32)
        first |= (((both >> 8) & 255) | ((both & 255) << 8)) << (16 * k)
        uppermost = ((own >> 32).to(tl.int32) & 255) << 8
        last |= tl.where(row % 4 == 0, uppermost, 0) << (16 * k)
    return first[None, :, :], last[None, :, :]


@triton.jit
def _two_groups(x):
    """Groups of columns with even and with odd numbers."""
    pairs = tl.reshape(x, (x.shape[0], x.shape[1] // 2, 2, x.shape[2], x.shape[3]))
    return tl.split(tl.permute(pairs, (0, 1, 3, 4, 2)))


@triton.jit
def _turned(x):
    """Words of two rows and one column as words of two columns and one row, over a warp."""
    return tl.inline_asm_elementwise(
        "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", [x], tl.int32, True, 1
    )


@triton.jit
def _each_pair(x):
    """Tensors of a second axis of 1, 2, 4 or 8 places, one for each place."""
    PAIRS: tl.constexpr = x.shape[1]
    if PAIRS == 1:
        found = (tl.reshape(x, (x.shape[0], GROUP, LANES)),)
    elif PAIRS == 2:
        found = tl.split(tl.permute(x, (0, 2, 3, 1)))
    elif PAIRS == 4:
        apart = tl.reshape(x, (x.shape[0], 2, 2, GROUP, LANES))
        found = _four_words(tl.permute(apart, (0, 3, 4, 1, 2)))
    else:
        apart = tl.reshape(x, (x.shape[0], 2, 2, 2, GROUP, LANES))
        below, above = tl.split(tl.permute(apart, (0, 4, 5, 2, 3, 1)))
        first, last = _four_words(below), _four_words(above)
        found = (
            first[0], first[1], first[2], first[3], last[0], last[1], last[2], last[3]
        )  # fmt: skip
    return found


@triton.jit
def _digit_products(weights, x):
    """Sums over columns of digits of weights times bytes: four sums for each lane."""
    even, odd = _two_groups(x ^ -2147450880)  # q + 2^15 as two bytes
    even, odd = _each_pair(_turned(even)), _each_pair(_turned(odd))
    nothing = even[0] * 0
    c = nothing, nothing, nothing, nothing
    for k in tl.static_range(len(even)):
        c = tl.inline_asm_elementwise(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 "
            "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};",
            "=r,=r,=r,=r,r,r,r,r,r,r,r,r,r,r",
            [weights[4 * k], weights[4 * k + 1], weights[4 * k + 2], weights[4 * k + 3],
             even[k], odd[k], c[0], c[1], c[2], c[3]],
            (tl.int32, tl.int32, tl.int32, tl.int32), True, 1,
        )  # fmt: skip
    return c


@triton.jit
def _two_tiles(weights, one, other):
    """Parts of scores of two words' rows: lanes of four columns have the one, four the other."""
    first, second = _digit_products(weights, one), _digit_products(weights, other)
    column = tl.arange(0, GROUP)[None, :, None]
    up = (column % 4 * 8).to(tl.int64)
    above = column < 4
    c = (
        tl.where(above, first[0], second[0]), tl.where(above, first[1], second[1]),
        tl.where(above, first[2], second[2]), tl.where(above, first[3], second[3]),
    )  # fmt: skip
    low = (c[0].to(tl.int64) << up) + (c[2].to(tl.int64) << 32)
    return tl.join(low, (c[1].to(tl.int64) << up) + (c[3].to(tl.int64) << 32))


@triton.jit
def _weighted(weights, x):
    """The same in plain operations, over columns of a group and all groups."""
    low, high = (x << 16) >> 16, x >> 16
    low = tl.sum(low.to(tl.int64) * weights, axis=1)
    return tl.join(low, tl.sum(high.to(tl.int64) * weights, axis=1))


@triton.jit
def exact_scores(words, weights, bias, ASM: tl.constexpr):
    """The score of each row of an item as int64, in the rows' order."""
    if ASM:
        found = tl.join(
            _two_tiles(weights, words[0], words[1]), _two_tiles(weights, words[2], words[3])
        )
        CHUNKS: tl.constexpr = found.shape[0]
        found = tl.sum(tl.reshape(found, (CHUNKS, 2, 4, LANES, 2, 2)), axis=2)
        # Axes: chunks, which word of two, lanes, the row of a word, which two words.
        scores = tl.permute(found, (0, 2, 4, 1, 3))
    else:
        even = tl.join(_weighted(weights[0], words[0]), _weighted(weights[0], words[2]))
        odd = tl.join(_weighted(weights[0], words[1]), _weighted(weights[0], words[3]))
        # Axes: chunks, columns, lanes, the row of a word, which two words, which one of them.
        scores = tl.sum(tl.permute(tl.join(even, odd), (0, 1, 2, 4, 5, 3)), axis=1)
    return tl.reshape(scores, (8 * LANES * scores.shape[0],)) - bias


@triton.jit
def _for_lanes(whole):
    """Slopes of the rows of a word, for the lane that has the word, of each of four words."""
    CHUNKS: tl.constexpr = whole.shape[0] // (8 * LANES)
    one, other = tl.split(tl.reshape(whole, (whole.shape[0] // 2, 2)))
    one = _four_words(tl.reshape(one, (CHUNKS, LANES, 2, 2)))
    other = _four_words(tl.reshape(other, (CHUNKS, LANES, 2, 2)))
    return one, other


@triton.jit
def _digits(one, other):
    """One digit of two slopes at the places of lower bytes, or at those of upper ones."""
    group = tl.arange(0, GROUP)[None, None, :, None]
    digit, upper = group % 4, group // 4
    which = (digit | ((4 + digit) << 8)) << (upper * 4)
    mask = 16711935 << (upper * 8)  # every other byte
    found = tl.inline_asm_elementwise(
        "prmt.b32 $0, $1, $2, $3;", "=r,r,r,r",
        [one[:, None, None, :], other[:, None, None, :], which], tl.int32, True, 1,
    )  # fmt: skip
    return found & mask


@triton.jit
def _add_digits(totals, first, second, one, other):
    """Add products of two words each with digits: of even groups and two digits, then of odd."""
    even_first, odd_first = _two_groups(first ^ -2147450880)
    even_second, odd_second = _two_groups(second ^ -2147450880)
    return tl.inline_asm_elementwise(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 "
        "{$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13};",
        "=r,=r,=r,=r,r,r,r,r,r,r,r,r,r,r",
        [even_first, odd_first, even_second, odd_second, one, other,
         totals[0], totals[1], totals[2], totals[3]],
        (tl.int32, tl.int32, tl.int32, tl.int32), True, 1,
    )  # fmt: skip


@triton.jit
def _added(total, x, one, other):
    """Products of a word's rows with slopes, added, in plain operations."""
    low, high = ((x << 16) >> 16) + 32768, (x >> 16) + 32768
    total += low.to(tl.int64) * one[:, None, None, :]
    return total + high.to(tl.int64) * other[:, None, None, :]


@triton.jit
def add_products(totals, words, whole, ASM: tl.constexpr):
    """Add products of columns, of q + 2^15, with slopes: in four sums for each lane."""
    if ASM:
        one, other = _for_lanes(_digits_of(whole))
        first, second = _digits(one[0], other[0]), _digits(one[1], other[1])
        totals = _add_digits(totals, words[0], words[1], first, second)
        first, second = _digits(one[2], other[2]), _digits(one[3], other[3])
        totals = _add_digits(totals, words[2], words[3], first, second)
    else:
        one, other = _for_lanes(whole)
        even, odd = totals[0], totals[2]
        for k in tl.static_range(4):
            of_even, of_odd = _two_groups(words[k])
            even = _added(even, of_even, one[k], other[k])
            odd = _added(odd, of_odd, one[k], other[k])
        totals = even, totals[1], odd, totals[3]
    return totals


@triton.jit
def widened(one, other, ASM: tl.constexpr):
    """Sums of digits as int64: a lane has two digits, of lower bytes or of upper ones."""
    if ASM:
        lane = tl.arange(0, LANES)[None, None, None, :]
        up = ((lane % 2 * 2 + lane // 2) * 8).to(tl.int64)
        found = (one.to(tl.int64) << up) + (other.to(tl.int64) << (up + 8))
    else:
        found = one
    return found


@triton.jit
def as_float(x):
    """Whole numbers up to 2^53 in size, exactly: no conversion, which takes longer.

    Halves are written behind the exponents of 2^84 and 2^52, which are then taken away.
    """
    upper = (((x >> 32) + 2147483648) | 0x4530000000000000).to(tl.float64, bitcast=True)
    lower = ((x & 0xFFFFFFFF) | 0x4330000000000000).to(tl.float64, bitcast=True)
    return (upper - 19342822341709703277445120.0) + lower
