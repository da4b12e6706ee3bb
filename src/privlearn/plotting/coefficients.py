"""Coefficients of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn.exceptions import UnsupportedCombinationError
from privlearn.plotting.style import COLOURS, MARKERS, dressed_axes, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["coefficients"]

Array = NDArray[np.float64]
GREY = "#5b6775"


def coefficients(model: PrivateEstimator, *, ax: Axes | None = None, most: int = 30) -> Axes:
    """Coefficients of a linear model, with what privacy noise does to them where that is known.

    Bars are two standard deviations of the privacy noise on either side (`coef_noise`); that rows
    are a sample of people is not in them. Marks without a bar are hollow where others have one: of
    those noise leaves too little to tell.

    Parameters
    ----------
    model : estimator
        Fitted.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.
    most : int, default=30
        How many features to show; of more, those with the largest coefficients, or the largest
        beside their noise where it is known.

    Returns
    -------
    matplotlib.axes.Axes
        With one row per feature.

    Examples
    --------
    >>> import numpy as np
    >>> from privlearn import LinearRegression, plotting
    >>> X = np.linspace(0, 1, 2_000).reshape(-1, 2)
    >>> model = LinearRegression(bounds_X=(0, 1), bounds_y=(0, 1)).fit(X, X[:, 0])
    >>> plotting.coefficients(model).get_xlabel()  # doctest: +SKIP
    'coefficient, per unit of the feature'
    """
    if hasattr(model, "feature_map_"):
        raise UnsupportedCombinationError(
            "coefficients of a kernel's random features say nothing one by one; draw those of a "
            "linear model"
        )
    coef = np.atleast_2d(model.coef_)
    noise, known = _noise(model, coef.shape)
    chosen = _largest(coef, noise, most)
    axes = dressed_axes(ax, 1.2 + 0.32 * len(chosen))
    labels = [shortened(word) for word in _words(model, coef.shape[1])]
    places = np.arange(len(chosen))
    outputs = _outputs(model, len(coef))
    for k, (row, spread, label) in enumerate(zip(coef, noise, outputs, strict=True)):
        shift = 0.0 if len(coef) == 1 else 0.6 * (k / (len(coef) - 1) - 0.5)
        style: dict[str, Any] = {"marker": MARKERS[k % 7], "color": COLOURS[k % 7], "label": label}
        told = np.isfinite(spread[chosen]) | (not known)
        bars = np.where(np.isfinite(spread[chosen]), 2.0 * spread[chosen], 0.0)[told]
        if bars.any():
            style |= {"xerr": bars, "capsize": 3}
        at = places + shift
        axes.errorbar(row[chosen][told], at[told], linestyle="none", **style)
        _draw_untold(axes, row[chosen][~told], at[~told], MARKERS[k % 7])
    axes.axvline(0.0, color="#555555", linewidth=0.8)
    axes.set_yticks(places, [labels[j] for j in chosen])
    axes.set_ylim(len(chosen) - 0.5, -0.5)
    axes.grid(False, axis="y")
    axes.set_xlabel("coefficient, per unit of the feature")
    some = "" if len(chosen) == coef.shape[1] else f" ({len(chosen)} of {coef.shape[1]})"
    bars_are = ", with two deviations of the privacy noise" if known else ""
    axes.set_title(f"Coefficients{some}{bars_are}", loc="left", fontsize="medium")
    if len(coef) > 1:
        axes.legend(title="class", frameon=False)
    return axes


def _noise(model: Any, shape: tuple[int, ...]) -> tuple[Array, bool]:  # noqa: ANN401
    """Standard deviations of the noise, NaN where they are not told, and whether any might be."""
    if hasattr(model, "_errors"):
        return np.atleast_2d(model.summary().noise[: shape[1]]), True
    found = np.atleast_2d(getattr(model, "_coef_noise", np.full(shape, np.nan)))
    return found, bool(np.isfinite(found).any())


def _draw_untold(axes: Axes, values: Array, places: Array, marker: str) -> None:
    """Hollow marks: without a bar they would look like the surest."""
    axes.plot(values, places, marker, markerfacecolor="none", color=GREY, linestyle="none")
    for value, place in zip(values, places, strict=True):
        beside: dict[str, Any] = {"xytext": (7, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate("not told", (value, place), fontsize="small", color=GREY, **beside)


def _largest(coef: Array, noise: Array, most: int) -> NDArray[np.int64]:
    """Features in their own order, those that stand out if they are too many."""
    if coef.shape[1] <= most:
        return np.arange(coef.shape[1])
    known = np.isfinite(noise).all()
    sizes = np.abs(coef / np.maximum(noise, 1e-300) if known else coef).max(axis=0)
    return np.sort(np.argsort(-sizes, kind="stable")[:most])


def _words(model: PrivateEstimator, width: int) -> list[str]:
    names = getattr(model, "feature_names_out_", None)
    return [f"column {j}" for j in range(width)] if names is None else [*map(str, names)]


def _outputs(model: PrivateEstimator, outputs: int) -> list[str]:
    classes = getattr(model, "classes_", None)
    return [""] * outputs if classes is None or outputs == 1 else [*map(str, classes)]
