"""DP-SGD: privlearn against Opacus doing the same work.

Logistic regression on 40,000 generated rows of 100 columns, 782 Poisson batches of 512 rows in
expectation (ten epochs), on the same CPU. Clip, step size and noise multiplier are the same, there
is no momentum and no intercept, and Opacus gets the rows in the coordinates in which privlearn
measures clip and step (divided by the row norm), so both run the same algorithm. privlearn's time
is that of the whole of `fit`, from validation to the certificate, for a promise whose calibration
is remembered from the warm-up, as Opacus gets its noise multiplier for nothing; the row with
calibration promises something else in every round. Opacus' time is that from arrays to
coefficients. It computes with 32 bits, privlearn sums in 64 and with exact noise, and it rounds the
sampling rate to 1/78.

What both need to find the noise multiplier of a promise (epsilon = 1, delta = 1e-6) is shown apart.

Opacus is used as its documentation shows, with its other ways to per-row gradients, and with a
data set that reads the rows of a batch at once instead of one by one: the fastest found.
"""

import logging
from itertools import count

from benchmarks.datasets import generated
from benchmarks.harness import races, report
from benchmarks.harness.needs import estimator, package
from benchmarks.harness.timing import race
from benchmarks.speed.opacus import training as opacus_training

NEEDS = (
    estimator("LogisticRegression"),
    estimator("solvers.SGD"),
    package("opacus", "make bench-peers installs it"),
)
PACKAGES = ("torch", "opacus")
OURS = "privlearn, whole fit"
CALIBRATED = "privlearn, whole fit and calibration"
NORM = 1.5  # rows have norm 1 on average
CLIP = 0.5
STEP_SIZE = 8.0
BATCH_SIZE = 512
DELTA = 1e-6


def measure(options):
    n, p, steps = (8_000, 20, 40) if options.quick else (40_000, 100, 782)
    X, y = generated.logistic(n, p)
    training = opacus_training.Training(
        steps, BATCH_SIZE, STEP_SIZE, CLIP, _noise_multiplier(n, p, steps)
    )
    timed = {"rounds": options.repeats(usual=5, quick=1), "clock": options.clock}
    found, promises = {}, (1.0 + 0.001 * k for k in count(1))
    logging.getLogger("opacus").setLevel(logging.ERROR)
    return {
        "shape": [n, p, steps],
        "noise_multiplier": training.noise_multiplier,
        "training": race(_fits(X, y, training, promises, found), **timed),
        "calibration": race(_calibrations(n, p, steps, promises), **timed),
        "accuracy": {name: float(((X @ coef > 0) == y).mean()) for name, coef in found.items()},
    }


def _estimator(steps, epsilon):
    import privlearn

    solver = privlearn.solvers.SGD(
        steps=steps,
        batch_size=BATCH_SIZE,
        step_size=STEP_SIZE,
        clip=CLIP,
        momentum=0.0,
        average=0.0,
    )
    return privlearn.LogisticRegression(
        epsilon=epsilon,
        delta=DELTA,
        data_norm=NORM,
        fit_intercept=False,
        C=float("inf"),
        classes=[0, 1],
        solver=solver,
    )


def _noise_multiplier(n, p, steps):
    plan = _estimator(steps, 1.0).plan(n, n_features=p)
    (release,) = plan.releases
    return plan.noise_multiplier(release)


def _fits(X, y, training, promises, found):
    def ours():
        found[OURS] = _estimator(training.steps, 1.0).fit(X, y).coef_[0]

    def calibrated():
        _estimator(training.steps, next(promises)).fit(X, y)

    def theirs(name, mode, at_once):
        def fit():
            found[name] = opacus_training.train(X / NORM, y, training, mode=mode, at_once=at_once)

        return fit

    peers = {
        f"Opacus, {name}": theirs(f"Opacus, {name}", mode, at_once)
        for name, mode, at_once in opacus_training.configurations()
    }
    return {OURS: ours, CALIBRATED: calibrated} | peers


def _calibrations(n, p, steps, promises):
    from opacus.accountants.utils import get_noise_multiplier

    def opacus_calibration():
        get_noise_multiplier(
            target_epsilon=next(promises),
            target_delta=DELTA,
            sample_rate=BATCH_SIZE / n,
            steps=steps,
            accountant="prv",
        )

    return {
        "privlearn": lambda: _estimator(steps, next(promises)).plan(n, n_features=p),
        "Opacus (its default accountant, PRV)": opacus_calibration,
    }


def tables(results):
    accuracy = [[name, f"{value:.3f}"] for name, value in results["accuracy"].items()]
    return "\n\n".join(
        [
            races.ranking(results["training"], OURS),
            "Finding the noise multiplier of a promise:",
            races.ranking(results["calibration"], "privlearn"),
            f"Noise multiplier: {results['noise_multiplier']:.4g}.",
            report.table(["accuracy on training rows", ""], accuracy),
        ]
    )


def figures(results):
    n, p, steps = results["shape"]
    title = f"DP-SGD, {n:,} x {p}, {steps} steps"
    return {"": races.ranking_figure(results["training"], title)}
