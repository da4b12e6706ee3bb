"""What a plan promises, and what it spends the budget on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privlearn._core.certificate import Certificate
from privlearn._core.plan import Plan
from privlearn.plotting.style import COLOURS, MARKERS, dressed_axes, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from privlearn.linear_model.base import PrivateEstimator

__all__ = ["budget_shares", "privacy_curve"]

STAGES = {"bounds": "estimating ranges", "facts": "estimating scales", "fit": "the fit itself"}
LEAST_DELTA = 1e-15


def _plan(source: PrivateEstimator | Certificate | Plan) -> Plan:
    found = getattr(source, "privacy_", source)
    found = found.plan if isinstance(found, Certificate) else found
    if not isinstance(found, Plan):
        raise TypeError(
            f"a {type(source).__name__} was given, but a fitted model, its certificate or a plan "
            "is needed"
        )
    return found


def privacy_curve(source: PrivateEstimator | Certificate | Plan, *, ax: Axes | None = None) -> Axes:
    """Delta over epsilon: everything that a fit promises, of which a pair is one point.

    Parameters
    ----------
    source : estimator, Certificate or Plan
        A fitted model, its certificate, or a plan.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        With the curve, and the promised pair where there is one.

    Examples
    --------
    >>> from privlearn import Ridge, plotting
    >>> plan = Ridge(epsilon=1).plan(n=10_000, n_features=3)
    >>> plotting.privacy_curve(plan).get_yscale()  # doctest: +SKIP
    'log'
    """
    plan, found = _plan(source), getattr(source, "privacy_", source)
    promised = (found.epsilon, found.delta) if isinstance(found, Certificate) else None
    end = 2.0 * (promised[0] if promised else plan.epsilon(1e-6))
    epsilons = np.linspace(0.0, end, 41)
    deltas = np.array([plan.delta(float(epsilon)) for epsilon in epsilons])
    axes = dressed_axes(ax)
    axes.plot(epsilons, np.where(deltas > LEAST_DELTA, deltas, np.nan), color=COLOURS[0])
    if promised is not None:
        epsilon, delta = promised
        text = f"promised: epsilon = {epsilon:g}, delta = {delta:g}"
        axes.plot(epsilon, max(delta, LEAST_DELTA), MARKERS[1], color=COLOURS[1], label=text)
        axes.legend(frameon=False, loc="upper right")
    axes.set_yscale("log")
    axes.set_xlim(0.0, end)
    axes.set_xlabel("epsilon")
    axes.set_ylabel("delta")
    axes.set_title("Privacy curve: every pair on it holds", loc="left", fontsize="medium")
    return axes


def budget_shares(source: PrivateEstimator | Certificate | Plan, *, ax: Axes | None = None) -> Axes:
    """Which part of the budget each release takes.

    Parameters
    ----------
    source : estimator, Certificate or Plan
        A fitted model, its certificate, or a plan.
    ax : matplotlib.axes.Axes or None, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one bar per release, in the order of the plan.

    Examples
    --------
    >>> from privlearn import Ridge, plotting
    >>> plan = Ridge(epsilon=1).plan(n=10_000, n_features=3)
    >>> plotting.budget_shares(plan).get_xlabel()  # doctest: +SKIP
    'part of the budget'
    """
    plan = _plan(source)
    shares = [100.0 * plan.share(release) for release in plan.releases]
    axes, places = dressed_axes(ax, 1.2 + 0.36 * len(shares)), range(len(shares))
    for k, (stage, words) in enumerate(STAGES.items()):
        own = [place for place in places if plan.releases[place].stage == stage]
        if own:
            axes.barh(own, [shares[j] for j in own], color=COLOURS[k], label=words, height=0.7)
    for place, share in enumerate(shares):
        axes.annotate(
            f"{share:.1f} %", (share, place), (4, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(places, [shortened(_named(r.name, r.count), 60) for r in plan.releases])
    axes.set_ylim(len(shares) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.15 * max(shares))
    axes.xaxis.set_major_formatter("{x:g} %")
    axes.grid(False, axis="y")
    axes.set_xlabel("part of the budget")
    axes.set_title("What the budget is spent on", loc="left", fontsize="medium")
    axes.legend(frameon=False, loc="best")
    return axes


def _named(name: str, count: int) -> str:
    return name if count == 1 else f"{name}, {count} times"
