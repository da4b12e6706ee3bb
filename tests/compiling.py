"""Compiled code that several test processes need is compiled by one of them, and shared.

Test processes run alike tests at the same time, so each would compile all of it: a minute, on a
machine where nothing was compiled before. What one has compiled the other finds in numba's cache.
"""

from __future__ import annotations

import warnings
from contextlib import suppress

from privlearn import LinearRegression
from support import FACTS, SHORT, accepted, regression

# Two shares that take about as long; a third process would find nothing to do.
SHARES = (
    [SHORT["cd"]["whole"]],
    [
        SHORT["sgd"]["sgd"],
        SHORT["scd"]["scd"],
        SHORT["output"]["output"],
        SHORT["cd"]["sweeps"],
        SHORT["cd"]["greedy"],
        "tukey",
    ],
)


def compile_share(place: int, processes: int) -> None:
    """Fit once with each solver of the shares of one of several processes.

    Errors are left to the tests, which say more about them.
    """
    X, y = regression(300, 3)
    known = accepted(LinearRegression, FACTS["box"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for solver in [solver for share in SHARES[place::processes] for solver in share]:
            with suppress(Exception):
                LinearRegression(solver=solver, **known).fit(X, y)
