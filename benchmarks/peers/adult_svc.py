"""Adult: accuracy of a private linear support vector machine over epsilon.

The features and the split of `peers/adult`: 107 columns from public knowledge, 32,561 rows to train
on, 16,281 to score. privlearn's `LinearSVC` runs with its defaults (squared hinge, `solver="auto"`,
which takes "scd"), delta = 1e-5, and no tuning of any kind; with the hinge, with "sgd" in the place
of "scd", and under `replace_one` beside it. The reference is scikit-learn's `LinearSVC` with its
defaults, which penalises the intercept a little, on the same features.
"""

from benchmarks.harness import curves
from benchmarks.harness.needs import dataset, estimator
from benchmarks.peers.adult.component import EPSILONS, PUBLIC, train_and_test

NEEDS = (dataset("adult"), estimator("LinearSVC"))
VARIANTS = {
    "privlearn (defaults)": {},
    "privlearn (replace_one)": {"adjacency": "replace_one"},
    "privlearn (hinge)": {"loss": "hinge"},
    "privlearn (sgd)": {"solver": "sgd"},
}


def measure(options):
    train, test = train_and_test(fetch=options.fetch)
    epsilons = (1.0,) if options.quick else EPSILONS
    seeds = options.repeats(usual=10, quick=2)
    return {
        "epsilons": list(epsilons),
        "curves": {
            name: curves.over_epsilons(
                "LinearSVC", train, test, epsilons, seeds, **parameters, **PUBLIC
            )
            for name, parameters in VARIANTS.items()
        },
        "references": without_privacy(train, test),
    }


def without_privacy(train, test):
    """Test accuracy of scikit-learn and of the label that most rows have."""
    from sklearn.svm import LinearSVC

    return {
        "scikit-learn, no privacy": LinearSVC().fit(*train).score(*test),
        "always the larger class": float(1.0 - test[1].mean()),
    }


def tables(results):
    return curves.table(results)


def figures(results):
    close = {k: v for k, v in results["references"].items() if k.startswith("scikit")}
    title = "Adult: test accuracy of LinearSVC, delta = 1e-5"
    return {"": curves.figure(results | {"references": close}, title=title, score="test accuracy")}
