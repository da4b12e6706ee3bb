"""Learn wages of 28,155 people with epsilon = 1, and say what it cost.

Run it with `make demo`, or with `python examples/cps_wage.py`.
"""

import numpy as np
from sklearn.linear_model import LinearRegression as NonPrivate
from sklearn.model_selection import train_test_split

from privlearn import LinearRegression
from privlearn.datasets import load_cps1988


def main() -> None:
    """Fit log wage with and without privacy, and compare on people neither has seen."""
    cps = load_cps1988()
    experience = cps.data[:, list(cps.feature_names).index("experience")]
    X, y = np.column_stack([cps.data, experience**2]), np.log(cps.target)

    # Public knowledge: the survey's coding, and squares of it. Nothing is read off the sample.
    low, high = cps.bounds_X
    bounds_X = np.append(low, 0.0), np.append(high, 64.0**2)
    bounds_y = tuple(np.log(cps.bounds_y))

    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
    model = LinearRegression(epsilon=1.0, delta=1e-6, bounds_X=bounds_X, bounds_y=bounds_y)
    print(model.plan(n=len(y_train), n_features=X.shape[1]), end="\n\n")

    model.fit(X_train, y_train)
    print(model.privacy_, end="\n\n")

    others = NonPrivate().fit(X_train, y_train)
    print(f"Log weekly wage of {len(y_test):,} people held out, R^2:")
    print(f"  with privacy, epsilon = 1   {model.score(X_test, y_test):.3f}")
    print(f"  without privacy             {others.score(X_test, y_test):.3f}")
    print(f"A year of education: {model.coef_[0]:+.3f} private, {others.coef_[0]:+.3f} not.")


if __name__ == "__main__":
    main()
