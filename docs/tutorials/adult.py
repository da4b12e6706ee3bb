# %% [markdown]
# # Adult: a CSV file with text and gaps
#
# The census file that everybody uses: who earns more than 50,000 dollars? It has words, gaps and
# amounts. We read it as it is, say what is public about its columns, and fit.
#
# The data do not come with the library. If the folder that `PRIVLEARN_DATA` names has
# `adult.parquet`, this page uses it; if not, a small generated stand-in with the same columns.

# %%
import os
from pathlib import Path

import numpy as np
import pandas as pd

found = Path(os.environ.get("PRIVLEARN_DATA", "."), "adult.parquet")
if found.exists():
    people = pd.read_parquet(found).rename(columns={"target": "income"})
    print(f"Adult, {len(people):,} people")
else:
    print("Adult is not here: a generated stand-in of 20,000 people follows")
    rng = np.random.default_rng(0)
    people = pd.DataFrame(
        {
            "split": rng.choice(["train", "test"], 20_000, p=[2 / 3, 1 / 3]),
            "age": rng.integers(17, 91, 20_000),
            "workclass": rng.choice(["Private", "Local-gov", "?"], 20_000, p=[0.7, 0.2, 0.1]),
            "education_num": rng.integers(1, 17, 20_000),
            "sex": rng.choice(["Female", "Male"], 20_000),
            "capital_gain": rng.choice([0, 5_000, 20_000], 20_000, p=[0.92, 0.05, 0.03]),
            "hours_per_week": rng.integers(1, 100, 20_000),
        }
    )
    effort = people["education_num"] / 4 + people["hours_per_week"] / 25 + rng.normal(size=20_000)
    people["income"] = np.where(effort > 5, ">50K", "<=50K")

people = people.drop(
    columns=["education", "marital_status", "occupation", "relationship", "race", "native_country"],
    errors="ignore",
)
people[people["split"] == "train"].to_csv("train.csv", index=False)
people[people["split"] == "test"].to_csv("test.csv", index=False)
print(Path("train.csv").read_text()[:150])

# %% [markdown]
# ## What is public
#
# Ranges are those of the survey's questionnaire, the list of employers is that of its documentation.
# Nothing is read off the rows. A gap ("?") is what is not in the list, and `missing="flag"` makes it
# a category of its own. Every cell is read as text, so that no row decides how others are read.

# %%
from privlearn.schema import Category, Ignore, Number

employers = [
    "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov",
    "Without-pay", "Never-worked",
]  # fmt: skip
schema = {
    "age": Number(17, 90),
    "workclass": Category(employers, missing="flag"),
    "education_num": Number(1, 16),
    "sex": Category(["Female", "Male"]),
    "capital_gain": Number(0, 99_999),
    "hours_per_week": Number(1, 99),
    "split": Ignore(),
    "fnlwgt": Ignore(),
    "capital_loss": Ignore(),
}
schema = {name: kind for name, kind in schema.items() if name in people}

# %%
from privlearn import LogisticRegression

train = pd.read_csv("train.csv", dtype=str, keep_default_na=False)
test = pd.read_csv("test.csv", dtype=str, keep_default_na=False)
model = LogisticRegression(epsilon=1, delta=1e-6, schema=schema, classes=["<=50K", ">50K"])
model.fit(train, "income")
for name, weight in zip(model.feature_names_out_, model.coef_[0], strict=True):
    print(f"{name:>30} {weight:+.5f}")

# %% [markdown]
# ## Beside no privacy
#
# The pipeline that one would write with scikit-learn, on the same rows and columns, and both on the
# test file, which neither has seen.

# %%
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

numbers = ["age", "education_num", "capital_gain", "hours_per_week"]
columns = make_column_transformer(
    (StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), ["workclass", "sex"])
)
plain = make_pipeline(columns, Plain(max_iter=1_000))
plain.fit(train.astype(dict.fromkeys(numbers, float)), train["income"])
print(f"epsilon = 1  {model.score(test, 'income'):.4f}")
print(f"no privacy   {plain.score(test.astype(dict.fromkeys(numbers, float)), test['income']):.4f}")

# %% [markdown]
# `score` has no noise. A score of people's rows that leaves the building comes from `evaluate`:

# %%
from privlearn.metrics import evaluate

print(evaluate(model, test, "income", epsilon=0.5, delta=1e-6))

# %% [markdown]
# The same from a terminal, without Python: [the command line](../command-line.md). With all columns
# and 20 fits: [the benchmark](../../benchmarks/results/peers/adult_frame.md).
