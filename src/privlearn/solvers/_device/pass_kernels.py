"""Kernels of passes over integer rows on a GPU, in Triton: gradients and their lengths.

One warp takes an item: some rows of a block. Scores and sums are whole numbers, slopes are computed
in float64 by the formulas of the losses' files, with the roundings that these have: kernels are
launched without fused multiply-adds. So neither the number of programs nor the order in which they
run changes a bit, and nothing is added atomically. device.md says why nothing overflows.
"""

import triton
import triton.language as tl

from privlearn.solvers._device.word_kernels import (
    CHUNK,
    GROUP,
    LANES,
    add_products,
    as_float,
    exact_scores,
    load_words,
    weight_digits,
    widened,
)

__all__ = ["finish_kernel", "gradient_kernel", "length_kernel"]

TOGETHER = tl.constexpr(1024)  # items whose sums are within 32 bits: each has 32 rows of 2^15
SHIFT = tl.constexpr(6755399441055744.0)  # 3 2^51: added, it leaves a whole number's last bits


@triton.jit
def _divided(x, by, ASM: tl.constexpr):
    """A quotient, rounded correctly, of normal numbers whose quotient is normal.

    These are the operations that a compiler writes for a division, without a branch for quotients
    that are not normal: so several divisions of a lane run side by side.
    """
    if ASM:
        near = tl.inline_asm_elementwise(
            "rcp.approx.ftz.f64 $0, $1;", "=d,d", [by], tl.float64, True, 1
        )
        off = tl.fma(-by, near, 1.0)
        near = tl.fma(near, tl.fma(off, off, off), near)
        near = tl.fma(near, tl.fma(-by, near, 1.0), near)
        found = x * near
        found = tl.fma(near, tl.fma(-by, found, x), found)
    else:
        found = x / by
    return found


@triton.jit
def _logistic(y, z, ASM: tl.constexpr):
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
    return _divided(-y, 1.0 + e * e, ASM)


@triton.jit
def _weights(weights, PADDED: tl.constexpr, ASM: tl.constexpr):
    """Digits of weights as matrix units take them, or weights."""
    if ASM:
        found = weight_digits(weights)
        for k in tl.static_range(1, PADDED // GROUP):
            found = found + weight_digits(weights + k * GROUP)
    else:
        plain = tl.load(weights + tl.arange(0, PADDED))
        found = (tl.reshape(plain, (1, PADDED // GROUP, GROUP, 1)),)
    return found


@triton.jit
def _slopes(words, y, weights, facts, LOGISTIC: tl.constexpr, ASM: tl.constexpr):
    """Slopes of the rows of an item."""
    z = as_float(exact_scores(words, weights, facts[2], ASM)) * facts[0] + facts[1]
    if LOGISTIC:
        slope = _logistic(y.to(tl.float64), z, ASM)
    else:
        slope = z - y.to(tl.float64)
    return slope


@triton.jit
def _facts(facts, ASM: tl.constexpr):
    """The unit of scores, the intercept, and what scores of q + 2^15 have too much."""
    bias = tl.load(facts + 4).to(tl.int64)
    if not ASM:
        bias = bias * 0
    return tl.load(facts), tl.load(facts + 1), bias


@triton.jit
def _whole_slopes(slope, norm, per_unit, reach, ASM: tl.constexpr):
    """Integers of slopes, cut: the last bits of numbers that are whole after an addition."""
    there = norm < float("inf")
    quotient = _divided(tl.zeros_like(norm) + reach, tl.where(there, norm, 1.0), ASM)
    limit = tl.where(there, tl.minimum(tl.floor(quotient), 67108864.0), 0.0)
    size = tl.minimum(tl.abs(slope) * per_unit, limit) + SHIFT
    size = size.to(tl.int64, bitcast=True).to(tl.int32)
    return tl.where(slope < 0.0, -size, size)


@triton.jit(do_not_specialize=["columns", "items"])
def gradient_kernel(
    values,
    targets,
    norms,
    weights,
    facts,
    sums,
    columns,
    items,
    PADDED: tl.constexpr,
    CHUNKS: tl.constexpr,
    LOGISTIC: tl.constexpr,
    STAGES: tl.constexpr,
    ASM: tl.constexpr,
):
    """Sums of columns, of q + 2^15, times integer slopes, and of slopes, in parts for lanes."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    ROWS: tl.constexpr = 2 * CHUNK * CHUNKS
    PAIRS: tl.constexpr = PADDED // GROUP // 2
    own, known = _weights(weights, PADDED, ASM), _facts(facts, ASM)
    per_unit, reach = tl.load(facts + 2), tl.load(facts + 3)
    column = tl.arange(0, PAIRS)[None, :, None, None] * (2 * GROUP)
    column += tl.arange(0, GROUP)[None, None, :, None]
    place = column * (LANES * CHUNKS) + tl.arange(0, CHUNKS)[:, None, None, None] * LANES
    place += tl.arange(0, LANES)[None, None, None, :]
    base = sums + tl.cast(program, tl.int64) * (PADDED * LANES * CHUNKS + ROWS)
    row, of_slopes = tl.arange(0, ROWS), tl.zeros((ROWS,), tl.int64)
    for start in range(program, items, programs * TOGETHER):
        nothing = tl.zeros((CHUNKS, PAIRS, GROUP, LANES), tl.int32 if ASM else tl.int64)
        totals = nothing, nothing, nothing, nothing
        end = tl.minimum(start + programs * TOGETHER, items)
        y = tl.load(targets + tl.cast(start, tl.int64) * ROWS + row)
        for item in tl.range(start, end, programs, num_stages=STAGES):
            words = load_words(values, item, columns, PADDED, CHUNKS)
            norm = tl.load(norms + tl.cast(item, tl.int64) * ROWS + row)
            following = tl.minimum(item + programs, items - 1)  # asked for long before it is used
            y_following = tl.load(targets + tl.cast(following, tl.int64) * ROWS + row)
            slope = _slopes(words, y, own, known, LOGISTIC, ASM)
            whole = _whole_slopes(slope, norm.to(tl.float64), per_unit, reach, ASM)
            of_slopes += whole
            totals = add_products(totals, words, whole, ASM)
            y = y_following
        earlier = place * 0 + start > program
        for k in tl.static_range(2):
            found = widened(totals[2 * k], totals[2 * k + 1], ASM)
            there = base + k * (GROUP * LANES * CHUNKS) + place
            tl.store(there, tl.load(there, mask=earlier, other=0) + found)
    tl.store(base + PADDED * LANES * CHUNKS + row, of_slopes)


@triton.jit(do_not_specialize=["programs"])
def finish_kernel(sums, limbs, programs, columns: tl.constexpr, LANES: tl.constexpr,
                  LIMB: tl.constexpr, AT_ONCE: tl.constexpr):  # fmt: skip
    """Sums over programs and lanes of one column's parts: the lower bits, and the rest."""
    column = tl.program_id(0)
    part, lane = tl.arange(0, AT_ONCE)[:, None], tl.arange(0, LANES)[None, :]
    upper, lower = tl.zeros((AT_ONCE, LANES), tl.int64), tl.zeros((AT_ONCE, LANES), tl.int64)
    for first in range(0, programs, AT_ONCE):
        place = (tl.cast(first, tl.int64) + part) * (columns * LANES) + column * LANES + lane
        own = tl.load(sums + place, mask=first + part < programs, other=0)
        upper += own >> LIMB
        lower += own & ((1 << LIMB) - 1)
    tl.store(limbs + column, tl.sum(tl.sum(upper, axis=1), axis=0))
    tl.store(limbs + columns + column, tl.sum(tl.sum(lower, axis=1), axis=0))


@triton.jit(do_not_specialize=["columns", "items", "last"])
def length_kernel(
    values,
    targets,
    norms,
    weights,
    facts,
    counts,
    columns,
    items,
    last,
    PADDED: tl.constexpr,
    CHUNKS: tl.constexpr,
    LOGISTIC: tl.constexpr,
    BINS: tl.constexpr,
    STAGES: tl.constexpr,
    ASM: tl.constexpr,
):
    """How many gradients lie in which half power of two below the longest."""
    program, programs = tl.program_id(0), tl.num_programs(0)
    ROWS: tl.constexpr = 2 * CHUNK * CHUNKS
    own, known = _weights(weights, PADDED, ASM), _facts(facts, ASM)
    longest = tl.load(facts + 2)
    bins, found = tl.arange(0, BINS), tl.zeros((BINS,), tl.int32)
    for item in tl.range(program, items, programs, num_stages=STAGES):
        words = load_words(values, item, columns, PADDED, CHUNKS)
        rows = tl.cast(item, tl.int64) * ROWS + tl.arange(0, ROWS)
        y, norm = tl.load(targets + rows), tl.load(norms + rows).to(tl.float64)
        slope = _slopes(words, y, own, known, LOGISTIC, ASM)
        relative = slope * norm / longest
        bits = (relative * relative).to(tl.int64, bitcast=True)
        place = 1022 - ((bits >> 52) & 0x7FF).to(tl.int32)
        place = tl.minimum(tl.maximum(place, 0), last)
        place = tl.where(norm < float("inf"), place, -1)
        found += tl.sum((place[None, :] == bins[:, None]).to(tl.int32), axis=1)
    tl.store(counts + program * BINS + bins, found)
