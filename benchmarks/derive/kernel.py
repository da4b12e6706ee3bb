"""Numbers of the kernel models' rule, on generated data.

The score is that on fresh rows: R^2, or accuracy with --classes. The table has its mean; how much
it lies above the line's, in the middle, in the worst tenth and in the worst case; and the share of
fits that lose more than 0.02 to it. Problems are named by the kind of the target, the number of
columns and n mu, mu the budget as one Gaussian release. Nothing is declared.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.optimize import brentq

from benchmarks.datasets.tables import features
from benchmarks.datasets.tables import target as table_target
from benchmarks.derive.harness import Candidate
from privlearn import KernelClassifier, KernelRegressor, LinearRegression, LogisticRegression
from privlearn.accounting.gaussian import equivalent_mu
from privlearn.kernel_model import base, feature_map, on_features, ranks

SEEDS = 4
SHARES = {"table": None, "curved": (3.0, 3.0, 1.5), "straight": (4.0, 0.05, 1.5)}
COLUMNS = (4, 10, 20, 40)
SIZES = [(100, 3_000), (300, 3_000), (600, 3_000), (1_000, 3_000), (2_000, 3_000), (4_000, 4_000)]
SIZES += [(10_000, 10_000), (20_000, 20_000)]  # n mu, n
FRESH, DELTA, CLEARLY = 3_000, 1e-6, 0.02
LINE, FEATURES = "linear model", "features alone"


def arguments(parser):
    parser.add_argument("--classes", action="store_true")


def homes(given):
    return base, feature_map, on_features, ranks


def candidates(given):
    return {name: Candidate(choice=name) for name in (LINE, FEATURES)}


def problems(given):
    return (
        (f"{kind} {p} {seen}", (kind, p, seen, n))
        for seen, n in SIZES
        for p in COLUMNS
        for kind in SHARES
    )


def mixed(shares, raw, latent, rng):
    """A target of raw columns, of products of waves of the latent ones, and of noise."""
    n, p = raw.shape
    inner = np.clip(raw, *np.quantile(raw, [0.01, 0.99], axis=0))
    linear = unit(inner) @ (rng.standard_normal(p) * (rng.random(p) < rng.uniform(0.15, 1.0)))
    linear = linear if linear.std() > 0 else unit(inner)[:, 0]
    curve = np.zeros(n)
    for _ in range(3):
        first, second = rng.integers(p, size=2)
        wave = np.cos(1.5 * latent[:, second] + rng.uniform(0, 2 * np.pi))
        curve += rng.standard_normal() * np.tanh(latent[:, first]) * wave
    parts = linear, curve, rng.standard_normal(n)
    return sum(
        np.sqrt(share) * unit(part)
        for share, part in zip(rng.dirichlet(shares), parts, strict=True)
    )


def unit(values):
    """With mean 0 and deviation 1 in each column."""
    deviation = values.std(axis=0)
    return (values - values.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def data(setting, seed, given):
    """Rows to learn from and fresh ones, in raw units; and what to pay."""
    kind, p, seen, n = setting
    rng = np.random.default_rng([seed, p, n, list(SHARES).index(kind)])
    raw, latent = features(n + FRESH, p, rng)
    shares = SHARES[kind]
    y = table_target(raw, latent, rng) if shares is None else mixed(shares, raw, latent, rng)
    X = raw * 10.0 ** rng.uniform(-3.0, 4.0, p)
    unit_of_y = 10.0 ** rng.uniform(-3.0, 5.0)
    y = (y > np.median(y)).astype(int) if given.classes else y * unit_of_y
    epsilon = brentq(lambda one: equivalent_mu(one, DELTA) - seen / n, 1e-3, 60.0)
    return (X[:n], y[:n]), (X[n:], y[n:]), epsilon


class FeaturesAlone:
    """Without a line, however little is seen."""

    def _all_by_rule(self, problem, budget):
        return False


class RegressorOfFeatures(FeaturesAlone, KernelRegressor):
    pass


class ClassifierOfFeatures(FeaturesAlone, KernelClassifier):
    pass


REGRESSORS = {LINE: LinearRegression, FEATURES: RegressorOfFeatures, None: KernelRegressor}
CLASSIFIERS = {LINE: LogisticRegression, FEATURES: ClassifierOfFeatures, None: KernelClassifier}


def score(found, choice, seed, given):
    """That of the model and that of the line."""
    rows, fresh, epsilon = found
    models = CLASSIFIERS if given.classes else REGRESSORS
    facts = {"classes": [0, 1]} if given.classes else {}
    known = facts | {"epsilon": epsilon, "delta": DELTA, "random_state": seed}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = models[choice], models[LINE]
        return [kind(**known).fit(*rows).score(*fresh) for kind in kinds]


def summary(found, usual):
    gap = (found[..., 0] - found[..., 1]).ravel()
    return {
        "mean": found[..., 0].mean(),
        "gap": np.median(gap),
        "worst tenth": np.quantile(gap, 0.1),
        "worst": gap.min(),
        "lost": np.mean(gap < -CLEARLY),
    }
