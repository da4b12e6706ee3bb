"""The objectives of Mangold et al. 2022, their optima without privacy, and the relative error.

F(w) = mean loss(x'w, y) + psi(w) without an intercept (Section 6, footnotes 4 and 5): logistic
loss with lambda / 2 |w|^2, and (x'w - y)^2, without a half, with lambda |w|_1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

__all__ = ["Lasso", "Logistic", "Objective"]

GAP = 1e-9  # largest relative distance of a reference optimum from the optimum


@dataclass(frozen=True, eq=False)
class Objective:
    """Data, weight of the penalty, and what follows from them; y of two classes is -1 and 1."""

    X: np.ndarray
    y: np.ndarray
    weight: float

    def at(self, coef: np.ndarray) -> float:
        """F, on the data as they are: never clipped."""
        raise NotImplementedError

    def solution(self) -> np.ndarray:
        """Coefficients without privacy whose F is smallest, to a relative error of `GAP`."""
        raise NotImplementedError

    def optimum(self) -> float:
        """The smallest F, without privacy."""
        return self.at(self.solution())

    def clipped(self, bounds: tuple) -> Objective:
        """The same objective on features that are clipped to bounds."""
        return replace(self, X=np.clip(self.X, *bounds))

    def relative_error(self, coef: np.ndarray, optimum: float) -> float:
        """(F(w) - F*) / F*, what every table and figure of the paper shows."""
        return (self.at(coef) - optimum) / optimum

    def of_zero(self, optimum: float) -> float:
        """Relative error of the model that is 0 everywhere and cost nothing."""
        return self.relative_error(np.zeros(self.X.shape[1]), optimum)


class Logistic(Objective):
    """Logistic loss and a quadratic penalty; scikit-learn's C is 1 / (weight n)."""

    @property
    def C(self) -> float:  # noqa: N802 (scikit-learn's name)
        """What scikit-learn and privlearn call this weight."""
        return 1.0 / (self.weight * len(self.y))

    def at(self, coef: np.ndarray) -> float:
        """Mean of log(1 + exp(-y x'w)), and the penalty."""
        losses = np.logaddexp(0.0, -self.y * (self.X @ coef))
        return float(losses.mean() + 0.5 * self.weight * coef @ coef)

    def solution(self) -> np.ndarray:
        """Newton's method; by strong convexity F - F* is at most |gradient|^2 / (2 weight)."""
        from scipy.special import expit

        coef = np.zeros(self.X.shape[1])
        for _ in range(200):
            share = expit(-self.y * (self.X @ coef))
            gradient = self.weight * coef - self.X.T @ (self.y * share) / len(self.y)
            curvature = self.X.T @ (self.X * (share * (1.0 - share))[:, None]) / len(self.y)
            curvature += self.weight * np.eye(len(coef))
            step = np.linalg.solve(curvature, gradient)
            if gradient @ step <= GAP * 1e-3 * self.at(coef):  # Newton's decrement
                break
            coef = self._descend(coef, gradient @ step, step)
        return coef

    def _descend(self, coef: np.ndarray, slope: float, step: np.ndarray) -> np.ndarray:
        """Halve Newton's step until F falls enough (Armijo)."""
        start, length = self.at(coef), 1.0
        while self.at(coef - length * step) > start - 1e-4 * length * slope and length > 1e-10:
            length /= 2.0
        return coef - length * step


class Lasso(Objective):
    """Squared loss and an L1 penalty; scikit-learn's alpha is half of the weight."""

    @property
    def alpha(self) -> float:
        """What scikit-learn and privlearn call this weight: their loss has a half."""
        return self.weight / 2.0

    def at(self, coef: np.ndarray) -> float:
        """Mean of (x'w - y)^2, and the penalty."""
        residual = self.X @ coef - self.y
        return float(residual @ residual / len(self.y) + self.weight * np.abs(coef).sum())

    def solution(self) -> np.ndarray:
        """scikit-learn's coordinate descent, refused when its duality gap is not small."""
        from sklearn.linear_model import Lasso as PlainLasso

        plain = PlainLasso(
            alpha=self.alpha, fit_intercept=False, precompute=True, tol=1e-12, max_iter=1_000_000
        ).fit(self.X, self.y)
        found = self.at(plain.coef_)
        gap = 2.0 * float(plain.dual_gap_)  # of half of our objective
        if gap > GAP * found:
            raise RuntimeError(f"the reference LASSO has a relative duality gap of {gap / found:g}")
        return plain.coef_
