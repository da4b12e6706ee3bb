# %% [markdown]
# # Wages: a first private regression
#
# What is a year of school worth? The library ships with the wages of 28,155 men of the Current
# Population Survey of March 1988. We learn a linear model of them that tells next to nothing about
# any one of these men, and compare it with least squares without privacy on the same rows.

# %%
from privlearn.datasets import load_cps1988

cps = load_cps1988()
print(cps.feature_names)
print(cps.data.shape)

# %% [markdown]
# ## Ask first
#
# `plan` looks at no data. It says what would be released, what that costs, and how far predictions
# will be off because of the noise.

# %%
from privlearn import LinearRegression

model = LinearRegression(epsilon=1, delta=1e-6, bounds_X=cps.bounds_X, bounds_y=cps.bounds_y)
plan = model.plan(n=20_000, n_features=8)
print(plan.forecast())

# %% [markdown]
# The bounds are public knowledge: the survey's own limits, not the minimum and maximum of the rows.
# They may be left out; then ranges are [estimated privately](../nothing-declared.md).
#
# ## Hold rows out, then fit
#
# A score on the rows that a model has seen is too good, with privacy and without. So the last 8,155
# men are kept for the end. (The order of the file is random; otherwise shuffle.)

# %%
import numpy as np

order = np.random.default_rng(0).permutation(len(cps.target))
seen, unseen = order[:20_000], order[20_000:]
model.fit(cps.data[seen], cps.target[seen])
print(model.privacy_.epsilon, model.privacy_.adjacency, model.privacy_.unit)

# %% [markdown]
# ## The same without privacy
#
# On the same rows. This is only to see what privacy costs: its coefficients are not protected.

# %%
from sklearn.linear_model import LinearRegression as LeastSquares

plain = LeastSquares().fit(cps.data[seen], cps.target[seen])
for name, ours, theirs in zip(cps.feature_names, model.coef_, plain.coef_, strict=True):
    print(f"{name:>12} {ours:9.2f} with privacy {theirs:9.2f} without")

# %%
import matplotlib.pyplot as plt

places = np.arange(len(cps.feature_names))
figure, axes = plt.subplots(
    figsize=(7, 3.2), num="Coefficients with privacy and without, by column"
)
axes.barh(places + 0.2, model.coef_, 0.4, label="epsilon = 1")
axes.barh(places - 0.2, plain.coef_, 0.4, label="no privacy")
axes.set_yticks(places, cps.feature_names)
axes.set_xlabel("dollars a week")
axes.legend()

# %% [markdown]
# ## How good is it?
#
# `model.score` looks at rows without noise, so its number must not be published.
# [`metrics.evaluate`](../metrics.md) has a guarantee of its own for the men who were held out. They
# are others than those of the fit, so each man is in one release only.

# %%
from privlearn.metrics import evaluate

scores = evaluate(model, cps.data[unseen], cps.target[unseen], epsilon=1, delta=1e-6)
print(scores)

# %% [markdown]
# These are scores of wages and predictions that are clipped to the range of the fit, which the table
# names: a few very high wages, which nobody can predict, count for less than in scikit-learn's score.
#
# That one, without noise and without a clip, for comparison; do not publish it about people's data:

# %%
print(f"private model {model.score(cps.data[unseen], cps.target[unseen]):.3f}")
print(f"least squares {plain.score(cps.data[unseen], cps.target[unseen]):.3f}")

# %% [markdown]
# ## What may be published
#
# The model, its predictions for new people and its certificate may; [what may be published](../publishing.md)
# has the list. The certificate says everything that left the fit:

# %%
print(model.privacy_)
