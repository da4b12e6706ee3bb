# %% [markdown]
# # Sparse lasso: a few columns out of many
#
# Forty columns, of which five matter. A lasso sets coefficients to exactly 0; with privacy it has to
# do so under noise, which is as large for a column that says nothing as for one that says much.

# %%
import numpy as np

rng = np.random.default_rng(1)
X = rng.uniform(-1, 1, size=(40_000, 40))
truth = np.zeros(40)
truth[[2, 7, 11, 23, 31]] = [3.0, -2.0, 1.5, -1.0, 0.8]
y = X @ truth + rng.normal(size=40_000)
seen, unseen = slice(0, 30_000), slice(30_000, None)

# %% [markdown]
# The bounds are known because we made the data. `alpha` means what it means in scikit-learn.

# %%
from sklearn.linear_model import Lasso as Plain

from privlearn import Lasso

facts = {"bounds_X": (-1, 1), "bounds_y": (-12, 12)}
model = Lasso(alpha=0.05, epsilon=1, delta=1e-6, **facts).fit(X[seen], y[seen])
plain = Plain(alpha=0.05).fit(X[seen], y[seen])
print("columns with privacy   ", np.flatnonzero(model.coef_))
print("columns without privacy", np.flatnonzero(plain.coef_))
print("columns that matter    ", np.flatnonzero(truth))

# %% [markdown]
# Both are shrunk towards 0, since a lasso shrinks. On rows that neither has seen:

# %%
print(f"epsilon = 1  {model.score(X[unseen], y[unseen]):.3f}")
print(f"no privacy   {plain.score(X[unseen], y[unseen]):.3f}")

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(
    figsize=(7, 3), num="Coefficients of the 40 columns: true, private and not"
)
axes.stem(truth, linefmt="lightgrey", markerfmt="D", basefmt=" ", label="true")
axes.plot(plain.coef_, "s", fillstyle="none", label="lasso, no privacy")
axes.plot(model.coef_, "x", label="lasso, epsilon = 1")
axes.set_xlabel("column")
axes.set_ylabel("coefficient")
axes.legend()

# %% [markdown]
# ## What a smaller epsilon does
#
# Where noise is larger, weak columns are lost first.

# %%
for epsilon in (0.02, 0.1, 1):
    fit = Lasso(alpha=0.05, epsilon=epsilon, delta=1e-6, **facts).fit(X[seen], y[seen])
    kept = set(np.flatnonzero(fit.coef_)) & set(np.flatnonzero(truth))
    r2 = fit.score(X[unseen], y[unseen])
    print(
        f"epsilon {epsilon:<5} R^2 {r2:.3f}, {len(kept)} of 5 found, {np.count_nonzero(fit.coef_)} in all"
    )

# %% [markdown]
# These were three more fits to the same people, and all four cost together. In earnest they would be
# charged to [a ledger](ledger.py). With hundreds of columns, choose some first:
# [feature selection](../feature-selection.md).
