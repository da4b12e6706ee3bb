"""delta(epsilon) from the privacy loss distribution: choose the grid, then compose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from privlearn.accounting.convolve import Bound, delta_bound
from privlearn.accounting.directed import Directed, directions
from privlearn.accounting.discretise import Profile, profile_on_grid
from privlearn.accounting.pairs import Pair, PureLoss
from privlearn.accounting.profiles import Array
from privlearn.accounting.spectrum import transform_noise
from privlearn.accounting.tilt import CumulantTable, Summand, choose_frame

FINE = 3e-4  # aimed relative error of epsilon; the answer is an upper bound whatever the aim

_FIRST_BINS = 512
_FIRST_GROWTH = 1 / 128
_MAX_BINS = 2**20
_TABLE_DOTS = 4000  # beyond, the table of the level before is good enough to choose from
_LEFT_OUT = 1e-7  # of delta, in the mass above the grid
_MOVED_UP = 1e-9  # of the mass underneath
_SETTLED = 2e-5  # relative change of delta below which a finer grid is not worth it
_NEGLIGIBLE = 1e-290  # a delta that is not worth computing


@dataclass(frozen=True)
class Evaluation:
    """One evaluation of delta, with everything that is stated about its error.

    Attributes
    ----------
    delta : float
        The upper bound.
    discretisation : float
        First-order estimate of how much the grid adds to epsilon, from two grids.
    discretisation_bound : float
        Proven bound: epsilon exceeds the true one at (1 - 1e-3) delta by at most this.
    truncation, rounding : float
        Proven bounds, in units of delta; they are contained in `delta`.
    tilt : float
        -d log(delta) / d(epsilon), about.
    """

    delta: float
    discretisation: float = 0.0
    discretisation_bound: float = 0.0
    truncation: float = 0.0
    rounding: float = 0.0
    tilt: float = math.nan


Terms = Sequence[tuple[Pair, int]]
DirectedTerms = list[tuple[Directed, int]]


def evaluate(
    terms: Terms, epsilon: float, tolerance: float = FINE, enough: float = 0.0
) -> Evaluation:
    """Upper bound on delta(epsilon): the worse of the two directions.

    A bound that is below `enough` is not refined any further.
    """
    both = [(directions(pair), count) for pair, count in terms]
    there = [(pair[0], count) for pair, count in both]
    gone = [(pair[1], count) for pair, count in both]
    lattice = _lattice(terms)
    worst = _one_direction(there, epsilon, tolerance, lattice, enough)
    if gone != there:
        enough = max(enough, worst.delta)
        other = _one_direction(gone, epsilon, tolerance, lattice, enough)
        worst = max(worst, other, key=lambda found: found.delta)
    return worst


def _lattice(terms: Terms) -> float:
    """The distance of the two atoms of the most frequent PureLoss: the step should divide it."""
    pure = [(count, 2 * pair.epsilon) for pair, count in terms if isinstance(pair, PureLoss)]
    return max(pure)[1] if pure else 0.0


@dataclass
class _Search:
    """Where the refinement of one direction stands."""

    terms: DirectedTerms
    epsilon: float
    lattice: float
    log_delta: float = math.log(1e-3)  # what delta is about
    width: float = 0.0  # first step, in units of _FIRST_BINS
    left_out: float = _LEFT_OUT
    table_tail: float = 0.0  # the tail when cumulants were tabulated last
    tail: float = 1.0  # mass that the grid leaves out on top
    level: int = 0
    last: tuple[int, float] | None = None  # level and excess before

    @property
    def count(self) -> int:
        return sum(times for _, times in self.terms)

    @property
    def step(self) -> float:
        return _step(self.width / _FIRST_BINS * 2.0 ** (-self.level / 2), self.lattice)

    @property
    def wanted_tail(self) -> float:
        """The mass that the grid may leave out on top, for the delta that is expected."""
        return max(1e-300, math.exp(self.log_delta) * self.left_out)

    def pairs_on_grid(self) -> list[tuple[Profile, int]]:
        """Put every pair on the grid of this level."""
        below = _MOVED_UP / self.count
        self.tail = self.wanted_tail
        above = self.tail / self.count
        if not self.width:
            ends = [pair.support(below, above) for pair, _ in self.terms]
            width = max(high - low for low, high in ends)
            # a step of the size of epsilon would hide it, unless the sum is much wider anyway
            least = width * math.sqrt(self.count) / 2**14
            self.width = min(width, _FIRST_BINS * max(self.epsilon / 8, least))
        growth = _FIRST_GROWTH * 2.0 ** (-self.level / 4)
        return [
            (profile_on_grid(pair, self.step, growth, below, above), times)
            for pair, times in self.terms
        ]

    def tighten(self, bound: Bound) -> bool:
        """Expect a smaller delta if tail, window or rounding were too generous for this one."""
        found = math.log(bound.delta)
        lost = math.fsum(times * getattr(pair, "missing", 0.0) for pair, times in self.terms)
        long_tail = bound.truncation - lost > 1e-4 * bound.delta and self.tail > 1e-290
        if found < self.log_delta - 2.5 and found > math.log(1e-280):
            self.log_delta = found - 1.0
        elif long_tail:
            self.left_out *= 1e-3
        else:
            return False
        return True

    def needs_table(self, summands: Sequence[Summand]) -> bool:
        """Whether the cumulants have to be tabulated again: unless the grid is just finer."""
        small = sum(item.index.size for item in summands) < _TABLE_DOTS
        needed = small or self.tail != self.table_tail
        self.table_tail = self.tail
        return needed

    def quick_bound(self, summands: Sequence[Summand], table: CumulantTable) -> float:
        """Chernoff's bound on delta; it also corrects what delta is expected to be."""
        log_chernoff = table.log_chernoff(self.epsilon)
        self.log_delta = min(self.log_delta, log_chernoff)
        return math.exp(log_chernoff) * (1 + 1e-9) + _infinite(summands)

    def wants_longer_tail(self, summands: Sequence[Summand], quick: float) -> bool:
        """Whether most of the answer would be what the grid leaves out on top."""
        return _infinite(summands) > quick / 2 and self.wanted_tail < self.tail / 10

    def scale(self, bound: Bound) -> float:
        """What to compare errors of epsilon with: epsilon, or at zero the fall of delta by 1/e."""
        if self.epsilon > 1e-3:
            return self.epsilon
        return max(self.epsilon, bound.delta / max(bound.slope, 1e-300))

    def excess(self, bound: Bound, thin: Bound) -> float:
        """Estimate what the grid adds to epsilon.

        The thinned grid connects every other dot. Its error exceeds the error of the full one by
        three to one (smooth losses, error ~ step^2) or by one to one (a bulk inside one bin, error
        ~ step); half the difference stands between the two. Where rounding is all that the thinned
        grid shows, it says nothing: every loss may be off by a step.
        """
        if thin.net <= 0:
            return self.count * self.step
        change = thin.net - bound.net
        if change <= _SETTLED * bound.delta:
            return 0.0
        return min(change / max(bound.slope, 1e-300) / 2, self.count * self.step)

    @property
    def foreseen_excess(self) -> float:
        """The excess of the last level, if it falls with the step only linearly."""
        if self.last is None:
            return math.inf
        return self.last[1] * 2.0 ** ((self.last[0] - self.level) / 2)

    def refine(self, excess: float, wanted: float) -> None:
        """Go to the step at which the excess should be as wanted, by the order seen so far."""
        order = 2.0
        if self.last is not None and excess < self.last[1]:
            seen = math.log2(self.last[1] / excess) / ((self.level - self.last[0]) / 2)
            order = max(1.0, min(2.0, seen))
        self.last = (self.level, excess)
        self.level += min(7, max(1, math.ceil(2 / order * math.log2(excess / wanted) + 0.2)))


def _one_direction(
    terms: DirectedTerms, epsilon: float, tolerance: float, lattice: float, enough: float
) -> Evaluation:
    """Refine until the grid adds less than `tolerance` to epsilon, or delta is below `enough`."""
    if epsilon >= sum(times * pair.top for pair, times in terms) * (1 + 1e-14):
        return Evaluation(0.0)
    search = _Search(terms, epsilon, lattice)
    best = Evaluation(1.0)
    for _ in range(60):
        profiles = search.pairs_on_grid()
        summands = _summands(profiles)
        if search.needs_table(summands):
            table = CumulantTable.of(summands)
            quick = search.quick_bound(summands, table)
            if quick <= max(enough, _NEGLIGIBLE):
                return Evaluation(min(1.0, quick))
            if search.wants_longer_tail(summands, quick):
                continue
        noise = 3 * transform_noise(2**17)  # about, see spectrum.py
        frame = choose_frame(table, epsilon, search.log_delta, noise, search.step)
        bound = delta_bound(summands, epsilon, frame)
        best = min(best, _evaluation(summands, bound), key=lambda known: known.delta)
        if best.delta <= enough:
            return best
        if search.tighten(bound):
            continue
        wanted = tolerance * search.scale(bound)
        excess = search.foreseen_excess
        if excess > wanted:
            thinned = _summands([(profile.thinned(), times) for profile, times in profiles])
            excess = search.excess(bound, delta_bound(thinned, epsilon, frame))
        best = replace(best, discretisation=excess if best.delta == bound.delta else math.inf)
        if excess <= wanted or (frame.top - frame.bottom) / search.step > _MAX_BINS:
            break
        search.refine(excess, wanted)
    return best


def _infinite(summands: Sequence[Summand]) -> float:
    return math.fsum(item.count * item.loss.infinite for item in summands)


def _summands(profiles: Sequence[tuple[Profile, int]]) -> list[Summand]:
    return [Summand.of(profile.loss(), times) for profile, times in profiles]


def _evaluation(summands: Sequence[Summand], bound: Bound) -> Evaluation:
    proven = _proven_excess(summands, bound.delta)
    return Evaluation(
        bound.delta, math.inf, proven, bound.truncation, bound.rounding, bound.slope / bound.delta
    )


def _step(step: float, lattice: float) -> float:
    """Fit the step to the lattice, then keep 24 bits, so that multiples of it are exact."""
    if lattice:
        step = lattice / (2 * math.ceil(lattice / (2 * step)))
    mantissa, exponent = math.frexp(step)
    return math.ldexp(round(mantissa * 2**24), exponent - 24)


def _proven_excess(summands: Sequence[Summand], delta: float) -> float:
    """A bound t with delta_grid(eps + t) <= delta_true(eps) + delta/1000 (section 3 of the note).

    The grid adds an independent error to each loss, of mean-zero type and at most as wide as the
    gap it falls into; Chernoff's inequality bounds the chance that the errors sum to more than t.
    """
    slack = math.log(1000 / delta) if delta > 0 else math.inf
    gaps = [_widest_gaps(item) for item in summands]
    step = summands[0].loss.step
    typical = step * math.sqrt(sum(item.count for item in summands))
    best = math.inf
    for order in np.geomspace(0.5, 200, 12) / typical:
        total = slack
        for item, gap in zip(summands, gaps, strict=True):
            exponent = item.log_mass + order * (order + 1) / 8 * gap**2
            total += item.count * float(np.logaddexp.reduce(exponent))
        best = min(best, total / order)
    return float(best)


def _widest_gaps(item: Summand) -> Array:
    """The larger distance from each dot to its neighbours."""
    gap = item.loss.step * np.diff(item.index, prepend=item.index[0], append=item.index[-1])
    return np.maximum(gap[:-1], gap[1:])


def single(pair: Pair, epsilon: float) -> Evaluation:
    """delta(epsilon) of one release from the closed form of its profile, rounded up."""
    worst = Evaluation(0.0)
    for direction in directions(pair, anchored=False):
        value, error = direction.upper(np.array([epsilon - direction.anchor]))
        delta = min(1.0, float(value[0] + error[0]))
        if delta > worst.delta:
            worst = Evaluation(delta, rounding=float(error[0]))
    return worst
