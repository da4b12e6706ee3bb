"""What the page of Wang and Guo 2024 measures: noise, the attack, and excess over n."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.wang_guo import attack, ours, smooth, theorem
from benchmarks.papers.wang_guo.theorem import Setting
from privlearn.audit.bounds import lower_bound

__all__ = [
    "attacks",
    "calibration",
    "literal_attack",
    "over_passes",
    "permuted_attacks",
    "smooth_target",
]

EPSILON, DELTA = 1.0, 1e-5
ROWS = (10_000, 20_000, 1_000_000)
PASSES = (1, 10)
LESS_NOISE = 2 / 3
BOUNDS = {
    "the paper's gradient bound": lambda setting, _: theorem.gradient_bound(setting),
    "ours": ours.unclipped,
    "residuals clipped to c": ours.clipped,
}


# Noise


def calibration() -> list[dict]:
    """Noise of the theorem and ours, for step sizes 1/n, 1/sqrt(n) and 0.1; c = kappa = 1."""
    found = []
    for n in ROWS:
        for passes in PASSES:
            for name, step_size in (("1/n", 1 / n), ("1/sqrt(n)", n**-0.5), ("0.1", 0.1)):
                setting = Setting(n, passes * n, step_size, EPSILON, DELTA)
                found.append({"n": n, "passes": passes, "step": name, **noises(setting)})
    return found


def noises(setting: Setting) -> dict:
    """As published, and by privlearn's accounting with three gradient bounds."""
    return {
        "printed": theorem.published_noise(setting, theorem.printed_sensitivity),
        "proved": theorem.published_noise(setting, theorem.proved_sensitivity),
        "permuted": {name: ours.permuted_noise(setting, bound) for name, bound in BOUNDS.items()},
        "mixture": {name: ours.mixture_noise(setting, bound) for name, bound in BOUNDS.items()},
    }


def over_passes(n: int) -> list[dict]:
    """The same over T/n, in units of the most that one visit can move, all with one bound."""
    found = []
    for passes in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100):
        setting = Setting(n, passes * n, 1.0 / n, EPSILON, DELTA)
        bound = BOUNDS["the paper's gradient bound"]
        visit = 2.0 * setting.step_size * theorem.gradient_bound(setting)
        found.append(
            {
                "passes": passes,
                "proved": theorem.published_noise(setting, theorem.proved_sensitivity) / visit,
                "mixture": ours.mixture_noise(setting, bound) / visit,
                "permuted": ours.permuted_noise(setting, bound) / visit,
            }
        )
    return found


# The attack


def attacks(rows: tuple[int, ...], runs: int) -> list[dict]:
    """For each n, at T = n and eta = 1/n: what is true and what is proven of three noises."""
    found = []
    for n in rows:
        setting = Setting(n, n, 1.0 / n, EPSILON, DELTA)
        noises = {
            "printed": theorem.published_noise(setting, theorem.printed_sensitivity),
            "proved": theorem.published_noise(setting, theorem.proved_sensitivity),
            "mixture": ours.mixture_noise(setting, ours.clipped),
        }
        made = {name: with_replacement(setting, noise, runs) for name, noise in noises.items()}
        found.append({"n": n, **made})
    return found


def permuted_attacks(n: int, runs: int) -> dict:
    """Our noise for one permuted pass, and two thirds of it."""
    setting = Setting(n, n, 1.0 / n, EPSILON, DELTA)
    noise = ours.permuted_noise(setting, ours.clipped)
    return {
        "n": n,
        "as planned": one_visit(setting, noise, runs),
        "2/3 of the noise": one_visit(setting, LESS_NOISE * noise, runs),
    }


def with_replacement(setting: Setting, noise: float, runs: int) -> dict:
    """Algorithm 1 with this noise."""
    counts, weights = ours.visit_law(setting)
    seen = attack.worlds(attack.shortcut, setting, noise, runs, seed=1)
    return {
        "noise": noise,
        "true": attack.true_epsilon(weights, attack.moves(setting, counts), noise, setting.delta),
        "attack": lower_bound(*seen, setting.delta)._asdict(),
    }


def one_visit(setting: Setting, noise: float, runs: int) -> dict:
    """One permuted pass, in which the canary's residual has the largest size, c."""
    seen = attack.worlds(attack.permuted, setting, noise, runs, seed=2)
    move = np.array([setting.step_size * setting.label])
    return {
        "noise": noise,
        "true": attack.true_epsilon(np.ones(1), move, noise, setting.delta),
        "attack": lower_bound(*seen, setting.delta)._asdict(),
    }


def literal_attack(n: int, runs: int) -> dict:
    """Algorithm 1 as printed, all of its steps."""
    setting = Setting(n, n, 1.0 / n, EPSILON, DELTA)
    noise = theorem.published_noise(setting, theorem.printed_sensitivity)
    seen = attack.worlds(attack.literal, setting, noise, runs, seed=3)
    counts, weights = ours.visit_law(setting)
    return {
        "n": n,
        "noise": noise,
        "true": attack.true_epsilon(weights, attack.moves(setting, counts), noise, setting.delta),
        "attack": lower_bound(*seen, setting.delta)._asdict(),
    }


def real_fits(fits: int) -> dict:
    """The attack on real fits, and what their plans say of the noise."""
    from benchmarks.papers.wang_guo.fits import attack_fits

    return attack_fits(fits)


# Excess over n


def smooth_target(rows: dict[int, int], far: tuple[int, ...]) -> dict:
    """Excess of every method for {n: seeds}, and the noise alone where n is out of reach."""
    problem = smooth.PROBLEM
    found = {method: {} for method in smooth.METHODS}
    for n, seeds in rows.items():
        print(f"papers/wang_guo: smooth target, n = {n}", flush=True)
        for seed in range(seeds):
            for method in smooth.METHODS:
                loss = smooth.excess(problem, n, EPSILON, method, seed)
                found[method].setdefault(str(n), []).append(loss)
    return {
        "epsilon": EPSILON,
        "delta": problem.delta,
        "rows": list(rows),
        "settings": {str(n): smooth.theory(problem, n) for n in rows},
        "zero": smooth.zero_excess(problem),
        "excess": found,
        "noise": {
            method: {str(n): smooth.noise_of(problem, n, EPSILON, method) for n in (*rows, *far)}
            for method in smooth.METHODS
        },
    }
