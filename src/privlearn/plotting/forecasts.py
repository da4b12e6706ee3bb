"""What an epsilon would cost, before any data."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privlearn.exceptions import DeltaWarning, FewRowsWarning
from privlearn.plotting.style import COLOURS, MARKERS, dressed_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["forecast"]

Array = NDArray[np.float64]
EPSILONS = tuple(np.geomspace(0.05, 10.0, 25).tolist())


def forecast(
    estimator: PrivateEstimator,
    *,
    n: int | Iterable[int],
    n_features: int | None = None,
    n_classes: int = 2,
    epsilons: Sequence[float] = EPSILONS,
    quantity: str = "kept",
    ax: Axes | None = None,
) -> Axes:
    """What an epsilon would cost, before any data: accuracy over epsilon, a line per size.

    Parameters
    ----------
    estimator : estimator
        Not fitted; its own `epsilon` is marked.
    n : int or iterable of int
        Numbers of rows.
    n_features : int or None, default=None
        Number of columns; None where a schema names them all.
    n_classes : int, default=2
        Number of labels, of classifiers whose parameter `classes` does not declare them.
    epsilons : sequence of float, optional
        Where to look; 25 values from 0.05 to 10 by default.
    quantity : {"kept", "error"}, default="kept"
        Which part of what could be explained is kept; or by how much the prediction for a typical
        row varies from fit to fit, as `Forecast.relative`.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        With a line per number of rows; none where public facts do not carry a forecast.

    Examples
    --------
    >>> from privlearn import LinearRegression, plotting
    >>> sizes = [1_000, 10_000]
    >>> plotting.forecast(LinearRegression(), n=sizes, n_features=8)  # doctest: +SKIP
    """
    if quantity not in ("kept", "error"):
        raise ValueError(f"quantity={quantity!r}, but 'kept' or 'error' is needed")
    axes, sizes = dressed_axes(ax), [n] if isinstance(n, int | np.integer) else list(n)
    given: dict[str, Any] = {"n_features": n_features}
    given |= {"n_classes": n_classes} if hasattr(estimator, "classes") else {}
    reasons = set()
    for k, size in enumerate(sizes):
        values, withheld, rows = _forecasts(estimator, size, given, epsilons, quantity)
        reasons |= {withheld} - {""}
        if np.isfinite(values).any():
            style: dict[str, Any] = {"color": COLOURS[k % 7], "marker": MARKERS[k % 7]}
            axes.plot(epsilons, 100.0 * values, label=f"{size:,} {rows}", markersize=3.5, **style)
    _dress_forecast(axes, estimator, quantity)
    if reasons:
        text = " ".join(sorted(reasons)[0].split())
        lines = textwrap.fill(f"where there is no line it cannot be told: {text}", 80)
        axes.set_xlabel(f"epsilon\n\n{lines}")
    return axes


def _forecasts(
    estimator: PrivateEstimator,
    n: int,
    given: dict[str, Any],
    epsilons: Sequence[float],
    quantity: str,
) -> tuple[Array, str, str]:
    """One value per epsilon, why some are missing, and what n counts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FewRowsWarning)  # the picture says it
        warnings.simplefilter("ignore", DeltaWarning)
        plan = estimator.plan(n, **given)
        assert plan.forecast_at is not None
        found = [plan.forecast_at(float(epsilon)) for epsilon in epsilons]
    kept = quantity == "kept"
    values = np.array([one.kept if kept else one.relative for one in found])
    reason = "" if kept else next((one.withheld for one in found if one.withheld), "")
    return values, reason, found[0].counted


def _dress_forecast(axes: Axes, estimator: PrivateEstimator, quantity: str) -> None:
    own = f"epsilon = {estimator.epsilon:g}, as it is set"
    axes.axvline(estimator.epsilon, color="#555555", linewidth=0.8, linestyle="--", label=own)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("epsilon")
    form = "{x:g} %"
    if quantity == "kept":
        axes.set_ylim(-3.0, 103.0)
        axes.set_ylabel("of what could be explained")
        title = "What is kept, forecast before any data"
    else:
        _log_ticks(axes)
        title = "How far a prediction varies from fit to fit, forecast before any data"
        if hasattr(estimator, "classes"):
            form = "{x:g}"
            axes.set_ylabel("percentage points of the probability")
        else:
            axes.set_ylabel("of the target's standard deviation")
    axes.yaxis.set_major_formatter(form)
    axes.set_title(title, loc="left", fontsize="medium")
    axes.legend(frameon=False, loc="best")


def _log_ticks(axes: Axes) -> None:
    """Ticks at 1, 2 and 5 times the powers of ten, on the vertical axis."""
    from matplotlib.ticker import LogLocator, NullLocator

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_minor_locator(NullLocator())
