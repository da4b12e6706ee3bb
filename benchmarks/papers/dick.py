"""Dick et al. 2023: plug-and-play regression on the paper's data sets.

"Better Private Linear Regression Through Better Private Feature Selection" (NeurIPS 2023).
"""

from benchmarks.needs import dataset, estimator, package, unless_quick
from benchmarks.papers._dick_data import EXTRA, NAMES

__all__ = ["NEEDS", "figures", "measure", "tables"]

NEEDS = (
    package("privlearn.feature_selection", "take a newer privlearn"),
    estimator("solvers.Tukey"),
    estimator("solvers.BoostedStatistics"),
    *(unless_quick(dataset(name)) for name in (*NAMES, *EXTRA)),
)


def measure(options):
    from benchmarks.papers import _dick_study

    return _dick_study.study(options.repeats(usual=10, quick=2), options)


def tables(results):
    from benchmarks.papers import _dick_pages

    return _dick_pages.tables(results)


def figures(results):
    from benchmarks.papers import _dick_figures as draw

    found = {"": draw.ours(results)} if "ours" in results["parts"] else {}
    return found | {"ranks": draw.ranks(results), "positive": draw.positive(results)}
