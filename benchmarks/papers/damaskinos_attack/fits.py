"""The same attack on real fits of "scd": what they release is read off the tape of an audit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.papers.damaskinos_attack.attack import CANARY, mixture_evidence
from privlearn.audit.bounds import lower_bound

__all__ = ["DELTA", "EPSILON", "FITS", "attack", "attack_fits", "model", "plan_of"]

FITS = 5_000  # in each world
ROWS = 20
# Short fits with a large delta: what few runs can tell most about.
EPSILON, DELTA = 2.0, 1e-2
EPOCHS, BATCH, CLIP = 2, 2, 0.01
RELEASE = "dual step"
LESS_NOISE = 2 / 3


def data(present: bool) -> tuple[np.ndarray, np.ndarray]:
    """The canary has a direction of its own; where it is absent it is the empty row."""
    X, y = np.zeros((ROWS, 2)), np.cos(np.arange(ROWS))
    X[:, 1] = 1.0
    X[CANARY], y[CANARY] = ((1.0, 0.0), 1.0) if present else (np.nan, np.nan)
    return X, y


def model(epsilon: float = EPSILON):
    """A penalty so strong and a clip so small that the canary's update always clips."""
    from privlearn import Ridge
    from privlearn.solvers import DualCoordinateDescent

    return Ridge(
        alpha=ROWS,
        epsilon=epsilon,
        delta=DELTA,
        data_norm=1.0,
        bounds_y=(-1.0, 1.0),
        fit_intercept=False,
        on_invalid="drop",
        solver=DualCoordinateDescent(epochs=EPOCHS, batch_size=BATCH, clip=CLIP),
    )


def plan_of(estimator):
    """The plan of such a fit, and the release of its steps; another one counts usable rows."""
    plan = estimator.plan(n=ROWS, n_features=2)
    (release,) = (one for one in plan.releases if one.name == RELEASE)
    return plan, release


def evidence(estimator, X: np.ndarray, y: np.ndarray) -> float:
    """Log-likelihood ratio of the two worlds, from what one fit released."""
    from privlearn.audit.tape import record

    tape = record(estimator, X, y)
    steps = [entry for entry in tape.entries if entry.release.name == RELEASE]
    released, release = np.array([entry.released for entry in steps]), steps[0].release
    moved = released[:, 0] / release.clip
    rate, multiplier = release.sampling.rate, tape.plan.noise_multiplier(release)
    return float(mixture_evidence(moved, rate, multiplier).sum())


def attack(epsilon: float, fits: int, *, seeded: bool = False):
    """Watch `fits` fits with the canary and as many without it; seeds are for tests."""
    found = []
    for present in (True, False):
        X, y = data(present)
        seeds = range(present, 2 * fits, 2) if seeded else [None] * fits
        made = [evidence(model(epsilon).set_params(random_state=k), X, y) for k in seeds]
        found.append(np.array(made))
    return lower_bound(*found, DELTA)


def attack_fits(fits: int, *, seeded: bool = False) -> dict:
    """Fits that keep their promise, and fits with two thirds of the noise."""
    plan, release = plan_of(model())
    louder = replace(plan, scale=LESS_NOISE * plan.scale).epsilon(DELTA)
    return {
        "model": "Ridge(solver=DualCoordinateDescent("
        f"epochs={EPOCHS}, batch_size={BATCH}, clip={CLIP}))",
        "rows": ROWS,
        "epsilon": EPSILON,
        "delta": DELTA,
        "steps": release.count,
        "rate": release.sampling.rate,
        "multiplier": plan.noise_multiplier(release),
        "louder_epsilon": louder,
        "attacks": {
            "as planned": attack(EPSILON, fits, seeded=seeded)._asdict(),
            "2/3 of the noise": attack(louder, fits, seeded=seeded)._asdict(),
        },
    }
