"""Characteristic functions of lattice losses, accurate where their high powers are not negligible.

phi(w) = sum_j f_j e^(-iwj) is raised to the power T, so an error of phi is multiplied by T. But
|phi|^T matters only where |phi - 1| is about 1/T or less, and there phi - 1 itself can be had with
a small relative error: a sum by parts, twice, turns the near masses into

    phi - 1 = -|z - 1|^2 (a/2 + sum_j S_j z^j) - i m sin w,    z = e^(-iw),

with m the mean, a the mean of |j| and S >= 0 the twice summed masses; only the few far masses are
transformed as they are (`accounting.md`, section 5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from privlearn.accounting.profiles import UNIT, Array

Complex = NDArray[np.complex128]

_VANISHES = -800.0  # logarithm of a power whose phase does not matter
_FAR = 40.0  # expected number of far losses in the composition


def transform_noise(length: int) -> float:
    """Bound on the relative error of one transform, entry by entry and in Euclidean norm.

    Each entry is a sum over paths of log2(length) butterflies; 8 roundings are granted to each
    (Higham 2002, theorem 24.2, has 6.7 for radix 2 with exact tables).
    """
    return 8.0 * UNIT * (2.0 + math.log2(length))


@dataclass(frozen=True)
class Spectrum:
    """log phi at the frequencies of a real transform, and the bounds |error of phi| / |phi|."""

    log_value: Complex
    relative: Array


def spectrum(index: NDArray[np.int64], mass: Array, count: int, length: int) -> Spectrum:
    """Characteristic function of masses that sum to 1, to be raised to the power `count`."""
    reach = _near_reach(index, mass, count)
    near = np.abs(index) <= reach
    half = np.arange(length // 2 + 1) * (math.pi / length)
    ramp = 4.0 * np.sin(half) ** 2  # |z - 1|^2
    far_mass = float(np.sum(mass[~near]))
    noise = transform_noise(length)
    excess = _transform(index[~near], mass[~near], length) - far_mass
    error = np.full(half.size, 4.0 * noise * far_mass)
    if reach > 0:
        place, summed, upward, downward = _twice_summed(index[near], mass[near], reach)
        curve = _transform(place, summed, length)
        both = upward + downward
        excess -= 1j * (upward - downward) * np.sin(2 * half) + ramp * (both / 2 + curve)
        slack = noise + 8.0 * UNIT * (2.0 + math.sqrt(reach))
        error += ramp * slack * (both + float(np.sum(summed)))
        error += np.sqrt(ramp) * (64.0 * UNIT) * both
    size = np.abs(1.0 + excess)
    floor = np.maximum(error, 1e-300)
    lost = size < floor
    excess[lost] = floor[lost] - 1.0  # any value of that size will do
    size = np.maximum(size, floor)
    relative = error / size
    return Spectrum(_logarithm(excess, size, relative, count), relative)


def _logarithm(excess: Complex, size: Array, relative: Array, count: int) -> Complex:
    """log(1 + excess), sharp where it is small; without its phase where the power vanishes.

    Where count (log size + 2 relative) <= -800, the product of all powers is left out and paid for
    (`convolve.py`), whatever the other factors and their errors are (at most e^700).
    """
    value = np.log(size).astype(np.complex128)
    matters = np.flatnonzero(value.real + 2.0 * relative > _VANISHES / count)
    near = excess[matters]
    square = near.real * (2.0 + near.real) + near.imag**2  # |phi|^2 - 1
    sharp = 0.5 * np.log1p(np.maximum(square, -0.9))
    value.real[matters] = np.where(size[matters] < 0.5, value.real[matters], sharp)
    value.imag[matters] = np.arctan2(near.imag, 1.0 + near.real)
    return value


def _near_reach(index: NDArray[np.int64], mass: Array, count: int) -> int:
    """The distance beyond which `count` summands have few losses; 0 when all are few."""
    if count <= _FAR:
        return 0
    distance = np.abs(index)
    order = np.argsort(distance, kind="stable")
    beyond = np.cumsum(mass[order][::-1])[::-1]  # mass at this distance or more
    first_far = int(np.searchsorted(-beyond, -_FAR / count))
    return int(distance[order][min(first_far, order.size - 1)])


def _transform(place: NDArray[np.int64], weight: Array, length: int) -> Complex:
    """Transform of weights at lattice places, wrapped around the length."""
    if place.size == 0:
        return np.zeros(length // 2 + 1, dtype=np.complex128)
    return fft.rfft(np.bincount(place % length, weights=weight, minlength=length))


def _twice_summed(
    index: NDArray[np.int64], mass: Array, reach: int
) -> tuple[NDArray[np.int64], Array, float, float]:
    """Places and values of S, and the means of the positive and the negative part.

    S_j = sum over i > j of (i - j) f_i for j >= 1, mirrored for j <= -1.
    """
    places, values, means = [], [], []
    for side in (1, -1):
        dense = np.zeros(reach + 2)
        chosen = side * index > 0
        dense[side * index[chosen]] = mass[chosen]
        survival = _suffix_sums(dense[1:])  # P(j >= k), k = 1 ..
        means.append(float(np.sum(mass[chosen] * np.abs(index[chosen]))))
        values.append(_suffix_sums(survival[1:]))
        places.append(side * np.arange(1, values[-1].size + 1))
    return np.concatenate(places), np.concatenate(values), means[0], means[1]


def _suffix_sums(values: Array) -> Array:
    """Sums from each entry to the end, in blocks: about 2 sqrt(size) roundings each."""
    width = max(1, math.isqrt(values.size))
    rows = -(-values.size // width)
    padded = np.zeros(rows * width)
    padded[: values.size] = values
    blocks = padded.reshape(rows, width)
    inside = np.cumsum(blocks[:, ::-1], axis=1)[:, ::-1]
    after = np.concatenate([np.cumsum(inside[:0:-1, 0])[::-1], [0.0]])
    return (inside + after[:, None]).ravel()[: values.size]
