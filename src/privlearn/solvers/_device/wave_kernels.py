"""Cosines and sines of rows as integers, in Triton: the same integers as `waves.py` makes.

Launched without fused multiply-adds, so that each operation has a rounding of its own. A row's
integers are computed from that row in one order, wherever it stands.
"""

import triton
import triton.language as tl

from privlearn.solvers._common.loops import fourier_features as formula

__all__ = ["wave_kernel"]

C0, C1, C2 = (tl.constexpr(float(c)) for c in (formula.C0, formula.C1, formula.C2))
C3, C4 = (tl.constexpr(float(c)) for c in (formula.C3, formula.C4))
S0, S1, S2 = (tl.constexpr(float(s)) for s in (formula.S0, formula.S1, formula.S2))
S3, S4 = (tl.constexpr(float(s)) for s in (formula.S3, formula.S4))
SHIFT = tl.constexpr(12582912.0)  # 3 2^22: added and taken away, it rounds to whole numbers


@triton.jit
def _whole(x):
    """The nearest whole number in single precision, the even one of two."""
    return ((x + SHIFT) - SHIFT).to(tl.int32)


@triton.jit
def _pair(X, turns, row, wave, columns, half, rows, WAVES: tl.constexpr, ROWS: tl.constexpr):
    """Cosines and sines times 127, in single precision."""
    phase = tl.zeros((WAVES, ROWS), tl.float64)
    for j in range(columns):
        x = tl.load(X + j * rows + row, mask=row < rows, other=0.0)
        turn = tl.load(turns + j * half + wave, mask=wave < half, other=0.0)
        phase += turn[:, None] * x[None, :]
    half_turns = tl.floor(phase * 2.0 + 0.5) * 0.5
    f = (phase - half_turns).to(tl.float32)
    f = tl.where(tl.abs(f) <= 0.25, f, 0.25)
    odd = half_turns - tl.floor(half_turns)
    sign = tl.where(odd <= 0.25, 127.0, -127.0)
    z = f * f
    cosine = (((z * C4 + C3) * z + C2) * z + C1) * z + C0
    sine = ((((z * S4 + S3) * z + S2) * z + S1) * z + S0) * f
    return cosine * sign, sine * sign


@triton.jit(do_not_specialize=["columns", "half", "rows", "stride"])
def wave_kernel(
    X,
    turns,
    out,
    squares,
    too_long,
    columns,
    half,
    rows,
    stride,
    WAVES: tl.constexpr,
    ROWS: tl.constexpr,
    CUT: tl.constexpr,
):
    """Write cosines of some rows and frequencies, and sines `half` frequencies further on.

    First to the nearest whole numbers, with sums of their squares; then, with CUT, those of rows
    that are too long once more, cut towards zero.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    wave = tl.program_id(1) * WAVES + tl.arange(0, WAVES)
    inside = (wave < half)[:, None] & (row < rows)[None, :]
    place = out + wave.to(tl.int64)[:, None] * stride + row[None, :]
    beyond = tl.cast(half, tl.int64) * stride
    if CUT:
        long = tl.load(too_long + row, mask=row < rows, other=0)
        if tl.max(long, axis=0) > 0:
            cosine, sine = _pair(X, turns, row, wave, columns, half, rows, WAVES, ROWS)
            inside = inside & (long > 0)[None, :]
            tl.store(place, cosine.to(tl.int32).to(tl.int8), mask=inside)
            tl.store(place + beyond, sine.to(tl.int32).to(tl.int8), mask=inside)
    else:
        cosine, sine = _pair(X, turns, row, wave, columns, half, rows, WAVES, ROWS)
        c, s = _whole(cosine), _whole(sine)
        tl.store(place, c.to(tl.int8), mask=inside)
        tl.store(place + beyond, s.to(tl.int8), mask=inside)
        own = tl.sum(tl.where(inside, c * c + s * s, 0), axis=0)
        tl.store(squares + tl.cast(tl.program_id(1), tl.int64) * rows + row, own, mask=row < rows)
