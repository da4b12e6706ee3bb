"""References that share no line and no idea with the code under test.

`inverted_delta` inverts the Laplace transform of the profile,

    delta(eps) = 1/(2 pi i) * integral of M(s)^T e^(-s eps) / (s (s + 1)) ds,   M(s) = E_P e^(s L),

along a vertical line. M is a Gauss-Legendre integral over the *output* of the mechanism, so there
is no loss grid, no rounding up and no window: the answer is exact to about 1e-8 of itself.
`two_step_delta` integrates the profile of one step over the loss of the other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import integrate, optimize, special


class UnresolvedError(Exception):
    """The integrand oscillates too fast for this reference."""


@dataclass(frozen=True)
class Law:
    """Losses and log probabilities of quadrature nodes under P."""

    loss: np.ndarray
    log_mass: np.ndarray


def _nodes(low, high, loss, width, degree=16):
    """Nodes and log weights in panels over which x moves by 0.2 and the loss by `width` at most."""
    x, w = np.polynomial.legendre.leggauss(degree)
    edges = np.linspace(low, high, math.ceil((high - low) / 0.2) + 1)
    parts = np.ceil(np.abs(np.diff(loss(edges))) / width).astype(int).clip(1)
    if parts.sum() > 20_000:
        raise UnresolvedError
    left = np.repeat(edges[:-1], parts)
    size = np.repeat(np.diff(edges) / parts, parts)
    left = left + size * (np.arange(left.size) - np.repeat(np.cumsum(parts) - parts, parts))
    nodes = (left + size / 2)[:, None] + size[:, None] / 2 * x
    weights = size[:, None] / 2 * w
    return nodes.ravel(), np.log(weights.ravel())


def _log_normal(x):
    return -x * x / 2 - 0.5 * math.log(2 * math.pi)


def sampled(rate, noise, kind, reach=13.0):
    """Poisson-sampled Gaussian: kind is 'there', 'gone' or 'replace'."""
    mu = 1 / noise
    rest = math.log1p(-rate) if rate < 1 else -math.inf

    def ratio(x):
        return np.logaddexp(rest, math.log(rate) + mu * x - mu * mu / 2)

    def build(width):
        x, log_w = _nodes(-reach, reach + mu, lambda x: ratio(x) - ratio(-x), width)
        up, down = ratio(x), ratio(-x)
        if kind == "there":
            return Law(up, _log_normal(x) + up + log_w)
        if kind == "gone":
            return Law(-up, _log_normal(x) + log_w)
        return Law(up - down, _log_normal(x) + up + log_w)

    return build


def gaussian(mu, reach=13.0):
    def build(width):
        x, log_w = _nodes(-reach, reach, lambda x: mu * x, width)
        return Law(mu * x + mu * mu / 2, _log_normal(x) + log_w)

    return build


def laplace(epsilon):
    def build(width):
        x, log_w = _nodes(-epsilon, epsilon, lambda x: x, min(width, epsilon / 4))
        loss = np.append(x, [epsilon, -epsilon])
        atoms = [math.log(0.5), math.log(0.5) - epsilon]
        masses = np.append(log_w + (x - epsilon) / 2 - math.log(4), atoms)
        return Law(loss, masses)

    return build


def pure(epsilon):
    def build(width):
        low = -epsilon - math.log1p(math.exp(-epsilon))
        return Law(np.array([epsilon, -epsilon]), np.array([low + epsilon, low]))

    return build


def bounded_range(epsilon):
    """The loss of the envelope has density proportional to e^(l/2) on [-epsilon, epsilon]."""

    def build(width):
        x, log_w = _nodes(-epsilon, epsilon, lambda x: x, min(width, epsilon / 4))
        constant = epsilon / 2 - math.log(2 * math.expm1(epsilon))
        return Law(x, log_w + x / 2 + constant)

    return build


def mixture(mus, weights):
    """Gaussian pairs with a public random mu; a mu of zero is an atom at loss zero."""

    def build(width):
        parts = [(gaussian(mu)(width), w) for mu, w in zip(mus, weights, strict=True) if mu > 0]
        losses = [law.loss for law, _ in parts]
        masses = [law.log_mass + math.log(w) for law, w in parts]
        atom = sum(w for mu, w in zip(mus, weights, strict=True) if mu == 0)
        if atom:
            losses.append(np.zeros(1))
            masses.append(np.array([math.log(atom)]))
        return Law(np.concatenate(losses), np.concatenate(masses))

    return build


def _cumulants(laws, tilt):
    total = mean = variance = 0.0
    for law, count in laws:
        exponent = law.log_mass + tilt * law.loss
        log_sum = special.logsumexp(exponent)
        weight = np.exp(exponent - log_sum)
        centre = weight @ law.loss
        total += count * log_sum
        mean += count * centre
        variance += count * (weight @ (law.loss - centre) ** 2)
    return total, mean, variance


def _line(laws, tilt, epsilon, step, accuracy, limit=60_000):
    """Trapezoid sum along the line, and the last frequency used."""
    tilted = []
    for law, count in laws:
        exponent = law.log_mass + tilt * law.loss
        weight = np.exp(exponent - special.logsumexp(exponent))
        kept = weight > 1e-24
        tilted.append((law.loss[kept], weight[kept], count))
    total, start = 0.0, 0
    while start < limit:
        omega = step * np.arange(start, start + 64)
        log_value = -1j * omega * epsilon
        for loss, weight, count in tilted:
            log_value = log_value + count * np.log(
                (np.exp(1j * np.outer(omega, loss)) * weight).sum(axis=1)
            )
        s = tilt + 1j * omega
        term = (np.exp(log_value) / (s * (1 + s))).real
        if start == 0:
            term[0] /= 2
        total += term.sum()
        start += 64
        # what is left behaves at worst like 1/omega^2 times the present size
        if np.max(np.abs(term)) * start < accuracy * abs(total):
            return total * step / math.pi, step * start
    raise UnresolvedError


def inverted_delta(terms, epsilon, accuracy=1e-8):
    """delta of a composition of (builder, count) in one direction, to relative `accuracy` or so."""
    width = 0.5
    laws = [(build(width), count) for build, count in terms]
    if epsilon >= sum(count * law.loss.max() for law, count in laws):
        return 0.0

    def slope(log_tilt):
        tilt = math.exp(log_tilt)
        return tilt * (_cumulants(laws, tilt)[1] - epsilon) - 1 - tilt / (1 + tilt)

    if slope(16.0) < 0:
        raise UnresolvedError  # epsilon is next to the largest loss
    tilt = math.exp(optimize.brentq(slope, -12, 16, xtol=1e-3))
    log_front, _, variance = _cumulants(laws, tilt)
    log_front -= tilt * epsilon
    guess = max(log_front - math.log(tilt * (1 + tilt)) - 25, -60)
    period = max(16 * math.sqrt(variance + 2 / tilt**2), (20 - guess) / tilt)
    for _ in range(8):
        value, last = _line(laws, tilt, epsilon, 2 * math.pi / period, accuracy)
        if width * last < 16:  # 16 nodes follow a phase of 16
            return math.exp(log_front) * value
        width = min(width / 2, 12 / last)
        laws = [(build(width), count) for build, count in terms]
    raise UnresolvedError


def profile_of(law, loss):
    """delta(loss) of one step from quadrature nodes, any real loss."""
    return float(np.exp(law.log_mass) @ np.maximum(-np.expm1(loss - law.loss), 0.0))


def two_step_delta(rate, noise, kind, epsilon):
    """Two sampled steps: E over the first loss of the closed single-step profile."""
    law = sampled(rate, noise, kind)(0.01)
    other = {"there": "gone", "gone": "there", "replace": "replace"}[kind]
    rest = epsilon - law.loss
    forward = single_sampled_delta(rate, noise, kind, np.maximum(rest, 0.0))
    backward = single_sampled_delta(rate, noise, other, np.maximum(-rest, 0.0))
    value = np.where(rest >= 0, forward, -np.expm1(rest) + np.exp(rest) * backward)
    return float(np.exp(law.log_mass) @ value)


def single_sampled_delta(rate, noise, kind, epsilon):
    """P(L > eps) - e^eps Q(L > eps) from normal distribution functions, by root and by tails."""
    mu = 1 / noise
    epsilon = np.asarray(epsilon, dtype=float)
    sf = special.ndtr
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if kind == "there":
            x = (np.log1p(np.expm1(epsilon) / rate) + mu * mu / 2) / mu
            tail = (1 - rate) * sf(-x) + rate * sf(mu - x)
            return tail - np.exp(epsilon) * sf(-x)
        if kind == "gone":
            odds = 1 + np.expm1(-epsilon) / rate
            x = (np.log(np.maximum(odds, 0.0)) + mu * mu / 2) / mu
            value = sf(x) - np.exp(epsilon) * ((1 - rate) * sf(x) + rate * sf(x - mu))
            return np.where(odds > 0, value, 0.0)
        turned = np.arcsinh((1 - rate) * np.sinh(epsilon / 2) * math.exp(mu * mu / 2) / rate)
        x = (epsilon / 2 + turned) / mu
        tail = (1 - rate) * sf(-x) + rate * sf(mu - x)
        return tail - np.exp(epsilon) * ((1 - rate) * sf(-x) + rate * sf(-mu - x))


def two_laplace_delta(epsilon, loss):
    """delta(loss) of two Laplace mechanisms, by integrating over the first loss."""

    def profile(x):
        if x >= epsilon:
            return 0.0
        return -math.expm1((x - epsilon) / 2) if x > -epsilon else -math.expm1(x)

    total = 0.5 * profile(loss - epsilon) + 0.5 * math.exp(-epsilon) * profile(loss + epsilon)
    inner, _ = integrate.quad(
        lambda x: 0.25 * math.exp((x - epsilon) / 2) * profile(loss - x),
        -epsilon,
        epsilon,
        points=[max(-epsilon, min(epsilon, loss - epsilon))],
        epsabs=1e-15,
        epsrel=1e-13,
    )
    return total + inner
