"""The experiment that Wang and Guo 2024 lacks: a smooth target, and its Algorithm 1 over n.

`excess(problem, n, epsilon, method, seed)` is the expected squared error beyond the best possible.
A method is a function of (problem, rows of X, y, epsilon, seed) that returns predictions at
`problem.test_points`, one column or several with noise of their own; `METHODS` names those of this
file, and another one can be put beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from benchmarks.papers.wang_guo import ours, theorem
from benchmarks.papers.wang_guo.sgd import FeatureMap, permuted_order, predict, train
from benchmarks.papers.wang_guo.theorem import Setting

__all__ = ["METHODS", "PROBLEM", "Problem", "excess", "noise_of", "theory", "zero_excess"]

TEST_POINTS = 4_000
NOISE_DRAWS = 16  # per trained model: the noise varies more than the model does
CENTRES = np.array([[-0.3, -0.2], [0.35, 0.1], [0.0, 0.35], [0.2, -0.35]])
HEIGHTS = np.array([0.75, -0.75, -0.5, 0.5])


@dataclass(frozen=True)
class Problem:
    """Uniform points of a square, a mix of bumps wider than the kernel, bounded label noise.

    A Gaussian bump of variance l^2 + s^2 is the kernel's convolution with one of variance s^2,
    so the target is L g up to what the edges of the square cut off: r = 1. `capacity` is alpha.
    """

    smoothness: float = 1.0
    capacity: float = 0.5
    bandwidth: float = 0.5
    spread: float = 0.25
    label_noise: float = 0.3
    delta: float = 1e-6

    def target(self, X: np.ndarray) -> np.ndarray:
        """The regression function; its absolute value stays below 1 - label_noise."""
        distances = np.sum((X[:, None, :] - CENTRES) ** 2, axis=2)
        return np.exp(-0.5 * distances / (self.bandwidth**2 + self.spread**2)) @ HEIGHTS

    def draw(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """n rows; |y| <= 1 without clipping."""
        generator = np.random.default_rng([seed, n])
        X = generator.uniform(-1.0, 1.0, (n, 2))
        return X, self.target(X) + generator.uniform(-1.0, 1.0, n) * self.label_noise

    @cached_property
    def test_points(self) -> np.ndarray:
        """Where predictions are compared with the target."""
        return np.random.default_rng(2024).uniform(-1.0, 1.0, (TEST_POINTS, 2))


PROBLEM = Problem()
Method = Callable[[Problem, np.ndarray, np.ndarray, float, int], np.ndarray]


def excess(problem: Problem, n: int, epsilon: float, method: str, seed: int) -> float:
    """Mean squared distance to the target, which is the excess generalization error (22)."""
    X, y = problem.draw(n, seed)
    predicted = METHODS[method](problem, X, y, epsilon, seed).reshape(TEST_POINTS, -1)
    return float(np.mean((predicted.T - problem.target(problem.test_points)) ** 2))


def zero_excess(problem: Problem) -> float:
    """What the model that predicts 0 loses."""
    return float(np.mean(problem.target(problem.test_points) ** 2))


def theory(problem: Problem, n: int) -> tuple[float, int, int]:
    """Step size, steps and features of Theorem 1, all constants 1."""
    r, alpha = problem.smoothness, problem.capacity
    power = 1.0 / (2.0 * r + alpha)
    features = n ** ((1.0 + alpha * (2.0 * r - 1.0)) * power) * np.log(n)
    steps = round(n ** ((2.0 * r + 1.0) * power))
    return float(n ** (-2.0 * r * power)), steps, 2 * round(features / 2.0)


# Methods


@dataclass(frozen=True)
class Learner:
    """Iterates and a calibration. Permuted ones also have clipped residuals and paired features."""

    noise: Callable[[Setting], float]
    permuted: bool = False

    def setting(self, problem: Problem, n: int, epsilon: float) -> Setting:
        """The facts that calibrations need."""
        step_size, steps, _ = theory(problem, n)
        published = Setting(
            n, steps, step_size, epsilon, problem.delta, label=1.0, kappa=float(np.sqrt(2.0))
        )
        if not self.permuted:
            return published
        return replace(published, steps=n * max(1, round(steps / n)), kappa=1.0)

    def __call__(
        self, problem: Problem, X: np.ndarray, y: np.ndarray, epsilon: float, seed: int
    ) -> np.ndarray:
        setting = self.setting(problem, len(X), epsilon)
        plain, unit_noise = _trained(problem, len(X), self.permuted, setting.steps, seed)
        return plain + self.noise(setting) * unit_noise


@lru_cache(maxsize=4)
def _trained(problem: Problem, n: int, permuted: bool, steps: int, seed: int):
    """Predictions of the last iterate, and of noise of deviation 1 on all weights."""
    X, y = problem.draw(n, seed)
    generator = np.random.default_rng([seed, n, permuted])
    step_size, _, features = theory(problem, n)
    phi = FeatureMap.draw(features, problem.bandwidth, permuted, generator)
    if permuted:
        order = permuted_order(n, steps // n, generator)
    else:
        order = generator.integers(n, size=steps)
    weights = train(phi, X, y, order, step_size, 1.0 if permuted else np.inf)
    noise = generator.standard_normal((features, NOISE_DRAWS))
    found = predict(phi, np.column_stack([weights, noise]), problem.test_points)
    return found[:, :1], found[:, 1:]


def _proved(setting: Setting) -> float:
    return theorem.published_noise(setting, theorem.proved_sensitivity)


def _printed(setting: Setting) -> float:
    return theorem.published_noise(setting, theorem.printed_sensitivity)


def _permuted(setting: Setting) -> float:
    return ours.permuted_noise(setting, ours.clipped)


def _none(setting: Setting) -> float:
    return 0.0


@dataclass(frozen=True)
class Kernel:
    """KernelRegressor with public bounds; all else by its rules, but what is given."""

    solver: str = "auto"
    knows_bandwidth: bool = False

    def __call__(
        self, problem: Problem, X: np.ndarray, y: np.ndarray, epsilon: float, seed: int
    ) -> np.ndarray:
        from privlearn import KernelRegressor

        model = KernelRegressor(
            epsilon=epsilon,
            delta=problem.delta,
            adjacency="replace_one",
            bounds_X=(-1.0, 1.0),
            bounds_y=(-1.0, 1.0),
            bandwidth=problem.bandwidth if self.knows_bandwidth else None,
            solver=self.solver,
            random_state=seed,
        )
        return model.fit(X, y).predict(problem.test_points)


METHODS: dict[str, Method] = {
    "Algorithm 1 without noise": Learner(_none),
    "Algorithm 1, Theorem 2 as proved": Learner(_proved),
    "Algorithm 1, Theorem 2 as printed": Learner(_printed),
    "Algorithm 1, mixture over visits": Learner(ours.mixture_noise),
    "permuted, clipped, paired": Learner(_permuted, permuted=True),
    "permuted, clipped, paired, no noise": Learner(_none, permuted=True),
    'KernelRegressor, "output", l given': Kernel("output", knows_bandwidth=True),
    "KernelRegressor, l given": Kernel(knows_bandwidth=True),
    "KernelRegressor": Kernel(),
}


def noise_of(problem: Problem, n: int, epsilon: float, method: str) -> float:
    """Standard deviation of the noise on a weight, and on a prediction where |phi| = 1.

    0 where no noise is added to weights: `Kernel` has noise on its steps.
    """
    learner = METHODS[method]
    return learner.noise(learner.setting(problem, n, epsilon)) if _is_published(method) else 0.0


def _is_published(method: str) -> bool:
    return isinstance(METHODS[method], Learner)
