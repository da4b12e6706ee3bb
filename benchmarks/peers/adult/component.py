"""Adult: accuracy of private logistic regression over epsilon.

Features, bounds and row norm are public knowledge (`datasets/adult.py`), 107 columns. Trained on
the 32,561 rows of the training file, scored on the 16,281 of the test file. privlearn runs with
its defaults, delta = 1e-5, and no tuning of any kind. Baselines on the same features: scikit-learn
without privacy (at most 1,000 iterations), and diffprivlib with its defaults and the same row norm.

The promises differ. diffprivlib's is pure (delta = 0) and for replacing one row, which is
harder to keep; privlearn's default relation is `zero_out`, and `replace_one` is shown beside it.
"""

from benchmarks.datasets import adult, manifest
from benchmarks.harness import curves
from benchmarks.harness.needs import dataset, environment, estimator
from benchmarks.peers.adult import diffprivlib_peer

DIFFPRIVLIB = environment("diffprivlib")
NEEDS = (dataset("adult"), estimator("LogisticRegression"))
WELCOME = (DIFFPRIVLIB,)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
PUBLIC = {"delta": 1e-5, "bounds_X": adult.BOUNDS, "data_norm": adult.DATA_NORM}
ITERATIONS = 1_000


def measure(options):
    train, test = train_and_test(fetch=options.fetch)
    epsilons = (1.0,) if options.quick else EPSILONS
    seeds = options.repeats(usual=10, quick=2)
    found = {
        "epsilons": list(epsilons),
        "curves": {
            f"privlearn ({relation})": curves.over_epsilons(
                "LogisticRegression", train, test, epsilons, seeds, adjacency=relation, **PUBLIC
            )
            for relation in ("zero_out", "replace_one")
        },
        "references": without_privacy(train, test),
        "versions": {},
    }
    if not DIFFPRIVLIB.missing(options):
        peer = diffprivlib_peer.scores(
            train, test, epsilons=epsilons, seeds=seeds, data_norm=adult.DATA_NORM
        )
        found["curves"]["diffprivlib (pure, replace one)"] = peer["scores"]
        found["versions"] = peer["versions"]
    return found


def train_and_test(features=adult.features, *, fetch=False):
    """Features and labels of the two files."""
    table = manifest.load("adult", fetch=fetch)
    parts = [table.part(which) for which in ("train", "test")]
    return [(features(part.features), adult.labels(part.target)) for part in parts]


def without_privacy(train, test):
    """Test accuracy of scikit-learn and of the label that most rows have."""
    from sklearn.linear_model import LogisticRegression

    plain = LogisticRegression(max_iter=ITERATIONS).fit(*train)
    return {
        "scikit-learn, no privacy": plain.score(*test),
        "always the larger class": float(1.0 - test[1].mean()),
    }


def tables(results):
    note = ""
    if results["versions"]:
        versions = ", ".join(f"{name} {v}" for name, v in results["versions"].items())
        note = f"\n\ndiffprivlib ran in an environment of its own: {versions}."
    return curves.table(results) + note


def figures(results):
    title = "Adult: test accuracy of logistic regression, delta = 1e-5"
    close = results | {
        "curves": {k: v for k, v in results["curves"].items() if k.startswith("privlearn")},
        "references": {k: v for k, v in results["references"].items() if k.startswith("scikit")},
    }
    return {
        "": curves.figure(results, title=title, score="test accuracy"),
        "close": curves.figure(close, title="The same, from close up", score="test accuracy"),
    }
