"""One look for all pictures, readable without colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "MARKERS", "dressed_axes", "shortened"]

# Okabe and Ito 2008: told apart with any of the common kinds of colour blindness.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def dressed_axes(ax: Axes | None, height: float = 4.0) -> Axes:
    """The axes that were given, or new ones, in the common style."""
    if ax is None:
        try:
            from matplotlib import pyplot
        except ModuleNotFoundError:
            raise ModuleNotFoundError(
                "pictures need matplotlib; pip install 'privlearn[plot]'"
            ) from None
        _, ax = pyplot.subplots(figsize=(7.0, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    return ax


def shortened(word: str, most: int = 40) -> str:
    """Text for an axis: no mathematics, no control characters, not too long."""
    plain = "".join(c if c.isprintable() else "?" for c in word).replace("$", r"\$")
    return plain if len(plain) <= most else plain[: most - 1] + "…"
