"""Kendall's rank correlation of two columns, counted exactly, with every column sorted once.

Columns come as ranks. Rows are laid out in the order of one column, and the inversions of the
other's ranks are counted from their highest bits down: rows are dealt by three bits at a time to
eight places, in order, and each counts the earlier ones that went to a higher place. What is left
after that are short runs of ranks that occur once each, which a bit for every rank seen settles.
"""

from typing import NamedTuple

import numpy as np

from privlearn._core.jit import jit

__all__ = ["Ranks", "concordance", "count_sparse", "rank_column", "starts_without_ties"]

# Seven counters of nine bits in a word: how many of a block's rows went to a higher place than d.
DIGIT = 3
LANE = np.uint64(9)
LANE_MASK = np.uint64(511)
BLOCK = 511  # rows, so that no counter overflows
ABOVE = np.array([sum(1 << (9 * k) for k in range(d)) for d in range(8)], dtype=np.uint64)
LAST_BITS = 9  # 8 words of 64 bits: a run of so many ranks needs no more dealing

_ODD = np.uint64(0x5555555555555555)
_PAIRS = np.uint64(0x3333333333333333)
_NIBBLES = np.uint64(0x0F0F0F0F0F0F0F0F)
_BYTES = np.uint64(0x0101010101010101)


class Ranks(NamedTuple):
    """A column as places in its own order; equal values share a rank.

    `starts[r]` counts the values of a rank below r, and `ties` the pairs of equal values.
    """

    ranks: np.ndarray  # uint32
    starts: np.ndarray  # int32, one more than there are distinct values
    ties: int

    @property
    def distinct(self):
        """Number of distinct values."""
        return self.starts.size - 1


def starts_without_ties(n):
    """`starts` of every column of n distinct values; they share it."""
    return np.arange(n + 1, dtype=np.int32)


def rank_column(values, whole):
    """Rank a column of finite numbers.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers.
    whole : array of shape (n + 1,)
        `starts_without_ties(n)`.

    Returns
    -------
    Ranks

    Examples
    --------
    >>> rank_column(np.array([2.5, -1.0, 2.5]), starts_without_ties(3)).ranks
    array([1, 0, 1], dtype=uint32)
    """
    values = np.ascontiguousarray(values)
    ranks, starts = np.empty(values.size, dtype=np.uint32), np.empty_like(whole)
    distinct, ties = _write_ranks(values, np.argsort(values), ranks, starts)
    return Ranks(ranks, whole if distinct == values.size else starts[: distinct + 1].copy(), ties)


@jit(nogil=True)
def _write_ranks(values, order, ranks, starts):
    """Write ranks and starts; number of distinct values and of tied pairs."""
    distinct, ties, first = 0, 0, 0
    for i in range(order.size):
        if i > 0 and values[order[i]] != values[order[i - 1]]:
            starts[distinct] = first
            distinct += 1
            first = i
        ties += i - first
        ranks[order[i]] = distinct
    if order.size:
        starts[distinct] = first
        distinct += 1
    starts[distinct] = order.size
    return distinct, ties


@jit(nogil=True)
def _ones(word):
    """How many bits of a word are set; compilers know the idiom."""
    word = word - ((word >> np.uint64(1)) & _ODD)
    word = (word & _PAIRS) + ((word >> np.uint64(2)) & _PAIRS)
    return (((word + (word >> np.uint64(4))) & _NIBBLES) * _BYTES) >> np.uint64(56)


@jit(nogil=True)
def _deal(source, target, first, last, shift, mask, places, earlier):
    """Deal rows by a digit of their ranks, in order; pairs of which the earlier went higher.

    Counts in packed counters within blocks, in `earlier` from block to block.
    """
    found = 0
    earlier[:] = 0
    for begin in range(first, last, BLOCK):
        packed, inside = np.uint64(0), np.uint64(0)
        end = min(begin + BLOCK, last)
        for i in range(begin, end):
            rank = source[i]
            digit = (rank >> np.uint32(shift)) & np.uint32(mask)
            inside += (packed >> (LANE * np.uint64(digit))) & LANE_MASK
            packed += ABOVE[digit]
            target[places[digit]] = rank
            places[digit] += 1
        found += np.int64(inside)
        at_least = end - begin
        for digit in range(7):
            higher = np.int64((packed >> (LANE * np.uint64(digit))) & LANE_MASK)
            found += (at_least - higher) * earlier[digit]
            earlier[digit] += higher
            at_least = higher
    return found


@jit(nogil=True)
def _last_bits(source, first, last, lowest, seen):
    """Inversions of a run of at most 512 ranks from `lowest` on, each of which comes once."""
    seen[:] = 0
    packed, found = np.uint64(0), np.uint64(0)
    for i in range(first, last):
        place = source[i] - np.uint32(lowest)
        word, bit = place >> np.uint32(6), np.uint64(place & np.uint32(63))
        found += (packed >> (LANE * np.uint64(word))) & LANE_MASK
        found += _ones(seen[word] >> bit)
        packed += ABOVE[word]
        seen[word] |= np.uint64(1) << bit
    return np.int64(found)


@jit(nogil=True)
def _settled(starts, value, bits):
    """Whether the run of 2^bits ranks around `value` has no ties, so that bits settle it."""
    low = (value >> bits) << bits
    high = min(low + (1 << bits), starts.size - 1)
    return starts[high] - starts[low] == high - low


@jit(nogil=True)
def _inversions(source, target, starts):
    """Pairs of rows of which the earlier has the higher rank; both arrays are overwritten."""
    places, earlier = np.empty(8, np.int64), np.empty(8, np.int64)
    seen = np.empty(8, np.uint64)
    distinct, depth, found, settling = starts.size - 1, 0, 0, -1
    while (1 << depth) < distinct:
        depth += 1
    unsettled = True
    while depth > 0 and unsettled:
        unsettled = False
        if settling < 0 and depth <= LAST_BITS:
            settling = depth
        step = min(DIGIT, depth)
        for low in range(0, distinct, 1 << depth):
            high = min(low + (1 << depth), distinct)
            first, last = starts[low], starts[high]
            if settling >= 0 and _settled(starts, low, settling):
                if settling == depth:
                    found += _last_bits(source, first, last, low, seen)
                continue
            unsettled = True
            for digit in range(8):
                places[digit] = starts[min(low + (digit << (depth - step)), high)]
            mask = (1 << step) - 1
            found += _deal(source, target, first, last, depth - step, mask, places, earlier)
        source, target = target, source
        depth -= step
    return found


@jit(nogil=True)
def _lay_out(order, ranks, target):
    """Ranks of one column in the order of another without ties, whose ranks are places."""
    for row in range(order.size):
        target[order[row]] = ranks[row]


@jit(nogil=True)
def _lay_out_ties(order, order_starts, ranks, starts, between, target):
    """Ranks in the order of another column, increasing where that is tied; pairs tied in both.

    Two stable passes, by the ranks themselves first.
    """
    places = starts[:-1].copy()
    for row in range(order.size):
        between[places[ranks[row]]] = order[row]
        places[ranks[row]] += 1
    places = order_starts[:-1].copy()
    tied_in_both = 0
    for rank in range(starts.size - 1):
        for i in range(starts[rank], starts[rank + 1]):
            place = places[between[i]]
            target[place] = rank
            places[between[i]] += 1
    for group in range(order_starts.size - 1):
        first = order_starts[group]
        for i in range(first, order_starts[group + 1]):
            if target[i] != target[first]:
                first = i
            tied_in_both += i - first
    return tied_in_both


@jit(nogil=True)
def _count(order, order_starts, order_ties, ranks, starts, ties, between, target):
    """Concordant less discordant pairs."""
    n, both = order.size, 0
    if order_ties == 0:
        _lay_out(order, ranks, target)
    else:
        both = _lay_out_ties(order, order_starts, ranks, starts, between, target)
    compared = n * (n - 1) // 2 - order_ties - ties + both
    return compared - 2 * _inversions(target, between, starts)


def concordance(first, second, room):
    """Number of concordant less number of discordant pairs of rows; a tie is neither.

    Parameters
    ----------
    first, second : Ranks
        Two columns of the same n rows.
    room : array of shape (2, n), uint32
        Overwritten.

    Examples
    --------
    >>> x, y = np.array([1.0, 2.0, 3.0]), np.array([5.0, 5.0, 7.0])
    >>> whole = starts_without_ties(3)
    >>> concordance(rank_column(x, whole), rank_column(y, whole), np.empty((2, 3), np.uint32))
    2
    """
    # An order without ties is laid out in one pass; few distinct ranks are counted in one.
    order, inner = (first, second) if first.distinct >= second.distinct else (second, first)
    return _count(order.ranks, order.starts, order.ties, *inner, room[0], room[1])


@jit(nogil=True)
def count_sparse(values, rows, starts, ranks, below, n, longest, first, last, found):
    """Concordant less discordant pairs of sparse columns and one that is ranked, exactly.

    Of a column's entries that are not stored, all zeros, only how many lie below and above a row in
    the other column counts: that is known for all rows, less what is known for stored ones. Pairs
    of stored entries are looked at one by one; columns that have more than `longest` are left out.
    """
    for j in range(first, last):
        total = np.int64(0)
        if starts[j + 1] - starts[j] > longest:
            continue
        for a in range(starts[j], starts[j + 1]):
            x, rank = values[a], ranks[rows[a]]
            sign = (x > 0.0) - (x < 0.0)
            lower, higher = below[rank], n - below[rank + 1]
            total += sign * (lower - higher)
            for b in range(starts[j], a):
                order = np.int64(rank > ranks[rows[b]]) - np.int64(rank < ranks[rows[b]])
                other = (values[b] > 0.0) - (values[b] < 0.0)
                total += order * ((x > values[b]) - (x < values[b]) - sign + other)
        found[j] = total
