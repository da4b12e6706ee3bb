"""One loop for every rule: the same problems and seeds for each candidate, and a table of scores.

A rule is a module of this package. It says only what differs from rule to rule:

- its docstring, which `--help` prints: what is scored, and what the columns of the table mean;
- ``SEEDS``: how many seeds there are unless `--seeds` says otherwise;
- ``homes(given)``: modules of privlearn whose constants NAME=VALUE may change;
- ``problems(given)``: pairs of a label and a problem, drawn one after the other;
- ``data(problem, seed, given)``: what every candidate is tried on;
- ``score(data, choice, seed, given)``: a number or several; `choice` is the candidate's own, and
  None for the rule as it is;
- ``summary(found, usual)``: {word: number} from the scores, of shape (problems, seeds, numbers),
  of a candidate and of the rule as it is;

and, if it likes, ``candidates(given)`` has {name: `Candidate`}, tried beside the rule as it is,
``arguments(parser)`` adds options of its own, and ``middle(scores)`` says which number of the seeds
stands beside a problem (the mean without it).
"""

from __future__ import annotations

import argparse
import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np

__all__ = ["USUAL", "Candidate", "changed", "derive", "options", "ratios", "scores"]

USUAL = "as it is"


@dataclass(frozen=True)
class Candidate:
    """Constants with other values, and what else the rule's `score` is told."""

    constants: Mapping[str, object] = field(default_factory=dict)
    choice: object = None


def options(rule: ModuleType, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        f"python -m benchmarks.derive {rule.__name__.rpartition('.')[2]}",
        description=rule.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("changes", nargs="*", metavar="NAME=VALUE", help="constants to change; commas join some")
    add("--seeds", type=int, default=rule.SEEDS, help="per problem")
    add("--only", default="", help="problems whose label holds this")
    add("--like", default="", help="of the rule's own candidates, those whose name holds this")
    if hasattr(rule, "arguments"):
        rule.arguments(parser)
    return parser.parse_args(arguments)


def derive(rule: ModuleType, given: argparse.Namespace) -> None:
    """Print every problem as it is done, then a line for each candidate."""
    tried = _candidates(rule, given)
    print("columns:", " | ".join(tried), flush=True)
    found = scores(rule, given, tried)
    lines = {name: rule.summary(own, found[USUAL]) for name, own in found.items()}
    print(f"\n{'':<28}", *(f"{word:>10}" for word in next(iter(lines.values()))))
    for name, numbers in lines.items():
        print(f"{name:<28}", *(f"{number:10.4f}" for number in numbers.values()))


def _candidates(rule: ModuleType, given: argparse.Namespace) -> dict[str, Candidate]:
    own = rule.candidates(given) if hasattr(rule, "candidates") else {}
    own = {name: one for name, one in own.items() if given.like in name}
    asked = {text: Candidate(_constants(text)) for text in given.changes}
    return {USUAL: Candidate()} | own | asked


def _constants(text: str) -> dict[str, object]:
    pairs = (part.split("=", 1) for part in text.split(","))
    return {name: ast.literal_eval(value) for name, value in pairs}


def scores(
    rule: ModuleType, given: argparse.Namespace, tried: Mapping[str, Candidate]
) -> dict[str, np.ndarray]:
    """Scores of every candidate, of shape (problems, seeds, numbers)."""
    middle = getattr(rule, "middle", np.mean)
    found: dict[str, list] = {name: [] for name in tried}
    for label, problem in rule.problems(given):
        if given.only not in label:
            continue
        for own in found.values():
            own.append([])
        for seed in range(given.seeds):
            data = rule.data(problem, seed, given)
            for name, one in tried.items():
                with changed(rule.homes(given), one.constants):
                    score = rule.score(data, one.choice, seed, given)
                found[name][-1].append(np.atleast_1d(score))
        first = ([score[0] for score in own[-1]] for own in found.values())
        print(label, *(f"{middle(values):.5f}" for values in first), flush=True)
    return {name: np.array(own) for name, own in found.items()}


@contextmanager
def changed(homes: Sequence[ModuleType], constants: Mapping[str, object]) -> Iterator[None]:
    """The rule with other numbers, wherever in these modules a name stands."""
    before = [(home, name) for name in constants for home in homes if hasattr(home, name)]
    unknown = set(constants) - {name for _, name in before}
    if unknown:
        places = ", ".join(home.__name__ for home in homes)
        raise ValueError(f"{', '.join(sorted(unknown))} given, but {places} have no such name")
    kept = [(home, name, getattr(home, name)) for home, name in before]
    try:
        for home, name, value in kept:
            new = constants[name]
            setattr(home, name, float(new) if isinstance(value, float) else new)
        yield
    finally:
        for home, name, value in kept:
            setattr(home, name, value)


def ratios(
    found: np.ndarray, usual: np.ndarray, middle: Callable, floor: float = 0.0
) -> dict[str, float]:
    """First numbers over those of the rule as it is: geometric mean, then problem by problem."""
    ratio = (middle(found[..., 0], axis=1) + floor) / (middle(usual[..., 0], axis=1) + floor)
    every = {f"problem {k + 1}": value for k, value in enumerate(ratio.tolist())}
    return {"all": float(np.exp(np.nanmean(np.log(ratio))))} | every
