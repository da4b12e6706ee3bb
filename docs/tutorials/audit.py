# %% [markdown]
# # Audit your own mechanism
#
# You publish numbers with noise, by this library or by a function of your own. Does it keep its
# promise? An audit cannot prove that it does. It can prove that it does not.

# %%
import numpy as np

from privlearn import audit

# %% [markdown]
# ## Something of your own
#
# A mean of 20 values in [0, 1], with Laplace noise. One value moves it by at most 1/20, so for
# epsilon = 1 the scale is 1/20. The second author forgot that and took 1/60.


# %%
class NoisyMean:
    def __init__(self, scale):
        self.scale = scale

    def fit(self, X, y):
        noise = np.random.default_rng().laplace(scale=self.scale, size=1)
        self.coef_ = np.mean(X, axis=0) + noise
        return self


without = np.zeros((20, 1))
with_somebody = without.copy()
with_somebody[0] = 1.0
worlds = (with_somebody, np.zeros(20)), (without, np.zeros(20))

# %% [markdown]
# `black_box` sees outputs alone. It fits both worlds many times, learns to tell them apart, and
# bounds epsilon from below with 95 % confidence.

# %%
print(audit.black_box(NoisyMean(1 / 20), data=worlds, fits=2_000, epsilon=1.0, delta=0.0))

# %%
try:
    audit.black_box(NoisyMean(1 / 60), data=worlds, fits=2_000, epsilon=1.0, delta=0.0)
except audit.AuditFailure as failure:
    print(failure)

# %% [markdown]
# The first is not refuted; the second is.
#
# ## A model of this library
#
# More can be seen from inside: `white_box` knows every release, and how far one chosen row moved it.
# A ratio near 1 says that the proof is tight; above 1 it raises.

# %%
from privlearn import LogisticRegression

model = LogisticRegression(epsilon=1, delta=1e-6, bounds_X=(0, 1), classes=[0, 1])
print(audit.white_box(model, n_features=3, tries=20, runs=16))

# %% [markdown]
# Generic checks raise where something is wrong. These three ask whether the plan costs what was
# promised, whether `fit` releases what the plan announced, and whether noise comes after the charge:

# %%
for check in (audit.check_price, audit.check_plan, audit.check_ledger):
    check(model, n_features=3)
    print(check.__name__, "found nothing")

# %% [markdown]
# `audit.check(model, n_features=3)` runs all fourteen and takes about half a minute.

# %% [markdown]
# [Audits](../audits.md) explains each check and what none of them can see. Audits make their own
# data; never run them on people's.
