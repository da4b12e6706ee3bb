"""What an accountant says, what is true, and what an attack proves: three views of one epsilon."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy import optimize, special, stats

__all__ = [
    "exact_multiplier",
    "fixed_size_epsilon",
    "mixture_epsilon",
    "moments_epsilon",
    "moments_multiplier",
    "planned_multiplier",
    "true_epsilon",
    "visits",
]

ORDERS = np.arange(2, 257)


# What the accountants say


def moments_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """The moments accountant: Renyi orders 2 to 256 of Poisson-sampled Gaussian noise.

    Moments: Mironov, Talwar and Zhang 2019, section 3.3; to epsilon by Canonne, Kamath and Steinke
    2020, proposition 12, which is tighter than the conversion of Abadi et al. 2016.
    """
    k = np.arange(ORDERS[-1] + 1)
    log_moments = special.logsumexp(
        _log_binomials(rate) + k * (k - 1) / (2 * multiplier**2), axis=1
    )
    divergence = steps * log_moments / (ORDERS - 1)
    found = divergence + np.log1p(-1 / ORDERS) - np.log(delta * ORDERS) / (ORDERS - 1)
    return max(0.0, float(np.min(found)))


@cache
def _log_binomials(rate: float) -> np.ndarray:
    """Row a holds the logarithms of Binomial(ORDERS[a], rate); minus infinity beyond its end."""
    k = np.arange(ORDERS[-1] + 1)
    return stats.binom.logpmf(k, ORDERS[:, None], rate)


def moments_multiplier(epsilon: float, rate: float, steps: int, delta: float) -> float:
    """The smallest sigma with MA(delta, sigma, rate, steps) <= epsilon: Algorithm 1, step 2."""
    return float(
        optimize.brentq(
            lambda sigma: moments_epsilon(sigma, rate, steps, delta) - epsilon, 0.3, 60, xtol=1e-4
        )
    )


def exact_multiplier(epsilon: float, rate: float, steps: int, delta: float) -> float:
    """The same with privlearn's accountant, which loses nothing but a grid's width."""
    from privlearn.accounting import SampledGaussian, smallest_scale

    return smallest_scale(lambda z: [(SampledGaussian(rate, z), steps)], epsilon, delta)


def planned_multiplier(epsilon: float, setting) -> float:
    """What a fit would use: the plan of the hidden-alpha mechanism, calibrated as fits do it."""
    from privlearn._core.calibration import calibrate
    from privlearn._core.plan import Plan, Release
    from privlearn._core.problem import Adjacency, Budget
    from privlearn._core.sampling import Poisson

    release = Release(
        "dual step", (2,), setting.clip, sampling=Poisson(setting.rate), count=setting.steps
    )
    plan = calibrate(
        lambda scale: Plan((release,), Adjacency.ZERO_OUT, scale, rows=setting.rows),
        Budget(epsilon, setting.delta),
    )
    return plan.noise_multiplier(release)


# What is true of an output that shows who was sampled


def visits(rate: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """How often a row is in the batch, and with what probability; the rest is below 1e-30."""
    counts = np.arange(int(stats.binom.isf(1e-30, steps, rate)) + 1)
    return counts, stats.binom.pmf(counts, steps, rate)


def true_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of [alpha; v] at every step, the visits K being visible.

    Given K, the noise of K visits is one Gaussian mechanism with mu = sqrt(K) / sigma: two shifts
    of C under noise of deviation sqrt(2) C sigma per visit. Its curve is the same both ways round.
    """
    counts, weights = visits(rate, steps)
    mu = np.sqrt(counts[1:]) / multiplier

    def excess(epsilon: float) -> float:
        upper = special.ndtr(mu / 2 - epsilon / mu)
        lower = np.exp(epsilon + special.log_ndtr(-mu / 2 - epsilon / mu))
        return float(weights[1:] @ (upper - lower)) - delta

    return float(optimize.brentq(excess, 0.0, 1e3))


# What is true of v alone, when batches have a fixed size


def fixed_size_epsilon(multiplier: float, rate: float, steps: int, delta: float) -> float:
    """Epsilon of v at every step, from below: all other rows move against the canary.

    A batch of fixed size that draws the canary leaves out another row, so relative to a batch
    without it v moves by 2 C, or by C where the canary makes no update. `multiplier` is sigma; the
    noise on v is sqrt(2) sigma C.
    """
    with_row, without = ((1 - rate, 0.0), (rate, 2.0)), ((1 - rate, 0.0), (rate, 1.0))
    noise = float(np.sqrt(2.0) * multiplier)
    return max(
        mixture_epsilon(with_row, without, noise, steps, delta),
        mixture_epsilon(without, with_row, noise, steps, delta),
    )


Mixture = tuple[tuple[float, float], ...]  # of (weight, mean)


def mixture_epsilon(
    first: Mixture, second: Mixture, noise: float, steps: int, delta: float
) -> float:
    """Epsilon of `steps` independent draws of `first` against `second`, from below.

    Losses are rounded down to a grid and composed by FFT.
    """
    grid, size = 3e-5, 2**21
    edges = np.linspace(-12 * noise - 2, 12 * noise + 2, 400_001)
    loss = _log_density(first, edges, noise) - _log_density(second, edges, noise)
    least = np.floor(np.minimum(loss[1:], loss[:-1]) / grid).astype(np.int64)
    mass = sum(weight * np.diff(special.ndtr((edges - mean) / noise)) for weight, mean in first)
    spectrum = np.fft.rfft(np.bincount(least % size, mass, minlength=size))
    composed = np.fft.irfft(spectrum**steps, size)
    positive = grid * np.arange(size // 2)  # the other half holds negative losses
    tail = composed[: size // 2][::-1]
    above, scaled = np.cumsum(tail)[::-1], np.cumsum(tail * np.exp(-positive[::-1]))[::-1]
    deltas = above - np.exp(positive) * scaled
    return float(positive[np.flatnonzero(deltas > delta)[-1]]) if deltas[0] > delta else 0.0


def _log_density(mixture: Mixture, x: np.ndarray, noise: float) -> np.ndarray:
    terms = [np.log(weight) - 0.5 * ((x - mean) / noise) ** 2 for weight, mean in mixture]
    return special.logsumexp(terms, axis=0)
