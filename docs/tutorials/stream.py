# %% [markdown]
# # A stream, and people with an epsilon of their own
#
# Rows that arrive day by day, and are not kept. Each person comes once, so all days together cost
# what one costs. This needs no delta: the promise is *pure*.

# %%
import numpy as np

rng = np.random.default_rng(3)
weights = np.array([2.0, -1.0, 0.5])


def day(n):
    X = rng.uniform(0, 1, size=(n, 3))
    y = (X @ weights - 0.7 + rng.logistic(scale=0.3, size=n) > 0).astype(int)
    return X, y


# %% [markdown]
# Bounds and classes have to be declared: the first day may lack a class, and nothing is estimated in
# a stream.

# %%
from privlearn import LogisticRegression

model = LogisticRegression(epsilon=1, delta=0, bounds_X=(0, 1), classes=[0, 1])
new = day(5_000)
accuracy = []
for _ in range(60):
    model.partial_fit(*day(100))
    accuracy.append(model.score(*new))
print(f"after 1 day {accuracy[0]:.3f}, after 10 {accuracy[9]:.3f}, after 60 {accuracy[-1]:.3f}")

# %% [markdown]
# Without privacy, with all rows at once:

# %%
from sklearn.linear_model import LogisticRegression as Plain

best = Plain().fit(*day(6_000)).score(*new)
print(f"{best:.3f}")

# %%
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(7, 3), num="Accuracy on new people, day by day")
axes.plot(range(1, 61), accuracy, marker=".", label="private stream, epsilon = 1")
axes.axhline(best, linestyle="--", color="grey", label="no privacy, all rows")
axes.set_xlabel("days")
axes.set_ylabel("accuracy on new people")
axes.legend()

# %% [markdown]
# The certificate knows what is assumed:

# %%
for assumption in model.privacy_.assumptions:
    print("-", assumption)

# %% [markdown]
# ## Personal epsilons
#
# Some people allow more than others. Theirs is less noise, nobody gets more epsilon than agreed, and
# who agreed to what must not depend on the data.

# %%
X, y = day(20_000)
agreed = rng.choice([0.2, 2.0], size=20_000)
personal = LogisticRegression(epsilon=2, delta=0, bounds_X=(0, 1), classes=[0, 1])
personal.fit(X, y, sample_epsilon=agreed)
strict = LogisticRegression(epsilon=0.2, delta=0, bounds_X=(0, 1), classes=[0, 1]).fit(X, y)
print("promised to each group, and what holds:", personal.privacy_.levels)
print(f"everybody their own  {personal.score(*new):.3f}")
print(f"0.2 for everybody    {strict.score(*new):.3f}")

# %% [markdown]
# More about both, and what happens to copies and crashes: [personal epsilons and streams](../levels-and-streams.md).
