"""A digest of columns, compiled: sums of bits times weights that belong to places."""

import numpy as np

from privlearn._core.jit import jit

__all__ = ["add_to_digest", "write_weights"]

STEP, MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)
HALF, ODD = np.uint64(32), np.uint64(1)


@jit(nogil=True)
def write_weights(first, weights):
    """Odd numbers for places from `first` on: a mixing function of the place (splitmix64's)."""
    place = np.uint64(first)
    for i in range(weights.size):
        mixed = (place + np.uint64(i)) * STEP
        mixed ^= mixed >> HALF
        mixed *= MIX
        mixed ^= mixed >> HALF
        weights[i] = mixed | ODD


@jit(nogil=True)
def add_to_digest(words, weights, total):
    """Add words of bits, times their weights, to `total[0]`, modulo 2^64."""
    found = np.uint64(0)
    for i in range(words.size):
        found += np.uint64(words[i]) * weights[i]
    total[0] += found
