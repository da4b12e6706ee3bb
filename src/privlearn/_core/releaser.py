"""The Releaser: the only holder of randomness, and the only way out for anything about the data.

It hands out what the plan holds and refuses the rest. A statistic is rounded to the plan's grid,
the plan's integer noise is added, and the sum of the two integers is what leaves: no bit below the
grid ever does, so the rounding of floating-point numbers tells nothing (see docs/privacy.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from privlearn._core import opening
from privlearn._core.certificate import Certificate
from privlearn._core.mechanisms import Kind
from privlearn._core.numerics import noisy, round_to_grid
from privlearn._core.out_of_memory import AFTER, no_sizes_told
from privlearn._core.plan import Plan, Release
from privlearn._core.problem import Budget
from privlearn._core.release_batch import ReleaseBatch
from privlearn._core.run_settings import Watcher, current_watcher, progress, set_to
from privlearn._core.sampling import FULL, Batches, Disjoint, rows_of_people
from privlearn.exceptions import PlanViolationError

if TYPE_CHECKING:
    from privlearn.noise import NoiseSource

__all__ = ["Counts", "ReleaseBatch", "Releaser", "charge_and_open", "progress", "use_releaser"]

Array = NDArray[np.float64]
T = TypeVar("T")
_CHOICE = 0x726F7773  # tells the seed of a choice of rows from that of noise
_LISTS = 0x6C697374  # the same of noise on counts, of which there are as many as values
Counts = dict[Any, float]
VERBS = {Kind.SELECTION: "select", Kind.DRAW: "draw", Kind.LIST: "publish"}


class Releaser:
    """Adds the planned noise to what a solver releases.

    Parameters
    ----------
    plan : Plan
        Everything that may leave.
    budget : Budget
        What was promised, for the certificate.
    seed : int or None
        None keys the noise from the operating system. A number makes the run reproducible, and
        therefore not private.
    """

    def __init__(self, plan: Plan, budget: Budget, seed: int | None = None) -> None:
        from privlearn.noise import NoiseSource

        self.plan = plan  # of what is still to be released: `narrow` changes it
        self._charged = plan
        self._budget = budget
        self._planned = {release.name: release for release in plan.releases}
        self._made: Counter[str] = Counter()
        self._seed = seed
        self._source = NoiseSource(seed)
        self._ahead: dict[str, NDArray[np.int64]] = {}  # noise that waits for its statistic
        self.ledger_head: str | None = None  # `spend` knows it, where a ledger was charged

    def __call__(self, name: str, statistic: ArrayLike, *, clip: float) -> Array:
        """Release `statistic`, a sum of contributions of norm at most `clip`, with noise."""
        release = self._take(name, np.shape(statistic), clip)
        if release.mechanism.kind is not Kind.NOISE:
            verb = VERBS[release.mechanism.kind]
            raise PlanViolationError(
                f"release {name!r} is a {release.mechanism.kind}; use {verb}, not a plain release"
            )
        if release.sampling != FULL:
            raise PlanViolationError(
                f"release {name!r} is of drawn rows; call steps({name!r}, n, ...)"
            )
        return self._emit(release, np.asarray(statistic, dtype=np.float64))

    def draw_ahead(self, name: str) -> None:
        """Draw the noise of the next release of `name` while its statistic is being computed."""
        self._ahead[name] = self._draw_noise(self._find(name), 1)[0]

    def pass_over(self, name: str, statistic: Callable[[], ArrayLike], *, clip: float) -> None:
        """Use up a planned release at which nobody will look: nothing is computed, nothing leaves.

        Only what was released before may say so. It is paid for all the same, and seeded runs go
        on as if its noise had been drawn. Audits make it all the same: what could be asked for is
        checked whether it is or not.
        """
        self._leave_out(self._take(name, self._find(name).shape, clip), statistic)

    def select(self, name: str, scores: ArrayLike, *, clip: float) -> int:
        """Release the index of the largest score after noise, and nothing else."""
        release = self._take(name, np.shape(scores), clip)
        if release.mechanism.kind is not Kind.SELECTION:
            raise PlanViolationError(
                f"release {name!r} is planned with {release.mechanism.name} noise"
            )
        return int(np.argmax(self._emit(release, np.asarray(scores, dtype=np.float64))))

    def draw(self, name: str, ordered: Array, *, clip: float) -> Array:
        """Release a point drawn by its depth among models, and nothing else.

        Parameters
        ----------
        name : str
            Which planned release; its shape is the point's.
        ordered : array of shape (models, coordinates)
            Every coordinate of the models in order (`tukey_boxes.in_order`).
        clip : float
            How many models one row can change.
        """
        release = self._take(name, ordered.shape[1:], clip)
        return self._draw(release, ordered)

    def best_of_tries(
        self, name: str, attempt: Callable[[int, int | None], tuple[float, T]], *, clip: float
    ) -> T:
        """What the best of a secret number of tries gave, and nothing about the others.

        Parameters
        ----------
        name : str
            Which planned release; its size is the number of settings.
        attempt : callable
            Gets the number of a setting, and a seed or None; gives a score with noise, and what is
            released if no try has a better one.
        clip : float
            As planned.
        """
        release = self._take(name, self._find(name).shape, clip)
        if release.mechanism.kind is not Kind.TRIES:
            raise PlanViolationError(f"release {name!r} is planned as {release.mechanism.name}")
        source = self._noise()

        def once() -> tuple[float, T]:
            setting = int(source.integers(release.size))
            return attempt(setting, None if self._seed is None else int(source.bits(1)[0]) >> 33)

        return release.mechanism.best(source, once)

    def publish(self, name: str, counts: Mapping[Any, float], *, clip: float) -> Counts:
        """Release those values whose noisy counts exceed the planned threshold, and their counts.

        Parameters
        ----------
        name : str
            Which planned release.
        counts : mapping
            How many rows hold each value that is there, in an order that says nothing: sorted.
        clip : float
            The norm of what one row adds to all counts.
        """
        release = self._find(name)
        self._take(name, release.shape, clip)
        least = self.plan.threshold(release)
        if release.mechanism.kind is not Kind.LIST or least is None:
            raise PlanViolationError(f"release {name!r} is planned as {release.mechanism.name}")
        noisy = self._count(release, dict(counts))
        return {value: count for value, count in noisy.items() if count > least}

    def narrow(self, plan: Plan) -> None:
        """Let what follows be of fewer numbers, as what was released says; the price stays paid.

        `plan` is what is still to be released: a part of what was charged, and nothing costlier.
        """
        from privlearn._core.narrowing import narrowed  # loaded before a charge that needs it

        plan = narrowed(plan, self._charged)
        if any(self._made[release.name] for release in plan.releases):
            raise PlanViolationError("a release was made before its plan was narrowed")
        made = {name: one for name, one in self._planned.items() if self._made[name]}
        self._planned = made | {release.name: release for release in plan.releases}
        self.plan = plan

    def steps(
        self,
        name: str,
        n: int,
        *,
        clip: float,
        at_most: int,
        person_starts: NDArray[np.int64] | None = None,
    ) -> ReleaseBatch:
        """Batches and noise for the next releases of `name`, for a compiled loop.

        Parameters
        ----------
        name : str
            Which planned release.
        n : int
            Number of rows.
        clip : float
            What every row's contribution was clipped to.
        at_most : int
            How many steps to hand out; fewer when the plan has fewer left, all of them where they
            share one draw of rows.
        person_starts : array or None, default=None
            Where each person's rows begin, and the end of all, where one may have several: people
            are drawn then, each with all rows.
        """
        release = self._find(name)
        self._demand_people(release, person_starts)
        wanted = release.count if release.sampling.at_once else at_most
        count = max(1, min(wanted, release.count - self._made[name]))
        self._take(name, release.shape, clip, count)
        if person_starts is None:
            return self._hand_out(release, n, count)
        steps = self._hand_out(release, len(person_starts) - 1, count)
        return steps._replace(batches=rows_of_people(steps.batches, person_starts))

    def _demand_people(self, release: Release, starts: NDArray[np.int64] | None) -> None:
        """Refuse what no proof covers where a person may have several rows."""
        if starts is not None and bool(np.any(np.diff(starts) > (self.plan.rows_per_person or 1))):
            raise PlanViolationError("a person has more rows than the plan lets count")
        if (self.plan.rows_per_person or 1) == 1 or release.sampling == FULL:
            return
        if starts is None or release.sampling.at_once:
            raise PlanViolationError(
                f"release {release.name!r} is of drawn rows, but one person may have several of "
                "them; draw people"
            )

    def choice_key(self) -> int:
        """A number by which rows of a person are chosen; nothing about the data decides it.

        It comes from a source of its own: noise and batches do not depend on whether it is asked
        for.
        """
        return int(self._aside(_CHOICE).bits(1)[0])

    def _aside(self, purpose: int) -> NoiseSource:
        """A source of its own, so that what is drawn from it moves no other draw of a seed."""
        from privlearn.noise import NoiseSource

        return NoiseSource(None if self._seed is None else (self._seed << 64) + purpose)

    def partition(self, n: int, groups: int, *, people: bool = False) -> Batches:
        """Part `n` rows, or people, into groups, each in one of them; it tells and costs nothing.

        Groups are equal where the number of rows is public; otherwise each row draws its own, so
        that one row more or less leaves the others where they are.

        Parameters
        ----------
        n : int
            Number of rows, which stays a secret where the plan's relation makes it one.
        groups : int
            Public, or computed from what was released.
        people : bool, default=False
            Whether `n` counts people, each of whom is to go with all rows.
        """
        if (self.plan.rows_per_person or 1) > 1 and not people:
            raise PlanViolationError("rows are dealt to groups, but one person may have several")
        dealt = not self.plan.adjacency.n_is_public
        return self._deal(Disjoint(groups, dealt=dealt), n)

    def noise_scale(self, name: str) -> float:
        """Public scale of the noise of `name`, in the units of its statistic."""
        return self.plan.noise_scale(self._find(name))

    def certificate(self) -> Certificate:
        """What was promised and spent. The whole plan is spent, whatever was released."""
        return Certificate(
            plan=self._charged,
            budget=self._budget,
            private=self._seed is None,
            made=dict(self._made),
            ledger_head=self.ledger_head,
        )

    def _find(self, name: str) -> Release:
        if name not in self._planned:
            raise PlanViolationError(
                f"release {name!r} is not in the plan, which holds {sorted(self._planned)}"
            )
        return self._planned[name]

    def _take(self, name: str, shape: tuple[int, ...], clip: float, count: int = 1) -> Release:
        """Check some releases against the plan and count them, before anything is drawn."""
        release = self._find(name)
        if shape != release.shape:
            raise PlanViolationError(
                f"release {name!r} has shape {shape}, planned was {release.shape}"
            )
        if clip != release.clip:
            raise PlanViolationError(
                f"release {name!r} was clipped to {clip}, planned {release.clip}"
            )
        if self._made[name] + count > release.count:
            raise PlanViolationError(
                f"release {name!r} was planned {release.count} times, not once more"
            )
        self._made[name] += count
        watcher = current_watcher.get()
        if watcher is not None:
            self._report(watcher)
        return release

    def _noise(self) -> NoiseSource:
        """The source of randomness; audits watch who asks for it."""
        return self._source

    def _draw_noise(self, release: Release, count: int) -> NDArray[np.int64]:
        """Noise of `count` releases, in units of the grid."""
        scale = self.plan.noise_scale(release) / self.plan.grid(release)
        source, mechanism = self._noise(), release.mechanism
        if mechanism.independent:
            return mechanism.draw(source, scale, (count, *release.shape))
        return np.stack([mechanism.draw(source, scale, release.shape) for _ in range(count)])

    def _emit(self, release: Release, statistic: Array) -> Array:
        noise = self._ahead.pop(release.name, None)
        if noise is None:
            noise = self._draw_noise(release, 1)[0]
        return noisy(statistic, noise, self.plan.grid(release))

    def _count(self, release: Release, counts: Counts) -> Counts:
        """Noisy counts of all values that are there; how many they are moves no other draw."""
        grid = self.plan.grid(release)
        scale = self.plan.noise_scale(release) / grid
        noise = release.mechanism.draw(self._aside(_LISTS), scale, (len(counts),))
        units = round_to_grid(np.fromiter(counts.values(), np.float64, len(counts)), grid) + noise
        return dict(zip(counts, (units * grid).tolist(), strict=True))

    def _leave_out(self, release: Release, statistic: Callable[[], ArrayLike]) -> None:
        self._noise().pass_over(release.size)

    def _draw(self, release: Release, ordered: Array) -> Array:
        if release.mechanism.kind is not Kind.DRAW:
            raise PlanViolationError(
                f"release {release.name!r} is planned as {release.mechanism.name}"
            )
        scale = self.plan.noise_scale(release)
        return release.mechanism.draw_point(self._noise(), ordered, scale)

    def _hand_out(self, release: Release, n: int, count: int) -> ReleaseBatch:
        batches = release.sampling.draw_many(self._noise(), n, count)
        noise = self._draw_noise(release, count).reshape(count, release.size)
        nothing = np.empty((0, release.size))
        return ReleaseBatch(batches, noise, self.plan.grid(release), nothing, nothing, nothing)

    def _deal(self, sampling: Disjoint, n: int) -> Batches:
        return sampling.draw_many(self._noise(), n, sampling.batches)

    def _report(self, watcher: Watcher) -> None:
        """Tell whoever watches how many of the planned releases were made; both are public."""
        watcher(self._made.total(), sum(one.count for one in self._charged.releases))

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError("a Releaser cannot be copied or pickled: a copy would repeat its noise")


Opener = Callable[[Plan, Budget, int | None], Releaser]
_opener: ContextVar[Opener] = ContextVar("privlearn_releaser", default=Releaser)


def use_releaser(opener: Opener) -> AbstractContextManager[None]:
    """Let audits and tests put their own Releaser in the place of the real one."""
    return set_to(_opener, opener)


@contextmanager
def charge_and_open(
    plan: Plan,
    budget: Budget,
    *,
    ledger: object = None,
    dataset: str | None = None,
    random_state: object = None,
    stream: str | None = None,
) -> Iterator[Releaser]:
    """Charge the plan, then lend a Releaser for it. A crash inside refunds nothing.

    `stream` is the id of a stream whose first batch this is; only ledgers that count batches need
    to know the word.
    """
    from privlearn.noise.source import seed_of

    seed = seed_of(random_state)
    if _opener.get() is Releaser:  # audits have their own, and say so
        opening.warn_first(budget, seeded=seed is not None)
    head: object = None
    opening.log_plan(plan, budget, dataset, charged=ledger is not None)
    if ledger is not None:
        known = {} if stream is None else {"stream": stream}
        head = opening.charge_of(ledger)(plan, dataset, **known)
    releaser = _opener.get()(plan, budget, seed)
    releaser.ledger_head = head if isinstance(head, str) else None
    # From here on no number may stop a fit or warn: which one did would tell about a row.
    with no_sizes_told(AFTER), np.errstate(all="ignore"):
        yield releaser
