# %% [markdown]
# # Kernel models: where a line is not enough
#
# A target that rises and falls cannot be learned by a line, private or not. `KernelRegressor` fits a
# line first and then learns what it leaves over, from random features that cost no privacy.

# %%
import numpy as np

rng = np.random.default_rng(2)


def curve(x):
    return np.sin(3 * x[:, 0]) + 0.5 * x[:, 0] * x[:, 1]


X = rng.uniform(-2, 2, size=(12_000, 2))
y = curve(X) + rng.normal(scale=0.3, size=12_000)
seen, unseen = slice(0, 9_000), slice(9_000, None)

# %%
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from privlearn import KernelRegressor, LinearRegression

facts = {"epsilon": 1, "delta": 1e-6, "bounds_X": (-2, 2), "bounds_y": (-4, 4)}
line = LinearRegression(**facts).fit(X[seen], y[seen])
model = KernelRegressor(**facts).fit(X[seen], y[seen])
plain = make_pipeline(RBFSampler(gamma=1.0, n_components=500, random_state=0), Ridge(alpha=1e-3))
plain.fit(X[seen], y[seen])
print("R^2 on rows that nobody has seen")
print(f"private line        {line.score(X[unseen], y[unseen]):.3f}")
print(f"private kernel      {model.score(X[unseen], y[unseen]):.3f}")
print(f"kernel, no privacy  {plain.score(X[unseen], y[unseen]):.3f}")

# %%
import matplotlib.pyplot as plt

grid = np.column_stack([np.linspace(-2, 2, 200), np.full(200, 1.0)])
figure, axes = plt.subplots(
    figsize=(7, 3.2), num="A curve, and what a private line and a private kernel make of it"
)
axes.plot(grid[:, 0], curve(grid), color="grey", label="truth")
axes.plot(grid[:, 0], line.predict(grid), "--", label="private line")
axes.plot(grid[:, 0], model.predict(grid), label="private kernel")
axes.set_xlabel("first column (the second is 1)")
axes.legend()

# %% [markdown]
# One certificate covers both parts, the line and the kernel:

# %%
for release in model.privacy_.releases:
    print(f"{release['share']:6.1%}  {release['name']}")

# %% [markdown]
# [Kernel models](../kernels.md) says how bandwidth and number of features are chosen, and when a
# linear model is the better one.
