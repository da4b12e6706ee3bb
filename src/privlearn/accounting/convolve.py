"""Compose lattice losses by the fast Fourier transform and read off delta, with proven bounds.

The masses are tilted by e^(t loss) first, so that the absolute error of the transform becomes a
small relative error of delta. What leaves the window on top is bounded by Chernoff's inequality and
added; what wraps around only adds; the rounding of the transform is bounded entry by entry and
added (`accounting.md`, sections 4 and 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import fft

from privlearn.accounting.profiles import TINY, UNIT, Array
from privlearn.accounting.spectrum import spectrum, transform_noise
from privlearn.accounting.tilt import Frame, Summand, log_mgf

MAX_LENGTH = 2**22
_NEGLIGIBLE = -80.0  # logarithm of factors that are left out and paid for


@dataclass(frozen=True)
class Bound:
    """An upper bound on delta, the parts of it that pay for errors, and -d delta / d epsilon."""

    delta: float
    truncation: float
    rounding: float
    slope: float

    @property
    def net(self) -> float:
        """delta without what was added for errors, to compare two grids."""
        return self.delta - self.truncation - self.rounding


@dataclass(frozen=True)
class _Window:
    """Lattice indices first .. first + length - 1 of the composed loss."""

    first: int
    length: int


def _window(frame: Frame, base: float, step: float) -> _Window:
    first = math.floor((frame.bottom - base) / step)
    last = math.ceil((frame.top - base) / step)
    wanted = min(max(last - first + 1, 16), MAX_LENGTH)
    return _Window(first, fft.next_fast_len(wanted, real=True))


@dataclass(frozen=True)
class _Composed:
    """Tilted masses in the window, their log normaliser, and two bounds on the rounding error."""

    mass: Array
    log_scale: float
    entry_error: float  # of each entry
    norm_error: float  # Euclidean norm over all entries

    def error(self, weight: Array) -> float:
        """Bound on the error of the sum of weight * mass."""
        each = self.entry_error * float(np.sum(weight))
        return min(each, self.norm_error * _norm(weight))


def _norm(values: Array) -> float:
    """Euclidean norm; plain sums, since threaded ones cost more than they save at this size."""
    return math.sqrt(float(np.sum(values * values)))


def _compose(summands: Sequence[Summand], tilt: float, window: _Window) -> _Composed:
    exponent = np.zeros(window.length // 2 + 1, dtype=np.complex128)
    relative = np.zeros(exponent.size)
    log_scale = 0.0
    for item in summands:
        log_part, weight = item.log_mgf(tilt)
        part = spectrum(item.index.astype(np.int64), weight, item.count, window.length)
        exponent += item.count * part.log_value
        relative += item.count * (part.relative + 16.0 * UNIT * np.abs(part.log_value))
        log_scale += item.count * log_part
    # |prod(a + e) - prod(a)| <= prod|a| (e^(sum |e|/|a|) - 1); doubled, it pays for its rounding
    relative = np.minimum(2.0 * relative, 700.0)
    active = exponent.real + relative > _NEGLIGIBLE
    product = np.zeros(exponent.size, dtype=np.complex128)
    product[active] = np.exp(exponent[active])
    noise = transform_noise(window.length)
    worst = np.abs(product[active]) * (np.expm1(relative[active]) + noise)
    left_out = math.exp(_NEGLIGIBLE)
    entry_error = 2.0 * float(np.sum(worst)) / window.length + 2.0 * left_out
    norm_error = 2.0 * _norm(worst) / math.sqrt(window.length)
    norm_error += left_out * window.length
    mass = np.roll(fft.irfft(product, window.length), -(window.first % window.length))
    return _Composed(mass, log_scale, entry_error, norm_error)


@np.errstate(over="ignore", invalid="ignore")
def delta_bound(summands: Sequence[Summand], epsilon: float, frame: Frame) -> Bound:
    """Upper bound on the sum of mass(l) (1 - e^(epsilon - l)) over l > epsilon, plus infinity."""
    step, tilt = summands[0].loss.step, frame.tilt
    base = math.fsum(item.count * item.loss.anchor for item in summands)
    infinite = math.fsum(item.count * item.loss.infinite for item in summands)
    window = _window(frame, base, step)
    composed = _compose(summands, tilt, window)

    end = window.first + window.length
    below = math.floor((epsilon - base) / step)  # the last place that adds nothing
    start = min(max(window.first, below), end)
    faded = start + math.ceil(min(-_NEGLIGIBLE / max(tilt * step, 1e-300), 2.0**62))
    index = np.arange(start, min(end, faded), dtype=np.float64)
    slip = 4 * UNIT * math.fsum(item.count * abs(item.loss.anchor) for item in summands)
    slip += 4 * UNIT * (abs(base) + step * max(abs(start), abs(end)))
    above = np.minimum(epsilon - slip - (base + step * index), 0.0)
    decay = np.exp(-tilt * step * (index - start))
    weight = decay * -np.expm1(above)
    log_front = composed.log_scale - tilt * step * start
    front = math.exp(min(log_front, 700.0))
    kept = np.maximum(composed.mass[start - window.first :][: index.size], 0.0)
    inner = float(np.sum(weight * kept))
    slope = front * (float(np.sum(decay * kept)) - inner)  # decay e^(epsilon - l) = decay - weight
    exponents = abs(composed.log_scale) + tilt * step * abs(start)
    relative = _relative_rounding(summands, tilt, exponents) + index.size
    rounding = composed.error(weight) + inner * relative * UNIT
    truncation = infinite * (1 + 8 * UNIT) + TINY
    truncation += _above(summands, frame, base + step * (end - 1))
    if window.first > below:
        truncation += _below(summands, epsilon, frame, base + step * window.first)
    truncation += front * math.exp(_NEGLIGIBLE) * 2.0  # beyond `faded`: the tilted mass is 1
    total = front * (inner + rounding) + truncation
    if not math.isfinite(total):  # a hopeless tilt or window: the trivial bound
        return Bound(1.0, 1.0, 0.0, 0.0)
    return Bound(min(1.0, float(total)), float(truncation), float(front * rounding), slope)


def _above(summands: Sequence[Summand], frame: Frame, last: float) -> float:
    """Chernoff bound on the mass above the window."""
    log_mass = log_mgf(summands, frame.closing) - frame.closing * last
    return math.exp(min(log_mass + 1e-6, 700.0))


def _below(summands: Sequence[Summand], epsilon: float, frame: Frame, first: float) -> float:
    """Chernoff bound on what losses between epsilon and the window add to delta."""
    lever = frame.tilt - frame.opening
    log_mass = log_mgf(summands, frame.opening) - frame.tilt * epsilon + lever * first
    return math.exp(min(log_mass + 1e-6, 700.0))


def _relative_rounding(summands: Sequence[Summand], tilt: float, exponents: float) -> float:
    """Relative error, in roundings, of the exponentials and logarithms in tilting and untilting."""
    total = 32.0 + 8.0 * exponents
    for item in summands:
        reach = max(abs(item.index[0]), abs(item.index[-1])) * tilt * item.loss.step
        largest = float(np.max(np.abs(item.log_mass)))
        total += item.count * (64.0 + 8.0 * (largest + reach))
    return total
