"""NoiseSource: every random number of the library, drawn exactly."""

import math
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from privlearn.noise import selection
from privlearn.noise.laws import GAUSSIAN, GUMBEL, LAPLACE, Law
from privlearn.noise.stream import WordStream, seeded_keys, system_keys
from privlearn.noise.vectors import check_generator

Size = int | tuple[int, ...]
Integers = NDArray[np.int64]

MAX_SCALE = 2.0**40
"""The largest scale in grid units. No draw reaches 2^62 (noise.md, "Range")."""


class NoiseSource:
    """Random numbers for privacy: cryptographic, exact, and never the same twice.

    Integer noise follows *exactly* the law of a rounded continuous variable (no floating-point
    approximation; the proof is in ``noise.md``), so that adding it to a statistic on the grid is
    post-processing of the continuous mechanism. Scales are in grid units.

    A source may be shared by threads. Without a seed every draw has a key of its own, fresh from
    the operating system, and none is kept: neither a forked child nor a machine that is restored
    from a snapshot repeats what another draws. A source cannot be copied or pickled, because the
    copy of a seeded one would repeat its noise.

    Parameters
    ----------
    seed : None, the default, takes 512 bits of key from the operating system for every draw. An
        integer >= 0 makes the draws reproducible, and therefore not private.

    Examples
    --------
    >>> source = NoiseSource(seed=1)
    >>> source.gaussian(std=2.0**20, size=(2, 3)).shape
    (2, 3)
    >>> NoiseSource().private, source.private
    (True, False)
    """

    __slots__ = ("__weakref__", "_margin_factor", "_stream")

    def __init__(self, seed: int | None = None) -> None:
        check_generator()
        self._stream = None if seed is None else WordStream(seeded_keys(seed))
        self._margin_factor = 1.0  # tests enlarge it, to send more draws through the refinement

    @property
    def private(self) -> bool:
        """Whether the key came from the operating system rather than from a seed."""
        return self._stream is None

    def __repr__(self) -> str:
        origin = "keyed by the operating system" if self.private else "seeded, not private"
        return f"<NoiseSource {origin}>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:  # `copy` asks it, too
        raise TypeError(
            "a NoiseSource cannot be copied or pickled, because the copy would repeat its noise; "
            "make a new NoiseSource() where the noise is needed"
        )

    def _words(self) -> WordStream:
        """Return the stream of one draw: that of the seed, or one with a key of its own.

        A child never continues its parent's stream, not even a seeded one: siblings must differ.
        """
        stream = self._stream
        return WordStream(system_keys()) if stream is None or stream.stale else stream

    def gaussian(self, std: float, size: Size = ()) -> Integers:
        """Draw round(std * N(0, 1)), exactly.

        Parameters
        ----------
        std : standard deviation in grid units, 0 < std <= 2^40.
        size : shape of the result.

        Examples
        --------
        >>> NoiseSource(seed=0).gaussian(std=0.01, size=4)
        array([0, 0, 0, 0])
        """
        return self._rounded(GAUSSIAN, _checked_scale("std", std), size)

    def laplace(self, scale: float, size: Size = ()) -> Integers:
        """Draw round(scale * X), exactly, X with density exp(-|x|)/2.

        Examples
        --------
        >>> NoiseSource(seed=0).laplace(scale=5.0, size=3).dtype
        dtype('int64')
        """
        return self._rounded(LAPLACE, _checked_scale("scale", scale), size)

    def gumbel(self, scale: float, size: Size = ()) -> Integers:
        """Draw round(scale * X), exactly, X with distribution function exp(-exp(-x)).

        Examples
        --------
        >>> NoiseSource(seed=0).gumbel(scale=5.0, size=3).dtype
        dtype('int64')
        """
        return self._rounded(GUMBEL, _checked_scale("scale", scale), size)

    def spherical(self, scale: float, dimension: int) -> Integers:
        """Draw a vector with density proportional to exp(-|x|_2 / scale), each entry rounded.

        Its length before rounding is Gamma(dimension, scale), its direction uniform.

        Examples
        --------
        >>> NoiseSource(seed=0).spherical(scale=100.0, dimension=3).shape
        (3,)
        """
        from privlearn.noise.spherical import rounded_spherical

        scale = _checked_scale("scale", scale)
        dimension = _checked_count("dimension", dimension)
        if dimension == 0:
            return np.zeros(0, dtype=np.int64)
        if scale * math.sqrt(dimension + 1) > MAX_SCALE:
            raise ValueError(
                f"scale={scale} is too large for dimension={dimension}: scale * sqrt(dimension + 1)"
                " may be at most 2**40; use a coarser grid"
            )
        return rounded_spherical(self._words(), scale, dimension, self._margin_factor)

    def bits(self, count: int) -> NDArray[np.uint64]:
        """Return ``count`` uniform 64-bit words.

        Examples
        --------
        >>> NoiseSource(seed=0).bits(2).dtype
        dtype('uint64')
        """
        words, _ = self._words().take(_checked_count("count", count))
        return words

    def pass_over(self, count: int) -> None:
        """Leave out ``count`` words of a seed, as if they had been drawn; without one nothing is.

        Examples
        --------
        >>> one, other = NoiseSource(seed=0), NoiseSource(seed=0)
        >>> one.pass_over(2)
        >>> bool(one.bits(1)[0] == other.bits(3)[2])
        True
        """
        if not self.private:
            self.bits(count)

    def integers(self, bound: int, size: Size = ()) -> Integers:
        """Draw integers exactly uniform on 0, ..., bound - 1, for 1 <= bound <= 2^63.

        Examples
        --------
        >>> int(NoiseSource(seed=0).integers(6, size=100).max())
        5
        """
        bound = _checked_count("bound", bound)
        if not 1 <= bound <= 2**63:
            raise ValueError(f"bound={bound}, but the bound must lie in 1, ..., 2**63")
        shape = _shape(size)
        return selection.uniform_below(self._words(), bound, math.prod(shape)).reshape(shape)

    uniform_below = integers

    def bernoulli(self, rate: float, size: Size = ()) -> NDArray[np.bool_]:
        """Draw booleans that are True with probability ``rate``, exactly that double.

        Examples
        --------
        >>> NoiseSource(seed=0).bernoulli(1.0, size=3)
        array([ True,  True,  True])
        """
        rate, shape = _checked_rate(rate), _shape(size)
        return selection.bernoulli(self._words(), rate, math.prod(shape)).reshape(shape)

    def poisson_batch(self, rate: float, n: int) -> Integers:
        """Select each of n rows independently with probability ``rate``; sorted row numbers.

        The law is exact for the double ``rate``.

        Examples
        --------
        >>> NoiseSource(seed=0).poisson_batch(rate=1.0, n=3)
        array([0, 1, 2])
        """
        return selection.poisson_batch(
            self._words(), _checked_rate(rate), _checked_count("n", n), self._margin_factor
        )

    def permutation(self, n: int) -> Integers:
        """Return an exactly uniform order of 0, ..., n - 1.

        Examples
        --------
        >>> sorted(NoiseSource(seed=0).permutation(3).tolist())
        [0, 1, 2]
        """
        return selection.permutation(self._words(), _checked_count("n", n))

    def _rounded(self, law: Law, scale: float, size: Size) -> Integers:
        from privlearn.noise.rounding import rounded_draws

        return rounded_draws(self._words(), law, scale, _shape(size), self._margin_factor)


def _shape(size: Size) -> tuple[int, ...]:
    """Return the size as a tuple of nonnegative integers."""
    lengths: tuple[Any, ...] = size if isinstance(size, tuple) else (size,)
    return tuple(_checked_count("size", length) for length in lengths)


def _checked_count(name: str, value: int) -> int:
    """Return a nonnegative integer, or say what is wrong with it."""
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}={value!r} is not an integer")
    if value < 0:
        raise ValueError(f"{name}={value} is negative; it must be an integer >= 0")
    return value.__index__()


def _checked_scale(name: str, value: float) -> float:
    """Return a scale that the samplers support, or say what is wrong with it."""
    if not 0 < value <= MAX_SCALE:  # also refuses nan
        raise ValueError(
            f"{name}={value}, but it must be positive and at most 2**40 grid units; "
            "choose a grid step between 2**-40 and 2**-20 of the noise scale"
        )
    return float(value)


def _checked_rate(value: float) -> float:
    """Return a probability, or say what is wrong with it."""
    if not 0 <= value <= 1:
        raise ValueError(f"rate={value}, but a sampling rate must lie in [0, 1]")
    return float(value)


def seed_of(random_state: object) -> int | None:
    """A seed, of runs to be repeated, from scikit-learn's random_state; None stays None."""
    if random_state is None:
        return None
    if isinstance(random_state, int | np.integer):
        if random_state < 0:
            raise ValueError(f"random_state={random_state}, but a seed is 0 or more")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    raise TypeError(
        f"random_state is a {type(random_state).__name__}; give None (private), or, for a "
        "reproducible and so not private run, an int, a RandomState or a Generator"
    )
