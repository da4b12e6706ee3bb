"""The attack on real fits of "output": their weights alone, as anybody gets them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from privlearn.audit.bounds import lower_bound

__all__ = ["DELTA", "EPSILON", "FITS", "attack_fits", "data", "model", "plan_of", "weights"]

FITS = 10_000  # in each world
ROWS = 8
EPSILON, DELTA = 1.0, 0.1  # what few runs can tell most about
# The mean is over the last half of an epoch: after several the canary has nearly all its weight.
EPOCHS, STEP, CLIP = 8, 1e-3, 0.5
LESS_NOISE = 2 / 3
CANARY = 0


def data(sign: float) -> tuple[np.ndarray, np.ndarray]:
    """The canary has a direction of its own; its label is far beyond the clip in both worlds."""
    X, y = np.zeros((ROWS, 2)), np.zeros(ROWS)
    X[:, 1] = 1.0
    X[CANARY], y[CANARY] = (1.0, 0.0), sign
    return X, y


def model(epsilon: float = EPSILON):
    """Short steps, so that the canary's residual always clips."""
    from privlearn import Ridge
    from privlearn.solvers import OutputPerturbation

    return Ridge(
        alpha=0.0,
        epsilon=epsilon,
        delta=DELTA,
        adjacency="replace_one",
        data_norm=1.0,
        bounds_y=(-1.0, 1.0),
        fit_intercept=False,
        solver=OutputPerturbation(epochs=EPOCHS, step_size=STEP, clip=CLIP),
    )


def plan_of(estimator):
    """The plan of such a fit, and its one release."""
    plan = estimator.plan(n=ROWS, n_features=2)
    (release,) = plan.releases
    return plan, release


def weights(epsilon: float, fits: int, *, seeded: bool = False):
    """The canary's coefficient in fits of both worlds; seeds are for tests."""
    found = []
    for world, sign in enumerate((1.0, -1.0)):
        X, y = data(sign)
        seeds = range(world, 2 * fits, 2) if seeded else [None] * fits
        made = (model(epsilon).set_params(random_state=k).fit(X, y) for k in seeds)
        found.append(np.array([fitted.coef_[CANARY] for fitted in made]))
    return tuple(found)


def attack_fits(fits: int, *, seeded: bool = False) -> dict:
    """Fits that keep their promise, and fits with two thirds of the noise."""
    plan, release = plan_of(model())
    louder = replace(plan, scale=LESS_NOISE * plan.scale).epsilon(DELTA)
    promises = {"as planned": EPSILON, "2/3 of the noise": louder}
    return {
        "model": "Ridge(alpha=0, solver=OutputPerturbation("
        f"epochs={EPOCHS}, step_size={STEP}, clip={CLIP}))",
        "rows": ROWS,
        "epsilon": EPSILON,
        "delta": DELTA,
        "noise": plan.noise_scale(release),
        "louder_epsilon": louder,
        "attacks": {
            name: lower_bound(*weights(promise, fits, seeded=seeded), DELTA)._asdict()
            for name, promise in promises.items()
        },
    }
