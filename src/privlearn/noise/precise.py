"""Quantiles in high precision, with an enclosure: what decides the draws that doubles cannot."""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from privlearn.noise.laws import Context, Law, Number

Interval = tuple[Number, Number]
MoreWords = Callable[[int], int]
"""``more(count)`` returns the first ``count`` extra words of a draw as one integer."""

# mpmath keeps memoised constants that are not safe to grow from two threads: one refinement at a
# time, in a context of our own, so that the user's mpmath precision is neither read nor changed.
_lock = threading.Lock()
_context: Context = None


def _forget_parent() -> None:
    """Start afresh after a fork: another thread may have held the lock at that moment."""
    global _lock, _context
    _lock = threading.Lock()
    _context = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parent)


@contextmanager
def high_precision(bits: int) -> Iterator[Context]:
    """Lend the mpmath context at a working precision of ``bits``, to one thread at a time."""
    global _context
    with _lock:
        if _context is None:
            from mpmath import MPContext

            _context = MPContext()
        _context.prec = bits
        yield _context


def quantile(ctx: Context, law: Law, side: int, mass: Number) -> Number:
    """Return the point with the given tail mass, to nearly the precision of ``ctx``.

    Newton's method on the logarithm of the tail. All tails here are log-concave, so a tangent lies
    above the curve and every step after the first comes from the same side: it cannot diverge.
    """
    x = ctx.mpf(law.guess(side, max(float(mass), 1e-300)))
    outward = 1 if side else -1
    for _ in range(200):
        tail = law.tail(ctx, side, x)
        step = tail * ctx.log(tail / mass) / law.density(ctx, x)
        x += outward * step
        # the error after a step is of the order of its square; |x| enters by the curvature
        if step * step * (1 + abs(x)) < ctx.ldexp(1, -ctx.prec):
            return x
    raise ArithmeticError(f"Newton's method for the {law.name} quantile did not settle")


def enclose(ctx: Context, law: Law, side: int, numerator: int, bits: int) -> Interval:
    """Enclose the quantiles of all tail masses in [numerator, numerator + 1] 2^-bits.

    The quantile is guessed by :func:`quantile`; what makes the result an enclosure is that the tail
    is then computed at both ends and found to lie outside the range of masses, by more than the
    rounding of mpmath (a relative 2^-(prec - 16), where its functions claim 2^-(prec - 2)).
    """
    low, high = ctx.ldexp(numerator, -bits), ctx.ldexp(numerator + 1, -bits)
    slack = ctx.ldexp(1, 16 - ctx.prec)
    centre = quantile(ctx, law, side, (low + high) / 2)
    radius = (high - low) / law.density(ctx, centre) + slack * (1 + abs(centre))
    outward = 1 if side else -1
    while True:
        inner = law.tail(ctx, side, centre - outward * radius)
        outer = law.tail(ctx, side, centre + outward * radius)
        if outer * (1 + slack) <= low and inner * (1 - slack) >= high:
            return centre - radius, centre + radius
        radius *= 2


def rounded_ends(ctx: Context, low: Number, high: Number) -> tuple[int, int]:
    """Round both ends of an enclosure, after widening it by more than the rounding of mpmath."""
    slack = ctx.ldexp(1, 16 - ctx.prec)
    first = ctx.floor(low - slack * (1 + abs(low)) + 0.5)
    last = ctx.floor(high + slack * (1 + abs(high)) + 0.5)
    return int(first), int(last)


def refine(word: int, more: MoreWords, extra: int) -> tuple[int, int]:
    """Return the 63 magnitude bits of a word followed by ``extra`` further words, and their length.

    The tail mass is in [numerator, numerator + 1] 2^-bits; the lowest bit of the word is the side.
    """
    magnitude = word >> 1
    return (magnitude << (64 * extra)) | more(extra), 64 * (extra + 1)


def rounded_quantile(law: Law, word: int, more: MoreWords, scale: float) -> int:
    """Round scale * quantile exactly, taking further words until the rounding is certain."""
    extra = 0
    while True:
        extra += 1
        numerator, bits = refine(word, more, extra)
        if numerator == 0:
            continue  # the mass may be 0 and the quantile infinite: this never decides
        with high_precision(bits + 64) as ctx:
            low, high = enclose(ctx, law, word & 1, numerator, bits)
            first, last = rounded_ends(ctx, low * scale, high * scale)
        if first == last:
            return first
