"""Compiled functions without a cache: read-only packages, no home, damaged files."""

import importlib.util
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

import privlearn
from privlearn._core.jit import jit
from privlearn.solvers import SOLVERS

SOURCE = Path(privlearn.__file__).parent
TWICE = textwrap.dedent(
    """
    from privlearn._core.jit import jit

    @jit(error_model="numpy")
    def twice(x):
        return 2.0 * x
    """
)


def loaded(folder, name="twice_module"):
    """A module with a compiled function, from a file of its own."""
    file = folder / f"{name}.py"
    if not file.exists():
        file.write_text(TWICE)
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.twice


def compiled(function):
    """Whether a call compiles, rather than loads."""
    assert function(3.0) == 6.0
    return sum(function.stats.cache_misses.values()) > 0


def test_every_compiled_function_is_wrapped():
    """One door: whoever calls numba himself is bound to its cache."""
    own = SOURCE / "_core" / "jit.py"
    for file in SOURCE.rglob("*.py"):
        if file != own:
            text = file.read_text()
            assert "import njit" not in text, file
            assert "numba.njit" not in text, file
            assert "numba.jit" not in text, file


def test_a_cache_is_used_where_there_is_one(tmp_path):
    assert compiled(loaded(tmp_path))
    assert not compiled(loaded(tmp_path))
    assert list((tmp_path / "__pycache__").glob("*.nbi"))


def no_place(monkeypatch):
    """Every place that numba could write to refuses, as for a user without rights."""

    def refuses(self):
        raise OSError("read-only file system")

    for locator in caching.CompileResultCacheImpl._locator_classes:
        monkeypatch.setattr(locator, "ensure_cache_path", refuses)


def test_without_a_place_for_a_cache_functions_compile(tmp_path, monkeypatch):
    no_place(monkeypatch)
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(lambda x: x)  # what the wrapper is for: this is how numba refuses
    assert compiled(loaded(tmp_path))
    assert compiled(loaded(tmp_path))
    assert not list(tmp_path.rglob("*.nbi"))


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("harm", ["empty", "cut", "garbage"])
def test_a_damaged_cache_costs_time_only_and_heals(suffix, harm, tmp_path):
    assert compiled(loaded(tmp_path))
    for file in tmp_path.rglob(f"*.{suffix}"):
        content = file.read_bytes()
        harmed = {"empty": b"", "cut": content[: len(content) // 2], "garbage": b"\x93" * 99}
        file.write_bytes(harmed[harm])
    assert compiled(loaded(tmp_path))
    assert not compiled(loaded(tmp_path))


def test_a_full_disk_is_no_error(tmp_path, monkeypatch):
    def full(self, *_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    assert compiled(loaded(tmp_path))


def test_options_reach_numba_and_bits_stay():
    plain = numba.njit(error_model="numpy")(lambda x: 1.0 / x)
    own = jit(error_model="numpy")(lambda x: 1.0 / x)
    assert own.targetoptions == {"no_cfunc_wrapper": True, **plain.targetoptions}
    assert np.isinf(own(0.0))


FIT = """
import os, sys
import numpy as np
from numba.core import caching
if {blocked}:
    def refuses(self):
        raise OSError("read-only file system")
    for locator in caching.CompileResultCacheImpl._locator_classes:
        locator.ensure_cache_path = refuses
import privlearn
X = np.random.default_rng(0).uniform(0, 1, (200, 2))
y = X @ [1.0, 2.0]
known = dict(bounds_X=(0, 1), bounds_y=(0, 3), random_state=0)
found = [
    privlearn.Ridge(solver=solver, **known).fit(X, y).coef_.tobytes().hex()
    for solver in {solvers}
]
print(" ".join(found))
"""


def fits(solvers, blocked, folder):
    """Coefficients of fits in a process of its own; blocked: without home or place for a cache."""
    (folder / "file").touch()
    environment = {
        **os.environ,
        "PYTHONPATH": str(SOURCE.parent),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }
    if blocked:
        lost = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"}
        environment |= lost | {"NUMBA_CACHE_DIR": str(folder / "file" / "below")}
    script = FIT.format(blocked=blocked, solvers=solvers)
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.split()


@pytest.mark.slow
def test_fits_without_home_or_cache_give_the_same_bits(tmp_path):
    able = ["sgd", "one-pass"]
    assert set(able) <= set(SOLVERS)
    assert fits(able, True, tmp_path) == fits(able, False, tmp_path)
