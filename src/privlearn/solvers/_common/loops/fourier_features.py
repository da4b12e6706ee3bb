"""Cosines and sines of phases, in single precision, for random Fourier features.

Phases are in turns, so that taking whole and half turns off them is exact: no Cody-Waite constants.
With k the integer nearest to 2u and f = u - k/2 in [-1/4, 1/4],

    cos(2 pi u) = (-1)^k cos(2 pi f),   sin(2 pi u) = (-1)^k sin(2 pi f),

and two polynomials in z = f^2 (interpolated at Chebyshev points) do the rest, with an error of at
most e = 2^-21 each. Truncation and the rounding of coefficients make 1.1e-7 (a test looks). To that
Horner's scheme adds, in units of 2^-24 and whether or not products are fused: for the cosine 1 for
the last step, 19.8 / 16 for the one before, 0.3 for the first two and 0.8 for z itself; for the
sine 1.6, 0.7, 0.1, 0.5 and 1 for the factor f: less than 4 in either case, since neighbouring
coefficients have opposite signs.

**Length.** Whatever the phase is, NaN included, |f| <= 1/4 holds for the f that both polynomials
get. So the computed c and s obey c^2 + s^2 <= 1 + 2 sqrt(2) e + 2 e^2 < 1 + 2^-19. A row of h such
pairs, each times the float32 nearest to (1 - 2^-18) / sqrt(h) with one more rounding, has a length
of at most (1 - 2^-18) (1 + 2^-24)^2 sqrt(1 + 2^-19) < 1, in exact arithmetic over the numbers as
they are stored.
"""

import math

import numpy as np

from privlearn._core.jit import jit
from privlearn.solvers._common.loops.row_products import ANY_ORDER

__all__ = ["mend_long_phases", "multiply_rows", "narrow_rows", "turn_to_waves", "write_waves"]

LONG = 16.0  # turns; longer phases are computed in double precision
LARGEST = 1e18  # entries beyond it enter no product in single precision: it could overflow

# Chebyshev interpolation of cos(2 pi f) and sin(2 pi f) / f in f^2, for |f| <= 1/4.
C0, C1, C2 = np.float32(0.99999995), np.float32(-19.73917132), np.float32(64.93458165)
C3, C4 = np.float32(-85.24010036), np.float32(56.24054044)
S0, S1, S2 = np.float32(6.28318528), np.float32(-41.34168067), np.float32(81.60248074)
S3, S4 = np.float32(-76.58128456), np.float32(39.76072208)
QUARTER, HALF = np.float32(0.25), np.float32(0.5)
TWO, FOUR = np.float32(2.0), np.float32(4.0)


@jit(fastmath=ANY_ORDER, error_model="numpy", nogil=True)
def narrow_rows(X, single, lengths):
    """Write rows in single precision and their lengths, which may be infinite or NaN."""
    for i in range(X.shape[0]):
        squares = 0.0
        for j in range(X.shape[1]):
            value = np.float64(X[i, j])
            squares += value * value
            single[i, j] = np.float32(value if abs(value) < LARGEST else 0.0)
        lengths[i] = math.sqrt(squares)


@jit(error_model="numpy", nogil=True)
def multiply_rows(single, turns, out):
    """Write phases to the first half of `out`, one row at a time and summed in one order.

    No flag lets the compiler choose: each phase is what IEEE arithmetic makes of its row alone,
    wherever the row stands. BLAS promises no such thing, and its results differ by position.
    """
    n_features = single.shape[1]
    whole = n_features - n_features % 4
    for i in range(single.shape[0]):
        x, own = single[i], out[i, : turns.shape[1]]
        for k in range(own.size):
            own[k] = np.float32(0.0)
        for j in range(0, whole, 4):
            x0, x1, x2, x3 = x[j], x[j + 1], x[j + 2], x[j + 3]
            w0, w1, w2, w3 = turns[j], turns[j + 1], turns[j + 2], turns[j + 3]
            for k in range(own.size):
                own[k] = (((own[k] + x0 * w0[k]) + x1 * w1[k]) + x2 * w2[k]) + x3 * w3[k]
        for j in range(whole, n_features):
            x0, w0 = x[j], turns[j]
            for k in range(own.size):
                own[k] += x0 * w0[k]


@jit(fastmath=ANY_ORDER, error_model="numpy")
def mend_long_phases(row, length, double, order, longest_first, phases):
    """Compute phases that may be long in double precision; whole turns come off before rounding."""
    for r in range(order.size):
        if length * longest_first[r] <= LONG:
            return
        k, phase = order[r], 0.0
        for j in range(row.size):
            phase += np.float64(row[j]) * double[k, j]
        phases[k] = np.float32(phase - np.rint(phase))


@jit(fastmath={"contract", "nsz"}, error_model="numpy")
def turn_to_waves(cosines, sines, amplitude):
    """Overwrite phases by scaled cosines, and write the sines, in the order of the proof above."""
    for k in range(cosines.size):
        phase = cosines[k]
        half_turns = HALF * np.rint(TWO * phase)
        f = phase - half_turns
        f = f if abs(f) <= QUARTER else QUARTER  # also where the phase is NaN or infinite
        odd = half_turns - np.floor(half_turns)  # 0 or 1/2
        odd = odd if odd <= HALF else HALF
        sign = amplitude - (FOUR * amplitude) * odd
        z = f * f
        cosine = (((C4 * z + C3) * z + C2) * z + C1) * z + C0
        sine = ((((S4 * z + S3) * z + S2) * z + S1) * z + S0) * f
        cosines[k] = sign * cosine
        sines[k] = sign * sine


@jit(error_model="numpy", nogil=True)
def write_waves(X, lengths, double, order, longest_first, amplitude, out):
    """Turn phases at the start of each row of `out` into cosines there and sines behind them.

    `order` lists frequencies from the longest to the shortest, and `longest_first` their lengths.
    """
    half = order.size
    for i in range(out.shape[0]):
        cosines, sines = out[i, :half], out[i, half : 2 * half]
        if half > 0 and not lengths[i] * longest_first[0] <= LONG:
            mend_long_phases(X[i], lengths[i], double, order, longest_first, cosines)
        turn_to_waves(cosines, sines, amplitude)
