"""A first fit compiles what it needs, and no more: nobody waits for loops of other losses."""

import subprocess
import sys
from threading import Event

import pytest

from privlearn._core import jit

FIT = """
import sys, warnings
import numpy as np
import privlearn
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((2_500, 8))
y = X @ rng.standard_normal(8) + rng.standard_normal(2_500)
y = y if "{name}" == "KernelRegressor" else (y > 0).astype(int)
privlearn.{name}(epsilon=3.0, delta=1e-6, random_state=0).fit(X, y)
for module in [name for name in sys.modules if name.startswith("privlearn")]:
    for name, value in vars(sys.modules[module]).items():
        if type(value).__module__.startswith("numba") and getattr(value, "overloads", None):
            print(value.py_func.__module__.removeprefix("privlearn.") + "." + name)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "loss"), [("KernelRegressor", "squared"), ("LinearSVC", "squared_hinge")]
)
def test_a_small_fit_compiles_one_loss_of_dense_rows(name, loss):
    done = subprocess.run(
        [sys.executable, "-c", FIT.format(name=name)], capture_output=True, text=True, check=True
    )
    compiled = set(done.stdout.split())
    of_losses = {one.split(".")[2] for one in compiled if one.startswith("_objective.losses.")}
    assert of_losses - {"base"} == {loss}
    rows = {one for one in compiled if ".row_products." in one}
    assert {one.rpartition(".")[2] for one in rows} <= {
        *("store_rows", "add_parts", "score_dense", "sum_dense")
    }
    assert rows
    # What NumPy does as well is left to it, though a compiler is loaded.
    assert not [one for one in compiled if "integer_rows" in one or "loops.histograms" in one]


def test_tables_of_middle_size_are_compiled_for_after_a_large_one(monkeypatch):
    monkeypatch.setattr(jit, "_met_a_large_table", Event())
    middle = jit.LARGE - 1
    assert not jit.worth_compiling(middle)
    before = jit.compiled_so_far()
    assert jit.worth_compiling(jit.LARGE)
    assert jit.worth_compiling(middle)
    assert not jit.worth_compiling(jit.LARGE_ENOUGH - 1)
    assert jit.compiled_so_far() != before  # so that a rehearsal is repeated
