"""Volumes of boxes of equal depth, in floating point that is monotone and cannot overflow.

A number is mantissa * 2^exponent with a mantissa in [1/2, 1): a double with unlimited exponent. Its
products and sums below are correctly rounded, so they are monotone in each argument, and so is all
that is computed from them: what the proof (tukey/proof.md, 4) compares exactly compares so here.
"""

import math

import numpy as np

from privlearn._core.jit import jit

__all__ = ["measure_boxes", "safe_distance"]

FAR = 64  # binary orders below which a summand changes nothing


@jit()
def _product(a, a_exponent, b, b_exponent):
    mantissa, carry = math.frexp(a * b)
    return mantissa, a_exponent + b_exponent + carry


@jit()
def _sum(a, a_exponent, b, b_exponent):
    if a == 0.0:
        return b, b_exponent
    if b == 0.0:
        return a, a_exponent
    if b_exponent > a_exponent:
        a, a_exponent, b, b_exponent = b, b_exponent, a, a_exponent
    if a_exponent - b_exponent > FAR:
        return a, a_exponent
    mantissa, carry = math.frexp(a + math.ldexp(b, int(b_exponent - a_exponent)))
    return mantissa, a_exponent + carry


@jit()
def measure_boxes(ordered, step, widest, mantissas, exponents):
    """Lattice points in the box between the i-th smallest and the i-th largest, for every i.

    Entry 0 is the whole lattice, `widest` points in every coordinate.
    """
    m, d = ordered.shape
    for i in range(mantissas.size):
        value, exponent = 0.5, np.int64(1)
        for j in range(d):
            points = widest if i == 0 else (ordered[m - i, j] - ordered[i - 1, j]) / step + 1.0
            mantissa, own = math.frexp(points)
            value, exponent = _product(value, exponent, mantissa, np.int64(own))
        mantissas[i] = value
        exponents[i] = exponent


@jit()
def safe_distance(mantissas, exponents, start, growth, share, bar):
    """Largest k < start with V[start - k - 1] <= bar * U[start + k], or -1.

    U[s] = V[s] + share * S[s], S[s] = growth * (V[s + 1] + S[s + 1]), S[last] = 0.
    """
    last = mantissas.size - 1
    weights = np.zeros(last + 1)
    orders = np.zeros(last + 1, dtype=np.int64)
    grow, grow_order = math.frexp(growth)
    part, part_order = math.frexp(share)
    limit, limit_order = math.frexp(bar)
    deeper, deeper_order = 0.0, np.int64(0)
    for s in range(last, start - 1, -1):
        value, order = _product(part, np.int64(part_order), deeper, deeper_order)
        weights[s], orders[s] = _sum(mantissas[s], exponents[s], value, order)
        value, order = _sum(mantissas[s], exponents[s], deeper, deeper_order)
        deeper, deeper_order = _product(grow, np.int64(grow_order), value, order)
    found = -1
    for k in range(start):
        if start + k > last:
            break
        value, order = _product(limit, np.int64(limit_order), weights[start + k], orders[start + k])
        outer, outer_order = mantissas[start - k - 1], exponents[start - k - 1]
        if outer_order > order or (outer_order == order and outer > value):
            break
        found = k
    return found
