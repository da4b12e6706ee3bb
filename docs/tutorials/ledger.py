# %% [markdown]
# # A ledger in a team
#
# Three colleagues, one data set, one budget. Each fit is charged *before* anything is released, and
# the fit that would be too much is refused.

# %%
from privlearn import Ledger, LinearRegression, Ridge
from privlearn.datasets import load_cps1988

cps = load_cps1988()
facts = {"bounds_X": cps.bounds_X, "bounds_y": cps.bounds_y, "delta": 1e-6}
ledger = Ledger.create("wages.ledger", epsilon=1, delta=1e-6)

# %% [markdown]
# **Anna** fits a model. `dataset` names the people, not the file: extracts and copies of the same
# people's data belong under the same name.

# %%
anna = LinearRegression(epsilon=0.5, ledger=ledger, dataset="cps-1988", **facts)
anna.fit(cps.data, cps.target)
print(
    f"spent {ledger.spent('cps-1988'):.3f}, a fit may still have {ledger.remaining('cps-1988'):.3f}"
)

# %% [markdown]
# **Ben** works in another process. All he needs is the path.

# %%
ben = Ridge(epsilon=0.5, ledger="wages.ledger", dataset="cps-1988", **facts)
ben.fit(cps.data, cps.target)
print(
    f"spent {ledger.spent('cps-1988'):.3f}, a fit may still have {ledger.remaining('cps-1988'):.3f}"
)

# %% [markdown]
# 0.5 and 0.5 cost less than 1 together. **Carla** asks for more than is left:

# %%
from privlearn.exceptions import BudgetExceededError

carla = LinearRegression(epsilon=0.9, ledger=ledger, dataset="cps-1988", **facts)
try:
    carla.fit(cps.data, cps.target)
except BudgetExceededError as error:
    print(error)
    fits = error.fits

# %% [markdown]
# Nothing was charged, and nothing released. The error says which epsilon would pass:

# %%
carla.set_params(epsilon=round(fits - 0.005, 2)).fit(cps.data, cps.target)
print(f"spent {ledger.spent('cps-1988'):.3f}")

# %% [markdown]
# Who did what, and whether the file is whole and knows every model that was published:

# %%
for charge in ledger.history("cps-1988"):
    print(f"{charge.epsilon:.3f}", charge.adjacency, charge.unit)
ledger.check(certificates=[anna.privacy_, ben.privacy_, carla.privacy_])
print(ledger.datasets(), f"{ledger.spent('cps-1988'):.3f} spent")

# %% [markdown]
# How charges add up, families of data sets, and what a ledger cannot protect from: [the ledger](../ledger.md).
