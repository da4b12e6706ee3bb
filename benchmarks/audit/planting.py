"""A planted bug: less noise than was planned and is accounted for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["less_noise"]


@contextmanager
def less_noise(share: float) -> Iterator[None]:
    """Let every mechanism draw noise of `share` times the scale that it was asked for."""
    from privlearn._core.mechanisms import MECHANISMS

    drawn = {type(mechanism): type(mechanism).draw for mechanism in MECHANISMS}
    try:
        for kind, draw in drawn.items():
            kind.draw = _smaller(draw, share)
        yield
    finally:
        for kind, draw in drawn.items():
            kind.draw = draw


def _smaller(draw, share):
    return lambda self, source, scale, shape: draw(self, source, share * scale, shape)
