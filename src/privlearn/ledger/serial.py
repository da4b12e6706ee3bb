"""Pairs as JSON and back, to the last bit: what a ledger file keeps of a plan."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from privlearn.accounting import (
    ApproximateLoss,
    BoundedRange,
    Gaussian,
    GaussianMixture,
    Laplace,
    Pair,
    PureLoss,
    SampledGaussian,
    TwoBounds,
)

__all__ = ["FORMAT", "pair_from_text", "pair_to_text", "terms_from_text", "terms_to_text"]

FORMAT = 3  # of the ledger file; raise it when anything that is written changes its meaning

_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Gaussian,
        SampledGaussian,
        Laplace,
        PureLoss,
        ApproximateLoss,
        TwoBounds,
        BoundedRange,
        GaussianMixture,
    )
}


def pair_to_text(pair: Pair) -> str:
    """JSON of one pair; floats are written with all their digits, so equal pairs give equal texts.

    Examples
    --------
    >>> from privlearn.accounting import Gaussian
    >>> pair_to_text(Gaussian(0.1))
    '["Gaussian",{"mu":0.1}]'
    """
    kind = type(pair).__name__
    if _KINDS.get(kind) is not type(pair):
        raise TypeError(
            f"the plan holds a {kind}, which a ledger cannot write down; "
            "use the pairs of privlearn.accounting"
        )
    values = {field.name: getattr(pair, field.name) for field in fields(pair)}
    return json.dumps([kind, values], separators=(",", ":"), allow_nan=False)


def pair_from_text(text: str) -> Pair:
    """The pair that `pair_to_text` wrote."""
    kind, values = json.loads(text)
    values = {name: tuple(v) if isinstance(v, list) else v for name, v in values.items()}
    pair: Pair = _KINDS[kind](**values)
    return pair


def terms_to_text(terms: Iterable[tuple[Pair, int]]) -> str:
    """JSON of all pairs of a plan with their counts."""
    return json.dumps([[pair_to_text(pair), int(count)] for pair, count in terms])


def terms_from_text(text: str) -> tuple[tuple[Pair, int], ...]:
    """The pairs that `terms_to_text` wrote."""
    return tuple((pair_from_text(pair), count) for pair, count in json.loads(text))
