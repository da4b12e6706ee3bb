"""MNIST: accuracy of private logistic regression with ten classes, over epsilon.

Pixels divided by 255, rows clipped to a norm that is public knowledge (`datasets/mnist.py`).
Trained on the 60,000 training images, scored on the 10,000 test images. privlearn runs with its
defaults, delta = 1e-5, and no tuning of any kind. The baseline is scikit-learn without privacy on
the same clipped pixels, 100 iterations of lbfgs, its default.
"""

import warnings

from benchmarks.datasets import manifest, mnist
from benchmarks.datasets.columns import clipped
from benchmarks.harness import curves
from benchmarks.harness.needs import dataset, estimator

NEEDS = (dataset("mnist"), estimator("LogisticRegression"))
EPSILONS = (0.3, 1.0, 3.0, 10.0)
PUBLIC = {"delta": 1e-5, "bounds_X": mnist.BOUNDS, "data_norm": mnist.DATA_NORM}


def measure(options):
    table = manifest.load("mnist", fetch=options.fetch)
    train, test = (_matrix(table.part(which)) for which in ("train", "test"))
    if options.quick:
        train = tuple(part[:5_000] for part in train)
    epsilons = (1.0,) if options.quick else EPSILONS
    seeds = options.repeats(usual=3, quick=1)
    return {
        "epsilons": list(epsilons),
        "curves": {
            "privlearn": curves.over_epsilons(
                "LogisticRegression", train, test, epsilons, seeds, **PUBLIC
            )
        },
        "references": {"scikit-learn, no privacy, same clipped pixels": _plain(train, test)},
    }


def _matrix(part):
    return mnist.features(part.features), part.target


def _plain(train, test):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the text says how long it ran
        plain = LogisticRegression().fit(clipped(train[0], mnist.DATA_NORM), train[1])
    return plain.score(*test)


def tables(results):
    return curves.table(results)


def figures(results):
    title = "MNIST: test accuracy of logistic regression, delta = 1e-5"
    return {"": curves.figure(results, title=title, score="test accuracy, ten classes")}
