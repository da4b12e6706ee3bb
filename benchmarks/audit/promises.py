"""Promised and measured: attacks on every estimator, solver and relation.

**White box.** Whoever sees every release, knows all other rows and chose the one that differs can
do no better than the joint likelihood ratio of the releases. A search looks for the loudest row;
what it moves is taken from real fits by replay, release by release, and priced by the plan's own
accountant, with the noise that was measured where that is surely less than declared. "planned" is
the mu of the plan: exact for Gaussian noise on all rows, else the mu of a Gaussian mechanism that
costs as much at delta. For Gaussian noise on all rows the ratio must reach 0.9 (`zero_out`,
`add_remove`) or 0.8 (`replace_one`), and none may be above 1. Distances are exact, so these are no
estimates. "deviation" is one: the standard deviation of the log likelihood ratio over the runs,
which for Gaussian noise is mu again, with a standard error of 15 % at 24 runs.

**Black box.** The attacker sees published coefficients of fits on two neighbouring data sets. A
quarter of the fits gives a direction, a quarter the threshold, and half is counted: both error
rates by Clopper-Pearson, 95 % together. The data sets are the best of nine, chosen on other fits.
Fits draw their noise from the operating system, so these numbers differ from run to run. A planned
mu is given where the plan is Gaussian throughout; elsewhere the ratio is that of epsilon.

**Planted.** The same tools on fits that draw a third of the noise that they account for.

Cells, seeds and thresholds are in [cells.py](../audit/cells.py), which was committed before the
first run; all cells are shown. In the first full run nothing was above its promise, but 5 cells of
the white box stayed below their threshold (0.77 to 0.90 of the planned mu, after 24 tries), and the
black box proved 0.499 for moments under `zero_out`, on data that a short pilot had chosen badly. So
two things were added, and everything was run again: a search that stays below is repeated with 120
tries, and the three best of the nine data sets are compared a second time, on more fits.

An audit can refute and never prove: docs/audits.md.
"""

from benchmarks.harness.needs import environment

__all__ = ["NEEDS", "PACKAGES", "WELCOME", "measure"]

NEEDS = ()
WELCOME = (environment("diffprivlib"),)
PACKAGES = ()


def measure(options):
    from benchmarks.audit import study

    return {
        "diffprivlib": study.of_diffprivlib(options),
        "planted": study.measured("planted", options.quick),
        "white": study.measured("white", options.quick),
        "black": study.measured("black", options.quick),
    }
