"""Whether standard errors are to be expected, from public facts alone.

They need the inverse of the loss's curvature, which is released with noise. With size columns of
independent features of mean square q = 1/4 (scales are between the root mean square and the
largest value that is seen) a row has squared length q size + 1, the noise on an entry of the
diagonal is s = 2.2 (q size + 1) / n times that of the release, and the largest eigenvalue of the
noise is about s sqrt(2 size) (proof.md, "Standard errors"). `clearness` is q over that.

Fits of generated tables as people have them told 2 % of their standard errors below a clearness of
0.6, 56 % between 0.6 and 4, and 97 % above, where 94 of 100 fits told every one; of rare flags 2,
35 and 86 %, of one-hot columns that add up to the intercept 2, 45 and 56 %, of columns that nearly
repeat each other 0, 8 and 61 % (`python -m benchmarks.derive errors_told`: 500 to 50,000 rows, 2 to
50 columns, epsilon 0.2 to 6, three losses).
"""

from __future__ import annotations

import math

from privlearn._core.plan import Plan
from privlearn._core.problem import Problem
from privlearn.solvers.coordinate_descent import rules
from privlearn.solvers.coordinate_descent.private_scales import BENDS, CURVATURE

__all__ = ["ALL", "SOME", "clearness", "expected_errors"]

SQUARE = 0.25  # of a feature, in units of its scale
SOME, ALL = 0.6, 4.0  # of the clearness, from which on standard errors are told


def clearness(plan: Plan, size: int, n: float) -> float:
    """Curvature along a column over what noise may make of it, for `size` weights and `n` rows."""
    own = [one for one in plan.releases if one.name in (BENDS, CURVATURE)]
    precision = sum(plan.noise_scale(one) ** -2.0 for one in own)  # both tell the same
    length = rules.LONGEST_FOR_ERRORS * (SQUARE * size + 1.0)
    return SQUARE * n * math.sqrt(precision / (2.0 * size)) / length


def expected_errors(problem: Problem, plan: Plan, n: int) -> str:
    """What to expect of standard errors of `n` rows, in words; empty if nobody asked for them."""
    if not problem.intervals:
        return ""
    clear = clearness(plan, problem.n_features + int(problem.fit_intercept), n)
    if clear >= ALL:
        return (
            "standard errors are to be expected of all coefficients,\n"
            "but for columns that nearly repeat others"
        )
    needed = float(f"{n * ALL / clear:.2g}")
    few = "some" if clear >= SOME else "hardly any"
    what = "rows" if problem.rows_per_person is None else "people"
    smaller = "a smaller max_rows_per_person, " if problem.most_rows > 1 else ""
    return (
        f"standard errors are to be expected of {few} of the coefficients;\n"
        f"of all with about {needed:,.0f} {what}, {smaller}a larger epsilon or fewer columns"
    )
