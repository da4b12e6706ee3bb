"""Mangold et al. 2022: relative error of private coordinate descent on its five problems.

"Differentially Private Coordinate Descent for Composite Empirical Risk Minimization" (ICML 2022)
reports, for each problem, the best error of a grid search over 10 step sizes, 100 clipping
thresholds and 5 numbers of passes, made on the private data and not paid for: the mean of 5 runs.
privlearn gets the same promise (`replace_one`, epsilon = 1 and 10 for the last, delta = 1/n^2) and
chooses everything by rule; its own Algorithm 1, tuned in the same way, has a section below. The
relative error is (F(w) - F*) / F*, with F on the data as they are, unclipped, and F* the optimum
without privacy.

- No intercept anywhere, as in the paper. Logistic loss with lambda / 2 |w|^2, lambda = 1/n; for
  LASSO (x'w - y)^2, without a half, plus lambda |w|_1.
- **Raw** features are used as they are. Electricity's day of the week is a label from 1 to 7 and is
  used as that number; its other features come normalised to [0, 1]. California's target is in
  units of 100,000 USD, neither centred nor scaled.
- **Standardised** features have mean 0 and deviation 1. Means and deviations are read off the data
  and, as in the paper, not paid for; rows marked so are not private end to end.
- **Bounds** are declared and enforced. "public" ones are round numbers from documentation
  (`datasets/electricity.py`, `datasets/california.py`); standardised features get [-10, 10].
  "2 max" is the paper's choice: twice the largest absolute value of each feature, read off the
  data.
- **Scales**: "cd" estimates the root mean squares of the features, which its steps need, from its
  own budget, unless they are declared (`scale_X`). The paper's constants are multiples of their
  squares; in its Table 2 they are exact and free, and in its DP-CD-P estimated. By default "cd"
  updates all coordinates at once, or the one that matters most, where a rule expects that to pay;
  the paper one at a time.
- **What counts.** The two raw problems and Sparse LASSO take nothing for free: public bounds,
  scales estimated. The two standardised ones take what the paper takes for free: the
  standardisation, so `scale_X=1`, and bounds of 2 max. All other rows are below.
- **"auto" on raw features** is a row below, and counted until it began to look for ranges inside
  declared bounds. Since then it penalises a feature whose root mean square is below 1/4 as if it
  were 1/4, so that small units flatten no column. That is not the paper's objective: on
  Electricity, whose prices have a deviation of 0.01, coefficients of -200 to -400 cost nothing
  there and make the paper's F two to five times as large, while accuracy on the same rows rises
  from 0.733 to 0.739. So the raw problems count with "cd" by name, the paper's algorithm, which
  minimises the paper's F and which "auto" took then; its numbers are the same. On standardised
  features "auto" with public bounds is thousands of times off for another reason: F is taken on
  rows as they are, while a model with estimated ranges clips rows to them when it predicts, so a
  few far rows get scores here that they get from no prediction.
- **Sparse LASSO** is generated (`datasets/sparse_lasso.py`). The paper prints neither
  coefficients nor noise. Here ten coefficients are equal, the noise has deviation 1, and their size
  is the one that gives the zero model the error that the paper prints, 0.7551.

**How the rule came about.** It was frozen on generated data at commit 6fff553, before the first run
on these problems. That first rule, with public bounds and scales estimated, gave 0.0003, 0.0308,
0.0009, 0.3115 and 0.0251 (in the order of the table, 3 seeds): far from the paper on both
standardised problems. These runs prompted three changes: an allowance for one far row that no
release shows, one for long gradients that noise hides (both derived on generated data with outliers
and heavy tails), and `scale_X`. At first the standardised problems, too, were to count with public
bounds and scales estimated; that they count with the paper's free facts was decided after those
rows had missed the paper. They still miss it, and are below. On Electricity, clipping at 10
deviations loses as much without any privacy: vicprice's coefficient is -0.2 on whole rows and -2.3
on clipped ones. On California clipping is harmless without privacy, yet to a private fit narrower
bounds and estimated scales each cost about ten times the error.

The rule for one coordinate at a time was chosen anew on generated data (`derive/sweeps.py`) and
frozen at commit f8afe70, before it or the tuned Algorithm 1 was run on these problems; what the
rule before it did here was known. Nothing was changed after these runs. It is made for facts that
are given: with scales estimated and features clipped at 10 deviations it converges to what clipped
features give, and on standardised Electricity it is further from the optimum than before.

In the figure "cd" has its number of passes set, and "sgd" its number of steps at its default
batch size; all else is by rule. Each panel has the facts of its row in the first table ("sgd" does
not use scales, and on Electricity it is better off with public bounds: see its rows). Facts
estimated before the descent count as passes. Open marks are the paper's Table 2, tuned at
each number of passes.
"""

from benchmarks.harness.needs import dataset, estimator, unless_quick

__all__ = ["NEEDS", "measure"]


NEEDS = (
    unless_quick(dataset("electricity")),
    unless_quick(dataset("california_housing")),
    estimator("Lasso"),
    estimator("solvers.CoordinateDescent"),
)


def measure(options):
    from benchmarks.papers.mangold.problems import FIVE

    seeds = options.repeats(usual=10, quick=2)
    return {"seeds": seeds, "problems": {name: study(name, seeds, options) for name in FIVE}}


def study(name, seeds, options):
    """Everything about one problem."""
    from benchmarks.papers.mangold import fits, tuned
    from benchmarks.papers.mangold.problems import PASSES, load

    problem = load(name, quick=options.quick)
    optimum = problem.objective.optimum()
    print(f"papers/mangold: {name}", flush=True)
    common = {"optimum": optimum, "seeds": seeds}
    n, p = problem.objective.X.shape
    return {
        "n": n,
        "p": p,
        "weight": problem.objective.weight,
        "epsilon": problem.epsilon,
        "delta": problem.delta,
        "optimum": optimum,
        "zero": problem.objective.of_zero(optimum),
        "standardised": problem.standardised,
        "paper_cd": problem.paper_cd,
        "spread_cd": problem.spread_cd,
        "paper_sgd": problem.paper_sgd,
        "tuned": tuned.study(name, problem, seeds, quick=options.quick),
        "far": problem.far,
        "rows": [
            *(
                fits.row(problem, method, bounds, clock=options.clock, **common)
                for bounds in fits.BOUNDS
                for method in fits.METHODS
            ),
            *(fits.clipped_row(problem, bounds, optimum=optimum) for bounds in fits.BOUNDS),
        ],
        "curves": {
            method: fits.curve(problem, method, (2, 10) if options.quick else PASSES, **common)
            for method in ("cd", "sgd")
        },
    }
