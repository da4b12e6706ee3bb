"""The samplers round exactly: bounds of the tables, and draws decided against mpmath."""

import mpmath
import numpy as np
import pytest

from privlearn.noise import NoiseSource
from privlearn.noise.evaluate import BINADES, DEGREE, ERROR_COLUMN, SEGMENTS, approximate_quantiles
from privlearn.noise.laws import GAUSSIAN, GUMBEL, LAPLACE, LAWS
from privlearn.noise.precise import quantile
from privlearn.noise.rounding import round_words
from privlearn.noise.selection import bernoulli
from privlearn.noise.skips import _exact_skip
from privlearn.noise.spherical import _approximate, _exact_entries, _length, _rounded_product
from privlearn.noise.tables import (
    REMAINDER_UNITS,
    SLOPE_UNITS,
    UNIT_ROUNDOFF,
    VALUE_UNITS,
    quantile_table,
    segments,
)

by_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)


@pytest.fixture
def mp():
    """A context of 60 digits that is not the one the samplers use."""
    context = mpmath.MPContext()
    context.dps = 60
    return context


def true_tail(mp, law, side, x):
    """The tail mass at x, from mpmath's own distribution functions."""
    outward = x if side else -x
    if law is GAUSSIAN:
        return mp.ncdf(-outward)
    if law is LAPLACE:
        return mp.exp(-outward) / 2 if outward > 0 else 1 - mp.exp(outward) / 2
    return -mp.expm1(-mp.exp(-x)) if side else mp.exp(-mp.exp(-x))


def round_one(law, word, scale, further=None):
    rounded = np.empty(1, dtype=np.int64)

    def extend(i, count):
        assert further is not None, "this word should not have needed further ones"
        return further(count)

    round_words(np.array([word], dtype=np.uint64), extend, law, scale, rounded)
    return int(rounded[0])


def constant_bits(bits, length):
    """Further words that begin with the given bits, then zeros."""

    def further(count):
        shift = 64 * count - length
        return bits << shift if shift >= 0 else bits >> -shift

    return further


# The bounds that noise.md derives the margin from, checked on the rows of every table.


@by_law
@pytest.mark.parametrize(
    "stride", [13, pytest.param(1, marks=pytest.mark.slow)], ids=["some rows", "all rows"]
)
def test_rows_satisfy_the_assumptions_of_the_margin(law, stride):
    """Coefficients and Taylor remainder, the latter enclosed by interval arithmetic."""
    mp, iv = mpmath.MPContext(), mpmath.MPIntervalContext()
    mp.prec, iv.prec = 90, 60
    table = quantile_table(law).T.reshape(2, BINADES + 1, SEGMENTS, ERROR_COLUMN + 1)
    middles, half_widths = segments()
    for side in (0, 1):
        for place in list(np.ndindex(BINADES, SEGMENTS))[::stride]:
            check_row(mp, iv, law, side, table[side][place], middles[place], half_widths[place])


def check_row(mp, iv, law, side, row, middle, half_width):
    slope = abs(row[1])
    assert sum(j * abs(row[j]) for j in range(2, DEGREE + 1)) < 0.05 * slope
    value = quantile(mp, law, side, mp.mpf(middle))
    exact = law.series(mp, side, mp.mpf(middle), value, DEGREE)
    errors = [abs(mp.mpf(row[j]) - exact[j] * mp.mpf(half_width) ** j) for j in range(DEGREE + 1)]
    assert errors[0] <= UNIT_ROUNDOFF * abs(row[0])
    assert sum(errors[1:]) <= 64 * UNIT_ROUNDOFF * slope
    # the derivative of order 9 anywhere in the segment, by a series with interval coefficients
    ends = [quantile(mp, law, side, mp.mpf(middle) + s * mp.mpf(half_width)) for s in (-1, 1)]
    values = iv.mpf([min(ends), max(ends)]) + iv.mpf([-(2.0**-50), 2.0**-50])
    masses = iv.mpf([middle - half_width, middle + half_width])
    last = law.series(iv, side, masses, values, DEGREE + 1)[-1]
    remainder = max(abs(mp.mpf(last.a)), abs(mp.mpf(last.b))) * mp.mpf(half_width) ** (DEGREE + 1)
    assert remainder < REMAINDER_UNITS / 2 * UNIT_ROUNDOFF


def test_mirrored_rows():
    for law in (GAUSSIAN, LAPLACE):
        below, above = quantile_table(law).T.reshape(2, -1, ERROR_COLUMN + 1)
        assert np.array_equal(below[:, :ERROR_COLUMN], -above[:, :ERROR_COLUMN])
        assert np.array_equal(below[:, ERROR_COLUMN], above[:, ERROR_COLUMN])


@by_law
def test_bounds_are_as_stated(law):
    rows = quantile_table(law).T.reshape(2, BINADES + 1, SEGMENTS, ERROR_COLUMN + 1)
    assert np.all(np.isinf(rows[:, BINADES, :, ERROR_COLUMN]))
    rows = rows[:, :BINADES]
    stated = UNIT_ROUNDOFF * (VALUE_UNITS * abs(rows[..., 0]) + SLOPE_UNITS * abs(rows[..., 1]))
    assert np.all(rows[..., ERROR_COLUMN] > stated)
    assert np.all(np.isfinite(rows))
    assert VALUE_UNITS >= 6
    assert SLOPE_UNITS >= 142
    assert REMAINDER_UNITS >= 0.2  # each twice what the proof needs


def check_approximation(law, words):
    """The double lies within half its stated bound of both ends of the word's masses."""
    mp = mpmath.MPContext()
    mp.prec = 120
    values, errors = approximate_quantiles(words, quantile_table(law))
    for word, value, error in zip(words.tolist(), values.tolist(), errors.tolist(), strict=True):
        if error == np.inf:
            assert word >> (64 - BINADES) == 0
            continue
        for numerator in (word >> 1, (word >> 1) + 1):
            x = quantile(mp, law, word & 1, mp.ldexp(numerator, -64))
            assert abs(x - value) <= 0.55 * error  # 0.5 for rounding, 1.1/2 for the width


def edge_words():
    """Ends of binades and segments, all zeros, all ones; both sides of the median."""
    magnitudes = {0, 1, 2**63 - 1, 2**62, 2**62 - 1}
    for binade in range(0, 26):
        start = 1 << (62 - binade)
        for segment in (0, 31):
            first = start + (start >> 5) * segment
            magnitudes |= {first, first + (start >> 5) - 1, first + (start >> 6)}
    words = [2 * m + side for m in sorted(magnitudes) for side in (0, 1)]
    return np.array(words, dtype=np.uint64)


@by_law
def test_array_operations_evaluate_the_rows(mp, law):
    """Row, position and polynomial, found again in Python integers and 60 digits."""
    words = edge_words()
    table = quantile_table(law).T
    values, errors = approximate_quantiles(words, quantile_table(law))
    for word, value, error in zip(words.tolist(), values.tolist(), errors.tolist(), strict=True):
        binade = min(63 - (word >> 1).bit_length(), BINADES)
        if binade == BINADES:
            assert error == np.inf
            continue
        start = 1 << (62 - binade)
        segment, rest = divmod((word >> 1) - start, start >> 5)
        row = table[((word & 1) * (BINADES + 1) + binade) * SEGMENTS + segment]
        t = mp.mpf(rest) / (start >> 6) - 1
        polynomial = sum(mp.mpf(c) * t**j for j, c in enumerate(row[:ERROR_COLUMN].tolist()))
        assert abs(value - polynomial) <= UNIT_ROUNDOFF * (abs(value) + 6 * abs(row[1]))
        assert error == row[ERROR_COLUMN]


@by_law
def test_doubles_are_within_their_bounds(law):
    check_approximation(law, edge_words())
    check_approximation(law, NoiseSource(seed=31).bits(120))
    # small magnitudes, so that every binade is met
    shifts = np.arange(120, dtype=np.uint64) % np.uint64(24)
    check_approximation(law, NoiseSource(seed=32).bits(120) >> shifts)


@pytest.mark.slow
@by_law
def test_doubles_are_within_their_bounds_at_many_points(law):
    words = NoiseSource(seed=33).bits(30_000)
    check_approximation(law, words[:15_000])
    check_approximation(law, words[15_000:] >> (np.arange(15_000, dtype=np.uint64) % np.uint64(24)))


# Draws.


@by_law
@pytest.mark.parametrize("scale", [0.3, 3.0, 2.0**20, 2.0**26])
def test_forced_refinement_changes_nothing(law, scale):
    """With a margin so large that many draws are refined, every result stays the same."""
    fast, slow = NoiseSource(seed=34), NoiseSource(seed=34)
    size = 600
    slow._margin_factor = 0.25 / (scale * 4 * UNIT_ROUNDOFF * 8)
    words = NoiseSource(seed=34).bits(size)
    refined = round_words(
        words,
        lambda i, count: slow._stream.refine(i, count),
        law,
        scale,
        np.empty(size, dtype=np.int64),
        slow._margin_factor,
    )
    assert 60 < refined < 560
    draws = getattr(fast, law.name)(scale, size)
    assert np.array_equal(draws, getattr(slow, law.name)(scale, size))
    # and what follows is the same, too: refinement takes nothing from the main stream
    assert np.array_equal(fast.bits(3), slow.bits(3))


def test_forced_refinement_of_spherical_changes_nothing():
    fast, slow = NoiseSource(seed=35), NoiseSource(seed=35)
    slow._margin_factor = 2.0**26
    for dimension in (1, 2, 7):
        for scale in (0.7, 2.0**20):
            assert np.array_equal(
                fast.spherical(scale, dimension), slow.spherical(scale, dimension)
            )
    slow._margin_factor = np.inf  # every entry
    assert np.array_equal(fast.spherical(2.0**26, 20), slow.spherical(2.0**26, 20))


def test_enclosures_of_spherical_entries(mp):
    """The length and the product of enclosures hold all values, and little more."""
    radial = [(mp.mpf(1), mp.mpf(2)), (mp.mpf(-3), mp.mpf(-2)), (mp.mpf(-1), mp.mpf(1))]
    low, high = _length(mp, radial, 10.0)
    assert low < 10 * mp.sqrt(5) < low + 1e-40
    assert high - 1e-40 < 10 * mp.sqrt(14) < high
    for factor, ends in [((2, 3), (2, 6)), ((-3, -2), (-6, -2)), ((-1, 2), (-2, 4))]:
        inside = [mp.mpf(end) + mp.mpf(0.25) for end in factor]
        assert _rounded_product(mp, (mp.mpf(1), mp.mpf(2)), factor) == ends
        assert _rounded_product(mp, (mp.mpf(1), mp.mpf(1)), inside) == factor


@pytest.mark.parametrize("dimension", [1, 2, 6])
def test_doubles_of_spherical_entries_are_within_their_bounds(mp, dimension):
    for seed in range(4):
        words = NoiseSource(seed=seed).bits(2 * dimension + 1)
        values, margins = _approximate(words, 2.0**20, dimension)
        exact = [quantile(mp, GAUSSIAN, w & 1, mp.ldexp(w >> 1, -64)) for w in words.tolist()]
        length = 2**20 * mp.sqrt(sum(h * h for h in exact[: dimension + 1]))
        for value, margin, g in zip(values, margins, exact[dimension + 1 :], strict=True):
            assert abs(length * g - value) <= margin / 2
            assert 20 * UNIT_ROUNDOFF < margin / abs(value) < 1e-13


def test_words_near_zero_leave_all_spherical_entries_open():
    words = NoiseSource(seed=1).bits(7)
    words[2] = 5  # one of the four radial words
    _, margins = _approximate(words, 1.0, 3)
    assert not np.any(margins < 0.5)


def test_spherical_entry_of_a_zero_word(mp):
    """A radial word of zero bits, extended until it has some mass: 2^-204."""
    magnitude = 2**61
    words, none = [1, 2 * magnitude + 1, 2 * magnitude + 1], constant_bits(0, 64)
    (entry,) = _exact_entries(words, [constant_bits(1, 140), none, none], 1000.0, [0])
    h, g = (quantile(mp, GAUSSIAN, 1, mp.ldexp(1, -exponent)) for exponent in (204, 3))
    assert abs(entry - 1000 * mp.sqrt(h * h + g * g) * g) <= 0.5


def test_spherical_entry_near_a_half_integer(mp):
    """One dimension, x = |(h_1, h_2)| g: the further bits of g decide on which side it falls."""
    magnitude = 2**61 + 12345
    h = quantile(mp, GAUSSIAN, 1, mp.ldexp(magnitude, -64))
    scale, nearest = 2.0**20, 700_000
    mass = true_tail(mp, GAUSSIAN, 1, (nearest + mp.mpf(0.5)) / (scale * mp.sqrt(2) * h))
    for step, entry in ((-(2**40), nearest + 1), (2**40, nearest)):
        # h is known to 2^-184 only, so g stays 2^-144 away from the boundary
        own, bits = divmod(int(mp.floor(mp.ldexp(mass, 184))) + step, 1 << 120)
        words = [2 * magnitude + 1, 2 * magnitude, 2 * own + 1]
        further = [constant_bits(0, 120), constant_bits(0, 120), constant_bits(bits, 120)]
        assert _exact_entries(words, further, scale, [0]) == [entry]


def test_forced_refinement_of_skips_changes_nothing():
    fast, slow = NoiseSource(seed=36), NoiseSource(seed=36)
    slow._margin_factor = 2.0**50
    for rate in (0.1, 1e-3):
        first, second = fast.poisson_batch(rate, 3000), slow.poisson_batch(rate, 3000)
        assert np.array_equal(first, second)
    slow._margin_factor = np.inf
    assert np.array_equal(fast.poisson_batch(0.01, 3000), slow.poisson_batch(0.01, 3000))


@by_law
@pytest.mark.parametrize("side", [0, 1])
def test_half_integers_are_decided_by_further_bits(mp, law, side):
    """The word that holds a boundary rounds up or down as its further bits say."""
    rng = np.random.default_rng(37)
    for scale in (1.0, 2.0**20, 2.0**26 / 3):
        for x in rng.uniform(0.4, 3.0, size=4):
            nearest = int(np.floor((x if side else 0.36 - x) * scale))
            boundary = true_tail(mp, law, side, (nearest + mp.mpf(0.5)) / scale)
            digits = int(mp.floor(mp.ldexp(boundary, 64 + 120)))  # magnitude and 120 bits more
            magnitude, bits = divmod(digits, 1 << 120)
            word = 2 * magnitude + side
            # mass above the boundary: nearer the median
            inner, outer = (nearest, nearest + 1) if side else (nearest + 1, nearest)
            assert round_one(law, word, scale, constant_bits(bits + 1, 120)) == inner
            assert round_one(law, word, scale, constant_bits(bits - 1, 120)) == outer
            # neighbouring words lie wholly on one side of it
            ones, zeros = constant_bits((1 << 64) - 1, 64), constant_bits(0, 64)
            assert round_one(law, word + 2, scale, zeros) == inner
            assert round_one(law, word - 2, scale, ones) == outer


@by_law
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("magnitude", [0, 1, 5, 2**30 + 1, 2**39 - 1, 2**39, 2**63 - 1])
def test_extreme_words(mp, law, side, magnitude):
    """Words at the ends of the range, compared with the cell that holds their mass."""
    scale = 2.0**20 / 3
    bits = 0x123456789ABCDEF << 100  # 160 bits, so that magnitude 0 still has some mass
    mass = mp.ldexp((magnitude << 160) + bits, -224)
    drawn = round_one(law, 2 * magnitude + side, scale, constant_bits(bits, 160))
    masses = [true_tail(mp, law, side, (drawn + s) / scale) for s in (-mp.mpf(0.5), mp.mpf(0.5))]
    assert min(masses) <= mass <= max(masses)


def test_zero_words_are_extended_until_there_is_mass(mp):
    """Magnitude 0 and two further zero words: no infinity, and the cell is right."""
    for law in LAWS:
        for side in (0, 1):
            drawn = round_one(law, side, 1000.0, constant_bits(1, 140))
            ends = [true_tail(mp, law, side, (drawn + s) / 1000) for s in (-0.5, 0.5)]
            assert min(ends) <= mp.ldexp(1, -204) <= max(ends)


def test_boundaries_of_skips(mp):
    """P(skip >= j) = (1 - rate)^j: the word at that mass goes either way with its further bits."""
    for rate in (0.1, 1e-3, 1e-9):
        for j in (1, 2, 700):
            boundary = (1 - mp.mpf(rate)) ** j / 2
            digits = int(mp.floor(mp.ldexp(boundary, 184)))
            for step, skip in ((-1, j), (1, j - 1)):
                magnitude, bits = divmod(digits + step, 1 << 120)
                further = constant_bits(bits, 120)
                assert _exact_skip(2 * magnitude, further, rate, 10**12) == skip
                assert _exact_skip(2 * magnitude, further, rate, 1) == min(skip, 1)


def test_batches_are_continued_to_the_last_row(monkeypatch):
    """When all skips are 0 many blocks of them are needed, and every row is selected."""
    monkeypatch.setattr(
        "privlearn.noise.skips.skips", lambda stream, rate, n, count, factor: np.zeros(count, int)
    )
    assert NoiseSource(seed=1).poisson_batch(0.01, 1000).tolist() == list(range(1000))


class FakeStream:
    """One word of four equal 16-bit pieces, and chosen further words."""

    def __init__(self, piece, further):
        self.piece, self.further = piece, further

    def take(self, count):
        return np.full(count, self.piece * 0x0001_0001_0001_0001, dtype=np.uint64), 0

    def refine(self, index, count):
        words = [self.further[i] if i < len(self.further) else 0 for i in range(count)]
        return sum(word << (64 * (count - 1 - i)) for i, word in enumerate(words))


def test_ties_of_coin_flips():
    """A flip whose first 16 bits equal the rate's is decided by its own further words."""
    rate = 0.3
    numerator, denominator = rate.as_integer_ratio()
    piece, rest = divmod(numerator << 16, denominator)
    second, rest = divmod(rest << 64, denominator)
    assert rest == 0
    further = [second - 1, second, second + 1, 0]  # one word for each of the four pieces
    flips = bernoulli(FakeStream(piece, further), rate, 4)
    assert flips.tolist() == [True, False, False, True]
    # 0.5 ends with its first bit: equal is not below, and 32767 is
    assert bernoulli(FakeStream(32768, []), 0.5, 4).tolist() == [False] * 4
    assert bernoulli(FakeStream(32767, []), 0.5, 4).tolist() == [True] * 4
    tiny = 2.0**-100  # the first 80 bits tie, 20 more decide
    further = [0, 0, 0, 1, 2**44 - 1, 2**44, 2**64 - 1, 0]
    assert bernoulli(FakeStream(0, further), tiny, 4).tolist() == [True, False, False, False]
    assert bernoulli(FakeStream(1, []), tiny, 4).tolist() == [False] * 4


def test_share_of_refined_draws():
    """About one draw in ten million is refined at a scale of 2^26."""
    words = NoiseSource(seed=38).bits(4_000_000)
    refined = round_words(
        words,
        NoiseSource(seed=39)._stream.refine,
        GAUSSIAN,
        2.0**26,
        np.empty(words.size, dtype=np.int64),
    )
    assert refined <= 6
    rows = quantile_table(GUMBEL).T
    assert rows.shape == (2 * (BINADES + 1) * SEGMENTS, ERROR_COLUMN + 1)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_compiled_draws_are_the_same_to_the_last_bit(law):
    """So that the margins proven for `evaluate` hold for compiled draws and skips, too."""
    from privlearn.noise.compiled import _quantile_and_error, write_rounded
    from privlearn.noise.evaluate import approximate_quantiles, round_quantiles
    from privlearn.noise.tables import quantile_table, table_by_piece

    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**64, 4_000, dtype=np.uint64)
    words >>= rng.integers(0, 64, 4_000).astype(np.uint64)
    edges = np.array([0, 1, 2, 3, 2**63 - 1, 2**63, 2**64 - 1, 1 << 10], dtype=np.uint64)
    words = np.concatenate([words, edges])
    values, errors = approximate_quantiles(words, quantile_table(law))
    found = np.array([_quantile_and_error(word, table_by_piece(law)) for word in words])
    np.testing.assert_array_equal(found, np.column_stack([values, errors]))
    for scale in (1.0, 2.0**26):
        plain, compiled = np.empty((2, len(words)), dtype=np.int64)
        doubts = round_quantiles(words, quantile_table(law), scale, 1e6, plain)
        again = write_rounded(words, table_by_piece(law), scale, 1e6, compiled)
        np.testing.assert_array_equal(compiled, plain)
        np.testing.assert_array_equal(again, doubts)
        assert len(doubts)
