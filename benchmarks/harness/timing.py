"""Fair timings on a noisy machine: warm-up off the clock, turns taken, ratios within a round."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter, sleep

__all__ = ["race", "ratio_line", "ratios", "seconds_line"]


def race(
    contestants: Mapping[str, Callable[[], object]],
    *,
    rounds: int,
    warmups: int = 1,
    clock: Callable[[], float] = perf_counter,
    rest: float = 0.5,
    run_up: int = 0,
) -> dict[str, list[float]]:
    """Seconds of every contestant in every round.

    Each runs `warmups` times before any clock starts. In each round all run once, one after the
    other, and the round's first starter changes, so that a slow minute of the machine and a warm
    cache hit all of them alike. Before each there is a rest of some seconds: threads of the one
    before (OpenMP's spin for a while after their work) would take a core from the next. With
    `run_up` each runs some times between its rest and its clock, for work that in practice follows
    itself: a virtual processor that rested may come late to the first piece of work.
    """
    names = list(contestants)
    for _ in range(warmups):
        for name in names:
            contestants[name]()
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            sleep(rest)
            for _ in range(run_up):
                contestants[name]()
            start = clock()
            contestants[name]()
            seconds[name].append(clock() - start)
    return seconds


def ratios(seconds: Mapping[str, list[float]], name: str, reference: str) -> list[float]:
    """Time of `name` over time of `reference`, round by round."""
    return [mine / other for mine, other in zip(seconds[name], seconds[reference], strict=True)]


def seconds_line(values: list[float]) -> str:
    """Median and range of some times, such as "12 ms (11 to 15)"."""
    unit, scale = ("ms", 1e3) if median(values) < 1 else ("s", 1.0)
    low, middle, high = (_digits(pick(values) * scale, 3) for pick in (min, median, max))
    return f"{middle} {unit} ({low} to {high})"


def ratio_line(values: list[float]) -> str:
    """Median and range of some ratios, such as "1.3 (1.2 to 1.5)"."""
    low, middle, high = (_digits(pick(values), 2) for pick in (min, median, max))
    return f"{middle} ({low} to {high})"


def _digits(value: float, digits: int) -> str:
    """So many digits, and all of those before the point: never 1.1e+03."""
    return f"{value:,.0f}" if value >= 10**digits else f"{value:.{digits}g}"
