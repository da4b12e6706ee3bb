"""Adult: accuracy when half of the people allow more than the others.

The features and the split of `peers/adult`: 107 columns from public knowledge, 32,561 rows to train
on, 16,281 to score. privlearn's `LogisticRegression(solver="one-pass")` runs with its defaults and
no tuning of any kind, under `zero_out`, at delta = 0 (spherical noise) and at delta = 1e-5 (the
rule takes the smaller noise, which is Gaussian here).

- "all at 0.1" and "all at 1" promise everybody the same epsilon.
- "half at 0.1, half at 1" promises each person their own, by `fit(..., sample_epsilon=levels)`. Who
  belongs to which half is drawn at random, without looking at the data, and anew for every seed.
- "the half at 1 alone" leaves out everybody of the other half, for information.

Seeds are paired: the same seed has the same halves and the same `random_state` in every row. A
difference is taken seed by seed, and the sign test (two-sided, ties left out) asks whether both
signs are equally likely.
"""

import numpy as np

from benchmarks.harness import curves, report
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers.adult.component import train_and_test, without_privacy

NEEDS = (dataset("adult"), estimator("solvers.OnePassSGD"))
LOW, HIGH = 0.1, 1.0
DELTAS = (0.0, 1e-5)
CAUTIOUS, MIXED = f"all at {LOW:g}", f"half at {LOW:g}, half at {HIGH:g}"
OPEN, SOME = f"all at {HIGH:g}", f"the half at {HIGH:g} alone"
PROMISES = (CAUTIOUS, MIXED, OPEN, SOME)
PAIRS = ((MIXED, CAUTIOUS), (MIXED, SOME), (OPEN, MIXED))


def measure(options):
    train, test = train_and_test(fetch=options.fetch)
    seeds = options.repeats(usual=20, quick=2)
    scores = {
        f"{delta:g}": {
            promise: [_score(promise, delta, seed, train, test) for seed in range(seeds)]
            for promise in PROMISES
        }
        for delta in DELTAS
    }
    return {"scores": scores, "references": without_privacy(train, test)}


def levels_of(n, seed):
    """Everybody's epsilon: a random half has `HIGH`, the others `LOW`."""
    levels = np.full(n, LOW)
    levels[np.random.default_rng(seed).permutation(n)[: n // 2]] = HIGH
    return levels


def _score(promise, delta, seed, train, test):
    X, y = train
    levels = levels_of(len(y), seed)
    if promise == SOME:
        X, y = X[levels == HIGH], y[levels == HIGH]
    model = _model(LOW if promise == CAUTIOUS else HIGH, delta, seed)
    model.fit(X, y, sample_epsilon=levels if promise == MIXED else None)
    return model.score(*test)


def _model(epsilon, delta, seed):
    import privlearn
    from benchmarks.datasets import adult

    return privlearn.LogisticRegression(
        epsilon=epsilon,
        delta=delta,
        solver="one-pass",
        bounds_X=adult.BOUNDS,
        data_norm=adult.DATA_NORM,
        random_state=seed,
    )


def differences(scores, better, worse):
    """Accuracy points that one promise has more than another, seed by seed."""
    return 100.0 * (np.asarray(scores[better]) - np.asarray(scores[worse]))


def sign_test(values):
    """Two-sided p-value of both signs being equally likely; ties do not count."""
    from scipy.stats import binomtest

    above, below = int(np.sum(values > 0)), int(np.sum(values < 0))
    return float(binomtest(above, above + below).pvalue) if above + below else 1.0


def tables(results):
    by_delta = results["scores"]
    seeds = len(next(iter(by_delta.values()))[MIXED])
    accuracy = [
        [promise, *(curves.cell(scores[promise]) for scores in by_delta.values())]
        for promise in PROMISES
    ]
    blanks = [""] * (len(by_delta) - 1)
    accuracy += [[name, f"{score:.4f}", *blanks] for name, score in results["references"].items()]
    paired = [
        _difference(delta, scores, *pair) for pair in PAIRS for delta, scores in by_delta.items()
    ]
    columns = [f"delta = {delta}" for delta in by_delta]
    header = ["difference", "delta", "accuracy points", "seeds above 0", "p-value"]
    return "\n\n".join(
        [
            report.table(["epsilon", *columns], accuracy),
            f"Test accuracy: median of {seeds} seeds (first to third quartile; the worst).",
            report.table(header, paired),
            "Median of paired differences (first to third quartile; lowest), and the sign test.",
        ]
    )


def _difference(delta, scores, better, worse):
    values = differences(scores, better, worse)
    above = f"{np.sum(values > 0)} of {len(values)}"
    return [
        f"{better}, minus {worse}",
        delta,
        curves.cell(values, 2),
        above,
        f"{sign_test(values):.1g}",
    ]


def figures(results):
    from benchmarks.harness.figures import blank, legend_below

    plot, axes = blank(width=7.2, height=3.4)
    for index, (delta, scores) in enumerate(results["scores"].items()):
        _draw(axes, index, f"delta = {delta}", scores)
    plain = results["references"]["scikit-learn, no privacy"]
    axes.axvline(plain, color="#444444", linestyle="--", label="scikit-learn, no privacy")
    axes.set_yticks(range(len(PROMISES)), PROMISES)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlabel("test accuracy: median and quartiles, a dot per seed")
    axes.set_title("Adult: everybody's own epsilon, one pass", loc="left")
    legend_below(plot, columns=3)
    return {"": plot}


def _draw(axes, index, label, scores):
    from benchmarks.harness.figures import COLOURS, ranges

    places = np.arange(len(PROMISES)) + 0.36 * index - 0.18
    for place, promise in zip(places, PROMISES, strict=True):
        own = scores[promise]
        axes.plot(own, np.full(len(own), place + 0.12), ".", color=COLOURS[index], alpha=0.35, ms=4)
    ranges(axes, places, [curves.summary(scores[name]) for name in PROMISES], index, label)
